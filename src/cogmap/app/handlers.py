"""What each address does, as plain functions of a checked request."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from cogmap.app import replay, schema
from cogmap.app.security import Deadline, Limits, Refusal
from cogmap.app.sessions import Sessions, new_session
from cogmap.app.shown_map import ShownMap, cell_points
from cogmap.app.watcher import RunWatcher
from cogmap.environments.oracle import follow, true_edges
from cogmap.errors import CogmapError, MissingExtra
from cogmap.planning.policies import find_policy
from cogmap.planning.shortest_paths import (
    Problem,
    Showing,
    avoided_observations,
    check_node,
    solve,
    solve_many,
)
from cogmap.records import Floats, Labels, Plan, TableWorld, Walks, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.paper_rows import paper_table
from cogmap.report.tables import Scored, score_table
from cogmap.runs.names import MapKind
from cogmap.version import __version__

_DIGITS = 4  # of a coordinate
_MOST_MOVES = 1 << 19  # of a policy, which takes seconds from there on

Body = TypeVar("Body")


class Call(NamedTuple, Generic[Body]):
    """A request: the variable parts of its address, its query, and its checked body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Body

    def number(self, name: str) -> int:
        """A whole number in the address; anything else is an address that does not exist."""
        text = self.path[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= 10):
            raise Refusal(404, f"`{name}` in the address must be a whole number, got {text[:40]!r}")
        return int(text)


class Handlers:
    """One run, and the agents that walk in it: a method an address."""

    def __init__(self, watcher: RunWatcher, limits: Limits) -> None:
        self.watcher = watcher
        self.limits = limits
        self.sessions = Sessions(limits)

    def run(self, call: Call[None]) -> schema.Run:
        watcher, run = self.watcher, self.watcher.known_run()
        num_observations = run.config.num_observations
        minimal = watcher.maps.get("minimal")
        return {
            "name": run.name,
            "folder": watcher.folder.resolve().name,
            "version": __version__,
            "observations": {
                "labels": list(_words(run.observation_labels, num_observations)),
                "colours": list(_colours(num_observations, run.observation_labels)),
            },
            "actions": {"labels": list(_words(run.action_labels, run.config.num_actions))},
            "maps": [_summary(shown) for shown in watcher.maps.values()],
            "truth": watcher.truth is not None,
            "walks": _walks_size(watcher.walks),
            "world": "map" if watcher.truth is None else "true",
            "views": watcher.views is not None,
            "concepts": watcher.concepts is not None,
            "state": watcher.state,
            "warnings": [] if minimal is None else list(minimal.map.warnings),
            "scores": _score_table(watcher.scores, self._world, num_observations),
            "config": dict(run.stored),
        }

    def live(self, call: Call[None]) -> schema.Live:
        watcher, run = self.watcher, self.watcher.run
        last = watcher.rows[-1] if watcher.rows else {}
        return {
            "state": watcher.state,
            "step": last.get("step"),
            "last_step": None if run is None else run.training.steps,
            "seconds": last.get("seconds"),
            "validation_accuracy": last.get("validation_accuracy"),
            "rows": len(watcher.rows),
            "revisions": {kind: shown.revision for kind, shown in watcher.maps.items()},
            "problems": watcher.problems,
        }

    def metrics(self, call: Call[None]) -> schema.Metrics:
        num_codes = self.watcher.known_run().config.num_codes
        return {"columns": self.watcher.metric_columns(), "num_codes": num_codes}

    def map(self, call: Call[None]) -> ShownMap:
        return self.watcher.map(_kind(call.path["kind"], "`kind` in the address", 404))

    def room(self, call: Call[None]) -> schema.Room:
        world = self.watcher.known_truth().world
        cells = cell_points(world)
        source, action, target = true_edges(world, bumps=False)
        return {
            "name": world.name,
            "positions": world.num_positions,
            "observation": world.observation.tolist(),
            "x": _column(cells, 0),
            "y": _column(cells, 1),
            "moves": {"source": source.tolist(), "action": action.tolist(), "target": target.tolist()},
        }

    def concepts(self, call: Call[None]) -> schema.Concepts:
        found = self.watcher.concepts
        if found is None:
            raise Refusal(404, "the run must hold concepts.json for this, got none")
        colours = observation_colours(len(found.names))
        return {
            "concept": [found.names[concept] if concept >= 0 else None for concept in found.concept.tolist()],
            "colours": dict(zip(found.names, colours, strict=True)),
        }

    def view(self, call: Call[None]) -> bytes:
        """A PNG of what is seen at a node."""
        shown, views = self._queried_map(call), self.watcher.views
        node = check_node(shown.map, call.number("node"), "node")
        fits = views is not None and shown.kind == "minimal" and node < len(views.view_of_node)
        if views is None or not fits or views.view_of_node[node] < 0:
            raise Refusal(404, f"the run must hold a view of node {node} in views.npz, got none")
        return png_bytes(views.views[views.view_of_node[node]])

    def replay(self, call: Call[None]) -> schema.Replay:
        walks, shown = self.watcher.known_walks(), self._queried_map(call)
        size = walks.num_steps * shown.map.num_nodes
        if size > self.limits.replayed:
            rule = f"steps times nodes of a replay must be at most {self.limits.replayed}"
            raise Refusal(413, f"{rule}, got {size}")
        return replay.replay(shown, walks, self.watcher.truth, call.number("walk"))

    def replay_step(self, call: Call[None]) -> schema.ReplayStep:
        walks, until = self.watcher.known_walks(), Deadline(self.limits.answer_seconds)
        walk, step = call.number("walk"), call.number("step")
        return replay.replay_step(self._queried_map(call), walks, walk, step, until)

    def plan(self, call: Call[schema.PlanRequest]) -> schema.Plan:
        shown, problem = self._asked_map(call.body), _problem(call.body)
        plan = solve(shown.map, problem.start, problem.goal, problem.avoid, problem.strict)
        return _plan_answer(shown, problem, plan, self._world)

    def policy(self, call: Call[schema.PolicyRequest]) -> schema.Policy:
        """The best action at every node, where it leads most likely, and how likely it arrives."""
        shown, asked = self._asked_map(call.body), call.body
        moves = shown.map.num_nodes * shown.map.num_actions
        if moves > _MOST_MOVES:
            raise Refusal(413, f"nodes times actions of a policy must be at most {_MOST_MOVES}, got {moves}")
        goal: Any = asked.goal if asked.showing is None else Showing(asked.showing)
        policy = find_policy(shown.map, goal, asked.avoid)
        assert policy.arrival is not None
        assert policy.steps is not None
        acts = policy.action >= 0
        targets = shown.next_node[np.arange(len(acts)), policy.action]
        return {
            "goals": list(policy.goals),
            "actions": [action if action >= 0 else None for action in policy.action.tolist()],
            "targets": [target if act else None for target, act in zip(targets.tolist(), acts, strict=True)],
            "arrival": policy.arrival.round(_DIGITS).tolist(),
            "steps": [
                steps if np.isfinite(steps) else None for steps in policy.steps.round(_DIGITS).tolist()
            ],
        }

    def plans(self, call: Call[schema.PlansRequest]) -> schema.Plans:
        """One after the other, errors in their places."""
        shown, problems = self._asked_map(call.body), [_problem(one) for one in call.body.problems]
        outcomes = zip(problems, solve_many(shown.map, problems), strict=True)
        return {
            "plans": [
                {"error": str(outcome)}
                if isinstance(outcome, CogmapError)
                else _plan_answer(shown, problem, outcome, self._world)
                for problem, outcome in outcomes
            ]
        }

    def locate(self, call: Call[schema.LocateRequest]) -> schema.Place:
        return replay.locate(self._asked_map(call.body), call.body, Deadline(self.limits.answer_seconds))

    def new_walk(self, call: Call[schema.WalkRequest]) -> schema.Walk:
        shown = self._asked_map(call.body)
        until = Deadline(self.limits.answer_seconds)
        session = new_session(shown, self._world, call.body, self.limits.kept_steps, until)
        return self.sessions.keep(session).walk_answer()

    def walk(self, call: Call[None]) -> schema.Walk:
        return self.sessions.find(call.path["id"]).walk_answer()

    def step(self, call: Call[schema.StepRequest]) -> schema.Step:
        return self.sessions.step(call.path["id"], call.body).step_answer()

    def end_walk(self, call: Call[None]) -> None:
        self.sessions.end(call.path["id"])

    @property
    def _world(self) -> TableWorld | None:
        return None if self.watcher.truth is None else self.watcher.truth.world

    def _asked_map(self, asked: schema.OnMap) -> ShownMap:
        return self.watcher.map(asked.map, asked.revision)

    def _queried_map(self, call: Call[None]) -> ShownMap:
        return self.watcher.map(_kind(call.query.get("map", "minimal"), "`map`", 422))


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """An image (H, W, C) as a PNG file: grey, colours, or colours and opacity."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra('views need pillow: pip install "cogmap[serve]"') from None
    stream = io.BytesIO()
    Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).save(stream, "PNG")
    return stream.getvalue()


def _kind(text: str, name: str, status: int) -> MapKind:
    if text not in get_args(MapKind):
        raise Refusal(status, f"{name} must be minimal or paper, got {text[:40]!r}")
    return cast(MapKind, text)


def _summary(shown: ShownMap) -> schema.MapSummary:
    return {
        "kind": shown.kind,
        "revision": shown.revision,
        "nodes": shown.map.num_nodes,
        "edges": shown.map.num_edges,
        "explained": shown.map.explained,
        "warnings": list(shown.map.warnings),
        "early": shown.early,
    }


def _problem(asked: schema.Problem) -> Problem:
    goal: Any = asked.goal if asked.showing is None else Showing(asked.showing)
    return Problem(asked.start, goal, asked.avoid, asked.strict)


def _plan_answer(shown: ShownMap, problem: Problem, plan: Plan, world: TableWorld | None) -> schema.Plan:
    avoided = avoided_observations(shown.map, problem.avoid)
    observations = plan.observations.tolist()
    return {
        "nodes": plan.nodes.tolist(),
        "actions": plan.actions.tolist(),
        "observations": observations,
        "avoided": avoided.isdisjoint(observations[1:-1]),
        "positions": _visited(shown, plan, world),
    }


def _visited(shown: ShownMap, plan: Plan, world: TableWorld | None) -> list[int] | None:
    """The true positions that the plan visits, from the position of its first node on."""
    if world is None or shown.position is None or shown.position[plan.nodes[0]] < 0:
        return None
    return follow(world, int(shown.position[plan.nodes[0]]), plan.actions).tolist()


@lru_cache(maxsize=4)
def _words(labels: Labels | None, count: int) -> tuple[str, ...]:
    return tuple(str(label_of(labels, index)) for index in range(count))


@lru_cache(maxsize=4)
def _colours(count: int, labels: Labels | None) -> tuple[str, ...]:
    return tuple(observation_colours(count, labels))


def _walks_size(walks: Walks | None) -> schema.WalksSize | None:
    return None if walks is None else {"count": walks.num_walks, "longest": walks.num_steps}


def _score_table(
    scored: Sequence[Scored], world: TableWorld | None, num_observations: int
) -> schema.ScoreTable | None:
    if not scored:
        return None
    table = score_table(scored, paper_table(None if world is None else world.name, num_observations))
    return {
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "caption": table.caption,
    }


def _column(points: Floats | None, axis: int) -> list[float] | None:
    if points is None:
        return None
    values: list[float] = points[:, axis].round(_DIGITS).tolist()
    return values
