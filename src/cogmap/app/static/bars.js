/* A small bar chart: one bar per step. */

import { drawn } from "./shared/swatch.js";

const HEIGHT = 60;

/** Bars with heights from 0 to 1 and CSS classes `classes`; vertical lines at the steps `jumps`, a marker at `here`. */
export function drawBars(host, heights, { classes = [], jumps = [], here = null, label }) {
  const width = Math.max(heights.length, 24);
  const picture = drawn("svg", {
    viewBox: `0 0 ${width * 10} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  heights.forEach((height, step) => {
    const tall = Math.max(1.5, height * (HEIGHT - 4));
    drawn(
      "rect",
      { x: step * 10 + 1, y: HEIGHT - tall, width: 8, height: tall, class: classes[step] ?? "bar-fill" },
      picture,
    );
  });
  const upright = (step, name) => {
    drawn(
      "line",
      { x1: step * 10 + 5, x2: step * 10 + 5, y1: 0, y2: HEIGHT, class: name, "vector-effect": "non-scaling-stroke" },
      picture,
    );
  };
  for (const step of jumps) upright(step, "jump");
  if (here !== null) upright(here, "here");
  host.replaceChildren(picture);
  host.setAttribute("aria-label", label);
}

/** The height of a belief's bar: 1 if all `count` nodes are possible, 0 if one is. */
export function spread(candidates, count) {
  return count > 1 ? Math.log(Math.max(candidates, 1)) / Math.log(count) : 0;
}
