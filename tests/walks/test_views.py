"""Walks of images and vectors: distinct views, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments import from_tables
from cogmap.errors import BadOutput, BadWalks
from cogmap.files import write_arrays
from cogmap.records import Truth, Walks
from cogmap.walks.sample import add_noise
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.views import ViewWalks, as_views, distinct_views, read_image, shows_views, truth_as_clusters

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(256, size=(5, 4, 6, 3), dtype=np.uint8)  # (U, H, W, C)
SEEN = np.array([[0, 1, 2, 1], [3, 4, 0, 0]])
ACTIONS = np.array([[0, 1, 0], [1, 1, 0]])


def view_walks(**changes) -> ViewWalks:
    fields = {
        "observations": SEEN,
        "actions": ACTIONS,
        "lengths": np.array([4, 3]),
        "num_observations": 5,
        "num_actions": 2,
        "views": IMAGES,
    }
    return ViewWalks(**fields | changes)


def shown(walks: Walks) -> np.ndarray:
    """(steps, H, W, C): every image that was seen, walk after walk."""
    assert isinstance(walks, ViewWalks)
    return walks.views[walks.observations[walks.step_mask()]]


def test_distinct_views_are_numbered_by_content_not_by_order():
    many = IMAGES[[3, 1, 3, 0, 1]]
    views, index = distinct_views(many)
    assert len(views) == 3
    assert np.array_equal(views[index], many)
    backwards, _ = distinct_views(many[::-1])
    assert np.array_equal(backwards, views)


def test_clusters_stand_for_views():
    plain = view_walks().as_clusters(np.array([7, 7, 1, 0, 2], dtype=np.int32), 8)
    assert type(plain) is Walks
    assert plain.observations[0].tolist() == [7, 7, 1, 7]
    assert plain.num_observations == 8


def test_some_of_the_walks_and_noise_keep_the_views():
    second = view_walks().rows([1])
    assert np.array_equal(shown(second), IMAGES[[3, 4, 0]])
    noisy = add_noise(view_walks(), 1.0, np.random.default_rng(0))
    assert np.array_equal(shown(noisy), IMAGES[noisy.observations[noisy.step_mask()]])
    assert not np.array_equal(noisy.observations, SEEN)


def test_a_file_of_distinct_views_comes_back_as_it_was(tmp_path):
    walks = view_walks(action_labels=("go", "turn"))
    save_walks(tmp_path / "x.npz", walks)
    again = load_walks(tmp_path / "x.npz")
    assert np.array_equal(again.views, IMAGES)
    assert np.array_equal(again.observations, walks.observations)
    assert again.action_labels == ("go", "turn")


@pytest.mark.parametrize("name", ["views", "features"])
def test_a_file_with_a_view_for_every_step(tmp_path, name):
    views = IMAGES if name == "views" else IMAGES.reshape(5, -1).astype(np.float64) / 7
    arrays = {name: views[SEEN], "actions": ACTIONS, "lengths": np.array([4, 3])}
    write_arrays(tmp_path / "camera.npz", arrays)
    walks = load_walks(tmp_path / "camera.npz")
    assert walks.num_observations == 5
    steps = np.concatenate([views[SEEN[0]], views[SEEN[1, :3]]])
    assert np.allclose(shown(walks), steps)


def test_padding_is_no_view(tmp_path):
    views = IMAGES[SEEN]
    views[1, 3] = 77  # past the second walk's length
    write_arrays(tmp_path / "camera.npz", {"views": views, "actions": ACTIONS, "lengths": np.array([4, 3])})
    assert load_walks(tmp_path / "camera.npz").num_observations == 5


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"views": IMAGES[SEEN].astype(float)}, r"images must hold bytes \(uint8\), got dtype float64"),
        ({"views": IMAGES[SEEN][..., 0]}, r"`views` must have shape \(B, N, H, W, C\).*got \(2, 4, 4, 6\)"),
        ({"views": IMAGES[SEEN][:, :, :0]}, r"with none of them 0, got \(2, 4, 0, 6, 3\)"),
        ({"features": np.full((2, 4, 3), np.nan)}, "features must be finite, got NaN"),
        ({"features": np.full((2, 4, 3), "x")}, "features must hold numbers, got dtype <U1"),
        ({"views": IMAGES[SEEN], "observations": SEEN}, "only one of .* got observations and views"),
        ({"views": IMAGES[SEEN], "features": SEEN[..., None]}, "got views and features"),
        ({"distinct_views": IMAGES}, "`observations` is missing"),
        ({"distinct_views": IMAGES[:3], "observations": SEEN}, r"`observations` must be in \[0, 3\)"),
        ({"distinct_views": IMAGES[0], "observations": SEEN}, "must be images .* or vectors"),
        ({"views": IMAGES[SEEN], "lengths": np.array([0, 0])}, "must have at least 2 steps"),
    ],
)
def test_what_is_wrong_is_reported_in_one_line(tmp_path, arrays, message):
    write_arrays(tmp_path / "camera.npz", {"actions": ACTIONS, **arrays})
    with pytest.raises(BadWalks, match=message):
        load_walks(tmp_path / "camera.npz")


def test_a_view_for_each_observation():
    with pytest.raises(BadWalks, match="a view for each of the 6 observations, got 5"):
        view_walks(num_observations=6)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_text_formats_hold_no_views(tmp_path, suffix):
    with pytest.raises(BadOutput, match=r"walks of views must be saved as \.npz"):
        save_walks(tmp_path / f"x{suffix}", view_walks())


CLUSTER = np.array([0, 0, 1, 1, 2], dtype=np.int32)
RING = from_tables([[1, 0], [2, 0], [0, 2], [0, 1]], [0, 1, 2, 4], num_observations=5)


def test_a_truth_in_the_numbers_of_the_views():
    walks = view_walks(observations=np.array([[0, 1, 2, 0], [1, 2, 0, 0]]), lengths=np.array([4, 4]))
    truth = Truth(np.array([[0, 1, 2, 0], [1, 2, 0, 0]]), RING)
    world = truth_as_clusters(truth, walks, CLUSTER, 3).world
    assert world.observation.tolist() == [0, 0, 1, 2]  # position 3, never visited, shows view 4
    assert world.num_observations == 3


def test_a_truth_with_other_numbers_uses_what_was_seen_most_often():
    walks = view_walks(observations=np.array([[3, 4, 0, 3], [4, 2, 3, 3]]), lengths=np.array([4, 4]))
    positions = np.array([[0, 1, 2, 0], [1, 3, 0, 0]])
    world = truth_as_clusters(Truth(positions, RING), walks, CLUSTER, 3).world
    assert world.observation.tolist() == [1, 2, 0, 1]
    with pytest.raises(
        BadWalks, match="must visit every position of their truth, 1 are never visited, the first is 3"
    ):
        truth_as_clusters(Truth(np.where(positions == 3, 0, positions), RING), walks, CLUSTER, 3)


def test_views_given_by_a_user_are_distinguished_from_indices_and_labels(tmp_path):
    assert shows_views(IMAGES)
    assert shows_views([tmp_path / "a.png"])
    assert not shows_views([3, 4])
    assert not shows_views(["red", "green"])
    assert not shows_views([])


def test_image_files(tmp_path):
    from PIL import Image

    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
    read = as_views([tmp_path / f"{number}.png" for number in range(5)])
    assert np.array_equal(read, IMAGES)
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(BadWalks, match=r"text\.png must be an image file: unknown format"):
        read_image(tmp_path / "text.png")
    with pytest.raises(BadWalks, match="must be an image file: No such file"):
        read_image(tmp_path / "none.png")
    with pytest.raises(BadWalks, match=r"must all have one shape, got \(2, 2, 3\) and \(4, 6, 3\)"):
        as_views([IMAGES[0], IMAGES[0, :2, :2]])
