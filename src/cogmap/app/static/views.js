/* The views at nodes, fetched when they are first needed. */

const AT_ONCE = 6;

export class Views {
  constructor(kind, arrived) {
    Object.assign(this, { kind, arrived, pictures: new Map(), waiting: [], loading: 0 });
  }

  address(node) {
    return `/api/view/${node}?map=${this.kind}`;
  }

  /** The view at a node if it is loaded; otherwise null, and it is requested. */
  get(node) {
    const known = this.pictures.get(node);
    if (known === undefined) {
      this.pictures.set(node, null);
      this.waiting.push(node);
      this.next();
    }
    return known ?? null;
  }

  next() {
    if (this.loading >= AT_ONCE || this.waiting.length === 0) return;
    const node = this.waiting.pop(); // the last one requested first
    const picture = new Image();
    this.loading += 1;
    const done = () => {
      this.loading -= 1;
      this.next();
    };
    picture.onload = () => {
      this.pictures.set(node, picture);
      this.arrived();
      done();
    };
    picture.onerror = done;
    picture.src = this.address(node);
  }
}
