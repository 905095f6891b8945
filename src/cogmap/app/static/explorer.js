/* The explorer: the run, the map, the picture beside it, and the marks on both. */

import { ask } from "./api.js";
import { makeMap, makeRoom } from "./model.js";
import { nodeCard } from "./node_card.js";
import { segments } from "./segments.js";
import { MapView } from "./shared/map_view.js";
import { GUESS, actionStyle } from "./shared/painter.js";
import { shortestPlan, makeTransitions } from "./shared/planner.js";
import { RoomView } from "./shared/room_view.js";
import { hasChance, hasGuesses } from "./shared/scene.js";
import { dashSample, guessLegend, made, swatch } from "./shared/swatch.js";
import { counted, percent } from "./shared/words.js";
import { Views } from "./views.js";

const NO_MARKS = { path: null, policy: null, start: null, goal: null, belief: null, trail: null, agent: null };
const NO_ROOM_MARKS = { path: null, missed: false, trail: null, agent: null, start: null, goal: null };
const NAMES = { minimal: "Minimal map", paper: "The paper's map" };
const EXPLAINED = { minimal: "of held-out observations predicted", paper: "of steps explained" };
const SHORT = { minimal: "minimal", paper: "the paper's" };

const element = (id) => document.getElementById(id);

/**
 * The pictures and the choices above them. It calls `handlers`: `picked(node)`, `pickedPlace(position)`, `cleared()`,
 * `said(text)`, `kindChosen(kind)` when another map is selected, `besideChanged()` when the marks must be drawn again.
 */
export class Explorer {
  constructor(theme, handlers) {
    Object.assign(this, { handlers, run: null, map: null, room: null, concepts: null, maps: new Map() });
    Object.assign(this, { placement: null, beside: null });
    this.mainView = new MapView(element("map"), {
      label: "The learned map",
      keys: "map-keys",
      theme,
      picked: handlers.picked,
      cleared: handlers.cleared,
      pointed: (node) => this.showCard(node),
      reached: (node) => handlers.said(this.describe(node)),
    });
    const nothing = () => {};
    const quiet = { theme, keys: "map-keys", cleared: nothing, picked: nothing, pointed: nothing, reached: nothing };
    this.otherView = new MapView(element("other"), { ...quiet, label: "The other map" });
    this.roomView = new RoomView(element("room"), { ...quiet, label: "The true world", picked: handlers.pickedPlace });
    this.listen();
  }

  get views() {
    return [this.mainView, this.otherView, this.roomView];
  }

  listen() {
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.lookAt(button.dataset.view));
    }
    for (const name of ["merged", "weak"]) element(`show-${name}`).addEventListener("change", () => this.applyLook());
    element("show-concepts").addEventListener("change", () => this.showMap());
  }

  lookAt(how) {
    const { stage } = this.mainView;
    if (how === "fit") stage.fly(stage.camera.homeView());
    else stage.zoom(how === "in" ? 1.5 : 1 / 1.5);
  }

  describe(node) {
    return `node ${node}: ${this.map.observationLabels[this.map.nodes.observation[node]]}`;
  }

  /** Fetch the current state of the run. */
  async loadRun() {
    this.run = await ask("run");
    if (this.run.truth && this.room === null) {
      this.room = makeRoom(this.run, await ask("room"));
      if (this.room.points) this.roomView.show(this.room);
    }
    if (this.run.concepts && this.concepts === null) this.concepts = await ask("concepts");
    this.listActions();
  }

  /** Show a map of the run; fetch it if there is a newer revision. */
  async choose(kind) {
    const { revision } = this.run.maps.find((map) => map.kind === kind);
    if (this.maps.get(kind)?.revision !== revision) {
      this.maps.set(kind, makeMap(this.run, await ask(`map/${kind}`)));
    }
    this.map = this.maps.get(kind);
    const placement = this.map.placements.find(({ id }) => id === this.placement?.id);
    this.placement = placement ?? this.map.placements[0];
    this.showMap();
    await this.showBeside(this.beside ?? this.usualBeside());
  }

  showMap() {
    const { map, run } = this;
    const isEmpty = map.nodes.observation.length === 0;
    element("empty").hidden = !isEmpty;
    if (isEmpty) {
      element("empty-title").textContent = "The map is empty";
      element("empty-words").textContent = run.warnings.join(" ") || "There is no place that the walks come back to.";
    }
    this.pictures = run.views ? new Views(map.kind, () => this.mainView.stage.repaint()) : null;
    this.mainView.show(this.coloured(map), this.placement);
    this.listChoices();
    this.applyLook();
    const thicker = hasChance(map.edges.probability) ? "likelier" : "more support";
    element("legend-thickness").textContent = `thicker: ${thicker}`;
    element("legend-guesses").hidden = !hasGuesses(map.edges);
    element("legend-guesses").replaceChildren(guessLegend(GUESS));
    const early = map.early ? " so far, while the run trains" : "";
    const count = counted(map.nodes.observation.length, "node");
    element("map-caption").textContent =
      `${NAMES[map.kind] ?? map.kind}${early}: ${count}, ${percent(map.explained, 1)} ${EXPLAINED[map.kind]}`;
  }

  /** The map with its nodes in the colours of their concepts, if there are any and the box is checked. */
  coloured(map) {
    if (this.concepts === null || map.kind !== "minimal" || !element("show-concepts").checked) return map;
    const { concept, colours } = this.concepts;
    const faint = "#bdb8b0";
    return { ...map, nodeColours: map.nodes.observation.map((_, node) => colours[concept[node]] ?? faint) };
  }

  applyLook() {
    const { map } = this;
    const merged = element("show-merged").checked ? map.merged : null;
    const views = this.pictures ? (node) => this.pictures.get(node) : null;
    this.mainView.setLook({ merged, weak: map.weak, markWeak: element("show-weak").checked, views });
  }

  listChoices() {
    const { run, map } = this;
    const full = run.maps.filter(({ kind, nodes }) => nodes > 0 || kind === map.kind);
    const kinds = full.map(({ kind }) => ({ id: kind, name: SHORT[kind] ?? kind }));
    segments(element("kinds"), kinds, map.kind, (kind) => this.handlers.kindChosen(kind));
    segments(element("placements"), map.placements, this.placement.id, (id) => this.place(id));
    const others = kinds.filter(({ id }) => id !== map.kind).map(({ id }) => ({ id, name: `${SHORT[id]} map` }));
    const room = this.room?.points ? [{ id: "room", name: "true world" }] : [];
    const besides = [...room, ...others, { id: "none", name: "none" }];
    if (!besides.some(({ id }) => id === this.beside)) this.beside = null;
    segments(element("besides"), besides, this.beside ?? this.usualBeside(), (id) => this.showBeside(id));
    const count = (id, items) => {
      element(`show-${id}-label`).hidden = items === null || items.length === 0;
      element(`${id}-count`).textContent = items === null ? "" : `(${items.length})`;
    };
    count("merged", map.merged);
    count("weak", [...map.weak]);
    element("show-concepts-label").hidden = this.concepts === null || map.kind !== "minimal";
  }

  place(id) {
    this.placement = this.map.placements.find((placement) => placement.id === id);
    this.mainView.place(this.placement);
  }

  /** The room, if there is one and the screen is wide enough. */
  usualBeside() {
    return this.room?.points && matchMedia("(min-width: 60rem)").matches ? "room" : "none";
  }

  /** "room", another kind of map, or "none". */
  async showBeside(what) {
    this.beside = what;
    element("room-pane").hidden = what !== "room";
    element("other-pane").hidden = !["minimal", "paper"].includes(what);
    if (["minimal", "paper"].includes(what)) await this.showOther(what);
    this.handlers.besideChanged();
  }

  async showOther(kind) {
    if (!this.maps.has(kind)) this.maps.set(kind, makeMap(this.run, await ask(`map/${kind}`)));
    const other = this.maps.get(kind);
    other.transitions ??= makeTransitions(other);
    this.otherView.show(other, other.placements.find(({ id }) => id === this.placement.id) ?? other.placements[0]);
    this.otherView.setLook({ merged: other.merged, weak: other.weak, markWeak: false });
    const count = counted(other.nodes.observation.length, "node");
    const worth = other.merged ? `${other.merged.length} merged` : `${percent(other.explained, 1)} explained`;
    element("other-caption").textContent = `${NAMES[kind]}: ${count}, ${worth}`;
  }

  listActions() {
    const labels = this.run.actions.labels;
    const items = labels.slice(0, 12).map((label, action) => made("span", {}, dashSample(actionStyle(action)), label));
    if (labels.length > 12) items.push(made("span", { className: "note" }, `and ${labels.length - 12} more actions`));
    element("legend-actions").replaceChildren(...items);
  }

  showCard(node) {
    const card = element("card");
    card.hidden = node === null;
    if (node === null) return;
    const concept = this.concepts && this.map.kind === "minimal" ? this.concepts.concept[node] : null;
    card.classList.toggle("right", this.mainView.placeOf(node)[0] < this.mainView.stage.camera.width / 2);
    card.replaceChildren(...nodeCard(this.map, node, { views: this.pictures, concept }));
  }

  /** An observation for the panels: its colour and label, and the view at the node if there is one. */
  seen(observation, node) {
    const { labels, colours } = this.run.observations;
    return [...(node === null ? [] : this.picture(node)), swatch(colours[observation]), labels[observation]];
  }

  /** The view at a node, in a list that is empty if the run has no views. */
  picture(node) {
    if (!this.pictures) return [];
    return [made("img", { src: this.pictures.address(node), alt: `The view at node ${node}` })];
  }

  /** Draw these marks, and no others, on the map and in the room. */
  mark(onMap, inRoom) {
    this.mainView.setMarks({ ...NO_MARKS, ...onMap });
    this.roomView.setMarks({ ...NO_ROOM_MARKS, ...inRoom });
    this.otherView.setMarks(NO_MARKS);
  }

  /** Draw a plan on the map, follow it in the room, and draw the other map's plan between the same places. */
  markPlan({ start, goal, found, avoid }) {
    if (this.map === null) return;
    this.mainView.setLook({ avoid: new Set(avoid) });
    const places = this.map.nodes.position;
    const placeOf = (node) => (places && node !== null ? places[node] : null);
    const known = found && this.room && placeOf(start) !== null;
    const visited = known ? this.room.follow(placeOf(start), found.actions) : null;
    const missed = visited !== null && visited[visited.length - 1] !== placeOf(goal);
    this.mark(
      { path: found?.nodes ?? null, start, goal },
      { path: visited, missed, start: placeOf(start), goal: placeOf(goal) },
    );
    this.markOther(placeOf(start), placeOf(goal), avoid);
  }

  /** On a map with chance: draw the policy to a goal, and say how likely it arrives from a start. Empty on others. */
  async policy({ start, goal, avoid }) {
    const { map } = this;
    if (goal === null || !hasChance(map?.edges.probability)) return "";
    const { kind, revision } = map;
    const found = await ask("policy", { map: kind, revision, goal, avoid: [...avoid] });
    if (this.map !== map) return "";
    this.mainView.setMarks({ policy: found.targets });
    if (start === null || found.steps[start] === null) return start === null ? "" : " By policy it never arrives.";
    const sure = found.arrival[start] >= 1 ? "for sure" : `with ${percent(found.arrival[start], 1)}`;
    return ` By policy it arrives ${sure}, in ${found.steps[start].toFixed(1)} expected steps.`;
  }

  markOther(start, goal, avoid) {
    const other = this.maps.get(this.beside);
    const compared = element("compared");
    compared.textContent = "";
    if (!other || other === this.map) return;
    this.otherView.setLook({ avoid: new Set(avoid) });
    const [from, to] = [start, goal].map((place) => (place === null ? undefined : other.atPosition?.get(place)));
    const known = from !== undefined && to !== undefined;
    const found = known ? shortestPlan(other, other.transitions, from, to, avoid) : null;
    this.otherView.setMarks({ path: found?.nodes ?? null, start: from ?? null, goal: to ?? null });
    if (start === null || goal === null) return;
    compared.textContent = `${NAMES[other.kind]}, between the same places: ${this.describePlan(start, goal, found)}.`;
  }

  describePlan(start, goal, found) {
    if (found === null) return "there is no path";
    const visited = this.room.follow(start, found.actions);
    const misses = visited[visited.length - 1] === goal ? "" : ", which do not lead there";
    return `${counted(found.actions.length, "action")}${misses}`;
  }

  /** A sentence on where a plan leads in the room; empty if that is unknown. */
  planInRoom({ start, goal, found }) {
    const places = this.map?.nodes.position;
    if (!this.room || !places || places[start] === null || places[goal] === null) return "";
    const visited = this.room.follow(places[start], found.actions);
    return visited[visited.length - 1] === places[goal]
      ? " In the true world they lead there."
      : ` In the true world they lead elsewhere${this.room.points ? ", to the cross" : ""}.`;
  }
}
