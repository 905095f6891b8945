/* A map as flat arrays in drawing order. */

const WIDTHS = 4; // levels of thickness, by support, or by probability
const SELDOM = 0.9; // an edge that is less likely is a matter of chance

/** The thickness level of each edge, 0 to 3: the logarithm of its support relative to the largest. */
function widthSteps(support) {
  const most = Math.log1p(support.reduce((one, two) => Math.max(one, two), 1));
  return Uint8Array.from(support, (count) =>
    Math.min(WIDTHS - 1, Math.floor((WIDTHS * Math.log1p(Math.max(count, 0))) / (most * 1.0001))),
  );
}

/** Whether some edge of these probabilities is a matter of chance. */
export function hasChance(probability) {
  return probability?.some((share) => share < SELDOM) ?? false;
}

/** On a map with chance the thickness is the probability, 0 to 3; null on any other. */
function chanceSteps(probability) {
  if (!hasChance(probability)) return null;
  return Uint8Array.from(probability, (share) => Math.min(WIDTHS - 1, Math.floor(WIDTHS * share)));
}

/** Edges between the same two nodes are parallel: the offset of each from the middle, in half lanes to its right. */
function laneOffsets(edges, count) {
  const { source, target } = edges;
  const shared = new Map(); // source * count + target -> number of edges
  const key = (edge) => source[edge] * count + target[edge];
  for (let edge = 0; edge < source.length; edge += 1) shared.set(key(edge), (shared.get(key(edge)) ?? 0) + 1);
  const passed = new Map();
  return Float32Array.from(source, (_, edge) => {
    const before = passed.get(key(edge)) ?? 0;
    passed.set(key(edge), before + 1);
    const mutual = shared.has(target[edge] * count + source[edge]);
    return mutual ? 2 * before + 1 : 2 * before - (shared.get(key(edge)) - 1);
  });
}

/** Whether some edge is a guess: a move that was tried too seldom to know where it leads. */
export function hasGuesses(edges) {
  return edges.guessed?.some(Boolean) ?? false;
}

/** The edges without self-loops, sorted by action, thickness and guesses so that each group is one stroke. */
function makeLanes(map) {
  const { edges, nodes } = map;
  const width = chanceSteps(edges.probability) ?? widthSteps(edges.support);
  const offset = laneOffsets(edges, nodes.observation.length);
  const moving = [...edges.source.keys()].filter((edge) => edges.source[edge] !== edges.target[edge]);
  const group = (edge) => 2 * (edges.action[edge] * WIDTHS + width[edge]) + (edges.guessed?.[edge] ? 1 : 0);
  moving.sort((one, two) => group(one) - group(two));
  const pick = (Kind, values) => Kind.from(moving, (edge) => values[edge]);
  return {
    edge: Int32Array.from(moving),
    source: pick(Int32Array, edges.source),
    target: pick(Int32Array, edges.target),
    offset: pick(Float32Array, offset),
    groups: findGroups(moving, group),
  };
}

function findGroups(moving, group) {
  const groups = [];
  moving.forEach((edge, place) => {
    const last = groups[groups.length - 1];
    if (last && last.key === group(edge)) last.end = place + 1;
    else {
      const key = group(edge);
      const [guessed, level] = [key % 2 === 1, Math.floor(key / 2)];
      const [action, width] = [Math.floor(level / WIDTHS), level % WIDTHS];
      groups.push({ key, guessed, action, width, start: place, end: place + 1 });
    }
  });
  return groups;
}

/** One line for each pair of neighbours, for a map that is zoomed out. */
function makePairs(lanes, count) {
  const seen = new Set();
  const ends = [];
  for (let lane = 0; lane < lanes.source.length; lane += 1) {
    const [low, high] = [lanes.source[lane], lanes.target[lane]].sort((one, two) => one - two);
    const key = low * count + high;
    if (seen.has(key)) continue;
    seen.add(key);
    ends.push(low, high);
  }
  return Int32Array.from(ends); // 2 * pair, 2 * pair + 1
}

/** Nodes grouped by colour and observation, so that each group is one fill. */
function groupNodes(map) {
  const groups = new Map();
  map.nodes.observation.forEach((seen, node) => {
    const colour = map.nodeColours ? map.nodeColours[node] : map.colours[seen];
    const key = `${colour} ${seen}`;
    if (!groups.has(key)) groups.set(key, { seen, colour, text: textOn(colour), nodes: [] });
    groups.get(key).nodes.push(node);
  });
  return [...groups.values()].map((group) => ({ ...group, nodes: Int32Array.from(group.nodes) }));
}

/** Black or white, whichever has more contrast on a colour "#rrggbb". */
export function textOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16) / 255);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "#000000" : "#ffffff";
}

/** x and y of every node, one after the other; NaN where it has none. */
export function flatPoints(points) {
  const flat = new Float32Array(2 * points.length).fill(NaN);
  points.forEach((point, node) => {
    if (point !== null) flat.set(point, 2 * node);
  });
  return flat;
}

/** The bounding box of all points, with a margin for the outermost nodes. */
export function extent(points, radius) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let place = 0; place < points.length; place += 2) {
    if (Number.isNaN(points[place])) continue;
    left = Math.min(left, points[place]);
    right = Math.max(right, points[place]);
    top = Math.min(top, points[place + 1]);
    bottom = Math.max(bottom, points[place + 1]);
  }
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 };
  const border = 2.4 * radius;
  return { x: left - border, y: top - border, width: right - left + 2 * border, height: bottom - top + 2 * border };
}

/** The median edge length relative to the distance of neighbours: about 1 for a room, more where lines cross. */
export function crowding(lanes, points, radius) {
  const lengths = Float64Array.from(lanes.source, (from, lane) => {
    const to = lanes.target[lane];
    return Math.hypot(points[2 * from] - points[2 * to], points[2 * from + 1] - points[2 * to + 1]);
  }).filter((length) => length > 0);
  return lengths.length > 0 ? lengths.sort()[lengths.length >> 1] / (4 * radius) : 1;
}

/** All that drawing a map needs and that does not depend on the placement of its nodes. */
export function makeScene(map) {
  const lanes = makeLanes(map);
  return {
    count: map.nodes.observation.length,
    colourOf: (node) => (map.nodeColours ? map.nodeColours[node] : map.colours[map.nodes.observation[node]]),
    labels: map.observationLabels,
    groups: groupNodes(map),
    lanes,
    pairs: makePairs(lanes, map.nodes.observation.length),
  };
}
