/* Shortest plans on a map, with the rules of cogmap.planning: see makeRoads and shortestPlan. */

/**
 * The roads that leave each node: one to each neighbour, by the action with the most support, the lowest of equals.
 * Self-loops are no roads. `map.edges` holds four lists of the same length: source, action, target, support.
 */
export function makeRoads(map) {
  const { source, action, target, support } = map.edges;
  const best = map.nodes.observation.map(() => new Map()); // per node: target -> edge
  for (let edge = 0; edge < source.length; edge += 1) {
    if (source[edge] === target[edge]) continue;
    const rival = best[source[edge]].get(target[edge]);
    const wins =
      rival === undefined ||
      support[edge] > support[rival] ||
      (support[edge] === support[rival] && action[edge] < action[rival]);
    if (wins) best[source[edge]].set(target[edge], edge);
  }
  return best.map((roads) => [...roads].map(([to, edge]) => ({ to, action: action[edge] })));
}

/** The way from start to goal found breadth first that passes no node of which `forbidden` is true, or null. */
function search(roads, start, goal, forbidden) {
  const before = new Map([[start, null]]); // node -> {node, action} by which it was reached first
  let frontier = [start];
  while (frontier.length > 0 && !before.has(goal)) {
    const next = [];
    for (const node of frontier) {
      if (node !== start && forbidden(node)) continue; // may be reached, as a goal, but not passed
      for (const road of roads[node]) {
        if (before.has(road.to)) continue;
        before.set(road.to, { node, action: road.action });
        next.push(road.to);
      }
    }
    frontier = next;
  }
  if (!before.has(goal)) return null;
  const nodes = [goal];
  const actions = [];
  for (let step = before.get(goal); step !== null; step = before.get(step.node)) {
    nodes.push(step.node);
    actions.push(step.action);
  }
  return { nodes: nodes.reverse(), actions: actions.reverse() };
}

/**
 * A shortest plan that keeps off the observations in the set `avoid`; start and goal may show one. Where there is no
 * way round, the shortest of all, marked `dropped`; null where there is none either.
 */
export function shortestPlan(map, roads, start, goal, avoid) {
  const shown = map.nodes.observation;
  const around = search(roads, start, goal, (node) => avoid.has(shown[node]));
  if (around !== null) return { ...around, dropped: false };
  const direct = avoid.size > 0 ? search(roads, start, goal, () => false) : null;
  return direct === null ? null : { ...direct, dropped: true };
}
