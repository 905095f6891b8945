"""What `cogmap reproduce` can be told, for whichever table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro


@dataclass(frozen=True)
class Reproduce:
    table: tyro.conf.Positional[str]
    """small-room, table-1, table-12-colours, table-cube, table-3d, noise, ginc, icl, icl-small or icl-rule."""
    rooms: int = 1
    """How many worlds, with seeds from `first_seed` on."""
    first_seed: int = 0
    """Seed of the first world."""
    only: tuple[str, ...] = ()
    """Methods to run, as the paper prints them: "TDB(S=3, M=1)" ... All of the table's unless told."""
    encoder: Literal["transformer", "gru", "lstm"] = "transformer"
    """Encoder of every TDB."""
    preset: Literal["fast", "paper"] = "fast"
    """How to train."""
    minutes: float | None = None
    """At the most, for each training."""
    steps: int | None = None
    """At the most, for each training."""
    rollouts: int = 100
    """Of a model without a map, for each planning problem, in rooms and cubes."""
    splice: float = 0.03
    """Of GINC: chance that a training document is cut before a token, its pieces shuffled. 0 leaves documents whole."""
    training_rooms: tuple[int, ...] = ()
    """Of icl: how many rooms to train on, one model each; 200, 1000 and 10000 unless told, in icl-small a tenth."""
    names: Literal["auto", "none", "seen", "plain"] = "auto"
    """Of icl: what the encoder knows an observation by, as in `cogmap learn --family`."""
    out: Path = Path("runs/reproduce")
    """Where the runs go. A run that is there and whole is mapped and scored again, and only trained on if `steps` are
    more than it was allowed before."""
    results: Path = Path("results")
    """Where the rows go, one CSV a table."""
