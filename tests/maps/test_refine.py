"""Grouping with wild cards, what counts as clear, and the small steps of tracking."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.maps.counts import Counts
from cogmap.maps.evidence import leaders
from cogmap.maps.lasting import lasting, reach
from cogmap.maps.refine import group, never_taken
from cogmap.maps.track import retrace, track


def test_equal_rows_are_one_group_and_wild_cards_join_the_only_one_that_fits() -> None:
    rows = np.array([[1, 5, 6], [1, 5, 7], [1, 5, 6], [1, 5, -1], [1, -1, 7], [2, 5, -1]])
    found = group(rows)
    assert found[0] == found[2] != found[1]
    assert found[3] == -1, "fits two groups"
    assert found[4] == found[1], "fits one"
    assert found[5] not in (found[0], found[1], -1), "fits none, founds its own"


def test_rows_that_know_half_or_less_take_no_part() -> None:
    assert group(np.array([[3, -1, -1, 2], [3, 4, 5, 2]])).tolist() == [-1, 0]


def test_groups_are_numbered_by_first_appearance() -> None:
    assert group(np.array([[9, 9], [0, 0], [9, 9], [4, 4]])).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("counts", "clear"),
    [([2], False), ([3], True), ([5, 1], False), ([6, 1], True), ([40, 21], False), ([60, 15, 15], True)],
)
def test_what_leads_clearly(counts: list[int], clear: bool) -> None:
    size = len(counts)
    lead = leaders(np.zeros(size, int), np.arange(size), np.array(counts), (2, 3))
    assert lead.clear().tolist() == [clear, False]
    assert lead.column.tolist() == [0, -1]
    assert lead.total.tolist() == [sum(counts), 0]
    assert lead.runner_up[0] == (counts[1] if size > 1 else 0)


def test_an_action_is_never_taken_only_where_chance_would_have_it() -> None:
    tries = np.array([[100, 100, 0], [2, 2, 0], [100, 100, 200], [100, 100, 3]])
    assert never_taken(tries).tolist() == [
        [False, False, True],
        [False, False, False],
        [False, False, False],
        [False, False, True],
    ]


RING = np.array([[1], [2], [3], [4], [0]])  # one action leads on


def test_a_wrong_label_is_outvoted_by_the_steps_around_it() -> None:
    label = np.array([[0, 1, 4, 3, 4, 0]])
    assert track(label, np.zeros((1, 5), int), RING).tolist() == [[0, 1, 2, 3, 4, 0]]


def test_gaps_are_filled_and_unknown_steps_stay_unknown() -> None:
    label = np.array([[0, -1, -1, 3, 4], [-1, -1, -1, -1, -1]])
    assert track(label, np.zeros((2, 4), int), RING).tolist() == [[0, 1, 2, 3, 4], [-1] * 5]


def test_a_jump_is_not_tracked_across() -> None:
    """The steps before and after it contradict each other, and neither side is changed."""
    label = np.array([[0, 1, 2, 3, 1, 2, 3, 4]])
    found = track(label, np.zeros((1, 7), int), RING)
    assert found[0, :3].tolist() == [0, 1, 2]
    assert found[0, 5:].tolist() == [2, 3, 4]


def test_retracing_takes_the_only_origin_that_looks_right() -> None:
    table = np.array([[2], [2], [0]])  # both 0 and 1 lead to 2
    sees = np.array([5, 6, 7])
    steps = np.array([[-1, 2], [-1, 2], [-1, 2]])
    observations = np.array([[6, 7], [5, 7], [4, 7]])
    found = retrace(steps, np.zeros((3, 1), int), observations, table, sees)
    assert found[:, 0].tolist() == [1, 0, -1]
    alike = retrace(steps, np.zeros((3, 1), int), np.full((3, 2), 5), table, np.array([5, 5, 7]))
    assert alike[:, 0].tolist() == [-1, -1, -1], "two origins look so"


def test_reach_follows_edges_and_not_their_reverse() -> None:
    table = np.array([[1, -1], [2, 1], [2, 2], [0, -1]])
    assert reach(table, np.array([False, True, False, False])).tolist() == [False, True, True, False]


def test_transient_nodes_do_not_last() -> None:
    """Node 3 stands for not knowing yet: it leads to 0, 1 and 2 by chance, and nothing leads to it."""
    source, target = np.array([0, 1, 2, 3, 3, 3]), np.array([1, 2, 0, 0, 1, 2])
    flows = Counts(source, np.zeros(6, int), target, np.array([90, 90, 90, 30, 30, 30]), 4, 1)
    table = np.array([[1], [2], [0], [-1]])
    assert lasting(flows, table).tolist() == [True, True, True, False]
