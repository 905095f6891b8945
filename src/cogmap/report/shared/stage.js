/* Two canvases and a camera: below, a picture that is expensive to paint; above, marks that change often. */

import { Camera } from "./camera.js";
import { Gestures } from "./gestures.js";

const MARGIN = 0.25; // of the stage, painted beyond each border in advance of panning
const SLOW = 9; // milliseconds of painting from which a moving picture is shifted instead of repainted
const REST = 110; // milliseconds without a movement after which it is repainted

function reducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** `paint(context, camera)` draws the picture, `mark(context, camera, now)` the marks; it returns true to animate. */
export class Stage {
  constructor(host, { label, keys, paint, mark, tap, hover }) {
    Object.assign(this, { host, paint, mark, camera: new Camera(), spent: 0, stale: true, still: null, flight: null });
    this.below = document.createElement("canvas");
    this.above = document.createElement("canvas");
    this.below.className = "below";
    this.below.setAttribute("aria-hidden", "true");
    this.above.className = "above";
    Object.assign(this.above, { tabIndex: 0 });
    this.above.setAttribute("role", "application");
    this.above.setAttribute("aria-label", label);
    this.above.setAttribute("aria-describedby", keys);
    host.append(this.below, this.above);
    this.gestures = new Gestures(this.above, {
      pan: (dx, dy) => this.move(() => this.camera.pan(dx, dy)),
      zoom: (factor, x, y) => this.move(() => this.camera.zoom(factor, x, y)),
      tap: (x, y) => tap(...this.camera.toPlane(x, y)),
      hover: (x, y) => hover(...this.camera.toPlane(x, y)),
      leave: () => hover(NaN, NaN),
    });
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    this.camera.resize(width, height);
    this.dots = Math.min(devicePixelRatio || 1, 2);
    size(this.above, width, height, this.dots);
    size(this.below, width * (1 + 2 * MARGIN), height * (1 + 2 * MARGIN), this.dots);
    this.below.style.left = `${-width * MARGIN}px`;
    this.below.style.top = `${-height * MARGIN}px`;
    this.repaint();
  }

  /** Make a box of the plane the home view, and show it. */
  fit(home, animate = false) {
    this.camera.home = home;
    this.fly(this.camera.homeView(), animate);
  }

  zoom(factor) {
    const { x, y, scale } = this.camera;
    this.fly({ x, y, scale: scale * factor }, true);
  }

  /** Move the camera to a view, at once or animated in a quarter of a second. */
  fly(view, animate = true) {
    const { x, y, scale } = this.camera;
    const still = !animate || reducedMotion();
    this.flight = still ? null : { from: { x, y, scale }, to: view, start: performance.now(), lasts: 240 };
    if (still) this.move(() => this.camera.show(view));
    this.request();
  }

  move(how) {
    how();
    this.moved = performance.now();
    this.request();
  }

  reveal(x, y) {
    const { camera } = this;
    const before = { x: camera.x, y: camera.y, scale: camera.scale };
    if (!camera.reveal(x, y)) return;
    const after = { x: camera.x, y: camera.y, scale: camera.scale };
    camera.show(before);
    this.fly(after);
  }

  /** Repaint the picture, because it has changed. */
  repaint() {
    this.stale = true;
    this.request();
  }

  /** Draw a frame, because only the marks have changed. */
  request() {
    this.frame ??= requestAnimationFrame((now) => this.draw(now));
  }

  draw(now) {
    this.frame = null;
    const flying = this.advance(now);
    if (this.stale || !this.shift(now)) this.paintBelow();
    const context = this.above.getContext("2d");
    context.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    context.clearRect(0, 0, this.camera.width, this.camera.height);
    const again = this.mark(context, this.camera, now);
    if (again || flying || this.isShifted()) this.request();
  }

  advance(now) {
    if (this.flight === null) return false;
    const { from, to, start, lasts } = this.flight;
    const part = Math.min(1, Math.max(0, (now - start) / lasts));
    const eased = 1 - (1 - part) ** 3;
    const between = (name) => from[name] + (to[name] - from[name]) * eased;
    const scale = from.scale * (to.scale / from.scale) ** eased;
    this.camera.show({ x: between("x"), y: between("y"), scale });
    this.moved = now;
    if (part === 1) this.flight = null;
    return this.flight !== null;
  }

  isShifted() {
    const { still, camera } = this;
    return still.x !== camera.x || still.y !== camera.y || still.scale !== camera.scale;
  }

  /** Shift the painted picture to the camera's view; false if it must be repainted. */
  shift(now) {
    if (!this.isShifted()) return true;
    const { camera, still } = this;
    if (this.spent < SLOW || now - this.moved > REST) return false;
    const factor = camera.scale / still.scale;
    const [x, y] = camera.toStage(still.x, still.y);
    const [dx, dy] = [x - camera.width / 2, y - camera.height / 2];
    const bare = Math.abs(dx) > camera.width * MARGIN || Math.abs(dy) > camera.height * MARGIN;
    if ((bare || factor < 0.65 || factor > 2.5) && now - this.painted > 4 * this.spent) return false;
    this.below.style.transform = `translate(${dx}px, ${dy}px) scale(${factor})`;
    return true;
  }

  paintBelow() {
    const begun = performance.now();
    const wide = Object.assign(new Camera(), this.camera);
    wide.width = this.camera.width * (1 + 2 * MARGIN);
    wide.height = this.camera.height * (1 + 2 * MARGIN);
    const context = this.below.getContext("2d");
    context.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    this.paint(context, wide);
    this.below.style.transform = "none";
    this.still = { x: this.camera.x, y: this.camera.y, scale: this.camera.scale };
    this.stale = false;
    this.painted = performance.now();
    this.spent = this.painted - begun;
  }
}

function size(canvas, width, height, dots) {
  canvas.width = Math.max(1, Math.round(width * dots));
  canvas.height = Math.max(1, Math.round(height * dots));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}
