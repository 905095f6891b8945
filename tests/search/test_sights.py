"""Sights that may be errors: what a move seldom shows, at the places where it usually leads."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.hmm.states import StateCounts, count_states
from cogmap.search.shortest import find_states
from cogmap.search.sights import seen_otherwise, with_errors
from cogmap.walks.sample import sample_walks


def counts_of(edges: list[tuple[int, int, float]], shows: list[int]) -> StateCounts:
    """Counts with one action, from (source, target, count), of states that show one observation each."""
    source, target, count = (np.array(column) for column in zip(*sorted(edges), strict=True))
    return StateCounts(
        first=np.ones(len(shows)),
        row=source.astype(np.int64),
        target=target.astype(np.int32),
        count=count.astype(float),
        seen_at=np.arange(len(shows), dtype=np.int32),
        seen=np.array(shows, dtype=np.int32),
        seen_count=np.full(len(shows), 100.0),
        num_actions=1,
        num_observations=3,
    )


def sights(counts: StateCounts) -> dict[tuple[int, int], float]:
    """How often each state shows each observation."""
    return {
        (int(state), int(seen)): round(float(count), 9)
        for state, seen, count in zip(counts.seen_at, counts.seen, counts.seen_count, strict=True)
    }


def test_what_a_move_seldom_shows_is_added_where_it_usually_leads() -> None:
    # State 0 leads to 1 and 2, which look alike, three times as often to 1; eight times to 3, which looks different.
    found = with_errors(counts_of([(0, 1, 60), (0, 2, 20), (0, 3, 8)], [0, 1, 1, 2]))
    assert sights(found) == {(0, 0): 100, (1, 1): 100, (1, 2): 6, (2, 1): 100, (2, 2): 2, (3, 2): 100}


def test_without_chance_there_is_nothing_to_add() -> None:
    counts = counts_of([(0, 1, 60), (1, 2, 60), (2, 0, 60)], [0, 1, 2])
    assert sights(with_errors(counts)) == sights(counts)
    assert seen_otherwise(counts) == 0


def test_the_share_of_steps_that_look_otherwise() -> None:
    assert seen_otherwise(
        counts_of([(0, 1, 60), (0, 2, 20), (0, 3, 8), (1, 0, 12)], [0, 1, 1, 2])
    ) == pytest.approx(0.08)


def test_a_room_with_noise_comes_back_from_codes_that_hold_what_was_seen_and_are_lost_after_an_error() -> (
    None
):
    """A code is a place and what was seen there; after an error half of the codes are of some other place."""
    room = AliasedRoom(5, 6, 4, seed=0)
    plain, truth = sample_walks(room, 150, 300, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    errs = rng.random(plain.observations.shape) < 0.1
    seen = np.where(errs, rng.integers(0, 4, errs.shape), plain.observations).astype(np.int32)
    walks = type(plain)(seen, plain.actions, plain.lengths, 4, 4)
    lost = (seen != plain.observations) & (rng.random(errs.shape) < 0.5)
    place = np.where(lost, rng.integers(0, 30, errs.shape), truth.positions)
    codes = (place * 5 + rng.integers(0, 5, errs.shape)) * 4 + seen
    found = find_states(walks, [codes])
    counts = count_states(truth.positions.astype(np.int64), walks, 30)
    assert found.num_states == counts.num_states == 30
    at = np.zeros((30, 30))
    np.add.at(at, (found.found.path.ravel(), truth.positions.ravel()), 1)
    assert len(np.unique(at.argmax(axis=1))) == 30
    assert at.max(axis=1).sum() > 0.99 * at.sum()
