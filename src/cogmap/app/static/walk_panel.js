/* Walking as the agent: an action, an observation, and a belief that narrows down. */

import { ask, Refused } from "./api.js";
import { drawBars, spread } from "./bars.js";
import { actionForKey, directionsOf, signOf } from "./directions.js";
import { made, swatch } from "./shared/swatch.js";
import { counted, percent } from "./shared/words.js";

const KEPT = "cogmap-walk"; // origin and actions, to take the walk up again after a reload or a restart
const SHOWN = 60; // steps of the history

/** `planFrom(node)` is called when the agent knows where it is and a plan from there is wanted. */
export class WalkPanel {
  constructor(explorer, planFrom) {
    Object.assign(this, { explorer, walk: null, steps: [], actions: [], busy: false, active: false });
    const element = (name) => document.getElementById(`walk-${name}`);
    this.elements = Object.fromEntries(
      ["begin", "plan", "live", "seen", "keys", "told", "bars", "steps", "error", "lead"].map((name) => [
        name,
        element(name),
      ]),
    );
    this.pad = document.getElementById("pad");
    this.elements.begin.addEventListener("click", () => this.begin());
    this.elements.plan.addEventListener("click", () => planFrom(this.walk.node));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Another run or map: its actions, and the walk that was kept from before, if it was on this map. */
  prepare() {
    const { run } = this.explorer;
    const labels = run.actions.labels;
    this.directions = directionsOf(labels);
    const crossed = this.directions.every((way) => way !== null) && labels.length > 2;
    this.pad.className = crossed ? "pad cross" : "pad";
    this.buttons = labels.map((label, action) => this.button(label, action));
    this.pad.replaceChildren(...this.buttons);
    const arrows = this.directions.some((way) => way !== null) ? "arrow keys or W A S D, " : "";
    this.elements.keys.textContent = `Keys: ${arrows}1 to ${Math.min(9, labels.length)} for the actions.`;
    if (run.world === "map") {
      this.elements.lead.textContent =
        "Be the agent. There is no true world with this run, so it walks on the map itself.";
    }
  }

  button(label, action) {
    const way = this.directions[action];
    const button = made("button", { type: "button", className: way ?? "" }, `${signOf(way)} ${label}`.trim());
    button.addEventListener("click", () => this.act(action));
    return button;
  }

  activate(active) {
    this.active = active;
    if (active && this.walk === null && this.kept() !== null) this.resume();
    if (active) this.draw();
  }

  kept() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEPT));
      const { map } = this.explorer;
      return kept && map && kept.map === map.kind && kept.revision === map.revision ? kept : null;
    } catch {
      return null;
    }
  }

  keep() {
    const { origin, map, revision } = this.walk;
    const { actions } = this;
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ origin, map, revision, actions }));
    } catch {
      return; // a browser that keeps nothing for this page: the walk lasts as long as it is open
    }
  }

  /** Put the agent somewhere. `position` is given when a cell of the room was clicked. */
  async begin(position = undefined) {
    const { map } = this.explorer;
    await this.doing(async () => {
      const asked = { map: map.kind, revision: map.revision, ...(position === undefined ? {} : { position }) };
      this.take(await ask("walks", asked), []);
    });
  }

  /** Take a walk up again: on a server that forgot it, or after a reload. */
  async resume() {
    const { origin, map, revision, actions } = this.kept();
    await this.doing(async () => {
      this.take(await ask("walks", { map, revision, position: origin, actions }), actions);
    });
  }

  /** A walk and all its actions. The belief of the past is known by its certainty alone. */
  take(walk, actions) {
    Object.assign(this, { walk, actions });
    const { observations, certainty } = walk.history;
    const taken = walk.history.actions; // one less, or as many where the beginning is left out
    const first = walk.step - observations.length + 1;
    this.steps = observations.map((observation, index) => ({
      step: first + index,
      observation,
      action: index > 0 ? taken[taken.length - observations.length + index] : null,
      candidates: index === observations.length - 1 ? walk.belief.candidates : 1 / Math.max(certainty[index], 1e-6),
    }));
    this.positions = [...(walk.history.positions ?? [])];
    this.keep();
    this.render();
  }

  async act(action) {
    if (this.walk === null || this.busy || !this.walk.legal.includes(action)) return;
    await this.doing(async () => {
      const next = await this.stepOnServer(action);
      const actions = [...this.actions, action];
      if (next.history) return this.take(next, actions.slice(0, next.step)); // forgotten there, or taken already
      this.actions = actions;
      this.steps.push({
        step: next.step,
        observation: next.observation,
        action,
        candidates: next.belief.candidates,
        surprise: next.surprise,
      });
      this.positions.push(next.position);
      this.walk = { ...this.walk, ...next };
      this.keep();
      return this.render();
    });
  }

  async stepOnServer(action) {
    const { id, step, origin, map, revision } = this.walk;
    try {
      return await ask(`walks/${id}/steps`, { action, step });
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      if (problem.status === 409) return ask(`walks/${id}`);
      if (problem.status !== 404) throw problem;
      return ask("walks", { map, revision, position: origin, actions: [...this.actions, action] });
    }
  }

  /** One request at a time; what the server refuses is told below the buttons. */
  async doing(work) {
    this.busy = true;
    this.elements.error.hidden = true;
    try {
      await work();
    } catch (problem) {
      this.elements.error.textContent = problem.message;
      this.elements.error.hidden = false;
    } finally {
      this.busy = false;
    }
  }

  /** Whatever map was walked on is gone. */
  forget() {
    this.walk = null;
    this.elements.live.hidden = true;
    this.elements.begin.textContent = "Start somewhere";
    this.elements.plan.disabled = true;
  }

  render() {
    const { walk, elements, explorer } = this;
    elements.live.hidden = false;
    elements.begin.textContent = "Start elsewhere";
    elements.plan.disabled = !walk.sure;
    elements.seen.replaceChildren(...explorer.seen(walk.observation, walk.sure ? walk.node : null));
    elements.told.textContent = this.words();
    this.buttons.forEach((button, action) => {
      button.disabled = !walk.legal.includes(action);
    });
    const count = explorer.map.nodes.observation.length;
    const heights = this.steps.slice(-SHOWN).map((step) => spread(step.candidates, count));
    const now = Math.round(walk.belief.candidates);
    const label = `How many nodes it might be at, step by step: now about ${now} of ${count}`;
    drawBars(elements.bars, heights, { label });
    elements.steps.replaceChildren(
      ...this.steps
        .slice(-SHOWN)
        .reverse()
        .map((step) => this.item(step)),
    );
    this.draw();
  }

  words() {
    const { walk } = this;
    const certainty = percent(walk.certainty, walk.certainty > 0.99 ? 1 : 0);
    if (walk.sure) return `It knows where it is: node ${walk.node} (${certainty}).`;
    const about = counted(Math.round(walk.belief.candidates), "node");
    return `It may be at any of about ${about}; node ${walk.node} is the likeliest (${certainty}).`;
  }

  item({ step, observation, action, candidates, surprise }) {
    const { run } = this.explorer;
    const item = made("li", {}, made("span", {}, action === null ? "start" : run.actions.labels[action]));
    const seen = made(
      "span",
      { className: "seen" },
      swatch(run.observations.colours[observation]),
      run.observations.labels[observation],
    );
    const doubt = surprise > 3 ? "surprised · " : "";
    item.append(made("span", { className: "arrow" }, "→"), seen);
    item.append(
      made(
        "span",
        { className: "spread" },
        `${doubt}${candidates < 1.5 ? "1 node" : `≈ ${Math.round(candidates)} nodes`}`,
      ),
    );
    item.dataset.step = step;
    return item;
  }

  /** The belief on the map, the referee's view in the room. */
  draw() {
    if (!this.active) return;
    const { walk, explorer } = this;
    if (walk === null) return explorer.mark({}, {});
    const trail = walk.world === "true" ? this.positions.slice(-SHOWN) : null;
    explorer.mark(
      { belief: walk.belief, agent: walk.sure ? walk.node : null },
      walk.world === "true" ? { trail, agent: walk.position } : {},
    );
  }

  /** Keys act while the panel is open, wherever the focus is that does not need them itself. */
  key(event) {
    if (!this.active || this.walk === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, [role=tab], summary")) return;
    const action = actionForKey(event.key, this.directions);
    if (action === null) return;
    event.preventDefault();
    this.act(action);
  }
}
