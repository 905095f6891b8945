/* The map on a stage: hovering, selecting and marking nodes. */

import * as marks from "./marks.js";
import { Painter } from "./painter.js";
import { crowding, extent, flatPoints, makeScene } from "./scene.js";
import { Stage } from "./stage.js";

const MORPH = 420; // milliseconds from one placement to another
const MORPHED = 3000; // nodes; larger maps are not animated

/**
 * A drawing of a map. Calls `picked(node)` for a click or Enter on a node, `pointed(node or null)` when the node under
 * the pointer changes, `reached(node)` when the keyboard's cursor moves.
 */
export class MapView {
  constructor(host, { label, keys, theme, picked, pointed, reached, cleared }) {
    Object.assign(this, { theme, picked, pointed, reached, cleared, scene: null, cursor: null, hovered: null });
    this.keysMove = true; // false: another part of the page uses the arrow keys
    this.look = { avoid: new Set(), merged: null, weak: null, markWeak: false, views: null, crowding: 1 };
    this.marks = { path: null, policy: null, start: null, goal: null, belief: null, trail: null, agent: null };
    this.stage = new Stage(host, {
      label,
      keys,
      paint: (context, camera) => this.paint(context, camera),
      mark: (context, camera, now) => this.mark(context, camera, now),
      tap: (x, y) => this.tap(x, y),
      hover: (x, y) => this.hover(x, y),
    });
    this.stage.above.addEventListener("keydown", (event) => this.key(event));
    host.mapView = this; // for the console, and for tests that need the pixels of a node
  }

  /** Show another map, with its nodes at a placement's points. */
  show(map, placement) {
    this.map = map;
    this.scene = makeScene(map);
    this.cursor = null;
    this.hovered = null;
    this.morph = null;
    this.setPoints(placement);
    this.stage.fit(extent(this.points, this.radius));
    this.stage.repaint();
  }

  setPoints(placement) {
    this.points = flatPoints(placement.points);
    this.radius = placement.radius;
    this.look.crowding = crowding(this.scene.lanes, this.points, this.radius);
  }

  /** Show the same map in another placement. */
  place(placement) {
    const [points, radius] = [this.points, this.radius];
    this.setPoints(placement);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || this.scene.count > MORPHED;
    this.morph = still ? null : { points, radius, to: this.points, toRadius: this.radius, start: performance.now() };
    this.stage.fit(extent(this.points, this.radius), !still);
    this.stage.repaint();
  }

  /** Change how the map itself is drawn: `avoid`, `merged`, `weak`, `markWeak`. */
  setLook(changes) {
    if (Object.entries(changes).every(([name, value]) => isSame(this.look[name], value))) return;
    Object.assign(this.look, changes);
    this.stage.repaint();
  }

  /** Change the marks on top of it: `path`, `policy`, `start`, `goal`, `belief`, `trail`, `agent`. */
  setMarks(changes) {
    marks.change(this, changes);
  }

  paint(context, camera) {
    if (this.scene === null) return;
    this.painter(context, camera).paint(this.look);
  }

  painter(context, camera) {
    return new Painter(context, this.scene, this.points, this.radius, camera, this.theme());
  }

  mark(context, camera, now) {
    if (this.scene === null) return false;
    const moving = this.advance(now);
    const { theme, radius } = { theme: this.theme(), radius: this.radius };
    const size = radius * camera.scale;
    const at = marks.placed(camera, this.points);
    const { path, policy, start, goal, belief, trail, agent } = this.marks;
    const likely = belief ? marks.drawBelief(context, camera, at, belief, size, theme, this.scene.colourOf) : [];
    if (size > 6) this.painter(context, camera).paintLabels(new Set(), new Set(likely));
    if (trail) marks.drawTrail(context, at, trail.nodes, size, theme, trail.jumps);
    if (policy && size > 4) marks.drawPolicy(context, at, policy, size, theme);
    const drawing = path ? marks.drawPath(context, at, path, size, theme, now - this.pathBegun) : false;
    if (path && size > 4) this.painter(context, camera).paintStops(path, this.look.views);
    if (start !== null) marks.drawEnd(context, at(start), "A", size, theme);
    if (goal !== null) marks.drawEnd(context, at(goal), "B", size, theme);
    if (agent !== null) marks.drawAgent(context, at(agent), size, theme);
    if (this.hovered !== null) marks.drawRing(context, at(this.hovered), size, theme.ink, 2);
    if (this.cursor !== null) marks.drawRing(context, at(this.cursor), size + 3, theme.path, 3);
    return drawing || moving;
  }

  /** Move the nodes towards another placement; true while they move. */
  advance(now) {
    if (!this.morph) return false;
    const { points, radius, to, toRadius, start } = this.morph;
    const part = Math.min(1, Math.max(0, (now - start) / MORPH));
    const eased = part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
    this.points = part === 1 ? to : to.map((goal, place) => blend(points[place], goal, eased));
    this.radius = radius + (toRadius - radius) * eased;
    if (part === 1) this.morph = null;
    this.stage.repaint();
    return this.morph !== null;
  }

  /** The position of a node in pixels of the stage. */
  placeOf(node) {
    return this.stage.camera.toStage(this.points[2 * node], this.points[2 * node + 1]);
  }

  /** The node at a point of the plane, within a few pixels; null if there is none. */
  nodeAt(x, y) {
    if (this.scene === null || Number.isNaN(x)) return null;
    const reach = Math.max(1.15 * this.radius, 9 / this.stage.camera.scale);
    let [nearest, found] = [reach * reach, null];
    for (let node = 0; node < this.scene.count; node += 1) {
      const [dx, dy] = [this.points[2 * node] - x, this.points[2 * node + 1] - y];
      const distance = dx * dx + dy * dy;
      if (distance < nearest) [nearest, found] = [distance, node];
    }
    return found;
  }

  tap(x, y) {
    this.stage.above.focus({ preventScroll: true, focusVisible: false });
    const node = this.nodeAt(x, y);
    if (node === null) return;
    this.cursor = null;
    this.picked(node);
  }

  hover(x, y) {
    const node = this.nodeAt(x, y);
    if (node === this.hovered) return;
    this.hovered = node;
    this.stage.above.style.cursor = node === null ? "" : "pointer";
    this.pointed(node);
    this.stage.request();
  }

  key(event) {
    const turns = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (event.altKey || event.ctrlKey || event.metaKey || this.scene === null) return;
    if (turns[event.key] && !this.keysMove) return;
    if (turns[event.key]) this.step(turns[event.key]);
    else if (event.key === "+" || event.key === "=") this.stage.zoom(1.4);
    else if (event.key === "-") this.stage.zoom(1 / 1.4);
    else if (event.key === "0") this.stage.fly(this.stage.camera.homeView());
    else if (event.key === "Escape") this.cleared();
    else if ((event.key === "Enter" || event.key === " ") && this.cursor !== null) this.picked(this.cursor);
    else return;
    event.preventDefault();
  }

  /** Move the cursor to the nearest node in a direction; sideways distance counts double. */
  step([dx, dy]) {
    const from = this.cursor ?? this.marks.goal ?? this.marks.start;
    const next = from === null ? this.middleNode() : this.neighbour(from, dx, dy);
    if (next === null) return;
    this.cursor = next;
    this.stage.reveal(this.points[2 * next], this.points[2 * next + 1]);
    this.stage.request();
    this.reached(next);
  }

  middleNode() {
    const { x, y, width, height } = this.stage.camera.home;
    const [nearest] = [...Array(this.scene.count).keys()]
      .filter((node) => !Number.isNaN(this.points[2 * node]))
      .map((node) => [
        node,
        Math.hypot(this.points[2 * node] - x - width / 2, this.points[2 * node + 1] - y - height / 2),
      ])
      .reduce((one, two) => (two[1] < one[1] ? two : one), [null, Infinity]);
    return nearest;
  }

  neighbour(from, dx, dy) {
    const [x, y] = [this.points[2 * from], this.points[2 * from + 1]];
    let [nearest, found] = [Infinity, null];
    for (let node = 0; node < this.scene.count; node += 1) {
      const ahead = (this.points[2 * node] - x) * dx + (this.points[2 * node + 1] - y) * dy;
      const aside = Math.abs((this.points[2 * node] - x) * dy) + Math.abs((this.points[2 * node + 1] - y) * dx);
      if (ahead > 1e-9 && ahead >= aside && ahead + 2 * aside < nearest) [nearest, found] = [ahead + 2 * aside, node];
    }
    return found;
  }
}

function isSame(one, two) {
  if (!(one instanceof Set && two instanceof Set)) return one === two;
  return one.size === two.size && [...one].every((item) => two.has(item));
}

function blend(from, to, part) {
  return Number.isNaN(from) ? to : from + (to - from) * part;
}
