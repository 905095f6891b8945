"""Maps of worlds without chance: the folded machine (`fold`), where it predicts held-out walks as well as the model.

No step contradicts its states and moves, and a move that could as well lead to another of its states is a guess: it
helps to locate an agent, and no plan counts on it. So rare places stay that a shortest description would merge. It is
no proof: two states that no step tells apart may still have become one, and then moves around them are wrong.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.hmm.states import StateCounts, count_states
from cogmap.hmm.steps import UNEXPLAINED
from cogmap.maps.agreed import agreed_moves
from cogmap.maps.fold import Machine, Opinion, fold, history_tree, with_sure_moves
from cogmap.maps.imagined import add_imagined
from cogmap.maps.machine import classes_of_places
from cogmap.maps.refold import Folded, fold_by_codes, refold
from cogmap.maps.rewire import Histories, histories_of
from cogmap.maps.trust import HeldOut, trust
from cogmap.records import Booleans, CognitiveMap, PredictedFutures, Walks
from cogmap.search.account import Account
from cogmap.search.description import likeliest_targets

# Of the steps: where fewer follow moves that are sure, most of the machine could as well be another. Rare moves are few
# steps, even if they are many moves.
_SURE = 0.97


@dataclass(frozen=True, eq=False)
class Certainty:
    """A machine that no step contradicts, and its places: states together with what is seen there."""

    machine: Machine  # with the moves that are sure
    whole: Machine  # with all moves that were made
    equals: tuple[Machine, ...]  # others of as many states
    counts: StateCounts  # of places, over all moves that were made
    place_state: Whole  # (V,) the state of each place
    steps: Whole  # (B, N) the place of each step of the kept walks, -1 where it is not known
    unsure: int  # moves that were made, but too seldom to know where they lead
    predicted: float  # of the observations of held-out walks, with these moves
    followed: float  # steps of held-out walks until the first move that is not sure, 0 if one contradicts a sure move

    def guessed(self, place: Whole, action: Whole) -> Booleans:
        """(E,) whether it is not sure where an action leads from a place."""
        return self.machine.next_state[self.place_state[place], action] < 0


def fold_codes(
    held: HeldOut, index: Whole, futures: PredictedFutures | None, seconds: float
) -> Certainty | None:
    """The machine of the kept walks by their codes (B, N); None if there is chance or it predicts too little.

    seconds: to find it, and twice as many to make it shorter.
    """
    tree = history_tree(held.kept)
    if tree is None or held.right is None:
        return None
    folded = fold_by_codes(held.kept, tree, index, futures, seconds)
    return _most_trusted(histories_of(tree), folded, held, 2 * seconds)


def _most_trusted(
    histories: Histories, folded: list[Folded], held: HeldOut, seconds: float, most: float = np.inf
) -> Certainty | None:
    """The machine that predicts most, of equals the shortest. most: nats that it may take."""
    folded = refold(histories, folded, held.kept.lengths, seconds)
    trusted = [_trusted(each, held) for each in folded if each.length <= most]
    best = max(filter(None, trusted), key=lambda each: each.predicted, default=None)
    if best is None:
        return None
    size = best.whole.num_states
    equals = [each.machine for each in folded if each.machine.num_states == size]
    return replace(best, equals=tuple(each for each in equals if each is not best.whole))


def with_agreed_moves(certain: Certainty, held: HeldOut, seconds: float) -> Certainty:
    """Without the moves that another machine of as many states says otherwise, as far as they are found in time."""
    tree = history_tree(held.kept)
    assert tree is not None  # it was folded
    histories = histories_of(tree)
    by = histories.read(certain.whole)
    if by is None:
        return certain
    others = filter(None, map(histories.read, certain.equals))
    known = agreed_moves(histories.traces, by, others, time.monotonic() + seconds)
    next_state = np.where(known, certain.machine.next_state, UNKNOWN)
    return _with_sure(certain, replace(certain.machine, next_state=next_state), held)


def fold_states(held: HeldOut, found: Account, seconds: float) -> Certainty | None:
    """The machine of the kept walks by the states that a search found; None unless it explains them in fewer words.

    seconds: to make it shorter.
    """
    tree = history_tree(held.kept)
    if tree is None or held.right is None:
        return None
    group = _classes(found.counts)
    groups = int(group.max(initial=0)) + 1
    labels = np.where(found.found.path >= 0, group[found.found.path], UNKNOWN)
    opinion = Opinion(labels, ~np.eye(groups, dtype=bool))
    most = 3 * groups + 10
    machine = fold(tree, opinion, most)
    if machine.num_states == most:
        return None
    folded = Folded(machine, machine.length(held.kept.lengths), opinion)
    searched = groups * held.kept.num_actions * np.log(max(groups, 2))
    searched -= np.log(UNEXPLAINED) * found.found.unexplained
    return _most_trusted(histories_of(tree), [folded], held, seconds, searched)


def with_certainty(record: CognitiveMap, certain: Certainty) -> CognitiveMap:
    """The map with its guessed moves marked, and the moves of states that their other places made.

    The latter are imagined, with support 0.
    """
    guesses = certain.guessed(record.edge_source, record.edge_action)
    record = replace(record, edge_guessed=guesses if guesses.any() else None)
    shows = record.node_observation
    made = (record.edge_source, record.edge_action)
    source, action, target = _moves_of_states(certain.machine, certain.place_state, shows, *made)
    return add_imagined(record, source, action, target, guessed=False)


def _trusted(folded: Folded, held: HeldOut) -> Certainty | None:
    """The machine with what is sure of it, unless that is little or the model predicts the held-out walks better."""
    machine = folded.machine
    places, state = _places(machine, held.kept)
    if not len(state):
        return None
    sure = with_sure_moves(machine, held.kept, folded.opinion)
    here = machine.steps[:, :-1]
    made = (here >= 0) & (machine.steps[:, 1:] >= 0)
    followed = sure.next_state[here, held.kept.actions][made] >= 0
    if not len(followed) or followed.mean() < _SURE:
        return None
    share = followed_share(sure, held.apart)
    counts = count_states(places, held.kept, len(state))
    found = _with_sure(Certainty(sure, machine, (), counts, state, places, 0, 0.0, share), sure, held)
    return None if trust(found.counts, held).warnings else found


def _with_sure(certain: Certainty, sure: Machine, held: HeldOut) -> Certainty:
    """With other moves that are sure."""
    counts = count_states(certain.steps, held.kept, len(certain.place_state))
    counts = _with_moves(counts, sure, certain.place_state)
    unsure = int(((certain.whole.next_state >= 0) & (sure.next_state < 0)).sum())
    predicted = trust(counts, held).by_map
    return replace(certain, machine=sure, counts=counts, unsure=unsure, predicted=predicted)


def followed_share(machine: Machine, walks: Walks) -> float:
    """The share of steps of walks from the machine's start that it says, until the first move that it does not know.

    0 if a step contradicts it: a machine of a world without chance is right about all it knows, or wrong somewhere.
    """
    state, followed = np.zeros(walks.num_walks, dtype=np.int64), 0  # (B,) -1 once a walk cannot be followed
    made = walks.step_mask()[:, 1:]
    for step in range(made.shape[1]):
        action = walks.actions[:, step]
        known = (state >= 0) & made[:, step] & (machine.next_state[state, action] >= 0)
        if (machine.output[state, action] != walks.observations[:, step + 1])[known].any():
            return 0.0
        followed += int(known.sum())
        state = np.where(known, machine.next_state[state, action], UNKNOWN)
    return followed / max(int(made.sum()), 1)


def _with_moves(counts: StateCounts, machine: Machine, place_state: Whole) -> StateCounts:
    """The counts with one try of each move that was made from another place of the same state only."""
    made = np.divmod(counts.row, counts.num_actions)
    source, action, after = _moves_of_states(machine, place_state, counts.shows(), *made)
    row = np.concatenate([counts.row, source.astype(np.int64) * counts.num_actions + action])
    target = np.concatenate([counts.target, after.astype(np.int32)])
    order = np.lexsort((target, row))
    count = np.concatenate([counts.count, np.ones(len(source))])
    return replace(counts, row=row[order], target=target[order], count=count[order])


def _moves_of_states(
    machine: Machine, place_state: Whole, shows: Whole, source: Whole, action: Whole
) -> tuple[Whole, Whole, Whole]:
    """Source, action and target of moves that are known of a place's state, and were not made from the place itself.

    An action that was never taken at what a place shows may not be offered there.
    place_state, shows: (V,). source, action: (E,) moves that were made.
    """
    num_actions, num_observations = machine.next_state.shape[1], int(shows.max(initial=0)) + 1
    tried = np.zeros((len(place_state), num_actions), dtype=bool)
    tried[source, action] = True
    offered = np.zeros((num_observations, num_actions), dtype=bool)
    offered[shows[source], action] = True
    known = machine.next_state[place_state] >= 0
    here, by = np.nonzero(known & ~tried & offered[shows])
    state = place_state[here]
    key = machine.next_state[state, by].astype(np.int64) * num_observations + machine.output[state, by]
    places = place_state.astype(np.int64) * num_observations + shows  # rising
    return here, by, np.searchsorted(places, key)


def _places(machine: Machine, walks: Walks) -> tuple[Whole, Whole]:
    """(B, N) the place of each step, -1 where it is not known, and (V,) the state of each place, in rising order."""
    key = machine.steps.astype(np.int64) * walks.num_observations + walks.observations
    distinct, number = np.unique(np.where(machine.steps >= 0, key, UNKNOWN), return_inverse=True)
    unknown = int(distinct[0] == UNKNOWN)
    return number.reshape(key.shape) - unknown, distinct[unknown:] // walks.num_observations


def _classes(counts: StateCounts) -> Whole:
    """(V,) states that differ only in what is seen on the way to them are one."""
    table = likeliest_targets(counts)
    return classes_of_places(table, np.where(table >= 0, counts.shows()[table], UNKNOWN))
