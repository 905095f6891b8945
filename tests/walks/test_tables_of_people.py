"""Walks from data frames and lists, as from a file."""

import numpy as np
import pytest

from cogmap.errors import BadWalks
from cogmap.walks.tables import as_walks


class Frame:
    """The part of a data frame that is used."""

    def __init__(self, **columns):
        self._held = {name: np.array(values, dtype=object) for name, values in columns.items()}
        self.columns = list(columns)

    def __getitem__(self, name):
        return self._held[name]

    def to_dict(self):
        return self._held


def test_a_data_frame_has_the_columns_of_a_file():
    walks = as_walks(
        Frame(episode=["a", "a", "b", "b"], obs=["x", "y", "y", "x"], action=["go", None, "go", float("nan")])
    )
    assert walks.lengths.tolist() == [2, 2]
    assert walks.observation_labels == ("x", "y")
    assert walks.observations.tolist() == [[0, 1], [1, 0]]


def test_lists_of_pairs_are_one_walk_or_several():
    one = [("red", "go"), ("blue", "stop"), ("red", None)]
    assert as_walks(one).observations.tolist() == [[1, 0, 1]]
    several = as_walks([one, [("blue", "go"), ("red", None)]])
    assert several.lengths.tolist() == [3, 2]
    assert several.action_labels == ("go", "stop")
    assert as_walks([(np.int64(1), 0), (0, None)]).observations.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (17, "a file, a data frame, or lists of .observation, action., got int"),
        ([[("a", "b"), "c"]], r"walk 0 must be a list of \(observation, action\), got 'c' in it"),
        ([("a", 1), (2, None)], "`observations` must be all integers or all strings, got 'a'"),
        (Frame(obs=["x", "y"], battery=[1, 2]), "there is no action"),
    ],
)
def test_what_walks_cannot_be_made_of(source, message):
    with pytest.raises(BadWalks, match=message):
        as_walks(source)
