"""Learn a small aliased room from start to end: walks, training, map, plans and a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cogmap.errors import BadConfig


@dataclass(frozen=True)
class Args:
    """Learn a small aliased room from start to end: walks, training, map, plans and a report."""

    out: Path = Path("demo")
    """folder for the walks, the runs and report.html; that of an earlier demo is replaced"""
    seed: int = 0
    """seed of the room, the walks and the training"""
    steps: int = 1000
    """most training steps: a limit on steps, not time, so that slow machines learn as much as fast ones"""
    world: Literal["room", "3d", "family"] = "room"
    """a small room of four colours; a 3D room seen through the agent's eyes (extra `3d`); or rooms never trained on"""


def run(args: Args) -> None:
    if args.steps < 1:
        raise BadConfig(f"`--steps` must be at least 1, got {args.steps}")
    from cogmap.experiments import demos, family_demo  # bring torch

    demos.make_room_for(args.out)
    match args.world:
        case "room":
            demos.demo_room(args.out, args.seed, args.steps)
        case "3d":
            demos.demo_room3d(args.out, args.seed, args.steps)
        case "family":
            family_demo.demo_family(args.out, args.seed)
