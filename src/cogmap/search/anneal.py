"""Worlds without chance: tables of moves, changed at random until one says the walks in few nats.

Expectation-maximisation settles near what it begins with. Where a few rare steps tell states apart, such as coins in a
machine that shows their number only when it is enough, it stays with too few states and calls the rest chance. Without
chance an account is a table of moves and the state that each walk starts in: all that they do not say are steps that
contradict them, and after one the agent is where it usually is when it sees that. So one move is led elsewhere at a
time, to a new state now and then, or a state is given up; changes that make the whole shorter are kept, others seldom,
and ever more seldom (simulated annealing).

A change is quick to judge: only those steps are read again that make the move, until they come to the state that they
were in before.
"""

from __future__ import annotations

import time
from math import log
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from cogmap.hmm.counts import Whole
from cogmap.hmm.states import StateCounts, count_states
from cogmap.hmm.steps import UNEXPLAINED
from cogmap.records import Integers, Walks
from cogmap.search.account import SETTLED, Account, Log, account, drawn_walks
from cogmap.search.description import chance_of_moves, length_of_moves, likeliest_targets
from cogmap.search.reroute import share_contradicted
from cogmap.search.rules import rules

_HOT, _COLD = 5.0, 0.3  # nats that are often lost and won again, at first and at last
_STRANGE = (4.0, -log(UNEXPLAINED))  # nats of a step that contradicts the table, at first and at last
_SPARE = 12  # states that there may be more
_GIVEN_UP, _STARTED = 0.02, 0.05  # of the changes: states given up, and walks that start elsewhere
_BLAMED = 0.5  # of the others are of moves up to some steps before a contradiction
_BACK = 30  # steps
_STAYED = 0.1  # of these changes let the state stay as it is
_BY_CHANCE = 0.05  # of the steps contradict the likeliest moves: where more do, there is chance or noise
_CHANGES, _FEWEST = 10_000, 500  # that are tried for each move; with fewer it comes to nothing
_READ_A_SECOND = 5e8  # steps that are looked at: what the changes take
_LONGEST, _SHARE = 10.0, 1 / 4  # seconds, and of the time that the search has left
_TIMES = 6  # at the most, until nothing is left in doubt and once more is of no use
_STEPS = 20_000  # of walks drawn at random: with more of them each change takes longer
_PARTS = 20  # of the changes, after each of which the search may be ended


class Steps(NamedTuple):
    """The steps of all walks, one walk after the other."""

    action: Any  # (H,) that led to a step, -1 at the first of a walk
    seen: Any  # (H,)
    end: Any  # (H,) the first step of the next walk
    first: Any  # (B,) of each walk


class Table(NamedTuple):
    """A table of moves, and the steps as it reads them."""

    leads: Any  # (V, A) -1 where no step makes the move
    shows: Any  # (V,)
    tries: Any  # (V, A) how many steps make it
    visits: Any  # (V,) 0 of a state that is not in use
    usual: Any  # (O,) where one is after something that contradicts the moves, -1 if no state shows it
    state: Any  # (H,)
    strange: Any  # (H,) whether a step contradicts the moves


def annealed(log: Log, current: Account) -> Account:
    """The account, or one of a table that says the walks in fewer nats, by the rules that its moves have in common.

    There is none where there is chance in the world, or too little time left. Each time annealing begins with what was
    the best before: first with the account, then with a table in any case.
    """
    walks, best = log.walks, current
    for turn in range(_TIMES if current.may_hide_states() else 0):
        if log.is_over():
            break
        some = drawn_walks(walks, _STEPS, turn)
        counts = _annealed(Log(walks.rows(some), log.until, log.watch), best, some, turn)
        if counts is None:
            break
        found, before = account(log, counts), best
        best = min(before, found, key=by_rules) if turn else found
        if turn and by_rules(best) > by_rules(before) - SETTLED and not best.may_hide_states():
            break
    return min(current, best, key=by_rules)


def by_rules(of: Account) -> float:
    """The length of an account if its moves are said by what they have in common."""
    counts, leads = of.counts, chance_of_moves(of.counts).leads
    alone = length_of_moves(counts, leads)
    return of.length - alone + rules(leads, counts.shows(), counts.visits, counts.num_observations)


def _annealed(log: Log, current: Account, some: Whole, seed: int) -> StateCounts | None:
    """The counts of the shortest table that changes of the likeliest moves lead to, by some of the account's walks."""
    walks, counts, path = log.walks, current.counts, current.found.path[some]
    leads, shows = likeliest_targets(counts), counts.shows()
    moves = int((leads >= 0).sum())
    seconds = min(_SHARE * (log.until - time.monotonic()), _LONGEST)
    changes = min(_CHANGES * moves, int(seconds * _READ_A_SECOND / walks.lengths.sum()))
    if changes < max(_FEWEST * moves, 1) or share_contradicted(walks, leads, shows, path) > _BY_CHANCE:
        return None
    mask, steps = walks.step_mask(), steps_of(walks)
    table = read(steps, leads, shows, path[mask], walks.num_observations)
    best, rng = _copy(table), np.random.default_rng(seed)
    for part in range(_PARTS):
        if time.monotonic() > log.until or (log.watch is not None and not log.watch(current.num_states)):
            break
        done = np.linspace(part / _PARTS, (part + 1) / _PARTS, changes // _PARTS, endpoint=False)
        _anneal(steps, table, best, done, walks.num_observations, rng)
    number = np.cumsum(best.visits > 0) - 1
    states = np.full(mask.shape, -1)
    states[mask] = number[best.state]
    return count_states(states, walks, int(number[-1]) + 1)


def steps_of(walks: Walks) -> Steps:
    mask = walks.step_mask()
    action = np.full(mask.shape, -1, dtype=np.int32)
    action[:, 1:] = walks.actions
    end = np.cumsum(walks.lengths)
    seen = walks.observations[mask].astype(np.int32)
    return Steps(action[mask], seen, np.repeat(end, walks.lengths), end - walks.lengths)


def read(
    steps: Steps, leads: Integers, shows: Whole, path: Whole, num_observations: int, spare: int = _SPARE
) -> Table:
    """The steps as a table reads them, with so many states to spare. path: (H,)."""
    states, actions = leads.shape
    visits = np.bincount(path, minlength=states)
    usual = np.full(num_observations, -1, dtype=np.int32)
    order = np.argsort(visits, kind="stable")  # the last write is the most visited
    usual[shows[order]] = order
    table = Table(
        leads=np.concatenate([leads, np.full((spare, actions), -1)]).astype(np.int32),
        shows=np.concatenate([shows, np.zeros(spare)]).astype(np.int32),
        tries=np.zeros((states + spare, actions), dtype=np.int64),
        visits=np.zeros(states + spare, dtype=np.int64),
        usual=usual,
        state=path.astype(np.int32),
        strange=np.zeros(len(path), dtype=np.bool_),
    )
    _read(steps, table)
    return table


@njit(cache=True)
def _read(steps: Steps, table: Table) -> None:
    for step in range(len(steps.seen)):
        action, arrives = steps.action[step], table.state[step]
        if action >= 0:
            here = table.state[step - 1]
            if table.leads[here, action] < 0:
                table.leads[here, action] = arrives
            arrives = table.leads[here, action]
            table.tries[here, action] += 1
        table.strange[step] = table.shows[arrives] != steps.seen[step]
        table.state[step] = _lands(steps, table, step, arrives)
        table.visits[table.state[step]] += 1
    table.leads[:] = np.where(table.tries == 0, -1, table.leads)


@njit(cache=True)
def _lands(steps: Steps, table: Table, step: int, arrives: int) -> int:
    """The state of a step, where the moves lead to one."""
    seen = steps.seen[step]
    return arrives if table.shows[arrives] == seen or table.usual[seen] < 0 else table.usual[seen]


@njit(cache=True)
def more_contradictions(steps: Steps, table: Table, here: int, action: int, to: int, most: int) -> int:
    """How many more steps contradict the table if a move leads to a state; if more than `most`, some number above."""
    old, more, step = table.leads[here, action], 0, 1
    table.leads[here, action] = to
    while step < len(steps.seen) and more <= most:
        if steps.action[step] == action and table.state[step - 1] == here:
            step, more = _more_after(steps, table, step, to, more)
        else:
            step += 1
    table.leads[here, action] = old
    return more


@njit(cache=True)
def _more_after(steps: Steps, table: Table, step: int, to: int, more: int) -> tuple[int, int]:
    """The next step that need not be read again if one arrives at a state, and how many more contradict till then."""
    arrives, end = to, steps.end[step]
    while arrives >= 0:
        now = _lands(steps, table, step, arrives)
        more += int(table.shows[arrives] != steps.seen[step]) - int(table.strange[step])
        same = now == table.state[step]
        step += 1
        if same or step == end:
            return step, more
        arrives = table.leads[now, steps.action[step]]  # where there is none, it may lead where it has to
    return step + 1, more


@njit(cache=True)
def lead(steps: Steps, table: Table, here: int, action: int, to: int) -> None:
    """Let a move lead to a state, and read again what comes after it."""
    table.leads[here, action] = to
    step = 1
    while step < len(steps.seen):
        if steps.action[step] == action and table.state[step - 1] == here:
            step = put(steps, table, step, to)
        else:
            step += 1


@njit(cache=True)
def put(steps: Steps, table: Table, step: int, to: int) -> int:
    """Let a step arrive at a state, and read again what comes after it; returns the next step that stays as it is.

    A move that was never made before leads where the first step that makes it was.
    """
    arrives, end = to, steps.end[step]
    while True:
        before, now = table.state[step], _lands(steps, table, step, arrives)
        table.strange[step] = table.shows[arrives] != steps.seen[step]
        if before == now:
            return step + 1
        table.visits[before] -= 1
        table.visits[now] += 1
        table.state[step] = now
        step += 1
        if step == end:
            return step
        action = steps.action[step]
        table.tries[before, action] -= 1
        if table.tries[before, action] == 0:
            table.leads[before, action] = -1
        table.tries[now, action] += 1
        if table.leads[now, action] < 0:
            table.leads[now, action] = table.state[step]
        arrives = table.leads[now, action]


@njit(cache=True)
def length(steps: Steps, table: Table, num_observations: int) -> float:
    """Nats of a table and of where walks start, but for the steps that contradict it."""
    of_moves = rules(table.leads, table.shows, table.visits, num_observations)
    return of_moves + _starts(steps, table)


@njit(cache=True)
def _starts(steps: Steps, table: Table) -> float:
    """Nats of where walks start: each state that some do, and which of them; or anywhere, as often as it is visited."""
    often = np.zeros(len(table.visits))
    for step in steps.first:
        often[table.state[step]] += 1
    name, walks = log(max((table.visits > 0).sum(), 2)), len(steps.first)
    named, anywhere = 0.0, 0.0
    for state in np.flatnonzero(often):
        named += name + often[state] * log(walks / often[state])
        anywhere += often[state] * log(len(steps.seen) / table.visits[state])
    return min(named, anywhere)


@njit(cache=True)
def _anneal(steps: Steps, table: Table, best: Table, done: Any, num_observations: int, rng: Any) -> None:
    """Change a table once for each share of the annealing that is done by then; note the best one."""
    before = _copy(table)
    nats, wrong = length(steps, table, num_observations), table.strange.sum()
    least = length(steps, best, num_observations) + _STRANGE[1] * best.strange.sum()
    for share in done:
        heat = _HOT * (_COLD / _HOT) ** share
        strange = _STRANGE[0] * (_STRANGE[1] / _STRANGE[0]) ** share
        may_lose = -heat * log(1 - rng.random())
        if not _change(steps, table, wrong, may_lose, strange, num_observations, rng):
            continue
        now, wrong_now = length(steps, table, num_observations), table.strange.sum()
        if now - nats + strange * (wrong_now - wrong) > may_lose:
            _become(table, before)
            continue
        nats, wrong = now, wrong_now
        _become(before, table)
        if nats + _STRANGE[1] * wrong < least:
            least = nats + _STRANGE[1] * wrong
            _become(best, table)


@njit(cache=True)
def _change(
    steps: Steps, table: Table, wrong: int, may_lose: float, strange: float, num_observations: int, rng: Any
) -> bool:
    """Change the table at random; returns whether it was: one move that costs too much is left as it is."""
    chance = rng.random()
    if chance < _GIVEN_UP:
        return _give_up(steps, table, rng)
    if chance < _GIVEN_UP + _STARTED:
        first = steps.first[rng.integers(0, len(steps.first))]
        to = _any_state(table, steps.seen[first], rng)
        if to >= 0:
            put(steps, table, first, to)
        return to >= 0
    step = _any_step(steps, table, wrong, rng)
    here, action = table.state[step - 1], steps.action[step]
    if action < 0:
        return False
    old = table.leads[here, action]
    to = here if rng.random() < _STAYED else _any_state(table, steps.seen[step], rng)
    if to < 0 or to == old:
        return False
    table.leads[here, action] = to
    after = rules(table.leads, table.shows, table.visits, num_observations)
    table.leads[here, action] = old
    before = rules(table.leads, table.shows, table.visits, num_observations)
    most = int(min((may_lose - after + before) / strange, 1e6))
    if more_contradictions(steps, table, here, action, to, most + wrong) > most:
        return False
    lead(steps, table, here, action, to)
    return True


@njit(cache=True)
def _any_step(steps: Steps, table: Table, wrong: int, rng: Any) -> int:
    """A step at most so many before a contradiction, or any."""
    if wrong and rng.random() < _BLAMED:
        strange = np.flatnonzero(table.strange)
        return max(strange[rng.integers(0, len(strange))] - rng.integers(0, _BACK), 1)
    return rng.integers(1, len(steps.seen))


@njit(cache=True)
def _any_state(table: Table, looks: int, rng: Any) -> int:
    """Any state in use that looks like that, or one that is not in use; -1 if there is none."""
    alike = np.flatnonzero((table.visits > 0) & (table.shows == looks))
    spare = np.flatnonzero((table.visits == 0) & (table.usual[table.shows] != np.arange(len(table.shows))))
    number = len(alike) + min(len(spare), 1)
    if number == 0:
        return -1
    chosen = rng.integers(0, number)
    if chosen < len(alike):
        return alike[chosen]
    table.shows[spare[0]] = looks
    return spare[0]


@njit(cache=True)
def _give_up(steps: Steps, table: Table, rng: Any) -> bool:
    """Lead all moves to a state to another one that looks the same, and let walks start there."""
    one, other = rng.integers(0, len(table.visits)), rng.integers(0, len(table.visits))
    used = min(table.visits[one], table.visits[other]) > 0
    if one == other or not used or table.shows[one] != table.shows[other]:
        return False
    if one == table.usual[table.shows[one]]:
        return False  # contradictions lead there
    for first in steps.first:
        if table.state[first] == one:
            put(steps, table, first, other)
    for here in range(len(table.leads)):
        for action in range(table.leads.shape[1]):
            if table.leads[here, action] == one:
                lead(steps, table, here, action, other)
    return True


@njit(cache=True)
def _copy(table: Table) -> Table:
    of_moves = (table.leads.copy(), table.shows.copy(), table.tries.copy(), table.visits.copy())
    return Table(*of_moves, table.usual.copy(), table.state.copy(), table.strange.copy())


@njit(cache=True)
def _become(table: Table, other: Table) -> None:
    """Make the first what the second is; what is usual never changes."""
    table.leads[:], table.shows[:], table.tries[:] = other.leads, other.shows, other.tries
    table.visits[:], table.state[:], table.strange[:] = other.visits, other.state, other.strange
