/* Polls a run while it trains. */

import { ask } from "./api.js";
import { percent } from "./shared/words.js";

const [BUSY, IDLE] = [1500, 6000]; // milliseconds between two polls

const WORDS = {
  waiting: "Waiting for the first steps",
  training: "Training",
  mapping: "Trained; building the map",
  stopped: "Training stopped",
};

/** Calls `changed(live)` whenever there are new rows, another state or another revision of a map. */
export class Live {
  constructor(changed) {
    this.changed = changed;
    this.last = "";
  }

  async watch() {
    for (;;) {
      const live = await ask("live").catch((problem) => ({
        state: "stopped",
        revisions: {},
        rows: 0,
        problems: [problem.message],
      }));
      const now = JSON.stringify(live);
      if (now !== this.last) {
        this.last = now;
        showState(live);
        await this.changed(live);
      }
      await new Promise((done) => setTimeout(done, live.state === "finished" ? IDLE : BUSY));
    }
  }
}

function showState({ state, step, last_step: last, validation_accuracy: accuracy, problems = [] }) {
  document.getElementById("state").hidden = state === "finished" && problems.length === 0;
  const begun = state !== "training" || (step !== null && step !== undefined);
  const parts = [WORDS[begun ? state : "waiting"] ?? "Finished"];
  if (step !== null && step !== undefined && state !== "finished") {
    parts.push(`step ${step.toLocaleString("en")}${last ? ` of ${last.toLocaleString("en")}` : ""}`);
  }
  if (accuracy !== null && accuracy !== undefined) parts.push(`${percent(accuracy, 1)} predicted`);
  document.getElementById("state-words").textContent = [...parts, ...problems].join(" · ");
  const progress = document.getElementById("state-progress");
  progress.hidden = state !== "training" || !last;
  progress.value = last ? (step ?? 0) / last : 0;
}
