/* Draws a map's nodes and edges on a canvas, in as much detail as the zoom allows. */

import { fitLabel } from "./labels.js";

const THICKNESS = [0.6, 1, 1.5, 2.2]; // pixels, by support
const APART = 20; // pixels between two nodes from which their edges are drawn side by side, in colour
const CLOSE = 40; // pixels from which edges have dashes and heads too
const DOT = 2.2; // pixels of radius; a smaller node is drawn as a square
const LETTER = 5.6; // pixels of radius from which a node has a label
const PICTURE = 22; // pixels of radius from which a node shows its view
const FULL_TURN = 2 * Math.PI;

/** The colour and dash of an action's edges, so that actions do not differ by colour alone. */
export const ACTION_STYLES = [
  { colour: "--action-0", dash: [] },
  { colour: "--action-1", dash: [6, 3] },
  { colour: "--action-2", dash: [1.5, 3] },
  { colour: "--action-3", dash: [8, 3, 1.5, 3] },
  { colour: "--action-4", dash: [3, 3] },
  { colour: "--action-5", dash: [12, 4] },
];

/** A guess is faint and has wide gaps, whatever its action. */
export const GUESS = { dash: [2, 6], alpha: 0.55 };

export function actionStyle(action) {
  return ACTION_STYLES[action % ACTION_STYLES.length];
}

/** Draws a scene with its nodes at `points`, seen by a camera, on a 2D context in pixels. */
export class Painter {
  constructor(context, scene, points, radius, camera, theme) {
    Object.assign(this, { context, scene, points, radius, camera, theme });
    this.scale = camera.scale;
    this.left = camera.width / 2 - camera.x * camera.scale;
    this.top = camera.height / 2 - camera.y * camera.scale;
    this.size = radius * camera.scale; // of a node, in pixels
    this.isClose = 4 * this.size >= CLOSE;
  }

  x(node) {
    return this.points[2 * node] * this.scale + this.left;
  }

  y(node) {
    return this.points[2 * node + 1] * this.scale + this.top;
  }

  /** Whether a line between two points may be visible; false where an end has no point. */
  sees(x1, y1, x2, y2) {
    const { width, height } = this.camera;
    return Math.max(x1, x2) >= 0 && Math.max(y1, y2) >= 0 && Math.min(x1, x2) <= width && Math.min(y1, y2) <= height;
  }

  seesNode(x, y) {
    const { size } = this;
    return x > -size && y > -size && x < this.camera.width + size && y < this.camera.height + size;
  }

  paint(look) {
    const { context } = this;
    context.clearRect(0, 0, this.camera.width, this.camera.height);
    context.globalAlpha = 1;
    if (4 * this.size >= APART || (look.markWeak && look.weak?.size)) this.paintLanes(look);
    else this.paintPairs();
    this.paintNodes(look.avoid);
    if (this.size >= LETTER) this.paintLabels(look.avoid);
    if (this.size >= PICTURE && look.views) this.paintViews(look.views);
    if (look.merged) this.paintRings(look.merged);
  }

  paintPairs() {
    const { context, theme, scene } = this;
    context.setLineDash([]);
    context.strokeStyle = theme.edge;
    context.lineWidth = Math.min(1, Math.max(0.5, this.size / 4));
    context.beginPath();
    for (let place = 0; place < scene.pairs.length; place += 2) this.line(scene.pairs[place], scene.pairs[place + 1]);
    context.stroke();
  }

  line(from, to) {
    const [x1, y1, x2, y2] = [this.x(from), this.y(from), this.x(to), this.y(to)];
    if (!this.sees(x1, y1, x2, y2)) return;
    this.context.moveTo(x1, y1);
    this.context.lineTo(x2, y2);
  }

  /** Each edge as its own line with a head, in its action's colour and dash, thicker for more support. */
  paintLanes(look) {
    const { context, theme, scene } = this;
    const alpha = look.markWeak ? 0.3 : Math.max(0.35, Math.min(1, 1.3 / look.crowding));
    for (const group of scene.lanes.groups) {
      const style = group.guessed ? GUESS : actionStyle(group.action);
      context.globalAlpha = alpha * (style.alpha ?? 1);
      context.strokeStyle = theme.actions[group.action % ACTION_STYLES.length];
      context.fillStyle = context.strokeStyle;
      context.setLineDash(this.isClose || group.guessed ? style.dash : []);
      context.lineWidth = THICKNESS[group.width] * (this.isClose ? 1 : 0.75);
      this.paintGroup(group, look.markWeak ? look.weak : null, false);
    }
    context.globalAlpha = 1;
    if (look.weak && look.markWeak) this.paintWeak(look.weak);
    context.setLineDash([]);
  }

  paintGroup(group, weak, onlyWeak) {
    const { context, scene } = this;
    const heads = [];
    context.beginPath();
    for (let lane = group.start; lane < group.end; lane += 1) {
      if (weak !== null && weak.has(scene.lanes.edge[lane]) !== onlyWeak) continue;
      const ends = this.laneEnds(lane);
      if (ends === null) continue;
      context.moveTo(ends[0], ends[1]);
      context.lineTo(ends[2], ends[3]);
      heads.push(ends);
    }
    context.stroke();
    if (!this.isClose) return;
    context.beginPath();
    const length = Math.min(5, this.size * 0.32) + 1.2 * THICKNESS[group.width];
    for (const ends of heads) this.head(ends, length);
    context.fill();
  }

  /** The ends of an edge's line: parallel to the line between its nodes, from border to border. */
  laneEnds(lane) {
    const { source, target, offset } = this.scene.lanes;
    const [x1, y1] = [this.x(source[lane]), this.y(source[lane])];
    const [x2, y2] = [this.x(target[lane]), this.y(target[lane])];
    if (!this.sees(x1, y1, x2, y2)) return null;
    const length = Math.hypot(x2 - x1, y2 - y1);
    const aside = Math.max(-0.8, Math.min(0.8, offset[lane] * 0.22)) * this.size;
    const border = Math.sqrt(this.size * this.size - aside * aside);
    if (length <= 2 * border) return null;
    const [along, across] = [(x2 - x1) / length, (y2 - y1) / length];
    const [shiftX, shiftY] = [-across * aside, along * aside];
    return [
      x1 + along * border + shiftX,
      y1 + across * border + shiftY,
      x2 - along * border + shiftX,
      y2 - across * border + shiftY,
      along,
      across,
    ];
  }

  head([, , x, y, along, across], length) {
    const { context } = this;
    const half = length * 0.42;
    context.moveTo(x, y);
    context.lineTo(x - along * length - across * half, y - across * length + along * half);
    context.lineTo(x - along * length + across * half, y - across * length - along * half);
    context.closePath();
  }

  /** Edges with little support, in the warning colour. */
  paintWeak(weak) {
    const { context, theme, scene } = this;
    context.strokeStyle = theme.weak;
    context.fillStyle = theme.weak;
    context.setLineDash([]);
    context.lineWidth = 2.2;
    this.paintGroup({ start: 0, end: scene.lanes.edge.length, width: 1 }, weak, true);
  }

  paintNodes(avoid) {
    const { context, scene } = this;
    for (const { seen, colour, nodes } of scene.groups) {
      context.globalAlpha = avoid.has(seen) ? 0.22 : 1;
      context.fillStyle = colour;
      context.beginPath();
      for (const node of nodes) this.node(node);
      context.fill();
      if (this.size < 3) continue;
      context.strokeStyle = this.theme.outline;
      context.lineWidth = Math.min(1.2, this.size * 0.14);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  node(node) {
    const [x, y, { context, size }] = [this.x(node), this.y(node), this];
    if (!this.seesNode(x, y)) return;
    if (size < DOT) {
      const side = Math.max(1.6 * size, 1.6);
      context.rect(x - side / 2, y - side / 2, side, side);
    } else {
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, FULL_TURN);
    }
  }

  /** The label of each node's observation, cut where it is too long; for all nodes or those in `only`. */
  paintLabels(avoid, only = null) {
    const { context, scene, size } = this;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { seen, text: ink, nodes } of scene.groups) {
      const fitted = fitLabel(scene.labels[seen], size);
      if (fitted === null) continue;
      const { lines, height } = fitted;
      context.globalAlpha = avoid.has(seen) ? 0.4 : 1;
      context.fillStyle = ink;
      context.font = `600 ${height.toFixed(1)}px ${this.theme.font}`;
      for (const node of nodes) {
        const [x, y] = [this.x(node), this.y(node)];
        if (only !== null && !only.has(node)) continue;
        if (!this.seesNode(x, y)) continue;
        lines.forEach((text, line) => {
          context.fillText(text, x, y + height * (0.06 + 1.12 * (line - (lines.length - 1) / 2)));
        });
      }
    }
    context.globalAlpha = 1;
  }

  /** Draw the nodes of a plan again, on top of its line. */
  paintStops(nodes, views) {
    const { scene } = this;
    const stops = new Set(nodes);
    const groups = scene.groups.map((group) => ({ ...group, nodes: group.nodes.filter((node) => stops.has(node)) }));
    this.scene = { ...scene, groups: groups.filter((group) => group.nodes.length > 0) };
    this.paintNodes(new Set());
    if (this.size >= LETTER) this.paintLabels(new Set());
    if (this.size >= PICTURE && views) this.paintViews(views, stops);
    this.scene = scene;
  }

  /** The view of each node, as far as `views(node)` has loaded it. */
  paintViews(views, nodes = [...Array(this.scene.count).keys()]) {
    const { context, size } = this;
    for (const node of nodes) {
      const [x, y] = [this.x(node), this.y(node)];
      const picture = this.seesNode(x, y) ? views(node) : null;
      if (!picture) continue;
      context.save();
      context.beginPath();
      context.arc(x, y, size * 0.86, 0, FULL_TURN);
      context.clip();
      context.drawImage(picture, x - size * 0.86, y - size * 0.86, size * 1.72, size * 1.72);
      context.restore();
    }
  }

  /** Rings around nodes that stand for several places, in the paper's fuchsia. */
  paintRings(merged) {
    const { context } = this;
    const size = Math.max(this.size, DOT) + 1.5;
    context.strokeStyle = this.theme.merged;
    context.lineWidth = Math.max(1.5, Math.min(3.2, this.size * 0.26));
    context.beginPath();
    for (const node of merged) {
      const [x, y] = [this.x(node), this.y(node)];
      if (!this.seesNode(x, y)) continue;
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, FULL_TURN);
    }
    context.stroke();
  }
}
