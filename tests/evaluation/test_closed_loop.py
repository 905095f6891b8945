"""A goal counts as reached only if the agent is at its true position."""

from __future__ import annotations

import dataclasses

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.closed_loop import goals_reached
from cogmap.evaluation.ged import true_map

ROOM = AliasedRoom(height=6, width=8, observations=4, seed=0)
PLACES = np.arange(ROOM.num_positions, dtype=np.int32)


def test_every_goal_is_reached_with_the_true_map() -> None:
    assert goals_reached(true_map(ROOM), ROOM, PLACES, 40, np.random.default_rng(0)) == 1.0


def test_the_belief_to_be_at_the_goal_is_not_enough() -> None:
    elsewhere = np.roll(PLACES, 1)
    assert goals_reached(true_map(ROOM), ROOM, elsewhere, 10, np.random.default_rng(0)) == 0.0


def test_a_map_whose_moves_lead_the_other_way_reaches_little() -> None:
    right = true_map(ROOM)
    wrong = dataclasses.replace(right, edge_action=3 - right.edge_action)
    assert goals_reached(wrong, ROOM, PLACES, 20, np.random.default_rng(0)) < 0.7
