/* Details of the node under the pointer. */

import { made, swatch } from "./shared/swatch.js";
import { counted } from "./shared/words.js";

const EDGES = 8; // listed; the others are counted

export function nodeCard(map, node, { views, concept }) {
  const { observation, support, merged, position } = map.nodes;
  const seen = observation[node];
  const facts = [counted(support[node], "visit")];
  if (position && position[node] !== null) facts.push(`place ${position[node]}`);
  if (merged && merged[node]) facts.push("stands for several places");
  if (concept) facts.push(concept);
  const heading = made("h3", {}, swatch(map.colours[seen]), `Node ${node}: ${map.observationLabels[seen]}`);
  const parts = [heading, made("div", { className: "note" }, facts.join(" · ")), edgeList(map, node)];
  if (views) parts.unshift(made("img", { src: views.address(node), alt: `The view at node ${node}` }));
  return parts;
}

function edgeList(map, node) {
  const { source, action, target, support, doubtful, guessed, wrong } = map.edges;
  const leaving = [...source.keys()].filter((edge) => source[edge] === node);
  const items = leaving.slice(0, EDGES).map((edge) => {
    const where = target[edge] === node ? "stays" : `node ${target[edge]}`;
    const doubt = wrong?.[edge]
      ? ", wrong in the true world"
      : guessed?.[edge]
        ? ", a guess"
        : doubtful?.[edge] && support[edge] > 0
          ? ", seldom"
          : "";
    const times = support[edge] > 0 ? `${support[edge]}×` : "imagined, never taken here";
    return made("li", {}, `${map.actionLabels[action[edge]]} → ${where} (${times}${doubt})`);
  });
  if (leaving.length > EDGES) items.push(made("li", {}, `and ${leaving.length - EDGES} more`));
  return made("ul", {}, ...items);
}
