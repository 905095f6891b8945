"""The shortest true account of walks: the states and edges whose description, with the walks under it, is the shortest.

First guesses are labels of the steps: canonical codes with and without what is seen. They are many and a few are
wrong. From there the search proposes other sets of states, lets expectation-maximisation settle each, and keeps the one
with the shortest description:

- merge states whose futures are nearly the same (`distance`), from cautiously to boldly, and rare states with those
  that have the same moves, whatever they show: noise;
- add edges from each state to where its other actions lead, for moves that slip (`slips`), and drop edges that no step
  needs;
- drop states that no step needs, such as those of a model that is not localised yet;
- lead moves elsewhere that some steps contradict, if there is no chance in the world (`reroute`);
- split states whose moves depend on the labels of the guess, or on the way they are entered (`doubt`), and merge again
  what makes no difference;
- split: double every state with a hidden bit that tends to stay as it is, let expectation-maximisation find what the
  bit is good for, and merge again what it is not good for.

Noise, chance in moves, rare and absorbing places and places that walks start from but never return to need no rules of
their own: what the walks need stays, whatever it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csgraph

from cogmap.maps.counts import Whole
from cogmap.maps.description import chance_of_moves, description_length, likeliest_edges
from cogmap.maps.description import likeliest_targets as likeliest_targets
from cogmap.maps.distance import StateDistances
from cogmap.maps.doubt import depends_on, entries, entropies, last_times
from cogmap.maps.hmm import Expectation, maximise
from cogmap.maps.reroute import reroute
from cogmap.maps.states import (
    LEAST_COUNT,
    StateCounts,
    count_states,
    join_states,
    with_slips,
    without_edges,
    without_unused,
)
from cogmap.records import Booleans, Floats, Walks

# Radii of the merges that are proposed. Two states with different futures are 0.8 and more apart once the move that
# distinguishes them was tried 20 times, and a larger radius would merge them.
_RADII = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_RADII_AGAIN = (0.1, 0.3, 0.5)  # once most duplicates are merged
_POLISHED = 3  # of all proposals, the shortest ones
_ROUNDS = 6  # of expectation-maximisation that settle a proposal
_ROUNDS_OF_SPLIT = 30  # a new bit starts from nothing
_SLIPS = 0.1  # of the moves of a state that may lead where another action does
_FEWEST_DROPPED = 0.05  # of the edges that seem unneeded
_ROUNDS_OF_DOUBT, _STARTS_OF_DOUBT = 200, 8  # about one start in three finds the states
_STEPS_OF_DOUBT = 16_000_000  # steps times rounds: some seconds; with longer walks there are fewer
_STAYS = 0.9  # chance that a new hidden bit stays as it is
_PAIRS = 6  # nearest pairs that are tried to be merged
_RARER = 0.3  # of the other's visits
_SELDOM = 6  # states visited least that are tried to be dropped
_POLISHING = 8  # rounds of dropping and merging at the most; two or three are usual
_SPLITS = 20  # at the most; most maps need none
_KINDS_OF_SPLIT = ("reroute", "label", "entry", "doubt", "bit")  # the dearest last
_LABELS = 3000  # that the search starts from at the most, the most frequent ones
_FAR = 1.5  # times the shortest: a guess whose first merge is longer is left
_MOST_COMPARISONS = 1e8  # some seconds; a further guess that takes more, and more than the first, is left
SEARCH_STEPS = 200_000  # that proposals are compared on; whole walks, drawn at random where there are more
LONGEST = 600.0  # seconds of a search, if no other time is given
_SETTLED = 1.0  # nats: a description that is not shorter by this is not shorter


@dataclass(frozen=True, eq=False)
class Account:
    """States, what the walks say of them, and how long it all takes to say."""

    found: Expectation
    length: float  # nats

    @property
    def counts(self) -> StateCounts:
        return self.found.counts

    @property
    def num_states(self) -> int:
        return self.found.counts.num_states


def account(walks: Walks, counts: StateCounts, rounds: int = _ROUNDS) -> Account:
    """The account that these counts come to after some rounds of expectation-maximisation."""
    found = maximise(walks, without_unused(counts), rounds)
    return Account(found, description_length(found))


def find_states(walks: Walks, guesses: Sequence[Whole], seconds: float = LONGEST) -> Account:
    """The shortest account of the walks that the search finds from first guesses.

    A guess are labels of the steps (B, N), -1 for none. seconds: after these nothing more is tried, and what is under
    way is finished.
    """
    until = time.monotonic() + seconds
    some = _some_walks(walks)
    few = walks if len(some) == walks.num_walks else walks.rows(some)
    best = _shortest(few, guesses if few is walks else [steps[some] for steps in guesses], until)
    if few is walks:
        return best
    return _drop_edges(walks, account(walks, best.counts))


def _shortest(walks: Walks, guesses: Sequence[Whole], until: float) -> Account:
    proposals, guess = _proposals(walks, guesses)
    best = _best(_all_without_unneeded(walks, _settled(walks, proposals)))
    kind, failed = 0, 0  # a kind of split is repeated as long as it helps
    for turn in range(_SPLITS):
        if not _may_hide_states(best[0]) or failed == len(_KINDS_OF_SPLIT) or time.monotonic() > until:
            break
        split = _split(walks, best[0], _KINDS_OF_SPLIT[kind], guess, turn)
        after = _best([*best, *(_drop_unneeded(walks, each) for each in split[:1]), *split[1:]])
        if after[0].length < best[0].length - _SETTLED:
            failed = 0
        else:
            kind, failed = (kind + 1) % len(_KINDS_OF_SPLIT), failed + 1
        best = after
    return _slipping(
        walks, _drop_unneeded(walks, _merge_pairs(walks, best[0], until), _without_state_or_slip)
    )


def _proposals(walks: Walks, guesses: Sequence[Whole]) -> tuple[list[Account], Whole]:
    """Accounts from the guesses that are worth it, as they are and with states merged; and the best guess."""
    counts = [_counted(walks, steps) for steps in guesses]
    most = max(_MOST_COMPARISONS, _comparisons(counts[0]))
    worth = [number for number, each in enumerate(counts) if _comparisons(each) <= most]
    firsts = [account(walks, counts[number]) for number in worth]
    # One merge of each says which guesses are not worth the others.
    merges = [_merges(walks, first.counts, (*_RADII[2:3], *_RADII[:2], *_RADII[3:])) for first in firsts]
    tried = [min(first, next(merge), key=_length) for first, merge in zip(firsts, merges, strict=True)]
    shortest = min(map(_length, tried))
    near = [merge for merge, one in zip(merges, tried, strict=True) if one.length < _FAR * shortest]
    best_guess = guesses[worth[int(np.argmin([one.length for one in tried]))]]
    return [*firsts, *tried, *(each for merge in near for each in merge)], best_guess


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
        if before is None or each.length > before.length + _SETTLED
    ][:_POLISHED]


def _settled(
    walks: Walks, proposals: Iterable[Account], most: int = _POLISHED, enough: float = np.inf
) -> list[Account]:
    """The best proposals, polished, the best first: a round shows which one is worth all of them.

    enough: the length that it must be below, for that.
    """
    once = _best(_polish(walks, each, 1) for each in _best(proposals)[:most])
    return _best([_polish(walks, once[0]), *once[1:]]) if once[0].length < enough else once


def _counted(walks: Walks, steps: Whole) -> StateCounts:
    """The counts of labels (B, N), without rare ones, which are many where several bottlenecks disagree."""
    visits = np.bincount(steps[steps >= 0], minlength=1)
    if len(visits) > _LABELS:
        kept = np.zeros(len(visits), dtype=bool)
        kept[np.argsort(-visits, kind="stable")[:_LABELS]] = True
        steps = np.where((steps >= 0) & kept[steps], steps, -1)
    return count_states(steps, walks, len(visits))


def _merges(walks: Walks, counts: StateCounts, radii: Iterable[float]) -> Iterator[Account]:
    """Accounts with states merged that are within each radius of each other."""
    distances, before = StateDistances(counts), set[int]()
    for radius in radii:
        group, groups = distances.merged(radius)
        if groups not in before:
            yield _dropped_once(walks, account(walks, join_states(counts, group, groups)))
            before.add(groups)


def _polish(walks: Walks, current: Account, rounds: int = _POLISHING) -> Account:
    """Drop and merge until the description gets no shorter."""
    for _ in range(rounds):
        before = current.length
        current = _best(_dropped_once(walks, each) for each in _variants(walks, current))[0]
        current = _drop_edges(walks, current)
        current = _best([current, *_merges(walks, current.counts, _RADII_AGAIN)])[0]
        if current.length > before - _SETTLED:
            break
    return current


def _variants(walks: Walks, current: Account) -> Iterator[Account]:
    """Settled on; from the likeliest paths; and with more edges, where moves are in doubt."""
    yield account(walks, current.counts, 2 * _ROUNDS)
    yield _hardened(walks, current)
    yield from _joined(walks, current)
    if _may_hide_states(current):
        yield _widened(walks, current)


def _merge_pairs(walks: Walks, current: Account, until: float) -> Account:
    """Nearest pairs of states merged one at a time, where that makes the description shorter.

    A wrong row sets two states of one place apart; merged, its few counts are outvoted.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        pairs = [*StateDistances(current.counts).nearest_pairs(_PAIRS), *_same_moves(current.counts)[:_PAIRS]]
        for one, other in pairs:
            if (one, other) in tried or time.monotonic() > until:
                continue
            tried.add((one, other))
            number = np.arange(current.num_states) - (np.arange(current.num_states) > one)
            number[one] = number[other]
            merged = account(walks, join_states(current.counts, number, current.num_states - 1))
            merged = _drop_edges(walks, merged)
            if merged.length < current.length - _SETTLED and _lost(current, merged) >= 2 * _name(current):
                merged = _drop_edges(walks, _widened(walks, merged))
            # Two states of one place lose nothing but what they had fitted to chance.
            if merged.length < current.length - _SETTLED and _lost(current, merged) < 2 * _name(current):
                current, tried = merged, set()
                break
        else:
            return current


def _lost(current: Account, merged: Account) -> float:
    return current.found.log_likelihood - merged.found.log_likelihood


def _same_moves(counts: StateCounts) -> list[tuple[int, int]]:
    """Pairs of states with the same likeliest targets, one visited far less: it may be the other with noise.

    The rarest first. The other is the one that is visited most.
    """
    visits = counts.visits
    _, kind = np.unique(likeliest_targets(counts), axis=0, return_inverse=True)
    order = np.argsort(visits, kind="stable")
    usual = np.zeros(counts.num_states, dtype=np.int64)
    usual[kind.ravel()[order]] = order  # the last write is the most visited
    usual = usual[kind.ravel()]
    return [
        (int(state), int(usual[state])) for state in order if visits[state] < _RARER * visits[usual[state]]
    ]


def _joined(walks: Walks, current: Account) -> Iterator[Account]:
    """With all rare states that have the same likeliest targets as another, whatever they show, merged with it."""
    group = np.arange(current.num_states)
    for rare, usual in _same_moves(current.counts)[::-1]:
        group[rare] = group[usual]
    distinct, group = np.unique(group, return_inverse=True)
    if len(distinct) < current.num_states:
        yield account(walks, join_states(current.counts, group.ravel(), len(distinct)))


def _hardened(walks: Walks, current: Account) -> Account:
    """Settled again from the likeliest state of each step alone: soft counts forget a wrong edge only slowly."""
    return account(walks, count_states(current.found.path, walks, current.num_states))


def _widened(walks: Walks, current: Account) -> Account:
    """Settled again with more edges: an action may lead where another one does, or nowhere.

    Expectation-maximisation drops edges and never adds one. Codes are beliefs: where a move went wrong, the model is
    lost for some steps and has codes of its own for that, so the edge that was taken is not among the first counts.
    """
    return account(walks, with_slips(current.counts, _SLIPS), 2 * _ROUNDS)


def _slipping(walks: Walks, current: Account) -> Account:
    """With all edges by which moves slip alike, if that is shorter: a rare one was dropped, or no code had it."""
    slips = chance_of_moves(current.counts).slips
    if slips is None:
        return current
    return min(
        current, _drop_edges(walks, account(walks, slips.added_to(current.counts), 2 * _ROUNDS)), key=_length
    )


def _drop_edges(walks: Walks, current: Account, least: float = _FEWEST_DROPPED) -> Account:
    """Without edges that the walks lose less by than their description takes, as long as that makes it shorter.

    Of two edges that can stand in for each other only one is unneeded: if all are too many, fewer are tried,
    down to a share of `least`.
    """
    share = 1.0
    while share >= least:
        counts = current.counts
        spared = chance_of_moves(counts).price - _loss(current)
        most = np.zeros(counts.num_states * counts.num_actions)
        np.maximum.at(most, counts.row, counts.count)
        unneeded = np.flatnonzero((spared > 0) & (counts.count < most[counts.row]))
        if not len(unneeded):
            break
        dropped = np.zeros(len(spared), dtype=bool)
        dropped[
            unneeded[np.argsort(-spared[unneeded], kind="stable")][: int(np.ceil(share * len(unneeded)))]
        ] = True
        shorter = account(walks, without_edges(counts, dropped), _ROUNDS // 2)
        if shorter.length > current.length - _SETTLED:
            share /= 4
        else:
            current = shorter
    return current


def _dropped_once(walks: Walks, current: Account) -> Account:
    """Without the edges that seem unneeded, all at once, to compare proposals."""
    return _drop_edges(walks, current, 1.0)


def _loss(current: Account) -> Floats:
    """(E,) nats that the walks lose without an edge: those of its steps, less what other targets become likelier by."""
    counts = current.counts
    total = counts.tries[counts.row]
    rest = np.maximum(total - counts.count, 1e-9)
    return np.asarray(current.found.need - total * np.log(np.maximum(total, 1e-9) / rest))


def _all_without_unneeded(walks: Walks, accounts: Sequence[Account]) -> Iterator[Account]:
    """Accounts, the shortest first, without unneeded states.

    An account stays as it is if the walks alone take longer to say than another one: with fewer states they take more.
    """
    shortest = np.inf
    for each in accounts:
        less = _drop_unneeded(walks, each) if -each.found.log_likelihood < shortest else each
        shortest = min(shortest, less.length)
        yield less


def _without_state(walks: Walks, current: Account, state: int) -> Account:
    return _without_states(walks, current, np.arange(current.num_states) == state)


def _without_state_or_slip(walks: Walks, current: Account, state: int) -> Account:
    """Without one state. A rare one may stand in for an edge that is missing, of a move that slips."""
    without, visits = _without_state(walks, current, state), current.counts.visits
    if without.length < current.length - _SETTLED or visits[state] > _RARER * visits.mean():
        return without
    return _drop_edges(walks, _widened(walks, without)) if _may_hide_states(current) else without


def _drop_unneeded(
    walks: Walks, current: Account, without: Callable[[Walks, Account, int], Account] = _without_state
) -> Account:
    """Without the states that walks only pass through or hardly visit, if the others explain the walks in fewer words.

    A model that is not localised yet has codes of its own, which lead to places and to which no place leads back; with
    noise it may have codes for a place with a wrong observation. The former are dropped at once if that is shorter.
    Then states are tried one at a time, the least visited first.
    """
    transient = _transient(current.counts)
    if transient.any() and not transient.all():
        rest = _without_states(walks, current, transient)
        if rest.length >= current.length and _may_hide_states(current):
            rest = _drop_edges(walks, _widened(walks, rest))
        if rest.length < current.length:
            current = _polish(walks, rest)
    while current.num_states > 1:
        seldom = np.argsort(current.counts.visits, kind="stable")[:_SELDOM]
        suspects = np.union1d(seldom, np.flatnonzero(_transient(current.counts))[:_SELDOM])
        tried = (without(walks, current, state) for state in suspects)
        shorter = next((each for each in tried if each.length < current.length - _SETTLED), None)
        if shorter is None:
            return current
        current = shorter
    return current


def _without_states(walks: Walks, current: Account, dropped: Booleans) -> Account:
    number = np.where(dropped, -1, np.cumsum(~dropped) - 1)
    return account(walks, join_states(current.counts, number, int((~dropped).sum())), 2 * _ROUNDS)


def _transient(counts: StateCounts) -> Booleans:
    """(V,) states in components of the graph that are left and never come back to."""
    source = counts.row // counts.num_actions
    size = (counts.num_states, counts.num_states)
    graph = coo_array((np.ones(len(source)), (source, counts.target)), shape=size)
    parts, part = csgraph.connected_components(graph, directed=True, connection="strong")
    left = np.zeros(parts, dtype=bool)
    left[part[source[part[source] != part[counts.target]]]] = True
    return np.asarray(left[part])


def _may_hide_states(current: Account) -> bool:
    """Whether some states' moves are in doubt, or some step is unexplained."""
    return current.found.unexplained > 0 or bool((entropies(current.counts) > _name(current)).any())


def _split(walks: Walks, current: Account, kind: str, guess: Whole, seed: int) -> list[Account]:
    """Accounts with states split, and merged again where that was of no use."""
    if kind == "reroute":
        return _rerouted(walks, current)
    if kind == "doubt":
        twice = _near_doubt(current)
        if twice.all():
            return []  # the chance is the world's
        split = min(_twice(walks, current.counts, twice, seed), key=_length)
    elif kind == "bit":
        if not _depends_on_past(walks, current):
            return []
        every = np.ones(current.num_states, dtype=bool)
        split = account(walks, _doubled(current.counts, every, np.random.default_rng(seed)), _ROUNDS_OF_SPLIT)
    else:
        reason = entries(walks, current.found.path) if kind == "entry" else guess
        labels = _where_in_doubt(walks, current, reason)
        if labels is None:
            return []
        split = account(walks, count_states(labels, walks, int(labels.max()) + 1), 2 * _ROUNDS)
    return _settled(walks, [split, *_merges(walks, split.counts, _RADII[1::2])], 2, current.length)


def _depends_on_past(walks: Walks, current: Account) -> bool:
    """Whether some state's next one depends on how it was entered, or on where its action led the last time."""
    path = current.found.path.astype(np.int64)
    reasons = (entries(walks, path), last_times(walks, path))
    return any(depends_on(walks, path, reason, current.num_states).any() for reason in reasons)


def _rerouted(walks: Walks, current: Account) -> list[Account]:
    """An account of the likeliest moves alone, some of them led elsewhere; none if there is none to lead."""
    counts = current.counts
    table = reroute(walks, likeliest_targets(counts), counts.shows(), current.found.path)
    if table is None:
        return []
    source, action = np.nonzero(table >= 0)
    row = source * np.int64(counts.num_actions) + action
    moves = replace(
        counts, row=row, target=table[source, action], count=np.maximum(counts.tries[row], 2 * LEAST_COUNT)
    )
    return [account(walks, moves)]


def _where_in_doubt(walks: Walks, current: Account, reason: Whole) -> Whole | None:
    """(B, N) a label for each state, and one for each reason (B, N) of a state that may hide several; None if none may.

    A state may if its moves are in doubt and depend on the reason.
    """
    path = current.found.path.astype(np.int64)
    doubtful = entropies(current.counts) > _name(current)
    doubtful &= depends_on(walks, path, reason, current.num_states)
    if not doubtful.any():
        return None
    label = np.where(doubtful[path], reason + 1, 0) * current.num_states + path
    distinct, number = np.unique(np.where(walks.step_mask(), label, -1), return_inverse=True)
    return number.reshape(path.shape) - int(distinct[0] == -1)


def _twice(walks: Walks, counts: StateCounts, twice: Booleans, seed: int) -> Iterator[Account]:
    """Accounts with some states (V,) twice, from several random likings if the walks are few."""
    steps = int(walks.lengths.sum())
    rounds = min(max(_STEPS_OF_DOUBT // steps, _ROUNDS_OF_SPLIT), _ROUNDS_OF_DOUBT)
    for start in range(min(max(_STEPS_OF_DOUBT // (steps * rounds), 1), _STARTS_OF_DOUBT)):
        rng = np.random.default_rng([seed, start])
        yield _hardened(walks, account(walks, _doubled(counts, twice, rng), rounds))


def _near_doubt(current: Account) -> Booleans:
    """(V,) states whose moves are in doubt, and those next to them.

    Two floors that are one state have one state with the door open, too, in which no move is in doubt.
    """
    counts = current.counts
    doubtful = entropies(counts) > _name(current)
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
            stays = np.where(bit == bit_after, kept, 1 - kept) * copies[counts.target] / 2
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


def _some_walks(walks: Walks) -> Whole:
    """Walks with `SEARCH_STEPS` steps in all, drawn at random with a fixed seed, in order; all if there are fewer."""
    order = np.random.default_rng(0).permutation(walks.num_walks)
    enough = int(np.searchsorted(np.cumsum(walks.lengths[order]), SEARCH_STEPS)) + 1
    return np.sort(order[:enough])


def _name(current: Account) -> float:
    """Nats that the name of a state takes."""
    return float(np.log(max(current.num_states, 2)))
