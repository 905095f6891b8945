"""What the table of 3D rooms has beyond the others: how aliased the clusters are, and goals reached from pixels."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing
from cogmap.records import Codes, Truth, Walks

if TYPE_CHECKING:
    from cogmap.run import Run

GOALS = 100


def of_room(
    finished: Run, room: EgocentricRoom, codes: Codes | None, walks: Walks, truth: Truth
) -> dict[str, float]:
    """Figures by name; those that need a map only where there is one."""
    found: dict[str, float] = {
        f"aliasing_{name}": value for name, value in asdict(aliasing(truth.world)).items()
    }
    if codes is not None and finished.quantizer is not None:
        from cogmap.evaluation.closed_loop import goals_reached_from_pixels
        from cogmap.evaluation.places import true_places

        place = true_places(finished.map, walks, truth, codes).position
        found["closed_loop_pixels"] = goals_reached_from_pixels(
            finished.map, room, finished.quantizer, place, GOALS, np.random.default_rng(0)
        )
    return found
