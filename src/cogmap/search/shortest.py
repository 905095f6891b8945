"""The shortest true account of walks: the states and edges whose description, with the walks under it, is the shortest.

First guesses are labels of the steps: canonical codes with and without what is seen. They are many and a few are
wrong. From there the search proposes other sets of states, lets expectation-maximisation settle each, and keeps the one
with the shortest description:

- merge states whose futures are nearly the same (`distance`), from cautiously to boldly, and rare states with those
  that have the same moves, whatever they show: noise;
- add edges from each state to where its other actions lead, for moves that slip (`slips`), and drop edges that no step
  needs;
- drop states that no step needs, such as those of a model that is not localised yet;
- split states that may be several (`splits`), and merge again what makes no difference;
- if some are in doubt at the end, and there is no chance in the world, change moves at random (`anneal`).

The search may be stopped at any time: the shortest account so far is kept.

Noise, chance in moves, rare and absorbing places and places that walks start from but never return to need no rules of
their own: what the walks need stays, whatever it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csgraph

from cogmap.hmm.counts import Whole
from cogmap.hmm.states import StateCounts, count_states, join_states
from cogmap.records import Booleans, Walks
from cogmap.search.account import (
    ROUNDS,
    SETTLED,
    Account,
    Log,
    OutOfTime,
    Watch,
    account,
    drawn_walks,
    hardened,
)
from cogmap.search.anneal import annealed
from cogmap.search.distance import StateDistances
from cogmap.search.edges import drop_edges, dropped_once, slipping, widened
from cogmap.search.pairs import RARER, joined_rare, merge_pairs
from cogmap.search.reroute import WITHOUT_CHANCE
from cogmap.search.sights import erring, seen_otherwise, seen_surely
from cogmap.search.splits import KINDS_OF_SPLIT, depends_on_past, split_states

# Radii of the merges that are proposed. Two states with different futures are 0.8 and more apart once the move that
# distinguishes them was tried 20 times, and a larger radius would merge them.
_RADII = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_RADII_AGAIN = (0.1, 0.3, 0.5)  # once most duplicates are merged
_POLISHED = 3  # of all proposals, the shortest ones
_SELDOM = 6  # states visited least that are tried to be dropped
_POLISHING = 8  # rounds of dropping and merging at the most; two or three are usual
_SPLITS = 30  # at the most; most maps need none
_STEPS_OF_ATTEMPTS, _MOST_ATTEMPTS = 40_000, 4  # how often every kind of split may fail
_LABELS = 20_000  # that the search starts from at the most, the most frequent ones: a minute
# Of what is seen otherwise, for errors to be kept: they left 0.45 in a room with noise, 0.91 where moves slip.
_LEFT = 2 / 3
_FAR = 1.5  # times the shortest: a guess whose first merge is longer is left
_MOST_COMPARISONS = 1e8  # some seconds; a further guess that takes more, and more than the first, is left
# Steps that proposals are compared on: whole walks, drawn at random if there are more. There are more of them where
# there are many labels, so that a move of each is made some twenty times.
SEARCH_STEPS, _TRIES = 200_000, 20
_FEW_STEPS, _FEW_TIMES = 40_000, 4  # that a search begins with, if there are at least this many times as many
LONGEST = 600.0  # seconds of a search, if no other time is given


def find_states(
    walks: Walks, guesses: Sequence[Whole], seconds: float = LONGEST, watch: Watch | None = None
) -> Account:
    """The shortest account of the walks that the search finds from first guesses.

    A guess are labels of the steps (B, N), -1 for none. seconds: after these the shortest so far is taken.
    watch: is told how it goes, and may end it.
    """
    until = time.monotonic() + seconds
    some = _some_walks(walks, guesses, SEARCH_STEPS)
    if len(some) == walks.num_walks:
        return _within_time(Log(walks, until, watch), lambda log: annealed(log, _from_few(log, guesses)))
    most = Log(walks.rows(some), until, watch)
    best = _within_time(most, lambda log: annealed(log, _from_few(log, [steps[some] for steps in guesses])))
    return _within_time(Log(walks, until, watch), lambda log: drop_edges(log, account(log, best.counts)))


def _within_time(log: Log, search: Callable[[Log], Account]) -> Account:
    """What a search finds, or the shortest account that it made until its time was up."""
    try:
        return search(log)
    except OutOfTime:
        assert log.shortest is not None  # the first account is made in any case
        return log.shortest


def _from_few(log: Log, guesses: Sequence[Whole]) -> Account:
    """The shortest account, searched on few walks first: that is quick, and enough if the other walks agree with it.

    They do if they have no step that it does not explain, and no state whose future depends on its past.
    """
    few = _some_walks(log.walks, guesses, _FEW_STEPS)
    if _FEW_TIMES * len(few) > log.walks.num_walks:
        return _shortest(log, guesses)
    found = _within_time(
        Log(log.walks.rows(few), log.until, log.watch),
        lambda some: _shortest(some, [steps[few] for steps in guesses]),
    )
    found = _polish(log, account(log, found.counts))
    if found.found.unexplained or depends_on_past(log, found):
        return _shortest(log, guesses, [found])
    return _refined(log, [found], guesses[0])


def _shortest(log: Log, guesses: Sequence[Whole], known: Sequence[Account] = ()) -> Account:
    """The shortest account that is found from guesses, and from accounts that are known already."""
    starts = _starts(log, guesses)
    near = [start for start in starts if start.best.length < _FAR * min(each.best.length for each in starts)]
    proposals = [*known, *(each for start in starts for each in (start.first, start.best))]
    proposals += [each for start in near for each in start.merges]
    best = _best(_all_without_unneeded(log, _settled(log, proposals)))
    return _refined(log, best, min(starts, key=lambda start: start.best.length).guess)


def _refined(log: Log, best: list[Account], guess: Whole) -> Account:
    """The shortest account that is found from the best few, the best first, by splits and by merges of pairs."""
    kind, failed = 0, 0  # a kind of split is repeated as long as it helps
    # Splits are drawn at random, so that one that failed may help the next time: of short walks that costs little.
    again = min(max(_STEPS_OF_ATTEMPTS // int(log.walks.lengths.sum()), 1), _MOST_ATTEMPTS)
    for turn in range(_SPLITS):
        if not best[0].may_hide_states() or failed == again * len(KINDS_OF_SPLIT):
            break
        split = _split(log, best[0], KINDS_OF_SPLIT[kind], guess, turn)
        after = _best([*best, *(_drop_unneeded(log, each) for each in split[:1]), *split[1:]])
        if after[0].length < best[0].length - SETTLED:
            failed = 0
        else:
            kind, failed = (kind + 1) % len(KINDS_OF_SPLIT), failed + 1
        best = after
    return slipping(log, _drop_unneeded(log, merge_pairs(log, best[0]), _without_state_or_slip))


@dataclass(frozen=True, eq=False)
class Start:
    """What a guess comes to: as it is, with one merge if that is shorter, and the merges that are not tried yet."""

    guess: Whole
    first: Account
    best: Account
    merges: Iterator[Account]


def _starts(log: Log, guesses: Sequence[Whole]) -> list[Start]:
    """The guesses that are not too many labels to compare, each with one merge: it says which are worth the others."""
    counts = [_counted(log, steps) for steps in guesses]
    most = max(_MOST_COMPARISONS, _comparisons(counts[0]))
    return [
        min(_ways_to_start(log, guess, each), key=lambda start: start.best.length)
        for guess, each in zip(guesses, counts, strict=True)
        if _comparisons(each) <= most
    ]


def _ways_to_start(log: Log, guess: Whole, counts: StateCounts) -> Iterator[Start]:
    """As the labels are, and with sights that may be errors if these explain much of what is seen otherwise.

    Codes are lost after an error, and stand for many places then. Merges must know that it was one.
    """
    plain = account(log, counts)
    chance = seen_otherwise(plain.counts)
    ways = [plain]
    if chance > WITHOUT_CHANCE:
        ways += [each for each in erring(log, plain) if seen_otherwise(each.counts) < _LEFT * chance]
    for first in ways:
        merges = _merges(log, first.counts, (*_RADII[2:3], *_RADII[:2], *_RADII[3:]))
        yield Start(guess, first, min(first, next(merges), key=_length), merges)


def _length(of: Account) -> float:
    return of.length


def _comparisons(counts: StateCounts) -> float:
    """Targets that are compared in one sweep of the distances; random codes have many for each move."""
    alike = np.bincount(counts.shows()).astype(float) ** 2
    targets = len(counts.count) / max(len(np.unique(counts.row)), 1)
    return float(alike.sum() * counts.num_actions * targets**2)


def _best(accounts: Iterable[Account]) -> list[Account]:
    """The shortest few, each with another length."""
    ordered = sorted(accounts, key=_length)
    return [
        each
        for before, each in zip([None, *ordered], ordered, strict=False)
        if before is None or each.length > before.length + SETTLED
    ][:_POLISHED]


def _settled(
    log: Log, proposals: Iterable[Account], most: int = _POLISHED, enough: float = np.inf
) -> list[Account]:
    """The best proposals, polished, the best first: a round shows which one is worth all of them.

    enough: the length that it must be below, for that.
    """
    once = _best(_polish(log, each, 1) for each in _best(proposals)[:most])
    return _best([_polish(log, once[0]), *once[1:]]) if once[0].length < enough else once


def _counted(log: Log, steps: Whole) -> StateCounts:
    """The counts of labels (B, N), without rare ones, which are many where several bottlenecks disagree."""
    visits = np.bincount(steps[steps >= 0], minlength=1)
    if len(visits) > _LABELS:
        kept = np.zeros(len(visits), dtype=bool)
        kept[np.argsort(-visits, kind="stable")[:_LABELS]] = True
        steps = np.where((steps >= 0) & kept[steps], steps, -1)
    return count_states(steps, log.walks, len(visits))


def _merges(log: Log, counts: StateCounts, radii: Iterable[float]) -> Iterator[Account]:
    """Accounts with states merged that are within each radius of each other."""
    distances, before = StateDistances(counts), set[int]()
    for radius in radii:
        group, groups = distances.merged(radius)
        if groups not in before:
            yield dropped_once(log, account(log, join_states(counts, group, groups)))
            before.add(groups)


def _polish(log: Log, current: Account, rounds: int = _POLISHING) -> Account:
    """Drop and merge until the description gets no shorter."""
    for _ in range(rounds):
        before = current.length
        current = _best(dropped_once(log, each) for each in _variants(log, current))[0]
        current = drop_edges(log, current)
        current = _best([current, *_merges(log, current.counts, _RADII_AGAIN)])[0]
        if current.length > before - SETTLED:
            break
    return current


def _variants(log: Log, current: Account) -> Iterator[Account]:
    """Settled on; from the likeliest paths; without errors; and with more edges, where moves are in doubt."""
    yield account(log, current.counts, 2 * ROUNDS)
    yield hardened(log, current)
    yield from joined_rare(log, current)
    yield from seen_surely(log, current)
    if current.may_hide_states():
        yield widened(log, current)


def _all_without_unneeded(log: Log, accounts: Sequence[Account]) -> Iterator[Account]:
    """Accounts, the shortest first, without unneeded states.

    An account stays as it is if the walks alone take longer to say than another one: with fewer states they take more.
    """
    shortest = np.inf
    for each in accounts:
        less = _drop_unneeded(log, each) if -each.found.log_likelihood < shortest else each
        shortest = min(shortest, less.length)
        yield less


def _without_state(log: Log, current: Account, state: int) -> Account:
    return _without_states(log, current, np.arange(current.num_states) == state, current.length)


def _without_state_or_slip(log: Log, current: Account, state: int) -> Account:
    """Without one state. A rare one may stand in for an edge that is missing, of a move that slips."""
    without, visits = _without_state(log, current, state), current.counts.visits
    if without.length < current.length - SETTLED or visits[state] > RARER * visits.mean():
        return without
    return drop_edges(log, widened(log, without)) if current.may_hide_states() else without


def _drop_unneeded(
    log: Log, current: Account, without: Callable[[Log, Account, int], Account] = _without_state
) -> Account:
    """Without the states that walks only pass through or hardly visit, if the others explain the walks in fewer words.

    A model that is not localised yet has codes of its own, which lead to places and to which no place leads back; with
    noise it may have codes for a place with a wrong observation. The former are dropped at once if that is shorter.
    Then states are tried one at a time, the least visited first.
    """
    transient = _transient(current.counts)
    if transient.any() and not transient.all():
        rest = _without_states(log, current, transient)
        if rest.length >= current.length and current.may_hide_states():
            rest = drop_edges(log, widened(log, rest))
        if rest.length < current.length:
            current = _polish(log, rest)
    while current.num_states > 1:
        seldom = np.argsort(current.counts.visits, kind="stable")[:_SELDOM]
        suspects = np.union1d(seldom, np.flatnonzero(_transient(current.counts))[:_SELDOM])
        tried = (without(log, current, state) for state in suspects)
        shorter = next((each for each in tried if each.length < current.length - SETTLED), None)
        if shorter is None:
            return current
        current = shorter
    return current


def _without_states(log: Log, current: Account, dropped: Booleans, below: float = np.inf) -> Account:
    number = np.where(dropped, -1, np.cumsum(~dropped) - 1)
    return account(log, join_states(current.counts, number, int((~dropped).sum())), 2 * ROUNDS, below)


def _transient(counts: StateCounts) -> Booleans:
    """(V,) states in components of the graph that are left and never come back to."""
    source = counts.row // counts.num_actions
    size = (counts.num_states, counts.num_states)
    graph = coo_array((np.ones(len(source)), (source, counts.target)), shape=size)
    parts, part = csgraph.connected_components(graph, directed=True, connection="strong")
    left = np.zeros(parts, dtype=bool)
    left[part[source[part[source] != part[counts.target]]]] = True
    return np.asarray(left[part])


def _split(log: Log, current: Account, kind: str, guess: Whole, seed: int) -> list[Account]:
    """Accounts with states split, and merged again where that was of no use."""
    split = split_states(log, current, kind, guess, seed)
    if split is None:
        return []
    if kind == "reroute":  # there are no more states than before
        return [split]
    return _settled(log, [split, *_merges(log, split.counts, _RADII[1::2])], 2, current.length)


def _some_walks(walks: Walks, guesses: Sequence[Whole], steps: int) -> Whole:
    """Walks with so many steps in all, or as many as the labels need, drawn at random with a fixed seed, in order."""
    labels = int(min(max(guess.max(initial=0) for guess in guesses) + 1, _LABELS))
    return drawn_walks(walks, max(steps, _TRIES * labels * walks.num_actions))
