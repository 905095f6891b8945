"""Warnings of a map beside its model, where rare places are among the steps that it was made from."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.hmm.states import count_states
from cogmap.maps.trust import hold_out, trust, trust_in_all
from cogmap.records import Walks


def ring(walks=120, steps=50, rare=0.02):
    """A ring of three places that look alike but for one; some walks are of a ring of two, which a map may miss."""
    rng = np.random.default_rng(0)
    odd = rng.random(walks) < rare
    place = (np.arange(steps) + rng.integers(3, size=(walks, 1))) % 3
    seen = np.where(odd[:, None], (np.arange(steps) % 2)[None], (place == 0).astype(int))
    return Walks(seen, np.zeros((walks, steps - 1), dtype=int), np.full(walks, steps), 2, 1), place, odd


def held_out(predicted_right):
    """Walks divided so that none of those held out is odd, and the map of the usual ring."""
    walks, place, odd = ring()
    right = predicted_right(walks, odd)
    predicted = np.where(right, walks.observations[:, 1:], 1 - walks.observations[:, 1:])
    held = hold_out(walks, place, predicted)
    apart = np.sort(np.random.default_rng(0).permutation(walks.num_walks)[:12])
    assert not odd[apart].any()
    assert odd.any()
    return held, count_states(place[~odd], walks.rows(~odd), 3)


def test_a_rare_place_that_the_map_lacks_is_seen_in_the_walks_it_was_made_from():
    held, counts = held_out(lambda walks, odd: np.ones(walks.actions.shape, dtype=bool))
    assert trust(counts, held).warnings == ()
    (warning,) = trust_in_all(counts, held).warnings
    assert "of observations, the model 100.0%: places are missing or merged" in warning


def test_a_model_that_knows_its_walks_by_heart_says_nothing_of_them():
    """It is right in all that it was trained on, and in nine tenths of the others, where the map is better."""

    def right(walks, odd):
        apart = np.random.default_rng(0).permutation(walks.num_walks)[:12]
        known = np.ones(walks.actions.shape, dtype=bool)
        known[apart, ::10] = False
        return known

    held, counts = held_out(right)
    assert trust_in_all(counts, held).warnings == ()


@pytest.mark.parametrize("missing", ["right", "kept_right"])
def test_without_predictions_there_is_nothing_to_compare(missing):
    held, counts = held_out(lambda walks, odd: np.ones(walks.actions.shape, dtype=bool))
    assert trust_in_all(counts, replace(held, **{missing: None})).warnings == ()
