"""Slips that all moves have in common: fitted to exact counts, they give the chances of every move back."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.hmm.states import StateCounts
from cogmap.search.description import chance_of_moves, likeliest_targets
from cogmap.search.slips import fit_slips

STATES, ACTIONS = 12, 4
AHEAD = np.array([[0.7, 0.1, 0.1, 0.1], [0, 1, 0, 0], [0.2, 0, 0.8, 0], [0, 0, 0.3, 0.7]])
# Either side is as likely as ahead: no target of a move says which action leads there.
THIRDS = np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]]) / 3


def slipping(does: np.ndarray, seed: int, tries: float = 900.0, noisy: bool = False) -> StateCounts:
    """Counts of a world whose actions lead to different states, and do each other's work as `does` says."""
    rng = np.random.default_rng(seed)
    leads = np.array([rng.permutation(STATES)[:ACTIONS] for _ in range(STATES)])
    chance = np.zeros((STATES, ACTIONS, STATES))
    for state in range(STATES):
        chance[state][:, leads[state]] += does
    count = rng.poisson(tries * chance).astype(float) if noisy else tries * chance
    source, action, target = np.nonzero(count)
    return StateCounts(
        first=np.ones(STATES),
        row=source * ACTIONS + action,
        target=target.astype(np.int32),
        count=count[source, action, target],
        seen_at=np.arange(STATES, dtype=np.int32),
        seen=np.zeros(STATES, dtype=np.int32),
        seen_count=count.sum(axis=(1, 2)),
        num_actions=ACTIONS,
        num_observations=1,
    )


@pytest.mark.parametrize("does", [AHEAD, THIRDS], ids=["ahead", "thirds"])
@pytest.mark.parametrize("seed", range(3))
def test_the_chances_of_all_moves_come_back(does: np.ndarray, seed: int) -> None:
    counts = slipping(does, seed, noisy=True)
    slips = fit_slips(counts, likeliest_targets(counts))
    share = counts.count / counts.tries[counts.row]
    # Shares of 900 tries have standard deviations up to 0.016.
    assert np.abs(slips.chances(counts) - share).max() < 0.08
    assert slips.does.sum(axis=1) == pytest.approx(np.ones(ACTIONS))


def test_moves_without_chance_do_what_they_should() -> None:
    counts = slipping(np.eye(ACTIONS), 0)
    slips = fit_slips(counts, likeliest_targets(counts))
    assert slips.does[:, :ACTIONS] == pytest.approx(np.eye(ACTIONS), abs=1e-6)
    assert (slips.leads == likeliest_targets(counts)).all()


def test_where_an_action_was_never_tried_it_leads_nowhere() -> None:
    counts = slipping(AHEAD, 0)
    kept = counts.row != 5
    some = StateCounts(
        counts.first, counts.row[kept], counts.target[kept], counts.count[kept], counts.seen_at, counts.seen,
        counts.seen_count, ACTIONS, 1,
    )  # fmt: skip
    leads = fit_slips(some, likeliest_targets(some)).leads
    assert leads[1, 1] == -1
    assert (np.delete(leads.ravel(), 5) >= 0).all()


def test_slips_in_common_are_said_once_and_others_one_by_one() -> None:
    """The same number of further targets costs far more where each move has its own."""
    common = slipping(AHEAD, 0, noisy=True)
    rng = np.random.default_rng(1)
    target = common.target.copy()
    further = common.count < 0.5 * common.tries[common.row]
    target[further] = rng.integers(0, STATES, further.sum())
    order = np.lexsort((target, common.row))
    own = StateCounts(
        common.first, common.row, target[order], common.count[order], common.seen_at, common.seen, common.seen_count,
        ACTIONS, 1,
    )  # fmt: skip
    assert chance_of_moves(common).nats < 0.5 * chance_of_moves(own).nats
    # No edge in common is worth dropping; those of their own are.
    assert (chance_of_moves(common).price == 0).mean() > 0.9
    assert (chance_of_moves(own).price > 0).any()
