"""What it takes to say where moves lead."""

import numpy as np
import pytest

from cogmap.search.rules import rules


def said(leads: list[list[int]], shows: list[int], visits: list[int] | None = None) -> float:
    table, many = np.array(leads, dtype=np.int32), np.array(visits or [9] * len(shows))
    return rules(table, np.array(shows, dtype=np.int32), many, 1 + max(shows))


def test_a_move_that_stays_names_no_state() -> None:
    """Two places that look the same: one action goes round, another always stays."""
    kinds = 2 * np.log(2)  # of two kinds there might be, each action has one, in all places
    bits, orders = 2 * np.log(2), np.log(2)
    assert said([[1, 0], [0, 1]], [0, 0]) == pytest.approx(kinds + 2 * np.log(2) + bits - orders)


def test_an_exception_takes_more_than_a_rule() -> None:
    """Ten places in a ring, and the same with one that stays."""
    ring = [[(place + 1) % 10] for place in range(10)]
    assert said([*ring[:9], [9]], [0] * 10) > said(ring, [0] * 10)


def test_what_a_state_is_called_makes_no_difference() -> None:
    rng = np.random.default_rng(0)
    leads, shows, visits = rng.integers(0, 6, size=(6, 3)), rng.integers(0, 2, size=6), rng.permutation(6) + 1
    order = rng.permutation(6)
    renamed = np.argsort(order)[leads[order]]
    assert said(renamed.tolist(), shows[order].tolist(), visits[order].tolist()) == pytest.approx(
        said(leads.tolist(), shows.tolist(), visits.tolist())
    )


def test_a_state_that_differs_in_one_move_of_many_names_the_other() -> None:
    """Twenty actions: said alone the second state takes twenty targets, by name one."""
    rng = np.random.default_rng(0)
    common = rng.integers(2, 8, size=20).tolist()
    others = rng.integers(0, 8, size=(6, 20)).tolist()
    alike = said([common, [*common[:-1], 0], *others], [0] * 8)
    apart = said([common, rng.integers(2, 8, size=20).tolist(), *others], [0] * 8)
    assert alike < apart - 20


def test_a_state_that_is_never_visited_takes_nothing() -> None:
    assert said([[1], [0], [0]], [0, 0, 0], [5, 5, 0]) == pytest.approx(said([[1], [0]], [0, 0]))
