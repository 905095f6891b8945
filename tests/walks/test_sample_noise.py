"""Noise replaces the given share of observations and changes nothing else."""

import numpy as np
import pytest

from cogmap.errors import BadWalks
from cogmap.records import Walks
from cogmap.walks.sample import add_noise


def all_zero(walks=300, steps=200):
    lengths = np.full(walks, steps)
    lengths[::2] = steps // 2
    shape = (walks, steps - 1)
    return Walks(
        np.zeros((walks, steps), int), np.zeros(shape, int), lengths, num_observations=4, num_actions=2
    )


def test_a_tenth_is_replaced_by_uniform_observations():
    walks = all_zero()
    noisy = add_noise(walks, 0.1, np.random.default_rng(0))
    seen = noisy.observations[walks.step_mask()]
    shares = np.bincount(seen, minlength=4) / seen.size
    # A replaced observation is itself again one time in four.
    np.testing.assert_allclose(shares, [0.925, 0.025, 0.025, 0.025], atol=0.005)


def test_actions_lengths_and_padding_stay():
    walks = all_zero()
    noisy = add_noise(walks, 1.0, np.random.default_rng(0))
    assert (noisy.actions == walks.actions).all()
    assert (noisy.lengths == walks.lengths).all()
    assert (noisy.observations[~walks.step_mask()] == 0).all()
    assert (walks.observations == 0).all()


def test_no_noise_changes_nothing():
    walks = all_zero(3, 5)
    assert (add_noise(walks, 0.0, np.random.default_rng(0)).observations == 0).all()


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(BadWalks, match=r"`share` of noise must be in \[0, 1\], got"):
        add_noise(all_zero(3, 5), share, np.random.default_rng(0))
