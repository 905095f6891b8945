"""A 3D room learned from pixels, in minutes: `make learn-test`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.environments.egocentric.renderer import load_mujoco
from cogmap.errors import MissingExtra
from cogmap.evaluation.closed_loop import goals_reached_from_pixels
from cogmap.evaluation.places import true_places
from cogmap.evaluation.scores import score
from cogmap.walks.views import sample_view_walks

pytestmark = pytest.mark.learning


@pytest.fixture(scope="module", autouse=True)
def _graphics() -> None:
    try:
        load_mujoco()
    except MissingExtra as error:
        pytest.skip(str(error))


def test_a_room_is_mapped_and_walked_from_pixels(tmp_path: Path) -> None:
    room = cogmap.EgocentricRoom(6, 6, seed=0, textures="painted")
    views, _ = sample_view_walks(room, 512, 300, np.random.default_rng([0, 1]))
    run = cogmap.learn(
        views, tmp_path / "run", encoder="gru", bottlenecks=4, clusters=40, quiet=True, **{"width": 128}
    )
    assert run.quantizer is not None
    seen, true = sample_view_walks(room, 256, 300, np.random.default_rng([0, 3]))
    test, truth = run.quantizer.walks_and_truth(seen, true)
    codes, predicted = run.encode(test)
    scores = score(run.map, codes, predicted, test, truth)
    assert scores.ceiling is not None
    assert scores.test_accu >= scores.ceiling - 0.002
    assert scores.exact
    assert (scores.imp_fallback, scores.ratio_sp, scores.norm_ged) == (1.0, 1.0, 0.0)

    place = true_places(run.map, test, truth, codes).position
    rng = np.random.default_rng(0)
    assert goals_reached_from_pixels(run.map, room, run.quantizer, place, 100, rng) == 1.0
    images = seen.views[seen.observations[5, :60]]
    assert place[run.locate(images, test.actions[5, :59])] == truth.positions[5, 59]
