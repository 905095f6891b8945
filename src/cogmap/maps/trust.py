"""How far a map can be trusted: what it predicts of walks that it was not made from, beside the model; and warnings.

None of it needs the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cogmap.hmm.counts import Counts, Whole
from cogmap.hmm.inference import predict
from cogmap.hmm.states import StateCounts
from cogmap.records import Booleans, Floats, Integers, Walks
from cogmap.walks.cut import FEW_WALKS, cut_walks

_HELD_OUT = 64  # walks at the most, and at most one in ten
_CHANCE = (
    4.0  # standard deviations that a difference may have by chance; steps of one walk depend on each other
)
_CHANCE_IN_ALL = 3.0  # the same over all walks, which are so many that steps of one weigh little
_NEARLY_ALWAYS = 0.95  # of a move's tries: what is rarer is a slip of the model or of the agent
_FEW_MOVES = 0.1  # of all: where more lead to several places, that is how the world is
_NOTABLE = 0.002  # of all predictions: a smaller difference is not worth a warning


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Walks apart from those that a map is made from."""

    kept: Walks  # to make the map from
    kept_labels: Whole  # (B, N) of the same steps
    apart: Walks  # to score it on
    apart_labels: Whole  # (B', N) of its steps
    right: Booleans | None  # (B', N - 1) where the model predicted the next observation of `apart`
    kept_right: Booleans | None = None  # (B, N - 1) and of `kept`, on which it was trained


def hold_out(walks: Walks, labels: Whole, predicted: Integers | None) -> HeldOut:
    """Every tenth walk apart; of fewer than ten walks the last tenth of each, of very short ones the last.

    labels: (B, N), one for each step. predicted: (B, N - 1), the model's next observations.
    """
    right = None if predicted is None else predicted == walks.observations[:, 1:]
    if walks.num_walks >= FEW_WALKS:
        order = np.random.default_rng(0).permutation(walks.num_walks)
        return _without(walks, labels, right, np.sort(order[: min(_HELD_OUT, walks.num_walks // 10)]))
    cut = cut_walks(walks)
    if cut is None and walks.num_walks < 2:
        return HeldOut(walks, labels, walks, labels, right)
    if cut is None:
        return _without(walks, labels, right, np.array([walks.num_walks - 1]))
    return HeldOut(
        cut.first,
        cut.of_first(labels, -1),
        cut.rest,
        cut.of_rest(labels, -1),
        None if right is None else cut.of_rest(right, False),
        None if right is None else cut.of_first(right, False),
    )


def _without(walks: Walks, labels: Whole, right: Booleans | None, apart: Whole) -> HeldOut:
    """Some of the walks apart."""
    kept = np.setdiff1d(np.arange(walks.num_walks), apart)
    of_apart, of_kept = (None, None) if right is None else (right[apart], right[kept])
    return HeldOut(walks.rows(kept), labels[kept], walks.rows(apart), labels[apart], of_apart, of_kept)


@dataclass(frozen=True)
class Trust:
    """Shares of the observations of held-out walks that are predicted right, and what to say about it."""

    by_map: float
    by_model: float | None
    warnings: tuple[str, ...]


def trust(counts: StateCounts, held: HeldOut) -> Trust:
    """What the map alone predicts, beside the model."""
    known = held.apart.step_mask()[:, 1:]
    right = _predicted(counts, held.apart)
    by_map = float(right.sum() / max(known.sum(), 1))
    if held.right is None:
        return Trust(by_map, None, ())
    model_right = held.right & known
    by_model = float(model_right.sum() / max(known.sum(), 1))
    if not _is_worse(right, model_right, int(known.sum())):
        return Trust(by_map, by_model, ())
    return Trust(by_map, by_model, (_behind("held-out observations", by_map, by_model),))


def trust_in_all(counts: StateCounts, held: HeldOut) -> Trust:
    """The same, and where held-out walks raise no doubt, of all walks, those that the map was made from among them.

    They are many more, so that rare places are among them; but only a model that does not know them by heart tells.
    """
    found = trust(counts, held)
    if found.warnings or held.right is None or held.kept_right is None or held.kept is held.apart:
        return found
    known, new = held.kept.step_mask()[:, 1:], held.apart.step_mask()[:, 1:]
    by_heart, by_model = (held.kept_right & known)[known], (held.right & new)[new]
    uncertain = np.sqrt((~by_model).sum() + 1) / len(by_model)  # one error more might have been
    known_by_heart = max(float(by_heart.mean() - by_model.mean() + uncertain), 0.0) * len(by_heart)
    of_map = np.concatenate([_predicted(counts, held.kept)[known], _predicted(counts, held.apart)[new]])
    of_model = np.concatenate([by_heart, by_model])
    if not _is_worse(of_map, of_model, len(of_map), _CHANCE_IN_ALL, known_by_heart):
        return found
    return replace(found, warnings=(_behind("observations", float(of_map.mean()), float(of_model.mean())),))


def _predicted(counts: StateCounts, walks: Walks) -> Booleans:
    """(B, N - 1) where the map alone predicts the next observation."""
    _, predicted, _ = predict(counts, walks)
    return np.asarray((predicted == walks.observations[:, 1:]) & walks.step_mask()[:, 1:])


def _is_worse(
    map_right: Booleans, model_right: Booleans, steps: int, chance: float = _CHANCE, excused: float = 0.0
) -> bool:
    """Whether the map predicts less than the model, by more than chance and enough to speak of.

    chance: standard deviations that are none. excused: steps that the model may know by heart.
    """
    worse, better = int((model_right & ~map_right).sum()), int((map_right & ~model_right).sum())
    return worse - better - excused > max(chance * np.sqrt(worse + better), _NOTABLE * steps)


def _behind(what: str, by_map: float, by_model: float) -> str:
    shares = f"the map predicts {by_map:.1%} of {what}, the model {by_model:.1%}"
    meaning = "places are missing or merged, so some plans end elsewhere or are too long"
    advice = "give more walks, train longer (--resume --minutes 5) or predict more steps (-S 5)"
    return f"{shares}: {meaning}; {advice}"


def minimal_warnings(counts: StateCounts, found: Trust, unsure: int = 0, offers: int = 0) -> tuple[str, ...]:
    """The warnings of a minimal map.

    unsure: moves of which it is not known where they lead. offers: nodes whose actions depend on the way there.
    """
    if counts.num_states == 0:
        meaning = "the walks do not repeat themselves, so the map is empty and there are no plans"
        return (f"{meaning}; record walks that come back to the same places, or merge rare observations",)
    reasons = list(found.warnings)
    if unsure:
        meaning = "moves were tried too seldom to know where they lead: no plan uses them"
        meaning += ", and rare places may be merged"
        reasons.append(f"{unsure} {meaning}; record more walks that try rare moves")
    several, moves = moves_in_doubt(counts)
    if 0 < several < _FEW_MOVES * moves:
        meaning = "moves lead to several places, and the others do not: by chance, or places there are merged"
        advice = (
            "if nothing is left to chance there, record longer walks or train longer (--resume --minutes 5)"
        )
        reasons.append(f"{several} of {moves} {meaning}, so plans through them may fail; {advice}")
    tries = counts.tries.reshape(counts.num_states, counts.num_actions)
    share = tries.sum(axis=0) / max(tries.sum(), 1)
    untried = int(((tries < 0.5) & (tries.sum(axis=1, keepdims=True) * share >= 10)).sum())
    if untried and not unsure and _tried_everywhere(tries):
        meaning = "moves were never tried, although random actions would have: no plan uses them"
        reasons.append(f"{untried} {meaning}; record walks that try them, unless they cannot be tried there")
    if offers:
        meaning = "places have actions that were never taken after some ways there: places that differ in what can be "
        meaning += "done may be merged, so plans may use an action that there is not"
        reasons.append(
            f"{offers} of {counts.num_states} {meaning}; write into each observation which actions there are"
        )
    return tuple(reasons)


def moves_in_doubt(counts: StateCounts) -> tuple[int, int]:
    """How many moves often lead elsewhere than to their likeliest place, and how many there are."""
    total, most = counts.tries, np.zeros(counts.num_states * counts.num_actions)
    np.maximum.at(most, counts.row, counts.count)
    several = (most < _NEARLY_ALWAYS * total) & (total - most > np.log(max(counts.num_states, 2)))
    return int(several.sum()), int((total >= 0.5).sum())


def _tried_everywhere(tries: Floats) -> bool:
    """Whether most nodes have every action: then a missing one was not tried, and is not impossible."""
    return bool((tries >= 0.5).all(axis=1).mean() > 0.5)


def paper_warnings(edges: Counts, explained: float) -> tuple[str, ...]:
    """The warnings of the paper's map."""
    if edges.num_codes == 0:
        return (
            "no code kept two neighbours each way above the threshold, so the map is empty and there are no plans; "
            "use the minimal map, or record more walks",
        )
    reasons = []
    if explained < _EXPLAINED:
        reasons.append(
            f"only {explained:.0%} of all moves follow the map: plans often fail on the way; use the minimal map"
        )
    row = edges.source.astype(np.int64) * edges.num_actions + edges.action
    several = int((np.bincount(row) > 1).sum())
    if several:
        reasons.append(
            f"{several} moves lead to several nodes: plans may not be shortest; use the minimal map"
        )
    return tuple(reasons)


_EXPLAINED = 0.9  # of all moves
