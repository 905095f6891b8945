"""Scores over new rooms: perfect maps get perfect scores, and empty maps get none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import room_families
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.new_rooms import in_context_accuracy, score_new_rooms
from cogmap.records import Codes, CognitiveMap, Integers, Truth, Walks
from cogmap.walks.family import base_targets
from cogmap.walks.sample import sample_walks

BASE = AliasedRoom(height=3, width=4, observations=3, patch=0, seed=1)


def four_walks_a_room(rooms: int) -> tuple[Walks, Truth, Integers, list[CognitiveMap]]:
    _, family = room_families(10, rooms, BASE, 7)
    of_walk = np.tile(np.arange(rooms, dtype=np.int32), 4)  # rooms are not side by side
    walks, truth = sample_walks(BASE, len(of_walk), 60, np.random.default_rng(0))
    maps = [replace(true_map(family.room(room)), kind="paper") for room in range(rooms)]
    return family.paint(walks, of_walk), truth, of_walk, maps


def codes_of(truth: Truth, walks: Walks) -> Codes:
    return Codes(truth.positions[:, :, None], walks.lengths, BASE.num_positions)


def test_true_maps_solve_every_problem_in_every_room() -> None:
    walks, truth, rooms, maps = four_walks_a_room(3)
    drawn = iter(maps)
    scores = score_new_rooms(codes_of(truth, walks), walks, truth, rooms, lambda *_: next(drawn), 10)
    assert (scores.imp_fallback, scores.ratio_sp, scores.optimal) == (1.0, 1.0, 1.0)
    assert (scores.norm_ged, scores.exact, scores.nodes) == (0.0, 1.0, 12.0)
    assert (scores.rooms, scores.problems) == (3, 12)


def test_each_room_is_mapped_from_its_own_walks_alone() -> None:
    walks, truth, rooms, maps = four_walks_a_room(3)
    given: list[np.ndarray] = []

    def map_room(codes: Codes, own: Walks) -> CognitiveMap:
        given.append(own.observations)
        assert codes.codes.shape[:2] == own.observations.shape
        return maps[len(given) - 1]

    score_new_rooms(codes_of(truth, walks), walks, truth, rooms, map_room, 10)
    for room in range(3):
        np.testing.assert_array_equal(given[room], walks.observations[rooms == room])


def test_a_map_in_another_rooms_colours_is_not_exact_but_plans_as_well() -> None:
    walks, truth, rooms, maps = four_walks_a_room(2)
    scores = score_new_rooms(codes_of(truth, walks), walks, truth, rooms, lambda *_: maps[0], 10)
    assert scores.exact == 0.5
    assert scores.imp_fallback == 1.0


def test_accuracy_in_base_counts_ranks() -> None:
    walks, _, _, _ = four_walks_a_room(2)
    ranks = base_targets(walks)[:, 1:].copy()
    assert in_context_accuracy(ranks, walks).accuracy == 1.0
    ranks[:, 0] += 1
    found = in_context_accuracy(ranks, walks)
    assert found.by_step[0] == 0.0
    assert found.accuracy == 58 / 59
