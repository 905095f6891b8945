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
