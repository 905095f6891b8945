"""Merge nodes that explain more steps as one than as two.

In a deterministic world an action leads from a place to one place. Where it leads to two nodes, either they are one
place with two codes, or some codes were wrong. Merging them explains more steps in the first case, since both have the
same successors, and fewer in the second.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from cogmap.maps.counts import Counts, Sightings, Whole

_SHARE = 0.02  # of a row's steps; a target with fewer counts as an error
_LEAST = 4  # steps

Row = dict[int, int]  # target node (or observation) -> steps


class Flows:
    """Steps between nodes as rows that can be merged in place."""

    def __init__(self, counts: Counts, seen: Sightings):
        self.num_actions = counts.num_actions
        self.rows: dict[tuple[int, int], Row] = defaultdict(dict)  # (node, action) -> targets
        self.into: dict[int, set[tuple[int, int]]] = defaultdict(set)  # node -> rows that lead there
        self.seen: dict[int, Row] = defaultdict(dict)  # node -> observations
        for source, action, target, count in _entries(
            counts.source, counts.action, counts.target, counts.count
        ):
            self.rows[source, action][target] = count
            self.into[target].add((source, action))
        for node, observation, count in _entries(seen.code, seen.observation, seen.count):
            self.seen[node][observation] = count

    def gain(self, one: int, other: int) -> int:
        """The change in explained steps, observations included, if both become one node."""
        gain = _shared([self.seen[one], self.seen[other]])
        own = {(node, action) for node in (one, other) for action in range(self.num_actions)}
        for row in (self.into[one] & self.into[other]) - own:
            targets = self.rows[row]
            leading = max(targets.values())
            gain += max(leading, targets[one] + targets[other]) - leading
        for action in range(self.num_actions):
            gain += self._gain_of_row(one, other, action)
        return gain

    def _gain_of_row(self, one: int, other: int, action: int) -> int:
        rows = [self.rows.get((node, action), {}) for node in (one, other)]
        merged = [{one if target == other else target: 0 for target in row} for row in rows]
        for row, into in zip(rows, merged, strict=True):
            for target, count in row.items():
                into[one if target == other else target] += count
        before = sum(max(row.values(), default=0) for row in rows)
        after = sum(max(row.values(), default=0) for row in merged)
        return _shared(merged) + after - before

    def merge(self, one: int, other: int) -> None:
        """Merge `other` into `one`."""
        for entry in self.into.pop(other, set()):
            targets = self.rows[entry]
            targets[one] = targets.get(one, 0) + targets.pop(other)
            self.into[one].add(entry)
        for action in range(self.num_actions):
            row = self.rows[one, action]
            for target, count in self.rows.pop((other, action), {}).items():
                row[target] = row.get(target, 0) + count
                self.into[target].discard((other, action))
                self.into[target].add((one, action))
        for observation, count in self.seen.pop(other, {}).items():
            self.seen[one][observation] = self.seen[one].get(observation, 0) + count

    def rivals(self) -> set[tuple[int, int]]:
        """Pairs of nodes that are frequent targets of one action from one node."""
        pairs: set[tuple[int, int]] = set()
        for targets in self.rows.values():
            if len(targets) > 1:
                least = max(_LEAST, _SHARE * sum(targets.values()))
                leading = max(targets, key=targets.__getitem__)
                often = [target for target, count in targets.items() if count >= least and target != leading]
                pairs.update((min(leading, target), max(leading, target)) for target in often)
        return pairs


def merge_twins(counts: Counts, seen: Sightings) -> Whole:
    """(V,) the number of each node after merging pairs, best first, while that explains more steps."""
    flows = Flows(counts, seen)
    parent = np.arange(counts.num_codes)
    while True:
        gains = sorted((-flows.gain(*pair), *pair) for pair in flows.rivals())
        touched: set[int] = set()
        for loss, one, other in gains:
            if loss < 0 and one not in touched and other not in touched:
                flows.merge(one, other)
                parent[parent == other] = one
                touched |= {one, other}
        if not touched:
            return np.unique(parent, return_inverse=True)[1].astype(np.int32)


def _shared(rows: list[Row]) -> int:
    """Steps explained by the sum of two rows, less those explained by each alone; never above 0."""
    one, other = rows
    if not one or not other:
        return 0
    together = max(one.get(target, 0) + other.get(target, 0) for target in (*one, *other))
    return together - max(one.values()) - max(other.values())


def _entries(*columns: Whole) -> zip[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)
