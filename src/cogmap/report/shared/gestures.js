/* Mouse, wheel and touch events as pan, zoom, tap and hover in pixels of an element. */

const DRAG = 5; // pixels; a longer movement is not a tap

/** Listen on an element; `handlers` are pan(dx, dy), zoom(factor, x, y), tap(x, y), hover(x, y) and leave(). */
export class Gestures {
  constructor(element, handlers) {
    this.element = element;
    this.handlers = handlers;
    this.fingers = new Map(); // pointer id -> its last position, in pixels of the element
    this.travelled = 0;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event, true));
    element.addEventListener("pointercancel", (event) => this.up(event, false));
    element.addEventListener("pointerleave", () => handlers.leave());
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button !== 0) return;
    if (this.fingers.size === 0) this.travelled = 0;
    if (event.isTrusted) this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.at(event));
  }

  move(event) {
    const now = this.at(event);
    const was = this.fingers.get(event.pointerId);
    if (was === undefined) return this.handlers.hover(...now);
    this.travelled += Math.hypot(now[0] - was[0], now[1] - was[1]);
    if (this.fingers.size === 2) this.pinch(event.pointerId, was, now);
    else if (this.travelled > DRAG) this.handlers.pan(now[0] - was[0], now[1] - was[1]);
    this.fingers.set(event.pointerId, now);
    return undefined;
  }

  /** Two fingers: zoom with their distance and pan with their middle. */
  pinch(pointer, was, now) {
    const [, other] = [...this.fingers].find(([id]) => id !== pointer);
    const span = (finger) => Math.max(Math.hypot(finger[0] - other[0], finger[1] - other[1]), 1);
    this.handlers.pan((now[0] - was[0]) / 2, (now[1] - was[1]) / 2);
    this.handlers.zoom(span(now) / span(was), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  up(event, completed) {
    const alone = this.fingers.size === 1;
    const known = this.fingers.delete(event.pointerId);
    if (known && completed && alone && this.travelled <= DRAG) this.handlers.tap(...this.at(event));
  }

  /** Zoom only while the element has the focus, so that scrolling the page past it still works. */
  wheel(event) {
    if (document.activeElement !== this.element && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1; // pixels per unit; mode 1 counts lines
    const notch = event.ctrlKey ? 100 : 400; // a trackpad sends a pinch as a wheel event with ctrl, in hundredths
    this.handlers.zoom(Math.exp((-event.deltaY * lines) / notch), ...this.at(event));
  }
}
