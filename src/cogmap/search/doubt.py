"""Which states may hide several: those whose moves are in doubt, and whose past says more than chance about them.

The future of a state does not depend on how it was entered. If it does, the state stands for several, and that is so
however much chance there is in its moves: a slip is as likely from wherever the agent came.
"""

from __future__ import annotations

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.hmm.states import StateCounts
from cogmap.records import Booleans, Floats, Walks

# Standard deviations above what chance would seem to say. States that hide nothing stay below 1.5 in rooms with slips;
# two places merged have 7 and more.
_CLEARLY = 4.0


def entropies(counts: StateCounts) -> Floats:
    """(V,) nats that the walks would need less if each state showed one observation, and each move had one target."""
    moves = _entropy(counts.count, counts.tries[counts.row])
    sights = _entropy(counts.seen_count, counts.visits[counts.seen_at])
    of_moves = np.bincount(counts.row // counts.num_actions, weights=moves, minlength=counts.num_states)
    return np.asarray(of_moves + np.bincount(counts.seen_at, weights=sights, minlength=counts.num_states))


def _entropy(count: Floats, total: Floats) -> Floats:
    """Nats of each count of a row with a total."""
    return -count * np.log(np.maximum(count, 1e-300) / np.maximum(total, 1e-9))


def entries(walks: Walks, path: Whole) -> Whole:
    """(B, N) the move by which the state of each step was entered; while the agent stays, it is the same."""
    path = path.astype(np.int64)
    entered = np.ones(path.shape, dtype=bool)
    entered[:, 1:] = path[:, 1:] != path[:, :-1]
    way = np.zeros(path.shape, dtype=np.int64)
    way[:, 1:] = 1 + path[:, :-1] * walks.num_actions + walks.actions
    since = np.maximum.accumulate(np.where(entered, np.arange(path.shape[1]), 0), axis=1)
    return np.take_along_axis(way, since, axis=1)


def last_times(walks: Walks, path: Whole) -> Whole:
    """(B, N) where the action of each step led the last time that it was taken from the same state, -1 if never before.

    What a walk keeps with it, such as a door that it opened, decides the same way twice.
    """
    steps = path.shape[1] - 1
    walk = np.arange(len(path), dtype=np.int64)[:, None]
    row = (walk * (int(path.max(initial=0)) + 1) + path[:, :-1]) * walks.num_actions + walks.actions
    order = np.argsort(row.ravel(), kind="stable")  # steps of one row, in time
    again = row.ravel()[order[1:]] == row.ravel()[order[:-1]]
    last = np.full(row.size, -1, dtype=np.int64)
    last[order[1:][again]] = path[:, 1:].ravel()[order[:-1][again]]
    found = np.full(path.shape, -1, dtype=np.int64)
    found[:, :steps] = last.reshape(row.shape)
    return found


def depends_on(walks: Walks, path: Whole, reason: Whole, num_states: int) -> Booleans:
    """(V,) states whose next state depends on a reason (B, N), -1 for none: likelihood ratio against chance.

    Twice the ratio's logarithm has the mean of its degrees of freedom by chance, and twice that as its variance.
    """
    known = (path[:, :-1] >= 0) & (path[:, 1:] >= 0) & (reason[:, :-1] >= 0)
    source, target = path[:, :-1][known].astype(np.int64), path[:, 1:][known]
    row = source * walks.num_actions + walks.actions[known]
    rows, states = num_states * walks.num_actions, num_states
    why = row * (int(reason.max(initial=0)) + 1) + reason[:, :-1][known]
    _, why, of_reason = np.unique(why, return_inverse=True, return_counts=True)
    of_row = np.bincount(row, minlength=rows)
    target_key, of_target = _counted(row * states + target)
    joint_key, of_both = _counted(why * states + target)
    ratio = np.log(of_both[joint_key] * of_row[row] / (of_reason[why] * of_target[target_key]))
    reasons = np.bincount(row[_first(why)], minlength=rows)
    targets = np.bincount(row[_first(target_key)], minlength=rows)
    free = (np.maximum(reasons - 1, 0) * np.maximum(targets - 1, 0)).reshape(num_states, -1).sum(axis=1)
    gained = 2 * np.bincount(source, weights=ratio, minlength=num_states)
    return np.asarray(gained - free > _CLEARLY * np.sqrt(2 * np.maximum(free, 1)))


def _counted(key: Whole) -> tuple[Whole, Whole]:
    """The number of each key among the distinct ones, and how often each of these is there."""
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    return number, count


def _first(number: Whole) -> Whole:
    """Where each of the numbers 0, 1, ... is first."""
    return np.unique(number, return_index=True)[1]
