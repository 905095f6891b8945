/* Shortest plans on a map, with the same rules as cogmap.planning. */

/**
 * The transitions from each node: one to each neighbour, by the action with the most support, ties to the lowest.
 * Self-loops and guesses are left out. `map.edges` has lists of the same length: source, action, target, support, and
 * guessed, where 1 is a move that was tried too seldom to know where it leads.
 */
export function makeTransitions(map) {
  const { source, action, target, support, guessed } = map.edges;
  const best = map.nodes.observation.map(() => new Map()); // per node: target -> edge
  for (let edge = 0; edge < source.length; edge += 1) {
    if (source[edge] === target[edge] || guessed?.[edge]) continue;
    const other = best[source[edge]].get(target[edge]);
    const better =
      other === undefined ||
      support[edge] > support[other] ||
      (support[edge] === support[other] && action[edge] < action[other]);
    if (better) best[source[edge]].set(target[edge], edge);
  }
  return best.map((edges) => [...edges].map(([to, edge]) => ({ to, action: action[edge] })));
}

/** A shortest path, found breadth first, that passes through no node for which `forbidden` is true; or null. */
function search(transitions, start, goal, forbidden) {
  const before = new Map([[start, null]]); // node -> {node, action} from which it was first reached
  let frontier = [start];
  while (frontier.length > 0 && !before.has(goal)) {
    const next = [];
    for (const node of frontier) {
      if (node !== start && forbidden(node)) continue; // it may be the goal, but paths do not pass through it
      for (const { to, action } of transitions[node]) {
        if (before.has(to)) continue;
        before.set(to, { node, action });
        next.push(to);
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
 * A shortest plan that avoids the observations in the set `avoid`; start and goal may show one. Where no path avoids
 * them, the shortest path without the constraint, marked `dropped`; null where there is no path at all.
 */
export function shortestPlan(map, transitions, start, goal, avoid) {
  const shown = map.nodes.observation;
  const around = search(transitions, start, goal, (node) => avoid.has(shown[node]));
  if (around !== null) return { ...around, dropped: false };
  const direct = avoid.size > 0 ? search(transitions, start, goal, () => false) : null;
  return direct === null ? null : { ...direct, dropped: true };
}
