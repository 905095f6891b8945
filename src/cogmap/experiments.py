"""The paper's tables as data: which worlds, which models. `cogmap reproduce` runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cogmap.environments.cube import AliasedCube
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.room import AliasedRoom
from cogmap.records import TableWorld

# Keyword arguments of `learn` by the name the paper prints.
METHODS: dict[str, dict[str, Any]] = {
    "Vanilla transformer": {"vanilla": True, "encoder": "transformer"},
    "Vanilla LSTM": {"vanilla": True, "encoder": "lstm"},
    "Vanilla GRU": {"vanilla": True, "encoder": "gru"},
    "TDB(S=1, M=1)": {"prediction_steps": 1},
    "TDB(S=1, M=4)": {"prediction_steps": 1, "bottlenecks": 4},
    "TDB(S=1, enc, M=1)": {"prediction_steps": 1, "next_encoding": True},
    "TDB(S=1, enc, M=4)": {"prediction_steps": 1, "next_encoding": True, "bottlenecks": 4},
    "TDB(S=3, M=1)": {"prediction_steps": 3},
    "TDB(S=3, M=4)": {"prediction_steps": 3, "bottlenecks": 4},
    "TDB(S=5, M=1)": {"prediction_steps": 5},
    "TDB(S=5, M=4)": {"prediction_steps": 5, "bottlenecks": 4},
    "TDB(S=3, M=1), clones": {"prediction_steps": 3, "clone_structured": True},
}


@dataclass(frozen=True)
class Experiment:
    """One table: the same models on several worlds of a kind."""

    what: str
    world: Callable[[int], TableWorld]  # by seed
    methods: tuple[str, ...]
    walks: int = 2048
    steps: int = 400
    noise: float = 0.0  # of the training observations
    context_length: int = 50


EXPERIMENTS = {
    "small-room": Experiment(
        "6x8 room, O=4, 3x3 patch twice",
        lambda seed: AliasedRoom(height=6, width=8, observations=4, seed=seed),
        ("TDB(S=3, M=1)", "TDB(S=1, M=1)"),
        walks=512,
    ),
    "table-1": Experiment(
        "15x20 room, O=4, 4x4 patch twice",
        lambda seed: AliasedRoom(height=15, width=20, observations=4, seed=seed),
        (
            "Vanilla transformer",
            "Vanilla LSTM",
            "TDB(S=1, M=1)",
            "TDB(S=1, enc, M=1)",
            "TDB(S=3, M=1)",
            "TDB(S=3, M=4)",
            "TDB(S=3, M=1), clones",
        ),
    ),
    "table-12-colours": Experiment(
        "15x20 room, O=12, 4x4 patch twice",
        lambda seed: AliasedRoom(height=15, width=20, observations=12, seed=seed),
        ("TDB(S=1, M=4)", "TDB(S=1, enc, M=4)", "TDB(S=3, M=1)", "TDB(S=3, M=4)"),
    ),
    "table-cube": Experiment(
        "cube of edge 6, O=12",
        lambda seed: AliasedCube(edge=6, observations=12, seed=seed),
        ("TDB(S=1, enc, M=1)", "TDB(S=3, M=1)"),
    ),
    "table-3d": Experiment(
        "3D room of 9x9 m seen through the agent's eyes, 128 clusters of views",
        lambda seed: EgocentricRoom(seed=seed),
        (
            "Vanilla transformer",
            "Vanilla LSTM",
            "TDB(S=1, enc, M=1)",
            "TDB(S=3, M=1)",
            "TDB(S=3, M=1), clones",
            "TDB(S=1, enc, M=4)",
            "TDB(S=3, M=4)",
        ),
    ),
    "noise": Experiment(
        "15x20 room, O=4, 10 % of the training observations random",
        lambda seed: AliasedRoom(height=15, width=20, observations=4, seed=seed),
        ("TDB(S=3, M=1)",),
        noise=0.1,
    ),
}
