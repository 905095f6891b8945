"""A summary of walks: counts, how aliased the place is, and possible problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, Floats, Integers, Labels, Walks, label_of

LOOK_AHEAD = 3  # actions that are used to distinguish places with the same observation
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts over all steps that are not padding."""

    observation_counts: Counts  # (O,) steps on which each is seen
    action_counts: Counts  # (A,) steps on which each is taken
    next_entropy: Floats  # (O,) conditional entropy in bits of the next observation, given the action
    min_places: Counts  # (O,) lower bound on the places that show each observation, if there is no noise
    problems: tuple[str, ...]  # one line each

    @property
    def mean_entropy(self) -> float:
        """The conditional entropy in bits of the next observation, over all steps; 0 in a world without aliasing."""
        return float(np.average(self.next_entropy, weights=self.observation_counts))

    def described(self, walks: Walks) -> dict[str, Any]:
        """The summary as JSON values, by label."""
        seen, taken = self.observation_counts.tolist(), self.action_counts.tolist()
        numbers = zip(seen, self.next_entropy.tolist(), self.min_places.tolist(), strict=True)
        return {
            "num_walks": walks.num_walks,
            "shortest": int(walks.lengths.min()),
            "longest": int(walks.lengths.max()),
            "total_steps": int(walks.lengths.sum()),
            "num_observations": walks.num_observations,
            "num_actions": walks.num_actions,
            "actions": dict(zip(_labels(walks.action_labels, walks.num_actions), taken, strict=True)),
            "observations": {
                label: {"seen": times, "next_entropy_bits": round(entropy, 4), "places_at_least": bound}
                for label, (times, entropy, bound) in zip(
                    _labels(walks.observation_labels, walks.num_observations), numbers, strict=True
                )
            },
            "next_entropy_bits": round(self.mean_entropy, 4),
            "places_at_least": int(self.min_places.sum()),
        }

    def text(self, walks: Walks, most: int) -> str:
        """A few lines of text: sizes, actions, and the `most` frequent observations."""
        found = self.described(walks)
        short, long = found["shortest"], found["longest"]
        steps = f"{long} steps" if short == long else f"{short} to {long} steps"
        actions = [f"{label} {count}" for label, count in found["actions"].items()]
        lines = [
            f"{walks.num_walks} walks of {steps}, {found['total_steps']} steps in all",
            f"{walks.num_actions} actions: {', '.join(actions[:most])}{', ...' if len(actions) > most else ''}",
            f"{walks.num_observations} observations, {self._aliasing()}",
            f"  {'observation':<16}{'seen':>10}{'entropy (bits)':>16}{'places (at least)':>19}",
        ]
        labels = _labels(walks.observation_labels, walks.num_observations)
        for index in self.observation_counts.argsort(kind="stable")[::-1][:most]:
            entropy, bound = self.next_entropy[index], self.min_places[index]
            lines.append(
                f"  {labels[index][:15]:<16}{self.observation_counts[index]:>10}{entropy:>16.2f}{bound:>19}"
            )
        if walks.num_observations > most:
            lines.append(f"  ... and {walks.num_observations - most} more (--json has them all)")
        return "\n".join(lines)

    def _aliasing(self) -> str:
        if self.mean_entropy == 0:
            return "none aliased: the observation and the action determine the next observation"
        entropy = f"a conditional entropy of {self.mean_entropy:.2f} bits for the next one given the action"
        return f"{entropy}; {LOOK_AHEAD} actions distinguish at least {self.min_places.sum()} places"


def _labels(labels: Labels | None, count: int) -> list[str]:
    return [str(label_of(labels, index)) for index in range(count)]


def summarise(walks: Walks) -> Summary:
    """The summary of walks of observations; views are clustered first."""
    seen = walks.step_mask()  # (B, N)
    observation_counts = np.bincount(walks.observations[seen], minlength=walks.num_observations)
    action_counts = np.bincount(walks.actions[seen[:, 1:]], minlength=walks.num_actions)
    return Summary(
        observation_counts=observation_counts,
        action_counts=action_counts,
        next_entropy=next_entropy(walks),
        min_places=min_places(walks),
        problems=tuple(_problems(walks, observation_counts, action_counts)),
    )


def next_entropy(walks: Walks) -> Floats:
    """(O,): the conditional entropy in bits of the next observation, given this one and the action."""
    moved = walks.step_mask()[:, 1:]  # (B, N - 1)
    here, there = walks.observations[:, :-1][moved], walks.observations[:, 1:][moved]
    condition = pair(here, walks.actions[moved])
    _, first, _, count = _unique(pair(condition, there))
    total = np.bincount(condition)[condition[first]]  # steps with the same observation and action
    surprise = -np.log2(count / total)
    entropy = np.bincount(here[first], weights=count * surprise, minlength=walks.num_observations)
    return entropy / np.maximum(np.bincount(here, minlength=walks.num_observations), 1)


def min_places(walks: Walks, look_ahead: int = LOOK_AHEAD) -> Counts:
    """(O,): a lower bound on the places that show each observation, in a deterministic world without noise.

    From one place, the same actions always show the same observations. So if one observation and one sequence of
    actions were followed by k different futures, at least k places show that observation.
    """
    bounds = [_count_futures(walks, ahead) for ahead in range(1, min(look_ahead, walks.num_steps - 1) + 1)]
    return np.max(bounds, axis=0)


def _count_futures(walks: Walks, look_ahead: int) -> Counts:
    """(O,): the largest number of futures after each observation and one sequence of `look_ahead` actions."""
    whole = walks.step_mask()[:, look_ahead:]  # (B, N - look_ahead) windows that end within their walk
    starts = whole.shape[1]
    here = walks.observations[:, :starts][whole].astype(np.int64)
    condition, future = here, np.zeros_like(here)
    for ahead in range(look_ahead):
        condition = pair(condition, walks.actions[:, ahead : ahead + starts][whole])
        future = pair(future, walks.observations[:, ahead + 1 : ahead + 1 + starts][whole])
    first = _unique(pair(condition, future))[1]  # one window for each pair of condition and future
    futures = np.bincount(condition[first])  # (conditions,)
    most = np.zeros(walks.num_observations, dtype=np.int64)
    np.maximum.at(most, here[first], futures[condition[first]])
    return most


def pair(first: NDArray[np.integer], second: NDArray[np.integer]) -> Counts:
    """(n,): a number for each distinct pair, from 0."""
    width = int(second.max(initial=0)) + 1
    return _unique(first.astype(np.int64) * width + second)[2]


def _unique(values: NDArray[np.integer]) -> tuple[Counts, Counts, Counts, Counts]:
    return np.unique(values, return_index=True, return_inverse=True, return_counts=True)


def _problems(walks: Walks, observation_counts: Counts, action_counts: Counts) -> Iterator[str]:
    """Possible reasons for a poor map, one line each."""
    seen = walks.step_mask()
    yield from _constant("see only one observation", walks.observations, seen)
    if walks.num_actions > 1:
        yield from _constant("take only one action", walks.actions, seen[:, 1:])
    different = {(x.tobytes(), a.tobytes()) for x, a in zip(walks.observations, walks.actions, strict=True)}
    if len(different) < walks.num_walks:
        yield f"{walks.num_walks - len(different)} of {walks.num_walks} walks are copies of others"
    yield from _unused("observation", "seen", observation_counts, walks.observation_labels)
    yield from _unused("action", "taken", action_counts, walks.action_labels)
    once = int((observation_counts == 1).sum())
    if once:
        yield f"{once} of {walks.num_observations} observations are seen only once"


def _constant(what: str, values: Integers, mask: Booleans) -> Iterator[str]:
    constant = ((values == values[:, :1]) | ~mask).all(axis=1)  # (B,)
    if constant.any():
        yield f"{constant.sum()} of {len(values)} walks {what}, the first is walk {constant.argmax()}"


def _unused(kind: str, verb: str, counts: Counts, labels: tuple[str, ...] | None) -> Iterator[str]:
    unused = np.flatnonzero(counts == 0)
    if unused.size:
        some = ", ".join(str(label_of(labels, index)) for index in unused[:5])
        more = ", ..." if unused.size > 5 else ""
        yield f"{unused.size} of {counts.size} {kind}s are never {verb}: {some}{more}"
