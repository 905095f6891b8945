"""A goal counts as reached only if the agent is at its true position."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from edgeless_maps import edgeless_map

from cogmap.environments.oracle import optimal_distances
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import from_tables
from cogmap.evaluation import closed_loop
from cogmap.evaluation.closed_loop import goals_reached
from cogmap.evaluation.ged import true_map
from cogmap.planning.steppers import TableStepper
from cogmap.records import CognitiveMap

ROOM = AliasedRoom(height=6, width=8, observations=4, seed=0)
PLACES = np.arange(ROOM.num_positions, dtype=np.int32)


def test_every_goal_is_reached_with_the_true_map() -> None:
    assert goals_reached(true_map(ROOM), ROOM, PLACES, 40, np.random.default_rng(0)) == 1.0


def test_the_belief_to_be_at_the_goal_is_not_enough() -> None:
    elsewhere = np.roll(PLACES, 1)
    assert goals_reached(true_map(ROOM), ROOM, elsewhere, 10, np.random.default_rng(0)) == 0.0


def test_exactly_the_goals_that_a_path_leads_to_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rings that nothing joins, no two places alike: it knows where it is, half of the goals cannot be reached."""
    rings = np.array([1, 2, 0, 4, 5, 6, 3])
    world = from_tables(np.stack([rings, np.argsort(rings)], axis=1), np.arange(7))
    same_ring = np.isfinite(optimal_distances(world))  # (P, P)
    asked, real = [], closed_loop._reaches

    def noted(found: CognitiveMap, stepper: TableStepper, goal: int, rng: np.random.Generator) -> bool:
        asked.append((stepper.position, goal))
        return real(found, stepper, goal, rng)

    monkeypatch.setattr(closed_loop, "_reaches", noted)
    share = goals_reached(true_map(world), world, np.arange(7, dtype=np.int32), 60, np.random.default_rng(0))
    possible = [same_ring[start, goal] for start, goal in asked]
    assert len(possible) == 60
    assert 20 < sum(possible) < 40
    assert share == sum(possible) / 60


def test_a_map_whose_moves_lead_the_other_way_reaches_goals_by_luck_alone() -> None:
    """Luck is a start at the goal (1 in 48), or getting lost there: in 20 seeds never more than 4 goals of 40."""
    right = true_map(ROOM)
    wrong = dataclasses.replace(right, edge_action=right.edge_action ^ 1)  # up and down, left and right
    assert goals_reached(wrong, ROOM, PLACES, 40, np.random.default_rng(0)) <= 4 / 40


def test_an_empty_map_reaches_nothing() -> None:
    empty, none = edgeless_map([]), np.zeros(0, dtype=np.int32)
    assert goals_reached(empty, ROOM, none, 5, np.random.default_rng(0)) == 0.0
