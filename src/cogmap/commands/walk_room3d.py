"""The options of `cogmap walk room3d`: walks in a 3D room that hold what the agent saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from cogmap.commands.walk_worlds import Sample, Sampling
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import BadOutput, BadWorld
from cogmap.files import read_text


@dataclass(frozen=True, kw_only=True)
class Room3d(Sampling):
    """A 3D room seen through the agent's eyes: forward, left, right, and views of 64 x 64 pixels (extra `3d`)."""

    height: int = 9
    """metres from north to south, a cell each"""
    width: int = 9
    """metres from west to east"""
    plan: Path | None = None
    """text file with a floor plan instead of a random one: . is free, # a wall, o a pillar"""
    textures: Literal["auto", "lab", "painted"] = "auto"
    """DeepMind Lab's textures (labmaze), painted ones, or the first where they are installed"""

    def sample(self, rng: np.random.Generator) -> Sample:
        from cogmap.walks.views import sample_view_walks

        if self.out.suffix != ".npz":
            raise BadOutput(f"walks of views must be kept in .npz, got {self.out.name!r}")
        walks, truth = sample_view_walks(self.world(), self.walks, self.steps, rng)
        return Sample(walks, truth, pictured=truth.world)

    def world(self) -> EgocentricRoom:
        drawing = None if self.plan is None else read_text(self.plan, BadWorld)
        return EgocentricRoom(self.height, self.width, self.seed, drawing, self.textures)
