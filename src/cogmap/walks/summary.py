"""A summary of walks: counts, how aliased the place is, and possible problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, Floats, Integers, Labels, Walks, label_of
from cogmap.walks.log import each_walk, walk_parts

LOOK_AHEAD = 3  # actions that are used to distinguish places with the same observation
Counts = NDArray[np.int64]
_LABEL_WIDTH = 15  # of the table of observations
_TABLE = 1 << 22  # entries of a table that is counted in instead of sorting
_MOST_FUTURES = 1 << 23  # kept to count them: 200 MB


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
            "total_steps": int(walks.lengths.sum(dtype=np.int64)),
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
        count = "1 walk" if walks.num_walks == 1 else f"{walks.num_walks} walks"
        actions = [f"{label} {times}" for label, times in found["actions"].items()]
        lines = [
            f"{count} of {steps}, {found['total_steps']} steps in all",
            f"{walks.num_actions} actions: {', '.join(actions[:most])}{', ...' if len(actions) > most else ''}",
            f"{walks.num_observations} observations, {self._aliasing()}",
            f"  {'observation':<16}{'seen':>10}{'entropy (bits)':>16}{'places (at least)':>19}",
        ]
        labels = _labels(walks.observation_labels, walks.num_observations)
        for index in self.observation_counts.argsort(kind="stable")[::-1][:most]:
            entropy, bound = self.next_entropy[index], self.min_places[index]
            lines.append(
                f"  {_cut(labels[index]):<16}{self.observation_counts[index]:>10}{entropy:>16.2f}{bound:>19}"
            )
        if walks.num_observations > most:
            lines.append(f"  ... and {walks.num_observations - most} more (--json has them all)")
        return "\n".join(lines)

    def _aliasing(self) -> str:
        if self.mean_entropy == 0:
            return "none aliased: the observation and the action determine the next observation"
        entropy = f"a conditional entropy of {self.mean_entropy:.2f} bits for the next one given the action"
        return f"{entropy}; what follows {LOOK_AHEAD} actions distinguishes at least {self.min_places.sum()} places"


def _cut(label: str) -> str:
    """A label that fits its column, with an ellipsis where it was cut."""
    return label if len(label) <= _LABEL_WIDTH else f"{label[: _LABEL_WIDTH - 1]}…"


def _labels(labels: Labels | None, count: int) -> list[str]:
    return [str(label_of(labels, index)) for index in range(count)]


def summarise(walks: Walks) -> Summary:
    """Counts over all steps, part by part: memory grows with what is different in the log, not with its steps."""
    seen = np.zeros(walks.num_observations, dtype=np.int64)
    taken = np.zeros(walks.num_actions, dtype=np.int64)
    for _, part in walk_parts(walks):
        mask = part.step_mask()
        seen += np.bincount(part.observations[mask], minlength=len(seen))
        taken += np.bincount(part.actions[mask[:, 1:]], minlength=len(taken))
    return Summary(
        observation_counts=seen,
        action_counts=taken,
        next_entropy=next_entropy(walks),
        min_places=min_places(walks),
        problems=tuple(_problems(walks, seen, taken)),
    )


def next_entropy(walks: Walks) -> Floats:
    """(O,): the conditional entropy in bits of the next observation, given this one and the action."""
    sizes = walks.num_observations, walks.num_actions
    keys, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for _, part in walk_parts(walks):
        moved = part.step_mask()[:, 1:]  # (b, N - 1)
        here, there = part.observations[:, :-1][moved], part.observations[:, 1:][moved]
        condition = here.astype(np.int64) * sizes[1] + part.actions[moved]
        found = _tallied(condition * sizes[0] + there, sizes[0] ** 2 * sizes[1])
        keys, counts = _summed(np.concatenate([keys, found[0]]), np.concatenate([counts, found[1]]))
    condition = np.unique(keys // sizes[0], return_inverse=True)[1]
    total = np.bincount(condition, weights=counts)[condition]  # steps with the same observation and action
    source = keys // (sizes[0] * sizes[1])
    surprise = -np.log2(counts / total)
    entropy = np.bincount(source, weights=counts * surprise, minlength=sizes[0])
    return entropy / np.maximum(np.bincount(source, weights=counts, minlength=sizes[0]), 1)


def min_places(walks: Walks, look_ahead: int = LOOK_AHEAD) -> Counts:
    """(O,): a lower bound on the places that show each observation, in a deterministic world without noise.

    From one place, the same actions always show the same observations. So if one observation and one sequence of
    actions were followed by k different futures, at least k places show that observation.
    """
    bounds = [_count_futures(walks, ahead) for ahead in range(1, min(look_ahead, walks.num_steps - 1) + 1)]
    return np.max(bounds, axis=0)


def _count_futures(walks: Walks, look_ahead: int) -> Counts:
    """(O,): the largest number of futures after each observation and one sequence of `look_ahead` actions.

    Where few sequences are possible, a table has an entry for each. Otherwise they are distinguished by 64 mixed bits,
    and if there are too many, those of the first parts bound the number.
    """
    futures, conditions = walks.num_observations**look_ahead, walks.num_actions**look_ahead
    if walks.num_observations * futures * conditions <= _TABLE:
        return _count_in_table(walks, look_ahead, futures, conditions)
    known = np.zeros((0, 3), dtype=np.uint64)  # condition with future, condition, observation
    for _, part in walk_parts(walks):
        if part.num_steps > look_ahead and len(known) < _MOST_FUTURES:
            known = _distinct(np.concatenate([known, _futures(part, look_ahead)]))
    most = np.zeros(walks.num_observations, dtype=np.int64)
    if len(known):
        _, which, times = np.unique(known[:, 1], return_inverse=True, return_counts=True)
        np.maximum.at(most, known[:, 2].astype(np.int64), times[which])
    return most


def _count_in_table(walks: Walks, look_ahead: int, futures: int, conditions: int) -> Counts:
    met = np.zeros(walks.num_observations * conditions * futures, dtype=bool)
    for _, part in walk_parts(walks):
        if part.num_steps > look_ahead:
            whole = part.step_mask()[:, look_ahead:]
            starts = whole.shape[1]
            condition = part.observations[:, :starts]
            future = np.zeros_like(condition)
            for ahead in range(look_ahead):
                condition = condition * np.int32(walks.num_actions) + part.actions[:, ahead : ahead + starts]
                seen = part.observations[:, ahead + 1 : ahead + 1 + starts]
                future = future * np.int32(walks.num_observations) + seen
            met[(condition * np.int32(futures) + future)[whole]] = True
    different = met.reshape(walks.num_observations, conditions, futures).sum(axis=2)
    return different.max(axis=1)


def _futures(walks: Walks, look_ahead: int) -> NDArray[np.uint64]:
    """(n, 3) of the different windows of `look_ahead` actions that end within their walk."""
    whole = walks.step_mask()[:, look_ahead:]  # (B, N - look_ahead)
    starts = whole.shape[1]
    here = walks.observations[:, :starts][whole].astype(np.uint64)
    condition = _mixed(np.zeros_like(here), here)
    future = np.zeros_like(here)
    for ahead in range(look_ahead):
        condition = _mixed(condition, walks.actions[:, ahead : ahead + starts][whole])
        future = _mixed(future, walks.observations[:, ahead + 1 : ahead + 1 + starts][whole])
    return _distinct(np.stack([_mixed(condition, future), condition, here], axis=1))


def _mixed(first: NDArray[np.uint64], second: NDArray[Any]) -> NDArray[np.uint64]:
    """(n,): 64 bits for each pair, different for different pairs but for a chance of 2^-64 (splitmix64)."""
    bits = first * np.uint64(0x9E3779B97F4A7C15) + second.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _distinct(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return rows[np.unique(rows[:, 0], return_index=True)[1]]


def _tallied(keys: Counts, bound: int) -> tuple[Counts, Counts]:
    """Different keys, all below `bound`, and how often each occurs."""
    if bound > _TABLE:
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=1)
    found = np.flatnonzero(counts)
    return found, counts[found]


def _summed(keys: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """Different keys, and the sum of the counts of each."""
    distinct, which = np.unique(keys, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, which, counts)
    return distinct, total


def pair(first: NDArray[np.integer], second: NDArray[np.integer]) -> Counts:
    """(n,): a number for each distinct pair, from 0."""
    width = int(second.max(initial=0)) + 1
    return np.unique(first.astype(np.int64) * width + second, return_inverse=True)[1]


def _problems(walks: Walks, observation_counts: Counts, action_counts: Counts) -> Iterator[str]:
    """Possible reasons for a poor map, one line each."""
    still, alike, digests = (np.zeros(walks.num_walks, dtype=kind) for kind in (bool, bool, np.uint64))
    for numbers, part in walk_parts(walks):
        seen = part.step_mask()
        still[numbers] = _constant(part.observations, seen)
        alike[numbers] = _constant(part.actions, seen[:, 1:])
        digests[numbers] = [_digest(*walk) for walk in each_walk(part)]
    yield from _such("see only one observation", still)
    if walks.num_actions > 1:
        yield from _such("take only one action", alike)
    copies = walks.num_walks - len(np.unique(digests))
    if copies:
        yield f"{copies} of {walks.num_walks} walks are copies of others"
    yield from _unused("observation", "seen", observation_counts, walks.observation_labels)
    yield from _unused("action", "taken", action_counts, walks.action_labels)
    once = int((observation_counts == 1).sum())
    if once:
        yield f"{once} of {walks.num_observations} observations are seen only once"


def _constant(values: Integers, mask: Booleans) -> Booleans:
    """(B,) walks that hold one value only."""
    return ((values == values[:, :1]) | ~mask).all(axis=1)


def _such(what: str, walks: Booleans) -> Iterator[str]:
    if walks.any():
        yield f"{walks.sum()} of {len(walks)} walks {what}, the first is walk {walks.argmax()}"


def _digest(seen: NDArray[Any], taken: NDArray[Any]) -> int:
    return int.from_bytes(blake2b(seen.tobytes() + taken.tobytes(), digest_size=8).digest(), "little")


def _unused(kind: str, verb: str, counts: Counts, labels: tuple[str, ...] | None) -> Iterator[str]:
    unused = np.flatnonzero(counts == 0)
    if unused.size:
        some = ", ".join(str(label_of(labels, index)) for index in unused[:5])
        more = ", ..." if unused.size > 5 else ""
        gaps = labels is None and 2 * unused.size > counts.size
        words = "; a model has weights for each, so write numbers with such gaps as words" if gaps else ""
        yield f"{unused.size} of {counts.size} {kind}s are never {verb}: {some}{more}{words}"
