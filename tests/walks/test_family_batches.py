"""Targets in base are ranks among what the lane has seen, across windows, and not among what its walk showed."""

from __future__ import annotations

import numpy as np

from cogmap.records import Walks
from cogmap.walks.family import InBaseSampler, base_targets, observations_of_ranks, ranks_so_far


def coloured_walks(walks: int = 6, steps: int = 40, seed: int = 0) -> Walks:
    rng = np.random.default_rng(seed)
    colours = np.stack([rng.permutation(9)[:4] for _ in range(walks)])  # (B, 4)
    observations = np.take_along_axis(colours, rng.integers(4, size=(walks, steps)), axis=1)
    return Walks(
        observations.astype(np.int32),
        rng.integers(3, size=(walks, steps - 1)).astype(np.int32),
        np.full(walks, steps, dtype=np.int32),
        9,
        3,
    )


def a_sampler(seed: int = 0) -> InBaseSampler:
    walks = coloured_walks()
    return InBaseSampler(walks, base_targets(walks), 5, steps=6, ahead=2, fresh_share=0.4, seed=seed)


def ranks_by_hand(history: list[int]) -> int:
    return sum(1 for seen in set(history) if seen < history[-1])


def test_targets_rank_what_the_lane_has_seen_since_it_started_afresh() -> None:
    sampler = a_sampler()
    histories: list[list[int]] = [[] for _ in range(5)]
    went_on = 0
    for _ in range(40):
        window = sampler.next()
        for lane in range(5):
            if window.fresh[lane]:
                histories[lane] = []
            else:
                went_on += 1
            seen = window.observations[lane].tolist()
            for step, observation in enumerate(seen):
                histories[lane].append(observation)
                if step:
                    assert window.targets[lane, step - 1] == ranks_by_hand(histories[lane])
    assert went_on > 20


def test_a_restored_sampler_continues_with_the_same_targets() -> None:
    first, second = a_sampler(), a_sampler(seed=1)
    for _ in range(7):
        first.next()
    second.restore(first.state())
    for _ in range(5):
        one, other = first.next(), second.next()
        np.testing.assert_array_equal(one.targets, other.targets)
        np.testing.assert_array_equal(one.observations, other.observations)


def test_a_whole_walk_has_the_targets_of_base_targets() -> None:
    walks = coloured_walks()
    ranks, seen = ranks_so_far(walks.observations, np.zeros((6, 9), dtype=bool))
    np.testing.assert_array_equal(ranks, base_targets(walks))
    assert seen[:, -1].sum() == sum(len(np.unique(row)) for row in walks.observations)


def test_ranks_are_turned_back_into_observations() -> None:
    walks = coloured_walks()
    ranks, seen = ranks_so_far(walks.observations, np.zeros((6, 9), dtype=bool))
    for walk in range(6):
        np.testing.assert_array_equal(
            observations_of_ranks(ranks[walk], seen[walk]), walks.observations[walk]
        )
    seen = np.array([[False, True, False, True]])
    assert observations_of_ranks(np.array([1]), seen).tolist() == [3]
    assert observations_of_ranks(np.array([2]), seen).tolist() == [-1]  # no third colour has been seen
