/* The view of the plane: its centre and its scale. */

const MAX_ZOOM = 60; // times the scale that shows the whole map
const MIN_ZOOM = 0.4;
const BUTTONS = 56; // pixels at the lower border that buttons cover

/** A view of the plane: the point at the middle of the stage, and pixels per unit. */
export class Camera {
  constructor() {
    Object.assign(this, { x: 0, y: 0, scale: 1, width: 1, height: 1, home: { x: 0, y: 0, width: 1, height: 1 } });
  }

  /** The stage's size in pixels. The middle stays in the middle, and a view of everything stays one. */
  resize(width, height) {
    const before = this.homeScale();
    const { x, y } = this.homeView();
    const atHome = this.scale === before && this.x === x && this.y === y;
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    if (atHome) Object.assign(this, this.homeView());
    else this.scale *= this.homeScale() / before;
  }

  homeScale() {
    const free = Math.max(this.height - BUTTONS, this.height / 2);
    return Math.min(this.width / this.home.width, free / this.home.height);
  }

  /** The view that shows all of the home box, in the middle if the buttons then do not cover it. */
  homeView() {
    const { x, y, width, height } = this.home;
    const scale = this.homeScale();
    const below = (this.height - height * scale) / 2;
    return {
      x: x + width / 2,
      y: y + height / 2 + Math.max(0, Math.min(BUTTONS, this.height / 2) - below) / scale,
      scale,
    };
  }

  show({ x, y, scale }) {
    const [least, most] = [this.homeScale() * MIN_ZOOM, this.homeScale() * MAX_ZOOM];
    Object.assign(this, { x, y, scale: Math.min(Math.max(scale, least), most) });
  }

  /** Zoom by a factor; the point of the plane under the given pixel stays there. */
  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toPlane(left, top);
    this.show({ x: this.x, y: this.y, scale: this.scale * factor });
    const [nowX, nowY] = this.toPlane(left, top);
    this.x += x - nowX;
    this.y += y - nowY;
  }

  pan(left, top) {
    this.x -= left / this.scale;
    this.y -= top / this.scale;
  }

  toPlane(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y + (top - this.height / 2) / this.scale];
  }

  toStage(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /** Pan until a point of the plane is inside the stage, away from its border; true if that was needed. */
  reveal(x, y) {
    const [left, top] = this.toStage(x, y);
    const margin = Math.min(60, this.width / 6, this.height / 6);
    const outside = left < margin || top < margin || left > this.width - margin || top > this.height - margin;
    if (outside) Object.assign(this, { x, y });
    return outside;
  }
}
