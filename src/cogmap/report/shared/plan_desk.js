/* The planning panel: start, goal, observations to avoid, and the plan as a list of steps. */

import { makeTransitions, shortestPlan } from "./planner.js";
import { made, swatch } from "./swatch.js";
import { counted } from "./words.js";

/**
 * The part of a page that plans. It finds its elements by their ids: start, goal, clear, avoid, message, steps.
 * It calls `changed(desk)` whenever the plan changes; `extra(desk)` may add a sentence to the message, `picture(node)`
 * a picture to a step.
 */
export class PlanDesk {
  constructor({ changed, extra = () => "", picture = () => [] }) {
    Object.assign(this, { changed, extra, picture, map: null, start: null, goal: null, found: null, avoid: new Set() });
    this.message = document.getElementById("message");
    this.steps = document.getElementById("steps");
    this.list = document.getElementById("avoid");
    this.ends = { start: document.getElementById("start"), goal: document.getElementById("goal") };
    for (const [end, input] of Object.entries(this.ends)) {
      input.addEventListener("input", () => this.enter(end, input.value));
    }
    document.getElementById("clear").addEventListener("click", () => this.clear());
  }

  /** Plan on another map, from a start to a goal if given. The observations to avoid stay. */
  use(map, start = null, goal = null) {
    const transitions = makeTransitions(map);
    Object.assign(this, { map, start, goal, transitions, count: map.nodes.observation.length });
    for (const input of Object.values(this.ends)) input.max = this.count - 1;
    this.listObservations();
    this.plan();
  }

  listObservations() {
    const shown = [...new Set(this.map.nodes.observation)].sort((one, two) => one - two);
    this.list.replaceChildren(...shown.map((seen) => this.chip(seen)));
  }

  chip(seen) {
    const button = made("button", { type: "button" }, swatch(this.map.colours[seen]), this.map.observationLabels[seen]);
    button.setAttribute("aria-pressed", String(this.avoid.has(seen)));
    button.addEventListener("click", () => {
      if (!this.avoid.delete(seen)) this.avoid.add(seen);
      button.setAttribute("aria-pressed", String(this.avoid.has(seen)));
      this.plan();
    });
    return button;
  }

  describe(node) {
    return `node ${node}: ${this.map.observationLabels[this.map.nodes.observation[node]]}`;
  }

  /** A click or Enter on a node: it becomes the goal if only a start is chosen, else the start. */
  choose(node) {
    if (this.start === null || this.goal !== null) [this.start, this.goal] = [node, null];
    else this.goal = node;
    this.plan();
  }

  enter(end, text) {
    const node = Number(text);
    const known = text !== "" && Number.isInteger(node) && node >= 0 && node < this.count;
    this[end] = known ? node : null;
    this.plan();
    if (text !== "" && !known) this.say(`Nodes go from 0 to ${this.count - 1}.`);
  }

  clear() {
    Object.assign(this, { start: null, goal: null });
    this.plan();
  }

  /** Compute the plan and show it. */
  plan() {
    for (const [end, input] of Object.entries(this.ends)) {
      if (document.activeElement !== input) input.value = this[end] === null ? "" : this[end];
    }
    const complete = this.start !== null && this.goal !== null;
    this.found = complete ? shortestPlan(this.map, this.transitions, this.start, this.goal, this.avoid) : null;
    this.showPlan(complete);
    this.changed(this);
  }

  /** List each action of the plan and the observation after it. */
  showPlan(complete) {
    this.steps.replaceChildren();
    if (!complete) {
      this.say(this.start === null ? "Choose a start." : `From ${this.describe(this.start)}. Choose a goal.`);
    } else if (this.found === null) {
      this.say("There is no path on the map.");
    } else {
      const { nodes, actions, dropped } = this.found;
      const length = `${counted(actions.length, "action")}.`;
      const constraint = dropped ? " No path avoids these observations: this is the shortest path of all." : "";
      this.say(`${length}${constraint}${this.chance(nodes, actions)}${this.extra(this)}`);
      this.steps.append(...actions.map((action, step) => this.stepOf(action, nodes[step + 1])));
    }
  }

  /** How often the plan goes as planned; empty where chance plays no part. */
  chance(nodes, actions) {
    const { source, action, probability } = this.map.edges;
    if (!probability) return "";
    const taken = new Set(actions.map((act, step) => `${nodes[step]} ${act}`));
    let goes = 1;
    for (let edge = 0; edge < source.length; edge += 1) {
      if (taken.has(`${source[edge]} ${action[edge]}`)) goes *= probability[edge];
    }
    return goes < 0.9 ? ` With chance, it goes as planned only ${Math.round(100 * goes)} % of the time.` : "";
  }

  stepOf(action, node) {
    const seen = this.map.nodes.observation[node];
    const item = made("li", {}, made("span", { className: "action" }, this.map.actionLabels[action]));
    item.append(made("span", { className: "arrow" }, "→"));
    const word = this.map.observationLabels[seen];
    item.append(made("span", { className: "seen" }, ...this.picture(node), swatch(this.map.colours[seen]), word));
    item.dataset.node = node;
    return item;
  }

  say(text) {
    this.message.textContent = text;
  }
}
