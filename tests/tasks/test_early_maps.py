"""Maps of a training under way: they appear, they cost little, and the training does not notice them."""

import numpy as np
import pytest

import cogmap
from cogmap.maps.store import load_map
from cogmap.tasks import TrainingData, early_maps
from cogmap.training.checkpoint import load_tensors
from cogmap.training.progress import Silent

SMALL = {"width": 48, "head_width": 48, "num_codes": 60, "batch_size": 32, "window": 20, "validate_every": 25}


def ring_walks():
    forward = (np.arange(6) + 1) % 6
    ring = cogmap.TableWorld(
        next_position=np.stack([forward, np.argsort(forward)], axis=1),
        observation=np.array([0, 1, 2, 0, 1, 3]),
        num_observations=4,
    )
    return cogmap.sample_walks(ring, 60, 40, np.random.default_rng(0))[0]


def learn(out, **choices):
    walks = ring_walks()
    return cogmap.learn(walks, out, encoder="gru", steps=200, **SMALL, quiet=True, device="cpu", **choices)


def test_a_training_that_is_watched_comes_to_the_same_weights(tmp_path, monkeypatch):
    written = []
    write = early_maps.EarlyMaps._write
    monkeypatch.setattr(early_maps, "MOST_SHARE", 1e9)  # one after every validation

    def noted(self):
        write(self)
        written.append(load_map(self._folder / early_maps.EARLY_MAP_FILE).num_nodes)

    monkeypatch.setattr(early_maps.EarlyMaps, "_write", noted)
    plain, watched = learn(tmp_path / "plain"), learn(tmp_path / "watched", early_maps=True)
    assert len(written) >= 2
    assert written[-1] == watched.map.num_nodes
    assert not (tmp_path / "watched" / early_maps.EARLY_MAP_FILE).exists()
    ours, theirs = (load_tensors(run.folder / "model.safetensors")[0] for run in (plain, watched))
    assert all((ours[name] == theirs[name]).all() for name in ours)


class Always:
    """A trainer whose model has codes."""


@pytest.mark.parametrize(("cost", "rows"), [(1.0, 4), (3.0, 2)])
def test_early_maps_take_a_small_share_of_the_time(tmp_path, monkeypatch, cost, rows):
    """A validation every 10 seconds; a map may take 3 in 100 of the time, so one that costs 1 waits 33 seconds."""
    now, written = [0.0], []
    watching = early_maps.EarlyMaps(
        Silent(), Always(), TrainingData("places", ring_walks()), tmp_path, clock=lambda: now[0]
    )
    monkeypatch.setattr(watching, "_has_codes", lambda: True)

    def write():
        written.append(now[0])
        now[0] += cost

    monkeypatch.setattr(watching, "_write", write)
    for _ in range(13):
        now[0] += 10
        watching.row({})
    assert len(written) == rows
    assert np.diff(written).min() >= cost / 0.03
