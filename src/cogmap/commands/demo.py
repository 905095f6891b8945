"""The whole story on a small aliased room, with pictures, in minutes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cogmap.errors import BadConfig


@dataclass(frozen=True)
class Args:
    """The whole story on a small aliased room, with pictures, in minutes."""

    out: Path = Path("demo")
    """folder for the walks, the runs and report.html; one that an earlier demo made is made anew"""
    seed: int = 0
    """of the room, the walks and the training"""
    steps: int = 1000
    """of the training, at the most, so that a slow machine learns as much as a fast one"""
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
