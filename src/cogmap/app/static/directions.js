/* Which way an action points, by its name, for keys and buttons. */

const WAYS = {
  up: ["up", "north", "n", "forward", "forwards", "ahead", "go forward", "move forward"],
  down: ["down", "south", "s", "back", "backward", "backwards"],
  left: ["left", "west", "w", "turn left"],
  right: ["right", "east", "e", "turn right"],
};
const KEYS = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  w: "up",
  s: "down",
  a: "left",
  d: "right",
};
const SIGNS = { up: "↑", down: "↓", left: "←", right: "→" };

/** "up", "down", "left" or "right" for each action's label, or null for one that points nowhere. */
export function directionsOf(labels) {
  const ways = labels.map((label) => {
    const word = label.toLowerCase().replace(/[_-]/g, " ").trim();
    return Object.keys(WAYS).find((way) => WAYS[way].includes(word)) ?? null;
  });
  return ways.map((way, action) => (way !== null && ways.indexOf(way) === action ? way : null));
}

/** The action for a key: arrows and WASD where an action points that way, digits from 1 for all of the first nine. */
export function actionForKey(key, directions) {
  const way = KEYS[key.length === 1 ? key.toLowerCase() : key];
  const pointing = way ? directions.indexOf(way) : -1;
  if (pointing >= 0) return pointing;
  return /^[1-9]$/.test(key) && Number(key) <= directions.length ? Number(key) - 1 : null;
}

export function signOf(way) {
  return SIGNS[way] ?? "";
}
