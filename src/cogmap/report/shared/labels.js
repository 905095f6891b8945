/* Labels inside round nodes: broken between words, and cut with an ellipsis where they do not fit. */

const [LARGEST, SMALLEST] = [16, 6.5]; // pixels of a letter's height
const WIDE = 0.6; // a letter's width by its height
const LINE = 1.12; // a line's height by a letter's
const MOST_LINES = 3;

/** The lines of a label in a node of this radius in pixels, and the height of letters; null where not even a letter fits. */
export function fitLabel(label, radius) {
  const words = label.split(/\s+/).filter((word) => word !== "");
  for (let height = LARGEST; height >= SMALLEST; height -= 0.5) {
    for (let count = 1; count <= MOST_LINES; count += 1) {
      const lines = broken(words, lettersIn(radius, height, count));
      if (lines.length <= count) return { lines, height };
    }
  }
  return cutLabel(words, radius);
}

/** How many letters a line of so many has room for: the chord at its outer edge. */
function lettersIn(radius, height, count) {
  const half = (count * height * LINE) / 2;
  return half >= radius ? 0 : Math.floor((1.88 * Math.sqrt(radius * radius - half * half)) / (WIDE * height));
}

/** Words in lines of so many letters; a single line too many where a word does not fit. */
function broken(words, letters) {
  if (words.some((word) => word.length > letters)) return Array(MOST_LINES + 1).fill("");
  const lines = [];
  for (const word of words) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The beginning of a label that does not fit, in the smallest letters and as many lines as show most of it. */
function cutLabel(words, radius) {
  const height = SMALLEST;
  const single = lettersIn(radius, height, 1);
  if (single < 2) return null;
  const letters = lettersIn(radius, height, 2);
  const whole = words.join(" ");
  if (words.length < 2 || words[0].length > letters) return { lines: [`${whole.slice(0, single - 1)}…`], height };
  const rest = whole.slice(words[0].length + 1);
  return { lines: [words[0], rest.length > letters ? `${rest.slice(0, letters - 1)}…` : rest], height };
}
