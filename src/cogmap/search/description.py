"""How many nats it takes to say states, their moves and the walks: what the search makes as small as it can.

What is said of a state is what it shows and where its actions lead. Chance has a price: every further target of a move
and every further observation of a state is named, with a probability as precise as its count allows, and so is which
move or state has it. That is little where all of them have, and much where one has: in a world without chance a move
that deviates once is not worth it. What errs everywhere in the same way is said once (`slips`): then a move or state
costs what its steps lose by having the common probabilities and not its own, if that is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.special import gammaln

from cogmap.hmm.counts import Whole
from cogmap.hmm.inference import Expectation
from cogmap.hmm.states import StateCounts, never_taken, never_taken_at_sight, taken_for_granted
from cogmap.records import Booleans, Floats, Integers
from cogmap.search.slips import Slips, fit_slips

_COUNTED = 0.5  # of a step: less is no edge, no observation and no start


@dataclass(frozen=True, eq=False)
class ChanceOfMoves:
    """What is said of the moves of states beside their first target, and the nats of it."""

    leads: Integers  # (V, A) the target of a move that is said first, -1 if it was never tried
    nats: float
    price: Floats  # (E,) nats that it gets shorter by without one edge
    slips: Slips | None = None  # that all moves have in common


def description_length(found: Expectation) -> float:
    """Nats of the walks given the states, and of the states.

    The moves of a state are either listed, or given as those of an earlier state that looks the same, with the moves
    that differ: two states that differ in one rare input are worth keeping if that input was tried often enough,
    however many inputs they share. Every start and every action that is never taken is named.
    """
    counts = found.counts
    states = max(counts.num_states, 2)
    name, look = np.log(states), np.log(max(counts.num_observations, 2))
    at_sight = never_taken_at_sight(counts)
    never = int(at_sight.sum()) + int((never_taken(counts) & ~at_sight[counts.shows()]).sum())
    starts = int((counts.first >= _COUNTED).sum()) + never
    chance = chance_of_moves(counts)
    moves = length_of_moves(counts, chance.leads) + chance.nats
    shown = states * look + _chance_of_sights(counts, look)
    # Which actions were taken helps to locate the agent, but they are its own choice and not to be explained.
    chosen = (counts.tries * np.log(taken_for_granted(counts))).sum()
    return float(chosen - found.log_likelihood + moves + shown + starts * name)


def chance_of_moves(counts: StateCounts) -> ChanceOfMoves:
    """The shorter of two ways to say the chance in moves: each on its own, or by slips that all have in common."""
    leads, tries = likeliest_targets(counts), counts.tries
    rows, tried = len(tries), int((tries >= _COUNTED).sum())
    each = np.log(max(counts.num_states, 2)) + 0.5 * np.log(np.maximum(tries[counts.row], 2))  # (E,)
    there = counts.count >= _COUNTED
    further = there & ~likeliest_edges(counts)
    alone = np.bincount(counts.row[further], weights=each[further], minlength=rows)  # (V * A,)
    plain = ChanceOfMoves(
        leads, alone.sum() + _which(int(further.sum()), tried), each + _one_of(int(further.sum()), tried)
    )
    rules = 0.5 * np.log(np.maximum(tries.reshape(-1, counts.num_actions).sum(axis=0), 2))  # (A,)
    if plain.nats <= rules.sum():
        return plain
    slips = fit_slips(counts, leads)
    usual = slips.chances(counts)
    named = there & (_deviance(counts.count, usual * tries[counts.row]) > each)
    lost = _lost_by(counts.count, usual, counts.row, there & ~named, rows)
    common = np.bincount(counts.row, weights=np.where(named, each, lost), minlength=rows)
    own = (alone < common) & (tries >= _COUNTED)
    named = np.where(own[counts.row], further, named)
    says = slips.does * tries.reshape(-1, counts.num_actions).sum(axis=0)[:, None] >= _COUNTED
    nats = (
        np.minimum(alone, common).sum()
        + _which(int(named.sum()), tried)
        + _which(int(own.sum()), tried)
        + (rules * (says.sum(axis=1) - 1)).sum()
    )
    if nats >= plain.nats:
        return plain
    price = np.where(named, each + _one_of(int(named.sum()), tried), 0.0)
    return ChanceOfMoves(slips.leads, nats, price, slips)


def _chance_of_sights(counts: StateCounts, look: float) -> float:
    """Nats of what states show beside their usual observation, each on its own or as all that usually show the same."""
    states, usual = counts.num_states, counts.shows()
    visits = counts.visits
    each = look + 0.5 * np.log(np.maximum(visits[counts.seen_at], 2))  # (I,)
    there = counts.seen_count >= _COUNTED
    further = there & (counts.seen != usual[counts.seen_at])
    alone = np.bincount(counts.seen_at[further], weights=each[further], minlength=states)
    plain = alone.sum() + _which(int(further.sum()), states)
    if not further.any():
        return float(plain)
    # A pair of what is usual and what is seen, with its share of all steps where that is usual.
    key = usual[counts.seen_at].astype(np.int64) * counts.num_observations + counts.seen
    pairs, pair = np.unique(key, return_inverse=True)
    of_pair = np.bincount(pair, weights=counts.seen_count)
    of_usual = np.bincount(usual, weights=visits, minlength=counts.num_observations)[
        pairs // counts.num_observations
    ]
    rule = pairs // counts.num_observations != pairs % counts.num_observations
    rules = 0.5 * np.log(np.maximum(of_usual[rule & (of_pair >= _COUNTED)], 2)) + look
    share = of_pair / np.maximum(of_usual, 1e-9)  # a state may have lost all of its steps
    lost = _lost_by(counts.seen_count, share[pair], counts.seen_at, there, states)
    common = np.bincount(counts.seen_at, weights=lost, minlength=states)
    own = alone < common
    named = int((further & own[counts.seen_at]).sum())
    nats = (
        np.minimum(alone, common).sum() + _which(named, states) + _which(int(own.sum()), states) + rules.sum()
    )
    return float(min(plain, nats))


def _lost_by(count: Floats, chance: Floats, of: Whole, there: Booleans, rows: int) -> Floats:
    """(n,) nats that counts lose by having a common chance and not their share of their row; 0 where not there."""
    total = np.bincount(of[there], weights=count[there], minlength=rows)[of]
    share = np.where(there, count / np.maximum(total, 1e-9), 1.0)
    return np.where(there, count * np.log(share / np.maximum(chance, 1e-300)), 0.0)


def _deviance(count: Floats, expected: Floats) -> Floats:
    """(n,) nats by which counts are unlikely where others are expected."""
    ratio = np.maximum(count, 1e-300) / np.maximum(expected, 1e-300)
    return np.asarray(count * np.log(ratio) - count + expected)


def _which(further: int, rows: int) -> float:
    """Nats to say which rows have how many further entries: of all sequences of rows and entries, this one."""
    return float(gammaln(rows + further + 1) - gammaln(rows + 1) - gammaln(further + 1))


def _one_of(further: int, rows: int) -> float:
    """Nats that one entry less takes less to say."""
    return float(np.log(1 + rows / max(further, 1)))


def length_of_moves(counts: StateCounts, leads: Integers) -> float:
    """Nats of all states' moves: those that were tried, or another state and which moves differ, and where to."""
    actions, name = counts.num_actions, np.log(max(counts.num_states, 2))
    tried = (counts.tries.reshape(counts.num_states, actions) >= _COUNTED).sum(axis=1)
    order = np.argsort(-counts.visits, kind="stable")
    differing = _fewest_differences(leads, counts.shows(), order, counts.num_observations)
    which = gammaln(actions + 1) - gammaln(differing + 1) - gammaln(actions - differing + 1)
    return float(np.minimum(tried * name, name + np.log(actions + 1) + which + differing * name).sum())


def likeliest_edges(counts: StateCounts) -> Booleans:
    """(E,) the likeliest target of each row."""
    last = np.full(counts.num_states * counts.num_actions, -1)
    order = np.argsort(counts.count, kind="stable")  # the last write is the most frequent
    last[counts.row[order]] = order
    likeliest = np.zeros(len(counts.count), dtype=bool)
    likeliest[last[last >= 0]] = True
    return likeliest


def likeliest_targets(counts: StateCounts) -> Integers:
    """(V, A) the likeliest target of each move, -1 where it was never tried."""
    table = np.full((counts.num_states, counts.num_actions), -1, dtype=np.int32)
    likeliest = likeliest_edges(counts)
    source, action = np.divmod(counts.row[likeliest], counts.num_actions)
    table[source, action] = counts.target[likeliest]
    return table


@njit(cache=True)
def _fewest_differences(table: Any, shows: Any, order: Any, num_observations: int) -> Any:
    """(V,) moves in which a state differs from the most similar one that looks the same and is visited more."""
    fewest = np.full(len(table), table.shape[1], dtype=np.int64)
    last_alike = np.full(num_observations, -1, dtype=np.int64)  # states with one observation form a list
    before = np.full(len(table), -1, dtype=np.int64)
    for state in order:
        other = last_alike[shows[state]]
        while other >= 0:
            differing = 0
            for action in range(table.shape[1]):
                target = table[state, action]
                differing += target >= 0 and target != table[other, action]
            fewest[state] = min(fewest[state], differing)
            other = before[other]
        before[state] = last_alike[shows[state]]
        last_alike[shows[state]] = state
    return fewest
