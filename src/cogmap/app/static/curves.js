/* Training curves. */

import { drawn, made } from "./shared/swatch.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [340, 130, 38, 18];

/** A line chart of series [{name, values}] over x; null values leave gaps. */
function chart(title, x, series, format) {
  const values = series.flatMap((one) => one.values.filter((value) => value !== null));
  const known = series.filter((one) => one.values.some((value) => value !== null));
  if (values.length === 0) return null;
  const [low, high] = [Math.min(0, ...values), Math.max(...values)];
  const across = (value) => LEFT + ((value - x[0]) / (x[x.length - 1] - x[0] || 1)) * (WIDTH - LEFT - 6);
  const up = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low || 1)) * (HEIGHT - BOTTOM - 8);
  const last = known.map((one) => `${one.name} ${format(one.values.findLast((value) => value !== null))}`);
  const picture = drawn("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": `${title}: ${last.join(", ")}`,
  });
  for (const share of [0, 0.5, 1])
    gridLine(picture, up(low + share * (high - low)), format(low + share * (high - low)));
  label(picture, LEFT, HEIGHT - 4, "start", `step ${x[0].toLocaleString("en")}`);
  label(picture, WIDTH - 6, HEIGHT - 4, "end", x[x.length - 1].toLocaleString("en"));
  known.forEach((one, index) =>
    drawn("path", { class: `line line-${index % 4}`, d: path(x, one.values, across, up) }, picture),
  );
  return made("figure", { className: "chart" }, caption(title, known, last), picture);
}

function path(x, values, across, up) {
  let pen = "M";
  return x.reduce((line, at, index) => {
    if (values[index] === null || values[index] === undefined) {
      pen = "M";
      return line;
    }
    const dot = pen === "M" ? "h0" : ""; // a lone value is a point
    const step = `${pen}${across(at).toFixed(1)} ${up(values[index]).toFixed(1)}${dot}`;
    pen = "L";
    return line + step;
  }, "");
}

function gridLine(picture, y, text) {
  drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - 6, y1: y, y2: y }, picture);
  label(picture, LEFT - 5, y + 4, "end", text);
}

function label(picture, x, y, anchor, text) {
  drawn("text", { x, y, "text-anchor": anchor }, picture).textContent = text;
}

function caption(title, known, last) {
  const keys = known.map((_, index) => {
    const key = drawn("svg", { class: "key", viewBox: "0 0 24 6", "aria-hidden": "true" });
    drawn("line", { class: `key-${index % 4}`, x1: 0, x2: 24, y1: 3, y2: 3, "stroke-width": 2.5 }, key);
    return made("span", {}, key, last[index]);
  });
  return made("figcaption", {}, made("b", {}, title), ...keys);
}

const percent = (value) => `${(100 * value).toFixed(value > 0.9 && value < 1 ? 1 : 0)}%`;
const short = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/** One series per bottleneck, from rows with a number for each bottleneck, or none. */
function perBottleneck(rows, name) {
  const most = rows.reduce((count, row) => Math.max(count, row?.length ?? 0), 0);
  return [...Array(most).keys()].map((index) => ({
    name: most > 1 ? `${name} ${index + 1}` : name,
    values: rows.map((row) => row?.[index] ?? null),
  }));
}

/** All charts for which there is data. */
export function trainingCharts({ columns, num_codes: codes }) {
  const x = columns.step ?? [];
  if (x.length < 2) return [];
  const named = (names) => names.filter(([key]) => columns[key]).map(([key, name]) => ({ name, values: columns[key] }));
  const accuracies = [
    ["validation_accuracy", "validation"],
    ["train_accuracy", "training"],
    ["late_accuracy", "late steps"],
  ];
  const use = perBottleneck(columns.codes_in_use ?? [], "in use");
  const perplexity = perBottleneck(columns.perplexity ?? [], "perplexity");
  return [
    chart("Accuracy", x, named(accuracies), percent),
    chart("Loss", x, named([["loss", "loss"]]), short),
    chart(codes ? `Dictionary of ${codes} codes` : "Dictionary", x, [...use, ...perplexity], short),
  ].filter((figure) => figure !== null);
}
