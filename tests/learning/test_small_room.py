"""Learning for real, in minutes: `make learn-test`. A 6x8 room with four colours and a 3x3 patch twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.evaluation.scores import Scores, score

pytestmark = pytest.mark.learning


def learn_and_score(folder: Path, world: cogmap.TableWorld, **choices: object) -> tuple[cogmap.Run, Scores]:
    walks, _ = cogmap.sample_walks(world, 512, 400, np.random.default_rng([0, 1]))
    test, truth = cogmap.sample_walks(world, 256, 400, np.random.default_rng([0, 3]))
    run = cogmap.learn(walks, folder / "run", quiet=True, **choices)  # type: ignore[arg-type]
    codes, predicted = run.encode(test)
    return run, score(run.map, codes, predicted, test, truth, goals=50)


def is_perfect(scores: Scores) -> bool:
    return bool(scores.exact) and (scores.imp_fallback, scores.ratio_sp, scores.norm_ged) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("encoder", ["gru", "transformer"])
def test_a_small_room_is_mapped_exactly(encoder: str, tmp_path: Path) -> None:
    room = cogmap.AliasedRoom(height=6, width=8, observations=4, seed=0)
    _, scores = learn_and_score(tmp_path, room, encoder=encoder)
    assert scores.ceiling is not None
    assert scores.test_accu >= scores.ceiling - 0.003
    assert is_perfect(scores)
    assert scores.closed_loop == 1.0


@pytest.mark.parametrize(
    "choices",
    [{"bottlenecks": 4}, {"prediction_steps": 1, "next_encoding": True}, {"clone_structured": True}],
)
def test_the_variants_learn_it_too(choices: dict, tmp_path: Path) -> None:
    room = cogmap.AliasedRoom(height=6, width=8, observations=4, seed=0)
    _, scores = learn_and_score(tmp_path, room, encoder="gru", **choices)
    assert scores.ceiling is not None
    assert scores.test_accu >= scores.ceiling - 0.005


def test_a_world_nobody_tuned_for(tmp_path: Path) -> None:
    world = cogmap.torus(height=6, width=7, observations=4, one_way_doors=5, seed=3)
    _, scores = learn_and_score(tmp_path, world, encoder="gru")
    assert is_perfect(scores)


def test_a_maze_drawn_as_text(tmp_path: Path) -> None:
    world = cogmap.maze_from_text(
        "#########\n#ababcab#\n#a#b#c#b#\n#bacbaca#\n#c#a#b#a#\n#abcabca#\n#########\n"
    )
    _, scores = learn_and_score(tmp_path, world, encoder="gru")
    assert is_perfect(scores)
