"""States that are several: how an account is split, for the search to merge again what makes no difference.

- "reroute": moves that some steps contradict lead elsewhere, if there is no chance in the world;
- "label", "entry": a state whose moves are in doubt is split by the labels of the guess, or by the way it was entered;
- "doubt": states whose moves are in doubt, and those next to them, are doubled;
- "bit": every state is doubled, with a hidden bit that tends to stay as it is; what it is good for is found by
  expectation-maximisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.hmm.states import LEAST_COUNT, StateCounts, count_states
from cogmap.records import Booleans
from cogmap.search.account import ROUNDS, Account, Log, account, hardened
from cogmap.search.description import likeliest_edges, likeliest_targets
from cogmap.search.doubt import depends_on, entries, last_times
from cogmap.search.reroute import reroute

KINDS_OF_SPLIT = ("reroute", "label", "entry", "doubt", "bit")  # the dearest last
_ROUNDS_OF_SPLIT = 30  # a new bit starts from nothing
_ROUNDS_OF_DOUBT, _STARTS_OF_DOUBT = 200, 8  # about one start in three finds the states
_STEPS_OF_DOUBT = 16_000_000  # steps times rounds: some seconds; with longer walks there are fewer
_STAYS = 0.9  # chance that a new hidden bit stays as it is


def split_states(log: Log, current: Account, kind: str, guess: Whole, seed: int) -> Account | None:
    """The account with states split, or with moves led elsewhere; None if there is nothing to split."""
    if kind == "reroute":
        return _rerouted(log, current)
    if kind == "doubt":
        twice = _near_doubt(current)
        if twice.all():
            return None  # the chance is the world's
        return min(_twice(log, current.counts, twice, seed), key=lambda each: each.length)
    if kind == "bit":
        if not depends_on_past(log, current):
            return None
        every = np.ones(current.num_states, dtype=bool)
        return account(log, _doubled(current.counts, every, np.random.default_rng(seed)), _ROUNDS_OF_SPLIT)
    reason = entries(log.walks, current.found.path) if kind == "entry" else guess
    labels = _where_in_doubt(log, current, reason)
    if labels is None:
        return None
    return account(log, count_states(labels, log.walks, int(labels.max()) + 1), 2 * ROUNDS)


def depends_on_past(log: Log, current: Account) -> bool:
    """Whether some state's next one depends on how it was entered, or on where its action led the last time."""
    path = current.found.path.astype(np.int64)
    reasons = (entries(log.walks, path), last_times(log.walks, path))
    return any(depends_on(log.walks, path, reason, current.num_states).any() for reason in reasons)


def _rerouted(log: Log, current: Account) -> Account | None:
    """An account of the likeliest moves alone, some of them led elsewhere; none if there is none to lead."""
    counts = current.counts
    table = reroute(log.walks, likeliest_targets(counts), counts.shows(), current.found.path)
    if table is None:
        return None
    source, action = np.nonzero(table >= 0)
    row = source * np.int64(counts.num_actions) + action
    moves = replace(
        counts, row=row, target=table[source, action], count=np.maximum(counts.tries[row], 2 * LEAST_COUNT)
    )
    return account(log, moves)


def _where_in_doubt(log: Log, current: Account, reason: Whole) -> Whole | None:
    """(B, N) a label for each state, and one for each reason (B, N) of a state that may hide several; None if none may.

    A state may if its moves are in doubt and depend on the reason.
    """
    path = current.found.path.astype(np.int64)
    doubtful = current.in_doubt()
    doubtful &= depends_on(log.walks, path, reason, current.num_states)
    if not doubtful.any():
        return None
    label = np.where(doubtful[path], reason + 1, 0) * current.num_states + path
    distinct, number = np.unique(np.where(log.walks.step_mask(), label, -1), return_inverse=True)
    return number.reshape(path.shape) - int(distinct[0] == -1)


def _twice(log: Log, counts: StateCounts, twice: Booleans, seed: int) -> Iterator[Account]:
    """Accounts with some states (V,) twice, from several random likings if the walks are few."""
    steps = int(log.walks.lengths.sum())
    rounds = min(max(_STEPS_OF_DOUBT // steps, _ROUNDS_OF_SPLIT), _ROUNDS_OF_DOUBT)
    for start in range(min(max(_STEPS_OF_DOUBT // (steps * rounds), 1), _STARTS_OF_DOUBT)):
        rng = np.random.default_rng([seed, start])
        yield hardened(log, account(log, _doubled(counts, twice, rng), rounds))


def _near_doubt(current: Account) -> Booleans:
    """(V,) states whose moves are in doubt, and those next to them.

    Two floors that are one state have one state with the door open, too, in which no move is in doubt.
    """
    counts = current.counts
    doubtful = current.in_doubt()
    source = counts.row // counts.num_actions
    near = doubtful.copy()
    near[counts.target[doubtful[source]]] = True
    near[source[doubtful[counts.target]]] = True
    return near


def _doubled(counts: StateCounts, twice: Booleans, rng: np.random.Generator) -> StateCounts:
    """Some states (V,) twice: moves between them mostly keep the bit, and each has a random liking for one.

    Where only some are, their first copy likes the likeliest target of a move, and the second one the others.
    """
    copies = 1 + twice.astype(np.int64)
    place = np.cumsum(copies) - copies  # of the first copy
    source, action = np.divmod(counts.row, counts.num_actions)
    kept = np.where(twice[source] & twice[counts.target], _STAYS, 0.5)
    in_doubt = twice[source] & (np.bincount(counts.row)[counts.row] > 1) & (not twice.all())
    likeliest = likeliest_edges(counts)
    rows, targets, shares = [], [], []
    for bit in (0, 1):
        for bit_after in (0, 1):
            there = (bit < copies[source]) & (bit_after < copies[counts.target])
            stays = np.where(twice[counts.target], kept if bit == bit_after else 1 - kept, 1)
            liking = np.where(in_doubt & (likeliest != (bit == 0)), 1 - _STAYS, 1) * (
                0.5 + rng.random(len(stays))
            )
            rows.append(((place[source] + bit) * counts.num_actions + action)[there])
            targets.append((place[counts.target] + bit_after)[there])
            shares.append((counts.count * stays * liking / copies[source])[there])
    row, target, count = (np.concatenate(parts) for parts in (rows, targets, shares))
    order = np.lexsort((target, row))
    liking = rng.random(counts.num_states)
    again = twice[counts.seen_at]
    seen_at = np.concatenate([place[counts.seen_at], place[counts.seen_at][again] + 1])
    seen_order = np.argsort(seen_at, kind="stable")
    first = np.stack([counts.first * np.where(twice, liking, 1), counts.first * (1 - liking)], axis=1)
    seen_count = counts.seen_count / copies[counts.seen_at]
    return StateCounts(
        first=first[np.stack([copies > 0, twice], axis=1)],
        row=row[order],
        target=target[order].astype(np.int32),
        count=count[order],
        seen_at=seen_at[seen_order].astype(np.int32),
        seen=np.concatenate([counts.seen, counts.seen[again]])[seen_order],
        seen_count=np.concatenate([seen_count, seen_count[again]])[seen_order],
        num_actions=counts.num_actions,
        num_observations=counts.num_observations,
    )
