/* Marks on top of a map or a room: the belief, the trail of the agent, the plan, its start and goal. */

const FULL_TURN = 2 * Math.PI;
const DRAWN_IN = 320; // milliseconds in which a plan is drawn
const LIKELY = 0.6; // of the likeliest node's radius; from here on a node counts as likely

/** The pixels of nodes or cells: `at(index)` gives x and y, or null. */
export function placed(camera, points) {
  return (index) => {
    const [x, y] = [points[2 * index], points[2 * index + 1]];
    return Number.isNaN(x) || x === undefined ? null : camera.toStage(x, y);
  };
}

/** A line through places; a step is dashed where `jumps(step)` is true. */
function trace(context, places, jumps = () => false) {
  for (const dashed of [false, true]) {
    context.setLineDash(dashed ? [2, 6] : []);
    context.beginPath();
    for (let step = 1; step < places.length; step += 1) {
      if (!places[step] || !places[step - 1] || jumps(step) !== dashed) continue;
      context.moveTo(...places[step - 1]);
      context.lineTo(...places[step]);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

/** Draw a line twice: a wider one as its casing, then the line itself. */
function cased(context, casing, colour, width, draw) {
  Object.assign(context, { lineCap: "round", lineJoin: "round" });
  Object.assign(context, { strokeStyle: casing, lineWidth: width + 3 });
  draw();
  Object.assign(context, { strokeStyle: colour, lineWidth: width });
  draw();
}

/** The plan, animated from its start within a third of a second; true until it is complete. */
export function drawPath(context, at, nodes, size, theme, age, jumps = undefined) {
  const part = Math.min(1, Math.max(0, age / DRAWN_IN));
  const reached = part * (nodes.length - 1);
  const places = nodes.slice(0, Math.floor(reached) + 1).map(at);
  const [from, to] = [places[places.length - 1], at(nodes[Math.floor(reached) + 1])];
  const rest = reached % 1;
  if (from && to && rest > 0) places.push([from[0] + (to[0] - from[0]) * rest, from[1] + (to[1] - from[1]) * rest]);
  const width = Math.min(9, Math.max(3, size * 0.5));
  cased(context, theme.casing, theme.path, width, () => trace(context, places, jumps));
  return part < 1;
}

/** The last steps of the agent; `jumps(step)` is true for a teleportation into a step. */
export function drawTrail(context, at, nodes, size, theme, jumps) {
  const places = nodes.map(at);
  const width = Math.min(5, Math.max(2, size * 0.28));
  cased(context, theme.casing, theme.trail, width, () => trace(context, places, jumps));
}

/** The policy: an arrow at each node towards the likeliest node after its action; none where `targets` has null. */
export function drawPolicy(context, at, targets, size, theme) {
  const [begin, end] = [0.95 * size, 2 * size]; // beside the node, whose label stays readable
  cased(context, theme.casing, theme.path, Math.min(3, Math.max(1.2, size * 0.18)), () => {
    context.beginPath();
    targets.forEach((target, node) => {
      const [from, to] = target === null || target === node ? [null, null] : [at(node), at(target)];
      if (!from || !to) return;
      const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
      const along = (length) => [from[0] + length * Math.cos(angle), from[1] + length * Math.sin(angle)];
      const tip = along(end);
      context.moveTo(...along(begin));
      context.lineTo(...tip);
      for (const side of [-2.5, 2.5]) {
        context.moveTo(tip[0] + 0.5 * size * Math.cos(angle + side), tip[1] + 0.5 * size * Math.sin(angle + side));
        context.lineTo(...tip);
      }
    });
    context.stroke();
  });
}

/** A letter in a disc. */
export function drawEnd(context, place, letter, size, theme) {
  if (!place) return;
  const radius = Math.min(15, Math.max(10, size * 0.95));
  disc(context, place, radius, theme.path, theme.casing, 2);
  Object.assign(context, { fillStyle: "#ffffff", textAlign: "center", textBaseline: "middle" });
  context.font = `700 ${Math.round(radius * 1.15)}px ${theme.font}`;
  context.fillText(letter, place[0], place[1] + radius * 0.06);
}

export function drawAgent(context, place, size, theme, colour) {
  if (!place) return;
  const radius = Math.min(13, Math.max(7, size * 0.72));
  disc(context, place, radius, colour ?? theme.trail, theme.casing, 3);
  disc(context, place, radius * 0.34, "#ffffff", null, 0);
}

export function drawRing(context, place, size, colour, width = 3) {
  if (!place) return;
  Object.assign(context, { strokeStyle: colour, lineWidth: width });
  context.beginPath();
  context.arc(...place, Math.max(size, 4) + 3, 0, FULL_TURN);
  context.stroke();
}

/** A cross at the end of a plan that misses its goal in the room. */
export function drawCross(context, place, size, theme) {
  if (!place) return;
  const arm = Math.min(10, Math.max(6, size * 0.7));
  cased(context, "#ffffff", theme.path, 4, () => {
    context.beginPath();
    for (const side of [-1, 1]) {
      context.moveTo(place[0] - arm, place[1] - arm * side);
      context.lineTo(place[0] + arm, place[1] + arm * side);
    }
    context.stroke();
  });
}

function disc(context, place, radius, fill, border, width) {
  context.beginPath();
  context.arc(...place, radius, 0, FULL_TURN);
  context.fillStyle = fill;
  context.fill();
  if (!width) return;
  Object.assign(context, { strokeStyle: border, lineWidth: width });
  context.stroke();
}

/** Change the marks of a view. A new path is animated, unless the reader prefers reduced motion. */
export function change(view, changes) {
  const isNew = changes.path && changes.path !== view.marks.path;
  if (isNew) view.pathBegun = matchMedia("(prefers-reduced-motion: reduce)").matches ? -Infinity : performance.now();
  Object.assign(view.marks, changes);
  view.stage.request();
}

/** Fade the map and draw the possible nodes on top, larger for a higher probability. Returns the likely ones. */
export function drawBelief(context, camera, at, belief, size, theme, colourOf) {
  context.globalAlpha = 0.8;
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, camera.width, camera.height);
  context.globalAlpha = 1;
  const most = belief.probabilities[0] ?? 1;
  const likely = [];
  for (let rank = belief.nodes.length - 1; rank >= 0; rank -= 1) {
    const place = at(belief.nodes[rank]);
    if (!place) continue;
    const share = Math.sqrt(belief.probabilities[rank] / most);
    const radius = Math.max(2.5, size) * (0.35 + 0.85 * share);
    if (share >= LIKELY) likely.push(belief.nodes[rank]);
    context.globalAlpha = 0.35 + 0.65 * share;
    disc(context, place, radius, colourOf(belief.nodes[rank]), theme.path, share >= LIKELY ? 3 : 1);
  }
  context.globalAlpha = 1;
  return likely;
}
