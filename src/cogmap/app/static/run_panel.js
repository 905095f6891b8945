/* Scores, training curves, maps and options of the run. */

import { ask } from "./api.js";
import { trainingCharts } from "./curves.js";
import { made } from "./shared/swatch.js";
import { percent } from "./shared/words.js";

export class RunPanel {
  constructor() {
    this.rows = -1;
  }

  show(run) {
    const warnings = document.getElementById("warnings");
    warnings.replaceChildren(...run.warnings.map((warning) => made("li", {}, warning)));
    warnings.hidden = run.warnings.length === 0;
    document.getElementById("config").textContent = JSON.stringify(run.config, null, 2);
    if (run.scores) document.getElementById("scores").replaceChildren(...scoreTable(run.scores, run.name));
    document.getElementById("map-table").replaceChildren(mapTable(run.maps));
  }

  /** Draw the curves again if there are new rows. */
  async update(rows) {
    if (rows === this.rows) return;
    this.rows = rows;
    const charts = trainingCharts(await ask("metrics"));
    if (charts.length > 0) document.getElementById("curves").replaceChildren(...charts);
  }
}

/** A row for each score; columns for ours, the paper's and the ceiling. */
function scoreTable({ columns, rows, caption }, model) {
  const turned = columns.slice(1).map((column, index) => [column, ...rows.map((row) => row[index + 1])]);
  const box = table("Scores", ["", ...rows.map(([name]) => name.replace(`${model}, `, ""))], turned);
  return caption ? [box, made("p", { className: "note" }, caption)] : [box];
}

function mapTable(maps) {
  if (maps.length === 0) return made("p", { className: "note" }, "No map yet.");
  const rows = maps.map(({ kind, nodes, edges, explained }) => {
    return [kind, nodes.toLocaleString("en"), edges.toLocaleString("en"), percent(explained, 2)];
  });
  return table("Maps", ["", "nodes", "edges", "predicted by itself"], rows);
}

/** A table that scrolls sideways on a narrow screen. */
function table(name, columns, rows) {
  const head = made(
    "tr",
    {},
    ...columns.map((column) => made(column ? "th" : "td", column ? { scope: "col" } : {}, column)),
  );
  const body = rows.map(([first, ...rest]) => {
    return made("tr", {}, made("th", { scope: "row" }, first), ...rest.map((cell) => made("td", {}, cell)));
  });
  const inner = made("table", {}, made("thead", {}, head), made("tbody", {}, ...body));
  const box = made("div", { className: "scroll", tabIndex: 0, role: "region" }, inner);
  box.setAttribute("aria-label", name);
  return box;
}
