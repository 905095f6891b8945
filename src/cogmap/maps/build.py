"""Build a cognitive map from codes: the minimal map or the paper's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cogmap.errors import BadConfig
from cogmap.hmm.belief import with_signs
from cogmap.hmm.counts import (
    UNKNOWN,
    Whole,
    check_codes,
    count_sightings,
    majority,
    small,
    spread,
    unique_codes,
)
from cogmap.hmm.inference import expect, predict
from cogmap.hmm.states import StateCounts
from cogmap.maps.canonical import canonical_codes
from cogmap.maps.certain import Certainty, fold_codes, fold_states, with_agreed_moves, with_certainty
from cogmap.maps.imagined import with_imagined_moves
from cogmap.maps.paper import paper_labels, paper_map
from cogmap.maps.trust import HeldOut, Trust, hold_out, minimal_warnings, trust, trust_in_all
from cogmap.records import Codes, CognitiveMap, Floats, ImaginedMoves, Integers, PredictedFutures, Walks
from cogmap.search.account import Watch
from cogmap.search.shortest import LONGEST, find_states
from cogmap.walks.offered import offers_by_the_way

KINDS = ("minimal", "paper")
D_HAMMING = 0.25  # the paper's
_FOLLOWED = 0.9  # of the steps of held-out walks, for a folded machine to be taken at its word
_REFOLDING = 1 / 8  # of the seconds: most machines need few of them, and the others need the search
_CLEAR = 0.9  # probability of a step's node, for its code to be counted there


def build_map(
    codes: Codes,
    walks: Walks,
    kind: str = "minimal",
    t_ratio: float = 0.1,
    d_hamming: float = D_HAMMING,
    futures: PredictedFutures | None = None,
    predicted: Integers | None = None,
    cluster: Callable[[Whole], Whole] | None = None,
    seconds: float = LONGEST,
    moves: ImaginedMoves | None = None,
    watch: Watch | None = None,
) -> CognitiveMap:
    """The map of the world of `walks`, from their `codes`.

    kind: "minimal" has one node for every place that can be distinguished. "paper" is the paper's map, with its
        thresholds `t_ratio` and `d_hamming`.
    futures: what the model predicts after each tuple of codes; tuples with one future are then one.
    predicted: (B, N - 1) the model's next observations, to compare the map's with.
    cluster: assigns tuples (J, M) to clusters (J,) before anything else. By default "paper" clusters tuples by
        Hamming distance where there are no futures, and "minimal" does not cluster.
    seconds: for the search of the minimal map; what is under way then is finished.
    moves: what the model imagines after single actions: a minimal map has those that were never made as guesses.
    watch: is told how the search of the minimal map goes, and may end it.
    """
    _check_choice(kind, t_ratio, d_hamming)
    check_codes(codes, walks)
    code_tuples, index = unique_codes(codes)
    if kind == "minimal":
        made = _minimal(code_tuples, index, walks, futures, predicted, cluster, seconds, watch)
        return made if moves is None else with_imagined_moves(made, moves)
    if cluster:
        labels = spread(cluster(code_tuples), index)
    else:
        labels = paper_labels(code_tuples, index, walks, d_hamming, futures)
    return paper_map(code_tuples, index, walks, t_ratio, labels)


def _guesses(code_tuples: Whole, index: Whole, walks: Walks, futures: PredictedFutures | None) -> list[Whole]:
    """First guesses of the states of steps (B, N): canonical codes with what is seen, without it, and raw codes.

    A model need not say in its codes what it saw last, if that makes no difference to what comes: then a place is a
    code and an observation. Where observations are noisy, a place is a code. And states that differ only after more
    steps than the heads predict have one canonical code, but may have codes of their own: where most codes are joined.
    """
    seen = count_sightings(index, walks.observations, len(code_tuples), walks.num_observations)
    pair = _pairs(seen.code, seen.observation, index, walks)
    if futures is None:
        return _distinct([pair, index])
    visits = seen.count.astype(np.int64)
    canonical = canonical_codes(futures, seen.code, seen.observation, visits)
    of_code = np.zeros(len(code_tuples), dtype=np.int64)
    order = np.argsort(visits, kind="stable")  # the last write is the most frequent
    of_code[seen.code[order]] = canonical[order]
    apart = [pair] if 2 * (canonical.max(initial=-1) + 1) < len(canonical) else []
    return _distinct([spread(canonical, pair), spread(of_code, index), *apart])


def _pairs(code: Whole, observation: Whole, index: Whole, walks: Walks) -> Whole:
    """(B, N) the number of each step's code and observation among all pairs that were met, in rising order."""
    known = code.astype(np.int64) * walks.num_observations + observation
    key = index.astype(np.int64) * walks.num_observations + walks.observations
    return np.where(index >= 0, np.searchsorted(known, key), UNKNOWN)


def _distinct(guesses: list[Whole]) -> list[Whole]:
    """Without guesses that are the same as one before."""
    return [
        each
        for number, each in enumerate(guesses)
        if not any(np.array_equal(each, other) for other in guesses[:number])
    ]


def _minimal(
    code_tuples: Whole,
    index: Whole,
    walks: Walks,
    futures: PredictedFutures | None,
    predicted: Integers | None,
    cluster: Callable[[Whole], Whole] | None,
    seconds: float,
    watch: Watch | None,
) -> CognitiveMap:
    guesses = (
        [spread(cluster(code_tuples), index)] if cluster else _guesses(code_tuples, index, walks, futures)
    )
    held = hold_out(walks, guesses[0], predicted)
    counts, certain = _states(held, guesses, walks, index, futures, seconds, watch)
    trusted = trust_in_all(counts, held)
    final = expect(counts, walks)
    # Near the ends of a walk several places may fit, and only codes that were clear elsewhere tell which.
    clear = np.where(final.sure >= _CLEAR, final.path, UNKNOWN)
    code_node = majority(np.where(clear >= 0, index, UNKNOWN), clear, len(code_tuples))
    unsure = 0 if certain is None else certain.unsure
    # By what came before alone: what is done next must not tell which node it was.
    offers = offers_by_the_way(predict(counts, walks)[0], walks)
    record = minimal_record(code_tuples, code_node, final.counts, walks, trusted, unsure, offers)
    if certain is not None:
        record = with_certainty(record, certain)
    record = with_rewards(record, walks, final.path)
    apart = expect(counts, held.apart)
    codes = hold_out(walks, index, None).apart_labels
    return with_signs(record, held.apart, apart.path, apart.sure >= _CLEAR, codes)


def _states(
    held: HeldOut,
    guesses: list[Whole],
    walks: Walks,
    index: Whole,
    futures: PredictedFutures | None,
    seconds: float,
    watch: Watch | None,
) -> tuple[StateCounts, Certainty | None]:
    """The states of the kept walks: folded where the world has no chance in it, else those of the shortest account.

    A machine that held-out walks contradict, or can seldom be followed by, is wrong or not minimal: then its states are
    one more guess for the search, and it is taken only if the search's account predicts no more.
    """
    until = time.monotonic() + seconds
    folded = fold_codes(held, hold_out(walks, index, None).kept_labels, futures, _REFOLDING * seconds)
    if folded is not None and folded.followed >= _FOLLOWED:
        folded = with_agreed_moves(folded, held, (until - time.monotonic()) / 2)
        return folded.counts, folded
    labels = [hold_out(walks, each, None).kept_labels for each in guesses]
    guesses = labels if folded is None else [*labels, folded.steps]
    found = find_states(held.kept, guesses, until - time.monotonic(), watch)
    certain = fold_states(held, found, min(until - time.monotonic(), _REFOLDING * seconds))
    best = max(filter(None, (certain, folded)), key=lambda each: each.predicted, default=None)
    if best is not None and best.predicted >= trust(found.counts, held).by_map:
        best = with_agreed_moves(best, held, _REFOLDING * seconds)
        return best.counts, best
    return found.counts, None


def minimal_record(
    code_tuples: Whole,
    code_node: Whole,
    counts: StateCounts,
    walks: Walks,
    trusted: Trust,
    unsure: int = 0,
    offers: int = 0,
) -> CognitiveMap:
    """The map of a hidden Markov model: its states as nodes, expected counts as support.

    unsure, offers: as in `minimal_warnings`.
    """
    edges = np.flatnonzero(counts.count >= 0.5)
    row, count = counts.row[edges], counts.count[edges]
    total = np.bincount(row, weights=count, minlength=1)
    sights = np.flatnonzero(counts.seen_count >= 0.5)
    seen_at, seen_count = counts.seen_at[sights], counts.seen_count[sights]
    visits = counts.visits
    return CognitiveMap(
        kind="minimal",
        node_observation=small(counts.shows()),
        node_support=small(np.rint(visits)),
        edge_source=small(row // counts.num_actions),
        edge_action=small(row % counts.num_actions),
        edge_target=counts.target[edges],
        edge_support=small(np.rint(count)),
        code_tuples=small(code_tuples),
        code_node=small(code_node),
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=trusted.by_map,
        warnings=minimal_warnings(counts, trusted, unsure, offers),
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
        edge_probability=count / total[row],
        seen_node=seen_at,
        seen_observation=counts.seen[sights],
        seen_probability=seen_count / np.bincount(seen_at, weights=seen_count, minlength=1)[seen_at],
        model_accuracy=trusted.by_model,
        start_probability=_starts(counts),
    )


def _starts(counts: StateCounts) -> Floats | None:
    """(V,) where walks start. One walk more is counted, at every state as often as it was visited."""
    if counts.num_states == 0:
        return None
    first = counts.first + counts.visits / max(counts.visits.sum(), 1)
    return first / first.sum()


def with_rewards(record: CognitiveMap, walks: Walks, path: Whole) -> CognitiveMap:
    """The map with the mean reward of each edge, where the walks have rewards.

    path: (B, N) the node of each step. An edge that no pair of steps took has the mean of its node and action.
    """
    if walks.rewards is None or record.num_nodes == 0:
        return record
    source, target = path[:, :-1].astype(np.int64), path[:, 1:]
    taken = (source >= 0) & (target >= 0) & walks.step_mask()[:, 1:]
    move = source[taken] * walks.num_actions + walks.actions[taken]
    rewards, nodes = walks.rewards[taken].astype(np.float64), record.num_nodes
    row = record.edge_source.astype(np.int64) * walks.num_actions + record.edge_action
    by_move = _means(move, rewards, row, np.zeros(record.num_edges))
    reward = _means(move * nodes + target[taken], rewards, row * nodes + record.edge_target, by_move)
    return replace(record, edge_reward=reward)


def _means(key: Whole, value: Floats, asked: Whole, otherwise: Floats) -> Floats:
    """(E,) the mean value of each key that is asked for, `otherwise` (E,) where there is none."""
    if not len(key):
        return otherwise
    distinct, which = np.unique(key, return_inverse=True)
    mean = np.bincount(which.reshape(-1), weights=value) / np.bincount(which.reshape(-1))
    place = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    return np.where(distinct[place] == asked, mean[place], otherwise)


def _check_choice(kind: str, t_ratio: float, d_hamming: float) -> None:
    if kind not in KINDS:
        raise BadConfig(f"`kind` must be one of {', '.join(KINDS)}, got {kind!r}")
    if not 0 < t_ratio <= 1:
        raise BadConfig(f"`t_ratio` (={t_ratio}) must be above 0 and at most 1")
    if not 0 <= d_hamming <= 1:
        raise BadConfig(f"`d_hamming` (={d_hamming}) must be from 0 to 1")
