"""All that the API can be asked, as plain functions of a parsed request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cogmap.app.answers import (
    concepts_answer,
    known_walks,
    live_answer,
    metrics_answer,
    room_answer,
    run_answer,
)
from cogmap.app.asking import locate_answer, plan_answer, plans_answer
from cogmap.app.journeys import Journey, Journeys, new_journey
from cogmap.app.keeper import Keeper
from cogmap.app.limits import Limits
from cogmap.app.opened_map import OpenedMap
from cogmap.app.png import png_bytes
from cogmap.app.refusals import Refusal
from cogmap.app.replay import belief_at, replay_answer
from cogmap.planning.shortest_paths import check_node
from cogmap.records import TableWorld


@dataclass(frozen=True)
class Call:
    """A request, parsed and checked: parts of its address, its query and its body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """A whole number of the address; anything else is an address that does not exist."""
        text = self.path[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= 10):
            raise Refusal(404, f"`{name}` in the address must be a whole number, got {text[:40]!r}")
        return int(text)


class Explorer:
    """One run, and the agents that walk in it."""

    def __init__(self, keeper: Keeper, limits: Limits) -> None:
        self.keeper = keeper
        self.limits = limits
        self.journeys = Journeys(limits)

    @property
    def world(self) -> TableWorld | None:
        return None if self.keeper.truth is None else self.keeper.truth.world

    def asked_map(self, call: Call) -> OpenedMap:
        """The map that a body or a query names, the minimal one if none."""
        kind = call.body.get("map") or call.query.get("map", "minimal")
        if kind not in ("minimal", "paper"):
            raise Refusal(422, f"`map` must be minimal or paper, got {kind[:40]!r}")
        return self.keeper.map(kind, call.body.get("revision"))

    def run(self, call: Call) -> Any:
        return run_answer(self.keeper)

    def live(self, call: Call) -> Any:
        return live_answer(self.keeper)

    def metrics(self, call: Call) -> Any:
        return metrics_answer(self.keeper)

    def room(self, call: Call) -> Any:
        return room_answer(self.keeper)

    def concepts(self, call: Call) -> Any:
        return concepts_answer(self.keeper)

    def map(self, call: Call) -> OpenedMap:
        kind = call.path["kind"]
        if kind not in ("minimal", "paper"):
            raise Refusal(404, f"there are the maps minimal and paper, got {kind[:40]!r}")
        return self.keeper.map(kind)

    def view(self, call: Call) -> bytes:
        """A PNG of what is seen at a node."""
        opened, views = self.asked_map(call), self.keeper.views
        node = check_node(opened.map, call.number("node"), "node")
        fits = views is not None and opened.kind == "minimal" and node < len(views.view_of_node)
        if views is None or not fits or views.view_of_node[node] < 0:
            raise Refusal(404, f"the run must hold a view of node {node} in views.npz, it does not")
        return png_bytes(views.views[views.view_of_node[node]])

    def replay(self, call: Call) -> Any:
        walks = known_walks(self.keeper)
        return replay_answer(self.asked_map(call), walks, self.keeper.truth, call.number("walk"))

    def replay_step(self, call: Call) -> Any:
        walks = known_walks(self.keeper)
        return belief_at(self.asked_map(call), walks, call.number("walk"), call.number("step"))

    def plan(self, call: Call) -> Any:
        return plan_answer(self.asked_map(call), call.body, self.world)

    def plans(self, call: Call) -> Any:
        return plans_answer(self.asked_map(call), call.body["problems"], self.world)

    def locate(self, call: Call) -> Any:
        return locate_answer(self.asked_map(call), call.body)

    def new_walk(self, call: Call) -> Journey:
        return new_journey(self.asked_map(call), self.world, call.body, self.limits.kept_steps)

    def walk(self, call: Call) -> Any:
        return self.journeys.find(call.path["id"]).whole_answer()

    def step(self, call: Call) -> Any:
        return self.journeys.step(call.path["id"], call.body).step_answer()

    def end_walk(self, call: Call) -> None:
        self.journeys.end(call.path["id"])
