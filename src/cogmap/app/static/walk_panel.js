/* Walking as the agent: an action, an observation, and the belief after them. */

import { ask, RequestError } from "./api.js";
import { drawBars, spread } from "./bars.js";
import { actionForKey, directionsOf, signOf } from "./directions.js";
import { made, swatch } from "./shared/swatch.js";
import { counted, percent } from "./shared/words.js";

const STORAGE_KEY = "cogmap-walk"; // origin and actions, to resume the walk after a reload or a restart
const SHOWN = 60; // steps of the history

/** Calls `planFrom(node)` when the agent is localised and a plan from there is requested. */
export class WalkPanel {
  constructor(explorer, planFrom) {
    Object.assign(this, { explorer, walk: null, steps: [], actions: [], busy: false, active: false });
    const element = (name) => document.getElementById(`walk-${name}`);
    this.elements = Object.fromEntries(
      ["begin", "plan", "live", "seen", "keys", "message", "bars", "steps", "error", "lead"].map((name) => [
        name,
        element(name),
      ]),
    );
    this.pad = document.getElementById("pad");
    this.elements.begin.addEventListener("click", () => this.begin());
    this.elements.plan.addEventListener("click", () => planFrom(this.walk.node));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Prepare the buttons and keys for the actions of a run. */
  prepare() {
    const { run } = this.explorer;
    const labels = run.actions.labels;
    this.directions = directionsOf(labels);
    const crossed = this.directions.every((direction) => direction !== null) && labels.length > 2;
    this.pad.className = crossed ? "pad cross" : "pad";
    this.buttons = labels.map((label, action) => this.button(label, action));
    this.pad.replaceChildren(...this.buttons);
    const arrows = this.directions.some((direction) => direction !== null) ? "arrow keys or W A S D, " : "";
    this.elements.keys.textContent = `Keys: ${arrows}1 to ${Math.min(9, labels.length)} for the actions.`;
    if (run.world === "map") {
      this.elements.lead.textContent =
        "Walk as the agent. This run has no true world, so the agent walks on the map itself.";
    }
  }

  button(label, action) {
    const direction = this.directions[action];
    const text = `${signOf(direction)} ${label}`.trim();
    const button = made("button", { type: "button", className: direction ?? "" }, text);
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
      const kept = JSON.parse(sessionStorage.getItem(STORAGE_KEY));
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
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ origin, map, revision, actions }));
    } catch {
      return; // a browser without storage for this page: the walk lasts as long as the page is open
    }
  }

  /** Start a walk at a random position, or at `position` if a cell of the room was clicked. */
  async begin(position = undefined) {
    const { map } = this.explorer;
    await this.doing(async () => {
      const asked = { map: map.kind, revision: map.revision, ...(position === undefined ? {} : { position }) };
      this.take(await ask("walks", asked), []);
    });
  }

  /** Resume a walk after a reload, or on a server that no longer has it. */
  async resume() {
    const { origin, map, revision, actions } = this.kept();
    await this.doing(async () => {
      this.take(await ask("walks", { map, revision, position: origin, actions }), actions);
    });
  }

  /** Take over a walk and all its actions. Of past beliefs only the certainty is known. */
  take(walk, actions) {
    Object.assign(this, { walk, actions });
    const { observations, certainty } = walk.history;
    const taken = walk.history.actions; // one fewer, or as many if the history is cut
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
      if (next.history) return this.take(next, actions.slice(0, next.step)); // the walk was resumed or was ahead
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
      if (!(problem instanceof RequestError)) throw problem;
      if (problem.status === 409) return ask(`walks/${id}`);
      if (problem.status !== 404) throw problem;
      return ask("walks", { map, revision, position: origin, actions: [...this.actions, action] });
    }
  }

  /** One request at a time; error messages are shown below the buttons. */
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

  /** Reset the panel, because the map of the walk was replaced. */
  reset() {
    this.walk = null;
    this.elements.live.hidden = true;
    this.elements.begin.textContent = "Random start";
    this.elements.plan.disabled = true;
  }

  render() {
    const { walk, elements, explorer } = this;
    elements.live.hidden = false;
    elements.begin.textContent = "New random start";
    elements.plan.disabled = !walk.sure;
    elements.seen.replaceChildren(...explorer.seen(walk.observation, walk.sure ? walk.node : null));
    elements.message.textContent = this.describe();
    this.buttons.forEach((button, action) => {
      button.disabled = !walk.legal.includes(action);
    });
    const count = explorer.map.nodes.observation.length;
    const heights = this.steps.slice(-SHOWN).map((step) => spread(step.candidates, count));
    const now = Math.round(walk.belief.candidates);
    const label = `Number of possible nodes by step: now about ${now} of ${count}`;
    drawBars(elements.bars, heights, { label });
    elements.steps.replaceChildren(
      ...this.steps
        .slice(-SHOWN)
        .reverse()
        .map((step) => this.item(step)),
    );
    this.draw();
  }

  describe() {
    const { walk } = this;
    const certainty = percent(walk.certainty, walk.certainty > 0.99 ? 1 : 0);
    if (walk.sure) return `Localised: node ${walk.node} (${certainty}).`;
    const about = counted(Math.round(walk.belief.candidates), "possible node");
    return `Not localised: about ${about}; node ${walk.node} is the likeliest (${certainty}).`;
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
    const remark = surprise > 3 ? "surprising · " : "";
    item.append(made("span", { className: "arrow" }, "→"), seen);
    item.append(
      made(
        "span",
        { className: "spread" },
        `${remark}${candidates < 1.5 ? "1 node" : `≈ ${Math.round(candidates)} nodes`}`,
      ),
    );
    item.dataset.step = step;
    return item;
  }

  /** Draw the belief on the map, and the true position in the room. */
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

  /** Keys take actions while the panel is open, unless the focused element uses them itself. */
  key(event) {
    if (!this.active || this.walk === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, [role=tab], summary")) return;
    const action = actionForKey(event.key, this.directions);
    if (action === null) return;
    event.preventDefault();
    this.act(action);
  }
}
