import numpy as np
import pytest

from cogmap.errors import BadWalks
from cogmap.walks.ragged import walks_from_rows
from cogmap.walks.record import view_label, walks_from_views


@pytest.mark.parametrize(
    ("view", "same"),
    [
        ({"a": 1, "b": [2, 3]}, {"b": [2, 3], "a": 1}),
        (3, np.int64(3)),
        (np.array([1, 2], np.uint8), np.array([1, 2], np.int64)),
        (0.0, -0.0),
        (np.array([0.5, 1], np.float32), np.array([0.5, 1.0])),
        ((1, 2), [1, 2]),
        ("up", np.str_("up")),
        ({"image": np.zeros((2, 2)), "mission": "go"}, {"mission": "go", "image": np.zeros((2, 2))}),
    ],
)
def test_the_same_view_has_the_same_label(view, same):
    assert view_label(view) == view_label(same)


def test_different_views_have_different_labels():
    views = [
        0,
        0.0,
        1,
        "0",
        b"0",
        [],
        {},
        [0],
        [[0]],
        [0, 0],
        ["ab", "c"],
        ["a", "bc"],
        {"a": 0},
        {"b": 0},
        {"a": {"b": 0}},
        np.zeros(4, int),
        np.zeros((2, 2), int),
        np.zeros((4, 1), int),
        np.array([0, 0, 0, 1]),
    ]
    assert len({view_label(view) for view in views}) == len(views)


def test_a_label_is_the_same_in_every_process():
    """Python salts its own hashes; ours must not be, or two recordings could not be compared."""
    assert view_label({"image": np.arange(4), "mission": "go"}) == "2245735e5b7b"


def test_views_are_numbered_in_sorted_order_or_as_in_given_labels():
    walks = walks_from_views([["b", "a", "b"], ["c", "a"]], [[0, 1], [1]], num_actions=2)
    assert walks.observation_labels == ("a", "b", "c")
    assert walks.observations.tolist() == [[1, 0, 1], [2, 0, 0]]
    assert walks.actions.tolist() == [[0, 1], [1, 0]]
    assert walks.lengths.tolist() == [3, 2]
    again = walks_from_views([["b", "a"]], [[0]], num_actions=2, observation_labels=("c", "b", "a"))
    assert again.observations.tolist() == [[1, 2]]
    assert again.num_observations == 3


def test_bad_views():
    with pytest.raises(BadWalks, match="one of the 2 known ones, got 'z'"):
        walks_from_views([["a", "z"]], [[0]], num_actions=1, observation_labels=("a", "b"))
    with pytest.raises(BadWalks, match="numbers and strings, got object"):
        view_label(object())
    with pytest.raises(BadWalks, match="numbers and strings, got NoneType"):
        view_label({"a": None})
    with pytest.raises(BadWalks, match="a walk of 3 observations must have 2 actions, walk 0 has 1"):
        walks_from_rows([np.zeros(3, int)], [np.zeros(1, int)], num_observations=1, num_actions=1)
    with pytest.raises(BadWalks, match="at least one walk, got none"):
        walks_from_rows([], [], num_observations=1, num_actions=1)
