"""The search of a map has the seconds that are asked for, after a training and when a map is built again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.records import CognitiveMap
from cogmap.tasks import places
from cogmap.tasks.learning import learn
from cogmap.tasks.mapping import build_maps
from cogmap.walks.views import draw_walks

SIZE: dict[str, Any] = {"width": 16, "num_codes": 16, "head_width": 16, "batch_size": 8, "encoder": "gru"}


def test_a_search_has_the_seconds_that_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, list[float]] = {"minimal": [], "paper": []}
    build = places.build_map

    def noted(*args: Any, kind: str, seconds: float, **choices: Any) -> CognitiveMap:
        given[kind].append(seconds)
        return build(*args, kind=kind, seconds=seconds, **choices)

    monkeypatch.setattr(places, "build_map", noted)
    world = AliasedRoom(height=4, width=5, observations=4, patch=2)
    walks, _ = draw_walks(world, 20, 60, np.random.default_rng(0))
    run = learn(walks, tmp_path / "run", quiet=True, map_seconds=70.0, bottleneck_from=0, steps=3, **SIZE)
    build_maps(run, walks, 50.0)
    build_maps(run, walks)
    first, second, usual = given["minimal"]
    assert 0 < first <= 70 < usual
    assert 0 < second <= 50
