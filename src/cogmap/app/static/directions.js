/* The direction of an action, by its label, for keys and buttons. */

const LABELS = {
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

/** "up", "down", "left" or "right" for each action's label, or null for one without a direction. */
export function directionsOf(labels) {
  const directions = labels.map((label) => {
    const word = label.toLowerCase().replace(/[_-]/g, " ").trim();
    return Object.keys(LABELS).find((direction) => LABELS[direction].includes(word)) ?? null;
  });
  return directions.map((name, action) => (name !== null && directions.indexOf(name) === action ? name : null));
}

/** The action of a key: arrows and WASD for actions with a direction, digits from 1 for the first nine actions. */
export function actionForKey(key, directions) {
  const direction = KEYS[key.length === 1 ? key.toLowerCase() : key];
  const pointing = direction ? directions.indexOf(direction) : -1;
  if (pointing >= 0) return pointing;
  return /^[1-9]$/.test(key) && Number(key) <= directions.length ? Number(key) - 1 : null;
}

export function signOf(direction) {
  return SIGNS[direction] ?? "";
}
