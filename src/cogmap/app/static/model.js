/* The server's answers in the form that the shared modules need for drawing and planning. */

const LARGEST = 0.3; // radius of a node; a cell is 1 wide, and an edge in a layout is about 1 long

/** A map with its labels, colours and placements, its merged nodes and its doubtful edges. */
export function makeMap(run, answer) {
  const { nodes, edges } = answer;
  return {
    kind: answer.kind,
    revision: answer.revision,
    early: answer.early,
    explained: answer.explained,
    nodes,
    edges,
    colours: run.observations.colours,
    observationLabels: run.observations.labels,
    actionLabels: run.actions.labels,
    placements: placementsOf(nodes, edges),
    merged: nodes.merged ? indicesOf(nodes.merged) : null,
    weak: new Set(indicesOf(edges.source.map((_, edge) => edges.doubtful?.[edge] || edges.wrong?.[edge]))),
    atPosition: nodes.position ? bestAtPosition(nodes) : null,
  };
}

function indicesOf(flags) {
  return [...flags.keys()].filter((index) => flags[index]);
}

function placementsOf(nodes, edges) {
  const layout = placement("layout", "own layout", nodes.x, nodes.y, edges);
  if (!nodes.true_x) return [layout];
  return [placement("truth", "true places", nodes.true_x, nodes.true_y, edges), layout];
}

function placement(id, name, x, y, edges) {
  const points = x.map((value, node) => (value === null ? null : [value, y[node]]));
  return { id, name, points, radius: fittingRadius(points, edges) };
}

/** A quarter of the median edge length; less, down to a tenth, where nodes are closer; at most `LARGEST`. */
function fittingRadius(points, edges) {
  const lengths = edges.source
    .map((from, edge) => distance(points[from], points[edges.target[edge]]))
    .filter((length) => length > 0);
  const usual = quantile(lengths, 0.5) ?? 1;
  const gaps = nearestGaps(
    points.filter((point) => point !== null),
    usual,
  );
  return Math.min(LARGEST, Math.max(usual / 10, Math.min(usual / 4, (quantile(gaps, 0.5) ?? usual) * 0.46)));
}

function distance(one, two) {
  return one && two ? Math.hypot(one[0] - two[0], one[1] - two[1]) : 0;
}

function quantile(values, share) {
  if (values.length === 0) return null;
  return Float64Array.from(values).sort()[Math.floor(share * (values.length - 1))];
}

/** The distance of each point's nearest neighbour, searched in the grid cells around it. */
function nearestGaps(points, cell) {
  const cells = new Map();
  const key = (x, y) => `${Math.floor(x / cell)} ${Math.floor(y / cell)}`;
  for (const point of points) {
    if (!cells.has(key(...point))) cells.set(key(...point), []);
    cells.get(key(...point)).push(point);
  }
  return points.map((point) => {
    let nearest = 2 * cell;
    for (const dx of [-cell, 0, cell]) {
      for (const dy of [-cell, 0, cell]) {
        for (const other of cells.get(key(point[0] + dx, point[1] + dy)) ?? []) {
          if (other !== point) nearest = Math.min(nearest, Math.max(distance(point, other), 1e-3));
        }
      }
    }
    return nearest;
  });
}

/** The most visited node of each true position. */
function bestAtPosition(nodes) {
  const best = new Map();
  nodes.position.forEach((position, node) => {
    if (position === null || position < 0) return;
    const other = best.get(position);
    if (other === undefined || nodes.support[node] > nodes.support[other]) best.set(position, node);
  });
  return best;
}

/** The true room; its points are null where it has no coordinates. */
export function makeRoom(run, answer) {
  const follow = followTable(answer);
  const drawable = Array.isArray(answer.x) && answer.x.every((value) => value !== null);
  return {
    follow,
    name: answer.name,
    observation: answer.observation,
    colours: run.observations.colours,
    labels: run.observations.labels,
    moves: answer.moves,
    points: drawable ? answer.x.map((x, position) => [x, answer.y[position]]) : null,
  };
}

/** A function from a position and actions to the positions visited, the first included. Other moves are bumps. */
function followTable({ moves }) {
  const next = new Map();
  moves.source.forEach((from, move) => next.set(`${from} ${moves.action[move]}`, moves.target[move]));
  return (position, actions) => {
    const visited = [position];
    for (const action of actions) {
      const here = visited[visited.length - 1];
      visited.push(next.get(`${here} ${action}`) ?? here);
    }
    return visited;
  };
}
