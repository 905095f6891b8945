"""Vocabularies with a cut-off, texts in pieces, and spliced texts."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig, BadWalks
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks, splice
from cogmap.walks.text import RARE, cut, text_walks, token_walks


def rows(walks: Walks) -> list[list[int]]:
    return [row[:length].tolist() for row, length in zip(walks.observations, walks.lengths, strict=True)]


def test_rare_words_share_a_place() -> None:
    walks = text_walks("a b a c a b d", least_count=2)
    assert walks.observation_labels == ("a", "b", RARE)
    assert rows(walks) == [[0, 1, 0, 2, 0, 1, 2]]


def test_nothing_is_rare_where_all_is_frequent() -> None:
    assert text_walks("a b a b", least_count=2).observation_labels == ("a", "b")


def test_what_another_text_does_not_know_is_rare_there() -> None:
    assert rows(text_walks("b z a", labels=("a", "b", RARE))) == [[1, 2, 0]]


def test_a_text_of_nothing_but_rare_words_is_refused() -> None:
    with pytest.raises(
        BadWalks, match=r"must occur at least `least_count` \(=3\) times, the most .* 2 times"
    ):
        text_walks("a b a", least_count=3)


def test_a_cut_off_below_one_is_refused() -> None:
    with pytest.raises(BadConfig, match=r"`least_count` \(=0\) must be at least 1"):
        text_walks("a b", least_count=0)


def test_pieces_know_their_walk_and_single_units_are_dropped() -> None:
    tokens = np.array([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0], [1, 3, 5, 7, 0]])
    walks = token_walks(tokens, tuple("abcdefgh"), np.array([5, 2, 4]))
    pieces, origin = cut(walks, 2)
    assert rows(pieces) == [[1, 2], [3, 4], [6, 7], [1, 3], [5, 7]]
    assert origin.tolist() == [0, 0, 1, 2, 2]
    assert pieces.observation_labels == walks.observation_labels


def test_a_last_piece_is_shorter() -> None:
    pieces, _ = cut(token_walks(np.arange(8)[None], tuple("abcdefgh")), 5)
    assert rows(pieces) == [[0, 1, 2, 3, 4], [5, 6, 7]]
    assert pieces.observations[1, 3:].tolist() == [0, 0]


def test_pieces_of_one_unit_are_refused() -> None:
    with pytest.raises(BadConfig, match=r"`length` \(=1\) must be at least 2"):
        cut(token_walks(np.arange(8)[None], tuple("abcdefgh")), 1)


@pytest.mark.parametrize("chance", [0.1, 0.5, 1.0])
def test_splicing_moves_pieces_and_loses_nothing(chance: float) -> None:
    tokens = np.arange(60).reshape(2, 30)
    walks = token_walks(tokens, tuple(map(str, range(60))), np.array([30, 20]))
    spliced = splice(walks, chance, np.random.default_rng(3))
    assert sorted(spliced.observations[0]) == list(range(30))
    assert sorted(spliced.observations[1, :20]) == list(range(30, 50))
    assert spliced.observations[1, 20:].tolist() == tokens[1, 20:].tolist()
    assert not np.array_equal(spliced.observations, tokens)


def test_joints_are_as_frequent_as_the_chance() -> None:
    walks = token_walks(np.arange(20_000)[None], tuple(map(str, range(20_000))))
    spliced = splice(walks, 0.05, np.random.default_rng(0)).observations[0].astype(int)
    assert 0.045 < np.mean(np.diff(spliced) != 1) < 0.055


def test_no_chance_changes_nothing() -> None:
    walks = token_walks(np.arange(9)[None], tuple("abcdefghi"))
    assert splice(walks, 0.0, np.random.default_rng(0)).observations.tolist() == [list(range(9))]


def test_only_text_is_spliced() -> None:
    walks, _ = sample_walks(
        AliasedRoom(height=3, width=3, observations=2, seed=0), 2, 8, np.random.default_rng(0)
    )
    with pytest.raises(BadConfig, match="only walks with a single action can be spliced, got 4 actions"):
        splice(walks, 0.1, np.random.default_rng(0))
    with pytest.raises(BadConfig, match=r"`splice` \(=1.5\) must be from 0 to 1"):
        splice(walks, 1.5, np.random.default_rng(0))
