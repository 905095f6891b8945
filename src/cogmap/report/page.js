/* The map explorer of report.html: draws the map from the JSON in the page, plans between two clicked nodes. */

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

/** A square in an observation's colour. */
function swatch(colour) {
  const box = element("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" });
  element("rect", { x: 0.5, y: 0.5, width: 9, height: 9, rx: 2, fill: colour }, box);
  return box;
}

/** The explorer: what is chosen, and the picture and the words that follow from it. */
class Explorer {
  constructor(map) {
    this.map = map;
    this.roads = makeRoads(map);
    this.count = map.nodes.observation.length;
    this.avoid = new Set();
    this.start = map.example ? map.example.start : null;
    this.goal = map.example ? map.example.goal : null;
    this.cursor = null;
    this.svg = document.getElementById("map");
    this.told = document.getElementById("told");
    this.steps = document.getElementById("steps");
    this.ends = { start: document.getElementById("start"), goal: document.getElementById("goal") };
    this.view = new View(this.svg);
    this.listPlacements();
    this.listObservations();
    this.listen();
    this.place(map.placements[0]);
  }

  listPlacements() {
    const set = document.getElementById("placements");
    set.hidden = this.map.placements.length < 2;
    this.map.placements.forEach((placement, index) => {
      const label = document.createElement("label");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "placement", checked: index === 0 });
      radio.addEventListener("change", () => this.place(placement));
      label.append(radio, ` ${placement.name}`);
      set.append(label);
    });
  }

  listObservations() {
    const list = document.getElementById("avoid");
    for (const seen of [...new Set(this.map.nodes.observation)].sort((one, two) => one - two)) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "false");
      button.append(swatch(this.map.colours[seen]), this.map.observationLabels[seen]);
      button.addEventListener("click", () => {
        if (!this.avoid.delete(seen)) this.avoid.add(seen);
        button.setAttribute("aria-pressed", String(this.avoid.has(seen)));
        this.plan();
      });
      list.append(button);
    }
  }

  listen() {
    this.svg.addEventListener("click", (event) => {
      const node = event.target.closest ? event.target.closest(".node") : null;
      this.svg.focus({ preventScroll: true });
      if (node && this.view.travelled <= 4) this.choose(Number(node.dataset.node));
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    for (const [end, input] of Object.entries(this.ends)) {
      input.max = this.count - 1;
      input.addEventListener("input", () => this.enter(end, input.value));
    }
    document.getElementById("clear").addEventListener("click", () => this.clear());
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.look(button.dataset.view));
    }
  }

  look(how) {
    if (how === "fit") this.view.show({ ...this.view.home });
    else this.view.zoom(how === "in" ? 1.4 : 1 / 1.4);
  }

  /** Draw the map with its nodes at a placement's points; a node at null has no place and is left out. */
  place(placement) {
    this.points = placement.points;
    this.radius = placement.radius;
    this.svg.replaceChildren();
    this.drawRoads();
    this.pathLayer = element("g", {}, this.svg);
    const nodes = element("g", { "stroke-width": this.radius * 0.12 }, this.svg);
    this.circles = this.points.map((point, node) => point && this.drawNode(node, point, nodes));
    this.endLayer = element("g", {}, this.svg);
    this.view.fit(this.extent());
    this.plan();
  }

  drawRoads() {
    const { points, radius } = this;
    const layer = element("g", { class: "roads", "stroke-width": radius * 0.16 }, this.svg);
    const head = element("marker", { id: "head", viewBox: "0 0 6 6", refX: 6, refY: 3, orient: "auto" }, layer);
    element("path", { class: "arrow", d: "M0 0L6 3L0 6z", stroke: "none" }, head);
    let both = "";
    this.roads.forEach((roads, node) => {
      for (const { to } of roads) {
        if (!points[node] || !points[to]) continue;
        const mutual = this.roads[to].some((back) => back.to === node);
        if (mutual && node < to) both += `M${points[node]}L${points[to]}`;
        if (!mutual) this.drawArrow(points[node], points[to], layer);
      }
    });
    element("path", { d: both }, layer);
  }

  drawArrow([x1, y1], [x2, y2], layer) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const share = Math.max(0, 1 - (this.radius * 1.1) / length); // the head touches the node's border
    const ends = { x1, y1, x2: x1 + (x2 - x1) * share, y2: y1 + (y2 - y1) * share };
    element("line", { ...ends, "marker-end": "url(#head)" }, layer);
  }

  drawNode(node, [cx, cy], layer) {
    const fill = this.map.colours[this.map.nodes.observation[node]];
    const circle = element("circle", { class: "node", cx, cy, r: this.radius, fill, "data-node": node }, layer);
    element("title", {}, circle).textContent = `${this.describe(node)}, ${this.map.nodes.support[node]} visits`;
    return circle;
  }

  describe(node) {
    return `node ${node}: ${this.map.observationLabels[this.map.nodes.observation[node]]}`;
  }

  extent() {
    const placed = this.points.filter((point) => point !== null);
    const span = (axis) => {
      const values = placed.map((point) => point[axis]);
      const low = values.reduce((one, two) => Math.min(one, two), Infinity) - 2 * this.radius;
      const high = values.reduce((one, two) => Math.max(one, two), -Infinity) + 2 * this.radius;
      return placed.length ? [low, high - low] : [0, 1];
    };
    const [[x, width], [y, height]] = [span(0), span(1)];
    return { x, y, width, height };
  }

  /** A click or Enter on a node: the start if none is chosen or both are, else the goal. */
  choose(node) {
    if (this.start === null || this.goal !== null) [this.start, this.goal] = [node, null];
    else this.goal = node;
    this.cursor = node;
    this.plan();
  }

  enter(end, text) {
    const node = Number(text);
    const known = text !== "" && Number.isInteger(node) && node >= 0 && node < this.count;
    this[end] = known ? node : null;
    this.plan();
    if (text !== "" && !known) this.say(`nodes go from 0 to ${this.count - 1}`);
  }

  clear() {
    this.start = null;
    this.goal = null;
    this.plan();
  }

  key(event) {
    const turns = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const looks = { "+": "in", "=": "in", "-": "out", 0: "fit" };
    if (turns[event.key]) this.step(turns[event.key]);
    else if (looks[event.key]) this.look(looks[event.key]);
    else if (event.key === "Escape") this.clear();
    else if ((event.key === "Enter" || event.key === " ") && this.cursor !== null) this.choose(this.cursor);
    else return;
    event.preventDefault();
  }

  /** Move the cursor to the node nearest in a direction, distance to the side counting double. */
  step([dx, dy]) {
    const from = this.cursor === null ? this.start : this.cursor;
    if (from === null || !this.points[from]) {
      this.cursor = this.points.findIndex((point) => point !== null);
    } else {
      const [x, y] = this.points[from];
      let nearest = Infinity;
      this.points.forEach((point, node) => {
        if (!point || node === from) return;
        const ahead = (point[0] - x) * dx + (point[1] - y) * dy;
        const aside = Math.abs((point[0] - x) * dy) + Math.abs((point[1] - y) * dx);
        const distance = ahead + 2 * aside;
        if (ahead > 1e-9 && ahead >= aside && distance < nearest) [nearest, this.cursor] = [distance, node];
      });
    }
    if (this.cursor === null || this.cursor < 0) return;
    this.view.reveal(this.points[this.cursor]);
    this.paint();
    this.say(this.describe(this.cursor));
  }

  /** Find the plan and show it. */
  plan() {
    for (const [end, input] of Object.entries(this.ends)) {
      if (document.activeElement !== input) input.value = this[end] === null ? "" : this[end];
    }
    const asked = this.start !== null && this.goal !== null;
    this.found = asked ? shortestPlan(this.map, this.roads, this.start, this.goal, this.avoid) : null;
    this.paint();
    this.tell(asked);
  }

  paint() {
    this.circles.forEach((circle, node) => {
      if (!circle) return;
      const off = this.avoid.has(this.map.nodes.observation[node]);
      circle.classList.toggle("off", off && node !== this.start && node !== this.goal);
      circle.classList.toggle("cursor", node === this.cursor);
      circle.setAttribute("stroke-width", this.radius * (node === this.cursor ? 0.4 : 0.12));
    });
    this.pathLayer.replaceChildren();
    this.endLayer.replaceChildren();
    const way = (this.found ? this.found.nodes : []).map((node) => this.points[node]).filter(Boolean);
    if (way.length > 1) {
      element("path", { class: "path", d: `M${way.join("L")}`, "stroke-width": this.radius * 0.7 }, this.pathLayer);
    }
    this.drawEnd("A", this.start);
    this.drawEnd("B", this.goal);
  }

  drawEnd(name, node) {
    if (node === null || !this.points[node]) return;
    const [x, y] = this.points[node];
    const group = element("g", { class: "end", transform: `translate(${x} ${y})` }, this.endLayer);
    element("circle", { r: this.radius * 0.85, "stroke-width": this.radius * 0.12 }, group);
    element("text", { "font-size": this.radius * 1.1 }, group).textContent = name;
  }

  /** The plan in words: each action and what is to be seen after it. */
  tell(asked) {
    this.steps.replaceChildren();
    if (!asked) {
      this.say(this.start === null ? "Choose a start." : `From ${this.describe(this.start)}. Choose a goal.`);
    } else if (this.found === null) {
      this.say("There is no way on the map.");
    } else {
      const { nodes, actions, dropped } = this.found;
      const length = `${actions.length} action${actions.length === 1 ? "" : "s"}`;
      this.say(dropped ? `${length}. There is no way round: this is the shortest of all.` : `${length}.`);
      actions.forEach((action, index) => this.tellStep(action, nodes[index + 1]));
    }
  }

  tellStep(action, node) {
    const item = document.createElement("li");
    const seen = this.map.nodes.observation[node];
    item.append(`${this.map.actionLabels[action]} → `, swatch(this.map.colours[seen]));
    item.append(this.map.observationLabels[seen]);
    this.steps.append(item);
  }

  say(text) {
    this.told.textContent = text;
  }
}

const stored = document.getElementById("map-data");
if (stored) new Explorer(JSON.parse(stored.textContent));
