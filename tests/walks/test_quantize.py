"""k-means on views: groups found, new views put into them, saved, and refused."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.errors import BadConfig, BadRun, BadWalks, MissingExtra
from cogmap.files import write_arrays
from cogmap.maps.build import build_map
from cogmap.records import Codes
from cogmap.walks import quantize
from cogmap.walks.quantize import (
    coarse,
    fit_quantizer,
    load_quantizer,
    save_node_views,
    without_views,
)
from cogmap.walks.views import ViewWalks

SCENES = np.random.default_rng(1).integers(40, 216, size=(6, 24, 20, 3))  # six places, far apart


def snapshots(places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images of places with a little noise of the camera."""
    noisy = SCENES[places] + rng.normal(0, 4, size=(*places.shape, 24, 20, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8)


def camera_walks(views: np.ndarray) -> ViewWalks:
    """One walk that sees all views, one after the other."""
    return ViewWalks(
        observations=np.arange(len(views))[None],
        actions=np.zeros((1, len(views) - 1), dtype=int),
        lengths=np.array([len(views)]),
        num_observations=len(views),
        num_actions=1,
        views=views,
    )


PLACES = np.random.default_rng(2).permutation(np.repeat(np.arange(6), 10))  # ten pictures of each


@pytest.fixture(scope="module")
def quantizer():
    return fit_quantizer(camera_walks(snapshots(PLACES, np.random.default_rng(3))), clusters=6)


def test_pictures_of_one_place_are_one_cluster(quantizer):
    cluster = quantizer(snapshots(PLACES, np.random.default_rng(3)))
    pairs = set(zip(PLACES.tolist(), cluster.tolist(), strict=True))
    assert len(pairs) == len({place for place, _ in pairs}) == len({name for _, name in pairs}) == 6


def test_new_pictures_go_to_the_cluster_of_their_place(quantizer):
    old, new = (quantizer(snapshots(PLACES, np.random.default_rng(seed))) for seed in (3, 99))
    assert np.array_equal(old, new)


def test_the_typical_view_of_a_cluster_is_one_of_its_own(quantizer):
    assert np.array_equal(quantizer(quantizer.typical), np.arange(6))


def test_the_same_seed_gives_the_same_clusters(quantizer):
    again = fit_quantizer(camera_walks(snapshots(PLACES, np.random.default_rng(3))), clusters=6)
    assert np.array_equal(again.centres, quantizer.centres)


def test_saved_and_loaded_it_puts_views_into_the_same_clusters(quantizer, tmp_path):
    quantizer.save(tmp_path / "quantizer.npz")
    loaded = load_quantizer(tmp_path / "quantizer.npz")
    views = snapshots(PLACES, np.random.default_rng(5))
    assert np.array_equal(loaded(views), quantizer(views))


def test_fewer_different_views_than_clusters_get_one_each():
    views = snapshots(np.arange(6), np.random.default_rng(0))
    quantizer = fit_quantizer(camera_walks(views))
    assert quantizer.num_clusters == 6
    assert len(set(quantizer(views).tolist())) == 6
    with pytest.raises(
        BadConfig, match=r"`clusters` \(=7\) must be from 1 to the number of distinct views \(=6\)"
    ):
        fit_quantizer(camera_walks(views), clusters=7)


def test_views_that_are_all_one():
    quantizer = fit_quantizer(camera_walks(np.full((3, 8, 8, 3), 9, dtype=np.uint8)))
    assert quantizer.num_clusters == 1


def test_features_count_alike_whatever_their_units():
    """A distance in millimetres must not drown a switch that is 0 or 1."""
    rng = np.random.default_rng(0)
    switch = np.repeat([0, 1], 50)
    features = np.column_stack([rng.normal(5000, 800, size=100), switch]).astype(np.float32)
    cluster = fit_quantizer(camera_walks(features), clusters=2)(features)
    assert (cluster[:50] == cluster[0]).all()
    assert (cluster[50:] != cluster[0]).all()


def test_often_seen_views_count_more():
    """Two clusters for three lengths: the one between goes with the end that is seen less."""
    views = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    for often, rare in ((0, 2), (2, 0)):
        steps = np.array([often] * 60 + [1] * 5 + [rare])
        walks = ViewWalks(steps[None], np.zeros((1, 65), int), np.array([66]), 3, 1, views=views)
        cluster = fit_quantizer(walks, clusters=2)(views)
        assert cluster[1] == cluster[rare] != cluster[often]


def test_blocks_are_means_of_pixels():
    images = np.random.default_rng(0).integers(256, size=(2, 35, 5, 3), dtype=np.uint8)
    reduced = coarse(images).reshape(2, 16, 5, 3)  # 35 rows in 16 blocks, 5 columns as they are
    edges = [block * 35 // 16 for block in range(17)]
    for block in range(16):
        expected = images[:, edges[block] : edges[block + 1]].mean(axis=1) / 255
        assert np.allclose(reduced[:, block], expected, atol=1e-6)


def test_many_views_are_worked_on_in_portions(quantizer, monkeypatch):
    views = snapshots(PLACES, np.random.default_rng(5))
    whole = quantizer(views)
    monkeypatch.setattr("cogmap.walks.views.AT_ONCE", 7)
    assert np.array_equal(quantizer(views), whole)


def test_a_large_log_is_fitted_on_some_of_its_views(monkeypatch):
    monkeypatch.setattr(quantize, "MOST_VIEWS", 30)
    views = snapshots(PLACES, np.random.default_rng(3))
    cluster = fit_quantizer(camera_walks(views), clusters=6)(views)
    assert len(set(zip(PLACES.tolist(), cluster.tolist(), strict=True))) == 6


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (
            np.zeros((2, 8, 8, 3), np.uint8),
            r"shape \(24, 20, 3\), as those the quantizer was fitted on, got shape \(8, 8, 3\)",
        ),
        (np.zeros((2, 24, 20, 3)), "uint8 images .* and dtype float64"),
        (np.zeros((2, 24, 20), np.uint8), r"got shape \(24, 20\)"),
    ],
)
def test_views_of_another_size_or_dtype_are_refused(quantizer, views, message):
    with pytest.raises(BadWalks, match=message):
        quantizer(views)


def test_a_file_that_is_no_quantizer(tmp_path):
    write_arrays(tmp_path / "quantizer.npz", {"mean": np.zeros(3)})
    with pytest.raises(BadRun, match="must be a quantizer of views, `view_shape` is missing"):
        load_quantizer(tmp_path / "quantizer.npz")


def test_without_scikit_learn_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(quantize, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'need scikit-learn: pip install "cogmap\[views\]"'):
        fit_quantizer(camera_walks(snapshots(PLACES, np.random.default_rng(3))))


def test_walks_with_observations_need_no_clusters(quantizer):
    plain = quantizer.walks(camera_walks(snapshots(PLACES, np.random.default_rng(3))))
    assert without_views(plain) == (plain, None)
    with pytest.raises(BadConfig, match=r"`clusters` \(=3\) is for walks of views"):
        without_views(plain, clusters=3)


def test_a_view_for_each_node(quantizer, tmp_path):
    walks = quantizer.walks(camera_walks(snapshots(PLACES, np.random.default_rng(3))))
    codes = Codes(walks.observations[..., None], walks.lengths, 6)
    found = build_map(codes, walks, kind="paper")
    save_node_views(tmp_path / "views.npz", quantizer, found)
    with np.load(tmp_path / "views.npz") as stored:
        assert stored["views"].shape == (6, 24, 20, 3)
        assert np.array_equal(stored["view_of_node"], found.node_observation)
