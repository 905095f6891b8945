/* The true room on a stage: its cells and walls, and the agent in it. */

import * as marks from "./marks.js";
import { extent, textOn } from "./scene.js";
import { Stage } from "./stage.js";

const LETTER = 15; // pixels of a cell from which it has a label

/**
 * A drawing of the true world. `room` has points [x, y] of its cells, each 1 wide, `observation` of each, `colours`,
 * `labels`, and `moves` between them. Calls `picked(position)` for a click on a cell.
 */
export class RoomView {
  constructor(host, { label, keys, theme, picked }) {
    Object.assign(this, { theme, picked, room: null });
    this.marks = { path: null, missed: false, trail: null, agent: null, start: null, goal: null };
    this.stage = new Stage(host, {
      label,
      keys,
      paint: (context, camera) => this.paint(context, camera),
      mark: (context, camera, now) => this.mark(context, camera, now),
      tap: (x, y) => this.tap(x, y),
      hover: () => {},
    });
    host.roomView = this; // for the console, and for tests
  }

  show(room) {
    this.room = room;
    [this.places, this.side] = spread(room.points);
    this.points = Float32Array.from(this.places.flat());
    this.walls = findWalls(room);
    this.stage.fit(extent(this.points, 0.34));
    this.stage.repaint();
  }

  setMarks(changes) {
    marks.change(this, changes);
  }

  paint(context, camera) {
    context.clearRect(0, 0, camera.width, camera.height);
    if (this.room === null) return;
    this.paintCells(context, camera);
    if (camera.scale * this.side >= LETTER) this.paintLabels(context, camera);
    this.paintWalls(context, camera);
  }

  paintCells(context, camera) {
    const gap = camera.scale * this.side > 8 ? 1 : 0;
    const side = Math.max(camera.scale * this.side - gap, 0.8);
    this.places.forEach(([x, y], position) => {
      const [left, top] = camera.toStage(x, y);
      context.fillStyle = this.room.colours[this.room.observation[position]];
      context.fillRect(left - side / 2, top - side / 2, side, side);
    });
  }

  paintLabels(context, camera) {
    const height = Math.min(13, camera.scale * this.side * 0.42);
    Object.assign(context, {
      textAlign: "center",
      textBaseline: "middle",
      font: `500 ${height}px ${this.theme().font}`,
    });
    context.globalAlpha = 0.75;
    this.places.forEach(([x, y], position) => {
      const seen = this.room.observation[position];
      const word = this.room.labels[seen];
      const text = word.slice(0, Math.max(1, Math.floor((camera.scale * this.side) / (0.6 * height))));
      context.fillStyle = textOn(this.room.colours[seen]);
      context.fillText(text, ...camera.toStage(x, y));
    });
    context.globalAlpha = 1;
  }

  paintWalls(context, camera) {
    Object.assign(context, { strokeStyle: this.theme().wall, lineCap: "round" });
    context.lineWidth = Math.min(3, Math.max(1, camera.scale * 0.09));
    context.beginPath();
    for (const [x1, y1, x2, y2] of this.walls) {
      context.moveTo(...camera.toStage(x1, y1));
      context.lineTo(...camera.toStage(x2, y2));
    }
    context.stroke();
  }

  mark(context, camera, now) {
    if (this.room === null) return false;
    const theme = this.theme();
    const size = camera.scale * this.side * 0.42;
    const at = marks.placed(camera, this.points);
    const { path, missed, trail, agent, start, goal } = this.marks;
    const jumps = (steps) => (step) => steps[step] !== undefined && !this.isNear(steps[step - 1], steps[step]);
    if (trail) marks.drawTrail(context, at, trail, size, theme, jumps(trail));
    const drawing = path
      ? marks.drawPath(context, at, path, 0.7 * size, theme, now - this.pathBegun, jumps(path))
      : false;
    if (start !== null) marks.drawEnd(context, at(start), "A", size, theme);
    if (goal !== null) marks.drawEnd(context, at(goal), "B", size, theme);
    if (path && missed) marks.drawCross(context, at(path[path.length - 1]), size, theme);
    if (agent !== null) marks.drawAgent(context, at(agent), size, theme);
    return drawing;
  }

  /** Whether two cells are adjacent in the picture; cells on both sides of a seam are not. */
  isNear(one, two) {
    const { points } = this;
    const away = Math.abs(points[2 * one] - points[2 * two]) + Math.abs(points[2 * one + 1] - points[2 * two + 1]);
    return away <= 1.01;
  }

  tap(x, y) {
    this.stage.above.focus({ preventScroll: true, focusVisible: false });
    const reach = this.side / 2;
    const found = this.places.findIndex((at) => Math.abs(at[0] - x) <= reach && Math.abs(at[1] - y) <= reach);
    if (found >= 0) this.picked(found);
  }
}

/** Positions that share a cell, such as headings, side by side: the point of each, and its width. */
function spread(points) {
  const shared = new Map(); // cell -> its positions
  points.forEach(([x, y], position) => {
    const key = `${x},${y}`;
    shared.set(key, [...(shared.get(key) ?? []), position]);
  });
  const most = [...shared.values()].reduce((count, positions) => Math.max(count, positions.length), 1);
  const across = Math.ceil(Math.sqrt(most));
  const places = points.map(([x, y], position) => {
    const slot = shared.get(`${x},${y}`).indexOf(position);
    const middle = (across - 1) / 2;
    return [x + ((slot % across) - middle) / across, y + (Math.floor(slot / across) - middle) / across];
  });
  return [places, 1 / across];
}

/** Lines between adjacent cells without a move between them, and around the outside. */
function findWalls({ points, moves }) {
  const cells = new Map(points.map(([x, y]) => [`${x},${y}`, [x, y]]));
  const keyOf = points.map(([x, y]) => `${x},${y}`);
  const open = new Set(moves.source.map((from, move) => `${keyOf[from]} ${keyOf[moves.target[move]]}`));
  const walls = [];
  for (const [key, [x, y]] of cells) {
    for (const [dx, dy] of [
      [1, 0],
      [0, 1],
      [-1, 0],
      [0, -1],
    ]) {
      const other = `${x + dx},${y + dy}`;
      if (cells.has(other) && (dx < 0 || dy < 0)) continue; // each inner border once
      if (open.has(`${key} ${other}`) || open.has(`${other} ${key}`)) continue;
      const [middleX, middleY] = [x + dx / 2, y + dy / 2];
      walls.push([middleX - dy / 2, middleY - dx / 2, middleX + dy / 2, middleY + dx / 2]);
    }
  }
  return walls;
}
