"""The filter that knows the partition but not the colours, against one that tries every colouring."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import room_families
from cogmap.errors import BadWalks
from cogmap.evaluation.new_rooms import family_ceiling
from cogmap.walks.family import base_targets
from cogmap.walks.sample import sample_family_walks

BASE = AliasedRoom(height=2, width=3, observations=2, patch=0, seed=3)
COLOURS = 4


def chances_by_hand(observations: list[int], actions: list[int]) -> np.ndarray:
    """(O,) chances of the next target: every room and start that fit what was seen, each as likely."""
    chances = np.zeros(BASE.num_observations)
    for colours in permutations(range(COLOURS), BASE.num_observations):
        for start in range(BASE.num_positions):
            position, seen = start, [colours[BASE.observation[start]]]
            for action in actions:
                position = int(BASE.next_position[position, action])
                seen.append(colours[BASE.observation[position]])
            if seen[:-1] == observations:
                chances[sum(1 for colour in set(seen) if colour < seen[-1])] += 1
    return chances / chances.sum()


def test_the_filter_predicts_the_same_as_trying_all_rooms() -> None:
    train, _ = room_families(8, 4, BASE, COLOURS)
    walks, _, _ = sample_family_walks(train, 12, 8, np.random.default_rng(0))
    targets = base_targets(walks)
    found = family_ceiling(walks, BASE).by_step
    for step in range(7):
        least = most = 0  # where targets are equally likely, either may be predicted
        for walk in range(12):
            seen = walks.observations[walk, : step + 1].tolist()
            chances = chances_by_hand(seen, walks.actions[walk, : step + 1].tolist())
            best = np.flatnonzero(chances > chances.max() - 1e-9)
            hit = targets[walk, step + 1] in best
            most += hit
            least += hit and len(best) == 1
        assert least / 12 <= found[step] + 1e-9
        assert found[step] <= most / 12 + 1e-9


def test_walks_of_no_room_of_the_family_are_refused() -> None:
    train, _ = room_families(8, 4, BASE, COLOURS)
    walks, _, _ = sample_family_walks(train, 2, 30, np.random.default_rng(0))
    seen = walks.observations.copy()
    seen[1] = np.arange(30) % 2
    with pytest.raises(
        BadWalks, match="walks must be possible in the family, walk 1 becomes impossible at step"
    ):
        family_ceiling(replace(walks, observations=seen), BASE)
