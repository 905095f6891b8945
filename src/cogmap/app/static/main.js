/* The page: opens the run, connects the panels to the pictures, and polls for changes. */

import { onConnection } from "./api.js";
import { Explorer } from "./explorer.js";
import { Live } from "./live.js";
import { recall, remember } from "./memory.js";
import { ReplayPanel } from "./replay_panel.js";
import { RunPanel } from "./run_panel.js";
import { PlanDesk } from "./shared/plan_desk.js";
import { followTheme, readTheme } from "./shared/theme.js";
import { counted } from "./shared/words.js";
import { Tabs } from "./tabs.js";
import { WalkPanel } from "./walk_panel.js";

const element = (id) => document.getElementById(id);

class Page {
  constructor() {
    Object.assign(this, { tab: "plan", away: false });
    this.theme = readTheme();
    this.explorer = new Explorer(() => this.theme, {
      picked: (node) => this.picked(node),
      pickedPlace: (position) => this.pickedPlace(position),
      cleared: () => this.desk.clear(),
      said: (text) => this.desk.say(text),
      kindChosen: (kind) => this.guarded(() => this.showMap(kind)),
      besideChanged: () => this.redraw(),
    });
    this.desk = new PlanDesk({
      changed: () => this.planned(),
      extra: (desk) => this.explorer.planInRoom(desk),
      picture: (node) => this.explorer.picture(node),
    });
    this.walk = new WalkPanel(this.explorer, (node) => this.planFrom(node));
    this.replay = new ReplayPanel(this.explorer);
    this.runPanel = new RunPanel();
    this.tabs = new Tabs(document.querySelector('[role="tablist"]'), (name) => this.opened(name));
    element("swap").addEventListener("click", () => this.swap());
    element("steps").addEventListener("pointerover", (event) => this.pointAt(event.target.closest("li")));
    element("steps").addEventListener("pointerleave", () => this.pointAt(null));
    onConnection((answers) => this.connected(answers));
    followTheme(element("theme"), () => this.themed());
  }

  themed() {
    this.theme = readTheme();
    for (const view of this.explorer.views) view.stage.repaint();
  }

  /** Show a banner while the server does not answer. */
  connected(answers) {
    if (answers === !this.away) return;
    this.away = !answers;
    const gone = "The server does not answer. Plans still work; everything else resumes when it is back.";
    this.banner(this.away ? gone : "");
  }

  banner(text) {
    element("banner").textContent = text;
    element("banner").hidden = text === "";
  }

  /** Run a task that needs the server; show its error message in the banner. */
  async guarded(work) {
    try {
      await work();
    } catch (problem) {
      this.banner(`${problem.message[0].toUpperCase()}${problem.message.slice(1)}`);
    }
  }

  async open() {
    const kept = recall();
    await this.guarded(async () => {
      await this.loadRun();
      const kinds = this.explorer.run.maps.map(({ kind }) => kind);
      if (kinds.length > 0) await this.showMap(kinds.includes(kept.kind) ? kept.kind : kinds[0], kept);
      this.tabs.open(
        ["plan", "walk", "replay", "run"].includes(kept.tab) ? kept.tab : kinds.length > 0 ? "plan" : "run",
      );
    });
    await new Live((live) => this.guarded(() => this.lived(live))).watch();
  }

  async loadRun() {
    await this.explorer.loadRun();
    const { run } = this.explorer;
    document.title = `${run.folder} · cogmap`;
    element("run-name").textContent = `${run.folder}: ${run.name}`;
    element("summary").textContent = this.summary();
    element("empty-words").textContent = "It appears here as soon as training has built one.";
    this.runPanel.show(run);
    this.walk.prepare();
    this.replay.prepare();
  }

  summary() {
    const { run, room } = this.explorer;
    const [map] = run.maps;
    if (!map) return "There is no map yet.";
    const places = room ? ` for ${counted(room.observation.length, "place")}` : "";
    const [seen, done] = [run.observations.labels.length, run.actions.labels.length];
    const sources = `${counted(seen, "observation")} and ${counted(done, "action")}`;
    return `${counted(map.nodes, "node")}${places}, learned from ${sources} alone`;
  }

  /** Show another map or revision; nodes chosen on the old one mean nothing on it. */
  async showMap(kind, kept = null) {
    await this.explorer.choose(kind);
    const { map } = this.explorer;
    const same = kept !== null && kept.revision === map.revision;
    const known = (node) => (same && node !== null && node < map.nodes.observation.length ? node : null);
    if (kept !== null) this.desk.avoid = new Set(kept.avoid.filter((seen) => seen < map.colours.length));
    this.walk.reset();
    this.replay.prepare();
    this.desk.use(map, known(kept?.start ?? null), known(kept?.goal ?? null));
    this.redraw();
  }

  async lived(live) {
    await this.runPanel.update(live.rows);
    const { run, map } = this.explorer;
    if (run === null) return;
    const shown = Object.fromEntries(run.maps.map(({ kind, revision }) => [kind, revision]));
    const changed = Object.keys(live.revisions).some((kind) => shown[kind] !== live.revisions[kind]);
    if (!changed && live.state === run.state) return;
    await this.loadRun();
    if (!changed || this.explorer.run.maps.length === 0) return;
    const kinds = this.explorer.run.maps.map(({ kind }) => kind);
    const kind = map && kinds.includes(map.kind) ? map.kind : kinds[0];
    if (map === null || live.revisions[kind] !== map.revision) await this.showMap(kind);
  }

  opened(name) {
    this.tab = name;
    this.walk.activate(name === "walk");
    this.replay.activate(name === "replay");
    this.explorer.mainView.keysMove = name !== "walk";
    this.brief();
    this.redraw();
    this.keep();
  }

  /** Draw the marks of the open panel. */
  redraw() {
    if (this.explorer.map === null) return;
    if (this.tab === "walk") this.walk.draw();
    else if (this.tab === "replay") this.replay.go(this.replay.step);
    else this.explorer.markPlan(this.desk);
  }

  /** On a narrow screen the plan's message stands on the map too; it belongs to the plan alone. */
  brief() {
    const shown = this.tab === "plan" && this.desk.start !== null;
    element("brief").textContent = shown ? this.desk.message.textContent : "";
  }

  planned() {
    this.brief();
    if (this.tab === "plan" || this.tab === "run") {
      this.explorer.markPlan(this.desk);
      this.addPolicy();
    }
    this.keep();
  }

  /** Beside the plan what a policy would do; it may come later than the next plan, and is then dropped. */
  async addPolicy() {
    const { start, goal, found } = this.desk;
    const said = await this.explorer.policy(this.desk).catch(() => "");
    if (said && this.desk.start === start && this.desk.goal === goal && this.desk.found === found) {
      this.desk.say(this.desk.message.textContent + said);
    }
  }

  keep() {
    const { map } = this.explorer;
    const { start, goal, avoid } = this.desk;
    remember({ tab: this.tab, kind: map?.kind, revision: map?.revision, start, goal, avoid: [...avoid] });
  }

  picked(node) {
    if (this.tab !== "plan") this.tabs.open("plan");
    this.desk.choose(node);
  }

  /** A click into the room: the start or goal of a plan, or the agent's start in the walk panel. */
  pickedPlace(position) {
    if (this.tab === "walk") return this.walk.begin(position);
    const node = this.explorer.map?.atPosition?.get(position);
    return node === undefined ? this.desk.say("No node of the map stands for this place.") : this.picked(node);
  }

  planFrom(node) {
    this.desk.start = node;
    this.desk.goal = null;
    this.tabs.open("plan");
    this.desk.plan();
  }

  swap() {
    const { desk } = this;
    [desk.start, desk.goal] = [desk.goal, desk.start];
    desk.plan();
  }

  pointAt(step) {
    this.explorer.mainView.cursor = step ? Number(step.dataset.node) : null;
    this.explorer.mainView.stage.request();
  }
}

new Page().open();
