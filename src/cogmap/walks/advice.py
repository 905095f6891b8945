"""What a log is good for, before anything is trained: what is known of its world, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cogmap.records import Integers, Walks, label_of
from cogmap.walks.summary import Counts, Summary, pair

ENOUGH = 20  # visits of a move, with which a map of it can be trusted
SAME_STEPS = 8  # steps that must repeat, to ask whether the next observation is always the same
FEWEST_REPEATS = 100  # of such steps, to answer that
NOTABLE = 0.01  # share of repeats that continue differently
SETTLED = 5  # steps at the end of a walk that all show one observation
LEFT = 0.05  # of such runs: where more are left again, they are no end
TOLD = 0.3  # share of an action that outputs tell; places tell next to nothing


@dataclass(frozen=True)
class Advice:
    """What a log says about itself."""

    visits_of_a_move: float  # at most, since there may be more places than are certain
    same_start: bool  # whether all walks begin in one state
    settled: float  # share of walks that end in an observation that stays whatever is done
    differing: float | None  # share of repeated steps after which the observation differs; None if few repeat
    outputs_on_moves: bool  # whether observations look like answers to actions
    offered: float  # share of the pairs of an observation and an action that were ever tried
    rarest: int  # the least steps on which an observation is seen, of those that are
    gains: int | None  # moves with a reward above the usual one; None without rewards

    def lines(self, walks: Walks, summary: Summary) -> Iterator[str]:
        """One line for each thing worth knowing."""
        places = int(summary.min_places.sum())
        yield (
            f"at least {places} places, so a move (a place and an action) has at most "
            f"{self.visits_of_a_move:.0f} visits: {self._enough()}"
        )
        if walks.num_walks > 1:
            yield ("walks start in one known state" if self.same_start else "walks start in different states")
        if self.settled > 0.5:
            yield f"{self.settled:.0%} of the walks end in an observation that is never left: an absorbing state"
        if self.outputs_on_moves:
            yield "observations seem to answer the last action: after `learn`, `cogmap map RUN --outputs-on-moves`"
        if self.offered < 0.8:
            yield f"only {self.offered:.0%} of the actions are ever taken at an observation: others may not exist there"
        if self.differing is not None and self.differing > NOTABLE:
            yield (
                f"after the same {SAME_STEPS} steps {self.differing:.1%} of the next observations differ: "
                "chance, noise, or something remembered for longer"
            )
        yield from self._too_rare(walks, summary)

    def _too_rare(self, walks: Walks, summary: Summary) -> Iterator[str]:
        """What is met so seldom that its place is hardly left by every action: no map can have what is before it."""
        enough = ENOUGH * walks.num_actions
        if self.rarest < enough:
            seen = np.where(summary.observation_counts > 0, summary.observation_counts, np.inf)
            label, longer = (
                label_of(walks.observation_labels, int(seen.argmin())),
                _longer(enough, self.rarest),
            )
            times = "once" if self.rarest == 1 else f"{self.rarest} times"
            yield f"{label} is seen {times}: to know what leads there, {longer}"
        if self.gains is not None and self.gains < enough:
            longer = _longer(enough, self.gains)
            yield f"{self.gains} moves have a reward above the usual one: for a policy that collects them, {longer}"

    def _enough(self) -> str:
        if self.visits_of_a_move >= ENOUGH:
            return "enough, if there are not many more places"
        return f"too few, walk {np.ceil(ENOUGH / max(self.visits_of_a_move, 0.1)):.0f} times as long"


def _longer(enough: int, got: int) -> str:
    return f"walk {np.ceil(enough / max(got, 1)):.0f} times as long, or start walks near it"


def advise(walks: Walks, summary: Summary, same_start: bool) -> Advice:
    """same_start: whether the walks start at a known state."""
    places = max(1, int(summary.min_places.sum()))
    moves = int((walks.lengths - 1).sum())
    tried = _tried(walks)
    usual = max(1.0, places * tried.sum() / max(1, int((summary.observation_counts > 0).sum())))
    seen = np.flatnonzero(summary.observation_counts >= ENOUGH * walks.num_actions)
    return Advice(
        visits_of_a_move=moves / usual,
        same_start=same_start,
        settled=_settled(walks),
        differing=_differing(walks),
        outputs_on_moves=_starts_with_nothing(walks) or _told_by_action(walks) > TOLD,
        offered=float(tried[seen].mean()) if seen.size else 1.0,
        rarest=int(summary.observation_counts[summary.observation_counts > 0].min(initial=moves)),
        gains=_gains(walks),
    )


def _tried(walks: Walks) -> Integers:
    """(O, A): whether an action was ever taken at an observation."""
    moved = walks.step_mask()[:, 1:]
    tried = np.zeros((walks.num_observations, walks.num_actions), dtype=np.int32)
    tried[walks.observations[:, :-1][moved], walks.actions[moved]] = 1
    return tried


def _gains(walks: Walks) -> int | None:
    """Moves with a reward above the median; None if all have the same, or none has any."""
    if walks.rewards is None:
        return None
    rewards = walks.rewards[walks.step_mask()[:, 1:]]
    if not rewards.size or rewards.min() == rewards.max():
        return None
    return int((rewards > np.median(rewards)).sum())


def _settled(walks: Walks) -> float:
    """The share of walks that end in a long run of one observation, if such runs are hardly ever left."""
    ends = long_left = 0
    for seen, length in zip(walks.observations, walks.lengths.tolist(), strict=True):
        first = np.flatnonzero(np.append(True, seen[1:length] != seen[: length - 1]))
        lasted = np.diff(np.append(first, length))
        final = seen[length - 1]
        ends += int(lasted[-1] >= SETTLED)
        long_left += int(((lasted[:-1] >= SETTLED) & (seen[first[:-1]] == final)).sum())
    return 0.0 if long_left > LEFT * ends else ends / walks.num_walks


def _told_by_action(walks: Walks) -> float:
    """How much of the last action an observation tells, from 0 to 1: much where observations are outputs of moves."""
    moved = walks.step_mask()[:, 1:]
    joint = np.zeros((walks.num_actions, walks.num_observations))
    np.add.at(joint, (walks.actions[moved], walks.observations[:, 1:][moved]), 1)
    share = joint / max(joint.sum(), 1)
    action, seen = share.sum(axis=1, keepdims=True), share.sum(axis=0, keepdims=True)
    told = share[share > 0] * np.log(share[share > 0] / (action * seen)[share > 0])
    entropy = -(action[action > 0] * np.log(action[action > 0])).sum()
    return float(told.sum() / entropy) if entropy > 0 else 0.0


def _starts_with_nothing(walks: Walks) -> bool:
    """Whether all walks begin with one observation that is never seen again, as before the first output."""
    first = walks.observations[:, 0]
    later = walks.observations[:, 1:][walks.step_mask()[:, 1:]]
    return bool((first == first[0]).all() and walks.num_walks > 1 and (later != first[0]).all())


def _differing(walks: Walks) -> float | None:
    """The share of repeats of the same steps that are followed by something else than usual."""
    whole = walks.step_mask()[:, SAME_STEPS:]
    starts = whole.shape[1]
    if starts < 1 or not whole.any():
        return None
    context: Counts = walks.observations[:, :starts][whole].astype(np.int64)
    for step in range(SAME_STEPS):
        context = pair(context, walks.actions[:, step : step + starts][whole])
        if step + 1 < SAME_STEPS:
            context = pair(context, walks.observations[:, step + 1 : step + 1 + starts][whole])
    after = walks.observations[:, SAME_STEPS : SAME_STEPS + starts][whole]
    times = np.bincount(context)
    joint, first = np.unique(pair(context, after), return_index=True)
    count = np.bincount(pair(context, after))[joint]
    most = np.zeros(len(times), dtype=np.int64)
    np.maximum.at(most, context[first], count)
    repeated = times > 1
    if times[repeated].sum() < FEWEST_REPEATS:
        return None
    return float(1 - most[repeated].sum() / times[repeated].sum())
