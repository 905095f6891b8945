/* Pan and zoom. */

/** A window on the plane, x, y, width and height, that the pointer, the wheel, two fingers and buttons move. */
class View {
  constructor(svg) {
    this.svg = svg;
    this.fingers = new Map(); // pointer id -> where it was last
    this.travelled = 0; // of the pointer since it came down: a drag is no click
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) {
      svg.addEventListener(kind, (event) => this.fingers.delete(event.pointerId));
    }
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  fit(box) {
    this.home = box;
    this.show({ ...box });
  }

  show(box) {
    this.box = box;
    this.svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  }

  /** Enlarge by a factor around a point of the plane, the middle if none is given. */
  zoom(factor, x = this.box.x + this.box.width / 2, y = this.box.y + this.box.height / 2) {
    const least = this.home.width / 60;
    const width = Math.min(Math.max(this.box.width / factor, least), this.home.width * 3);
    const share = width / this.box.width;
    this.show({
      x: x - (x - this.box.x) * share,
      y: y - (y - this.box.y) * share,
      width,
      height: this.box.height * share,
    });
  }

  /** Where on the plane a pointer is. */
  point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  pan(dx, dy) {
    this.show({ ...this.box, x: this.box.x + dx, y: this.box.y + dy });
  }

  down(event) {
    if (this.fingers.size === 0) this.travelled = 0;
    this.fingers.set(event.pointerId, { clientX: event.clientX, clientY: event.clientY });
  }

  move(event) {
    const was = this.fingers.get(event.pointerId);
    if (was === undefined) return;
    const now = { clientX: event.clientX, clientY: event.clientY };
    this.travelled += Math.hypot(now.clientX - was.clientX, now.clientY - was.clientY);
    if (this.fingers.size === 1 && this.travelled > 4) {
      const from = this.point(was);
      const to = this.point(now);
      this.pan(from.x - to.x, from.y - to.y);
    } else if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)[1];
      const span = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      const middle = this.point({
        clientX: (now.clientX + other.clientX) / 2,
        clientY: (now.clientY + other.clientY) / 2,
      });
      this.zoom(span(now) / Math.max(span(was), 1), middle.x, middle.y);
    }
    this.fingers.set(event.pointerId, now);
  }

  /** Only once the map has the focus: else a reader who scrolls past would be held up. */
  wheel(event) {
    if (document.activeElement !== this.svg && !event.ctrlKey) return;
    event.preventDefault();
    const at = this.point(event);
    this.zoom(Math.exp(-event.deltaY / 400), at.x, at.y);
  }

  /** Pan so far that a point of the plane is in sight. */
  reveal([x, y]) {
    const { box } = this;
    const outside = x < box.x || y < box.y || x > box.x + box.width || y > box.y + box.height;
    if (outside) this.show({ ...box, x: x - box.width / 2, y: y - box.height / 2 });
  }
}
