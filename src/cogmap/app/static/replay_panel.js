/* A walk from the file, step by step, with the estimated node. */

import { ask } from "./api.js";
import { drawBars } from "./bars.js";
import { percent } from "./shared/words.js";

const BEAT = 280; // milliseconds per step while playing
const TAIL = 40; // steps of the trail

export class ReplayPanel {
  constructor(explorer) {
    Object.assign(this, { explorer, walk: null, step: 0, active: false, timer: null, asked: null });
    const element = (name) => document.getElementById(`replay-${name}`);
    this.elements = Object.fromEntries(
      [
        "live",
        "walk",
        "count",
        "bars",
        "step",
        "back",
        "play",
        "next",
        "jump",
        "at",
        "seen",
        "message",
        "none",
        "error",
      ].map((name) => [name, element(name)]),
    );
    const { elements } = this;
    elements.walk.addEventListener("change", () => this.load(Number(elements.walk.value)));
    elements.step.addEventListener("input", () => this.go(Number(elements.step.value)));
    elements.back.addEventListener("click", () => this.go(this.step - 1));
    elements.next.addEventListener("click", () => this.go(this.step + 1));
    elements.jump.addEventListener("click", () => this.jump());
    elements.play.addEventListener("click", () => this.play(this.timer === null));
  }

  prepare() {
    const { walks } = this.explorer.run;
    this.walk = null;
    this.play(false);
    this.elements.live.hidden = walks === null;
    this.elements.none.hidden = walks !== null;
    if (walks === null) return undefined;
    this.elements.walk.max = walks.count - 1;
    this.elements.count.textContent = `of ${walks.count.toLocaleString("en")} (0 to ${walks.count - 1})`;
    return this.active ? this.activate(true) : undefined;
  }

  activate(active) {
    this.active = active;
    if (!active) return this.play(false);
    if (this.walk !== null) return this.go(this.step);
    if (this.explorer.run.walks && this.explorer.map) return this.load(Number(this.elements.walk.value));
    return this.explorer.mark({}, {});
  }

  async load(number) {
    const { map } = this.explorer;
    this.elements.error.hidden = true;
    try {
      this.walk = await ask(`replay/${number}?map=${map.kind}`);
    } catch (problem) {
      return this.fail(problem.message);
    }
    this.elements.step.max = this.walk.observations.length - 1;
    this.jumps = new Set(this.walk.teleported);
    this.elements.jump.disabled = this.jumps.size === 0;
    return this.go(0);
  }

  fail(text) {
    this.elements.error.textContent = text;
    this.elements.error.hidden = false;
  }

  jump() {
    const next = this.walk?.teleported.find((step) => step > this.step) ?? this.walk?.teleported[0];
    if (next !== undefined) this.go(next);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on && this.walk !== null ? setInterval(() => this.tick(), BEAT) : null;
    this.elements.play.textContent = this.timer === null ? "Play" : "Pause";
    this.elements.play.setAttribute("aria-pressed", String(this.timer !== null));
  }

  tick() {
    if (this.step >= this.walk.observations.length - 1) this.play(false);
    else this.go(this.step + 1);
  }

  go(step) {
    if (this.walk === null) return;
    this.step = Math.min(Math.max(step, 0), this.walk.observations.length - 1);
    this.elements.step.value = this.step;
    this.describe();
    this.chart();
    this.draw(null);
    this.fetchBelief();
  }

  describe() {
    const { walk, step, elements, explorer } = this;
    const labels = explorer.run.actions.labels;
    const after = step > 0 ? `after ${labels[walk.actions[step - 1]]}` : "at the start";
    elements.at.textContent = `Step ${step}, ${after}`;
    elements.seen.replaceChildren(...explorer.seen(walk.observations[step], walk.sure[step] ? walk.nodes[step] : null));
    const certainty = percent(walk.certainty[step]);
    const jumped = this.jumps.has(step) ? " Teleportation: it is no neighbour of the node before." : "";
    const state = walk.sure[step] ? "Estimated node" : "Not localised. Likeliest node";
    elements.message.textContent = `${state}: ${walk.nodes[step]} (${certainty}).${jumped}`;
  }

  chart() {
    const { walk, step } = this;
    drawBars(
      this.elements.bars,
      walk.certainty.map((certainty) => 1 - certainty),
      {
        classes: walk.sure.map((sure) => (sure ? "sure" : "bar-fill")),
        jumps: walk.teleported,
        here: step,
        label: `Uncertainty at each step, with ${walk.teleported.length} teleportations; now at step ${step}`,
      },
    );
  }

  /** Fetch the belief at this step; only the last one requested is shown. */
  async fetchBelief() {
    const { walk, step, explorer } = this;
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const { belief } = await ask(
        `replay/${walk.walk}/${step}?map=${explorer.map.kind}`,
        undefined,
        this.asked.signal,
      );
      if (this.walk === walk && this.step === step) this.draw(belief);
    } catch (problem) {
      if (problem.name !== "AbortError") this.fail(problem.message);
    }
  }

  draw(belief) {
    if (!this.active) return;
    const { walk, step, explorer } = this;
    const first = Math.max(0, step - TAIL);
    const nodes = walk.nodes.slice(first, step + 1).map((node, index) => (walk.sure[first + index] ? node : -1));
    const trail = { nodes, jumps: (index) => this.jumps.has(first + index) };
    this.belief = belief ?? this.belief ?? null; // the previous one until this step's is loaded
    explorer.mark(
      { trail, belief: walk.sure[step] ? null : this.belief, agent: walk.sure[step] ? walk.nodes[step] : null },
      walk.positions ? { trail: walk.positions.slice(first, step + 1), agent: walk.positions[step] } : {},
    );
  }
}
