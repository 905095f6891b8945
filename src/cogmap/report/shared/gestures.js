/* Mouse, wheel and fingers, told as pan, zoom, tap and hover in pixels of an element. */

const DRAG = 5; // pixels: what travels farther is no tap

/** Listen on an element; `told` has the functions pan(dx, dy), zoom(factor, x, y), tap(x, y), hover(x, y) and leave(). */
export class Gestures {
  constructor(element, told) {
    this.element = element;
    this.told = told;
    this.fingers = new Map(); // pointer id -> where it was last, in pixels of the element
    this.travelled = 0;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event, true));
    element.addEventListener("pointercancel", (event) => this.up(event, false));
    element.addEventListener("pointerleave", () => told.leave());
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
    if (was === undefined) return this.told.hover(...now);
    this.travelled += Math.hypot(now[0] - was[0], now[1] - was[1]);
    if (this.fingers.size === 2) this.pinch(event.pointerId, was, now);
    else if (this.travelled > DRAG) this.told.pan(now[0] - was[0], now[1] - was[1]);
    this.fingers.set(event.pointerId, now);
    return undefined;
  }

  /** Two fingers: what lies between them grows with their distance and follows their middle. */
  pinch(pointer, was, now) {
    const [, other] = [...this.fingers].find(([id]) => id !== pointer);
    const span = (finger) => Math.max(Math.hypot(finger[0] - other[0], finger[1] - other[1]), 1);
    this.told.pan((now[0] - was[0]) / 2, (now[1] - was[1]) / 2);
    this.told.zoom(span(now) / span(was), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  up(event, meant) {
    const alone = this.fingers.size === 1;
    const known = this.fingers.delete(event.pointerId);
    if (known && meant && alone && this.travelled <= DRAG) this.told.tap(...this.at(event));
  }

  /** Only once the element has the focus: else a reader who scrolls past would be held up. */
  wheel(event) {
    if (document.activeElement !== this.element && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1; // a wheel that counts in lines
    const notch = event.ctrlKey ? 100 : 400; // a pinch on a trackpad comes as a wheel with ctrl, in hundredths
    this.told.zoom(Math.exp((-event.deltaY * lines) / notch), ...this.at(event));
  }
}
