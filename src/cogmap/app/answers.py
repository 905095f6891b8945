"""What the run is, in the words of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cogmap.app.keeper import Keeper
from cogmap.app.refusals import Refusal
from cogmap.app.run_files import RunConfig, as_columns
from cogmap.app.truth_places import cell_points
from cogmap.environments.oracle import true_edges
from cogmap.errors import BadRun
from cogmap.records import Labels, Truth, Walks, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.paper_rows import paper_table
from cogmap.report.tables import Scored, score_table
from cogmap.version import __version__

_DIGITS = 4


def run_answer(keeper: Keeper) -> dict[str, Any]:
    """/api/run"""
    config = known_config(keeper)
    minimal = keeper.maps.get("minimal")
    return {
        "name": config.name,
        "folder": keeper.folder.resolve().name,
        "version": __version__,
        "observations": {
            "labels": _words(config.observation_labels, config.num_observations),
            "colours": list(observation_colours(config.num_observations)),
        },
        "actions": {"labels": _words(config.action_labels, config.num_actions)},
        "maps": [
            {
                "kind": kind,
                "revision": opened.revision,
                "nodes": opened.map.num_nodes,
                "edges": opened.map.num_edges,
                "explained": opened.map.explained,
                "warnings": list(opened.map.warnings),
                "early": opened.early,
            }
            for kind, opened in keeper.maps.items()
        ],
        "truth": keeper.truth is not None,
        "walks": _walks_size(keeper.walks),
        "world": "map" if keeper.truth is None else "true",
        "views": keeper.views is not None,
        "concepts": keeper.concepts is not None,
        "state": keeper.state,
        "warnings": [] if minimal is None else list(minimal.map.warnings),
        "scores": _scores(keeper.scores, config, keeper.truth),
        "config": config.stored,
    }


def live_answer(keeper: Keeper) -> dict[str, Any]:
    """/api/live"""
    last = keeper.rows[-1] if keeper.rows else {}
    config = keeper.config
    return {
        "state": keeper.state,
        "step": last.get("step"),
        "last_step": None if config is None else config.last_step,
        "seconds": last.get("seconds"),
        "validation_accuracy": last.get("validation_accuracy"),
        "rows": len(keeper.rows),
        "revisions": {kind: opened.revision for kind, opened in keeper.maps.items()},
        "problems": keeper.problems,
    }


def metrics_answer(keeper: Keeper) -> dict[str, Any]:
    """/api/metrics"""
    return {"columns": as_columns(keeper.rows), "num_codes": known_config(keeper).num_codes}


def room_answer(keeper: Keeper) -> dict[str, Any]:
    """/api/room"""
    world = known_truth(keeper).world
    cells = cell_points(world)
    source, action, target = true_edges(world, bumps=False)
    return {
        "name": world.name,
        "positions": world.num_positions,
        "observation": world.observation.tolist(),
        "x": None if cells is None else cells[:, 0].round(_DIGITS).tolist(),
        "y": None if cells is None else cells[:, 1].round(_DIGITS).tolist(),
        "moves": {"source": source.tolist(), "action": action.tolist(), "target": target.tolist()},
    }


def concepts_answer(keeper: Keeper) -> dict[str, Any]:
    """/api/concepts"""
    found = keeper.concepts
    if found is None:
        raise Refusal(404, "the run must hold concepts.json for this, it does not")
    colours = observation_colours(len(found.names))
    return {
        "concept": [found.names[concept] if concept >= 0 else None for concept in found.concept.tolist()],
        "colours": dict(zip(found.names, colours, strict=True)),
    }


def known_config(keeper: Keeper) -> RunConfig:
    if keeper.config is None:
        raise BadRun("a run must hold config.json, this one does not yet")
    return keeper.config


def known_truth(keeper: Keeper) -> Truth:
    if keeper.truth is None:
        raise Refusal(404, "the run must be served with walks that have their truth beside them, it is not")
    return keeper.truth


def known_walks(keeper: Keeper) -> Walks:
    if keeper.walks is None:
        raise Refusal(404, "the run must be served with --walks for this, it is not")
    return keeper.walks


def _words(labels: Labels | None, count: int) -> list[str]:
    return [str(label_of(labels, index)) for index in range(count)]


def _walks_size(walks: Walks | None) -> dict[str, int] | None:
    return None if walks is None else {"count": walks.num_walks, "longest": walks.num_steps}


def _scores(scored: Sequence[Scored], config: RunConfig, truth: Truth | None) -> dict[str, Any] | None:
    if not scored:
        return None
    world = "room" if truth is None else truth.world.name
    table = score_table(scored, paper_table(world, config.num_observations))
    return {"columns": table.columns, "rows": table.rows, "caption": table.caption}
