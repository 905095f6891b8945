/* The map of report.html: drawn from the JSON in the page, with plans between two clicked nodes, without a server. */

import { MapView } from "./shared/map_view.js";
import { GUESS, actionStyle } from "./shared/painter.js";
import { PlanDesk } from "./shared/plan_desk.js";
import { hasChance, hasGuesses } from "./shared/scene.js";
import { dashSample, guessLegend, made } from "./shared/swatch.js";
import { followTheme, readTheme } from "./shared/theme.js";

const element = (id) => document.getElementById(id);

class Report {
  constructor(map) {
    this.map = map;
    this.theme = readTheme();
    this.view = new MapView(element("map"), {
      label: "The learned map",
      keys: "map-keys",
      theme: () => this.theme,
      picked: (node) => this.desk.choose(node),
      pointed: (node) => this.point(node),
      reached: (node) => this.desk.say(this.desk.describe(node)),
      cleared: () => this.desk.clear(),
    });
    this.view.show(map, map.placements[0]);
    this.desk = new PlanDesk({ changed: (desk) => this.planned(desk) });
    this.desk.use(map, map.example?.start ?? null, map.example?.goal ?? null);
    this.listPlacements();
    this.listActions();
    this.addThemeButton();
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.look(button.dataset.view));
    }
  }

  planned({ start, goal, found, avoid }) {
    this.view.setLook({ avoid: new Set(avoid) });
    this.view.setMarks({ path: found?.nodes ?? null, start, goal });
  }

  point(node) {
    element("map").title = node === null ? "" : `${this.desk.describe(node)}, ${this.map.nodes.support[node]} visits`;
  }

  look(how) {
    const { stage } = this.view;
    if (how === "fit") stage.fly(stage.camera.homeView());
    else stage.zoom(how === "in" ? 1.4 : 1 / 1.4);
  }

  listPlacements() {
    const set = element("placements");
    set.hidden = this.map.placements.length < 2;
    this.map.placements.forEach((placement, index) => {
      const radio = made("input", { type: "radio", name: "placement", checked: index === 0 });
      radio.addEventListener("change", () => this.view.place(placement));
      set.append(made("label", {}, radio, placement.name));
    });
  }

  listActions() {
    const samples = this.map.actionLabels
      .slice(0, 12)
      .map((label, action) => made("span", {}, dashSample(actionStyle(action)), label));
    const thicker = hasChance(this.map.edges.probability) ? "likelier" : "more support";
    element("actions").append(...samples, `thicker: ${thicker}`);
    if (hasGuesses(this.map.edges)) element("actions").append(" ", guessLegend(GUESS));
  }

  addThemeButton() {
    const button = made("button", { type: "button", className: "theme" }, "Dark");
    document.querySelector("header").append(button);
    followTheme(button, () => {
      this.theme = readTheme();
      this.view.stage.repaint();
    });
  }
}

const stored = element("map-data");
if (stored) new Report(JSON.parse(stored.textContent));
