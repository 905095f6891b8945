"""A family of rooms learned for real, in minutes: new rooms are foretold near the ceiling and mapped exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import room_families
from cogmap.experiments.families import walks_in_each
from cogmap.tasks.family import FamilyScores, Names, score_family
from cogmap.tasks.learning import learn
from cogmap.walks.sample import sample_family_walks

pytestmark = pytest.mark.learning


def learned(names: Names, rooms: int, folder: Path) -> FamilyScores:
    """Scores in 50 new rooms after training in some."""
    base = AliasedRoom(height=4, width=5, observations=3, patch=2, seed=0)
    train, test = room_families(rooms, 50, base, 12)
    walks, _, of_walk = sample_family_walks(train, 2048, 400, np.random.default_rng([0, 1]))
    change = {"width": 128, "num_codes": 200}
    run = learn(walks, folder, rooms=of_walk, names=names, bottlenecks=4, steps=1500, **change, quiet=True)
    return score_family(run, *walks_in_each(test, 0), kinds=("atlas",))


@pytest.mark.parametrize(("rooms", "emerges"), [(20, False), (1000, True)])
def test_known_by_name_observations_need_many_rooms(rooms: int, emerges: bool, tmp_path: Path) -> None:
    scores = learned("seen", rooms, tmp_path / "run")
    assert scores.ceiling is not None
    row = scores.by_map["atlas"]
    if emerges:
        assert scores.accuracy.accuracy >= scores.ceiling.accuracy - 0.01
        assert (row["imp_fallback"], row["norm_ged"], row["exact"]) == (1.0, 0.0, 1.0)
    else:
        assert scores.accuracy.accuracy < 0.8
        assert row["imp_fallback"] < 0.8


def test_without_names_a_hundred_rooms_will_do(tmp_path: Path) -> None:
    scores = learned("none", 100, tmp_path / "run")
    assert scores.ceiling is not None
    assert scores.accuracy.accuracy >= scores.ceiling.accuracy - 0.01
    assert scores.by_map["atlas"]["imp_fallback"] >= 0.99
