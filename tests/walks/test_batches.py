"""Windows cut from walks: every number in its place, and a state that can be restored."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.errors import BadConfig
from cogmap.records import Walks
from cogmap.walks.batches import WindowSampler


def numbered_walks(lengths: tuple[int, ...]) -> Walks:
    """Walk b's observation at step n is 100 b + n, its action 100 b + n + 50: any slip shows."""
    steps = max(lengths)
    observations = 100 * np.arange(len(lengths))[:, None] + np.arange(steps)
    return Walks(observations, observations[:, :-1] + 50, np.array(lengths), 1000, 1000)


def a_sampler(
    lengths: tuple[int, ...] = (30, 30, 30), fresh_share: float = 0.3, seed: int = 0
) -> WindowSampler:
    walks = numbered_walks(lengths)
    return WindowSampler(walks, walks.observations, 4, steps=5, ahead=3, fresh_share=fresh_share, seed=seed)


def test_actions_and_targets_stand_beside_their_observations() -> None:
    sampler = a_sampler()
    for _ in range(20):
        window = sampler.next()
        assert window.observations.shape == (4, 5)
        assert window.actions.shape == window.targets.shape == window.known.shape == (4, 7)
        assert window.known.all()
        np.testing.assert_array_equal(np.diff(window.observations, axis=1), 1)
        np.testing.assert_array_equal(window.actions[:, :5], window.observations + 50)
        np.testing.assert_array_equal(window.targets[:, :5], window.observations + 1)


def test_lanes_continue_where_they_ended_unless_fresh() -> None:
    sampler = a_sampler()
    last = sampler.next()
    assert last.fresh.all()
    went_on = 0
    for _ in range(30):
        window = sampler.next()
        on = ~window.fresh
        np.testing.assert_array_equal(window.observations[on, 0], last.observations[on, -1] + 1)
        np.testing.assert_array_equal(window.previous_action[on], last.observations[on, -1] + 50 + 1)
        assert (window.previous_action[window.fresh] == 0).all()
        went_on += int(on.sum())
        last = window
    assert went_on > 20


def test_short_walks_are_masked_and_long_ones_are_cut_whole() -> None:
    sampler = a_sampler(lengths=(4, 30), fresh_share=1.0)
    masked = 0
    for _ in range(30):
        window = sampler.next()
        short = window.observations[:, 0] < 100
        assert window.known[~short].all()
        real = window.known[short]
        np.testing.assert_array_equal(real, np.arange(7) < 3 - (window.observations[short, :1] % 100))
        masked += int((~real).sum())
    assert masked


def test_restored_sampler_draws_the_same() -> None:
    sampler = a_sampler()
    for _ in range(3):
        sampler.next()
    state = sampler.state()
    expected = [sampler.next().observations for _ in range(3)]
    other = a_sampler(seed=9)
    other.restore(state)
    np.testing.assert_array_equal(expected, [other.next().observations for _ in range(3)])


def test_heads_that_look_past_every_walk_are_refused() -> None:
    walks = numbered_walks((5, 4))
    with pytest.raises(
        BadConfig, match=r"`prediction_steps` \(=5\) must be below the longest walk's length \(=5\)"
    ):
        WindowSampler(walks, walks.observations, 2, steps=3, ahead=5, fresh_share=1.0, seed=0)


def test_lanes_often_start_with_their_walk_where_its_start_is_known() -> None:
    """Only there is no action before; lanes that start elsewhere are told it."""
    walks = numbered_walks((30, 30, 30))
    sampler = WindowSampler(
        walks, walks.observations, 8, steps=5, ahead=3, fresh_share=0.6, seed=0, start_share=0.5
    )
    starts = fresh = 0
    for _ in range(200):
        window = sampler.next()
        first = window.observations[:, 0]
        at_start = first % 100 == 0
        np.testing.assert_array_equal(window.previous_action[at_start], 0)
        np.testing.assert_array_equal(window.previous_action[~at_start], first[~at_start] - 1 + 50 + 1)
        starts, fresh = starts + int(at_start.sum()), fresh + int(window.fresh.sum())
    assert 0.45 < starts / fresh < 0.6


def test_a_state_with_more_walks_than_there_are_is_restored() -> None:
    """Earlier versions held out fewer of many short walks."""
    state = a_sampler(lengths=(30,) * 9).state()
    sampler = a_sampler(lengths=(30,) * 3)
    sampler.restore(state | {"walk": [8, 1, 7, 2], "start": [0, 0, 0, 0]})
    window = sampler.next()
    assert window.fresh[[0, 2]].all()
    assert (window.observations < 300).all()
