"""What walks say of the nodes they are at: where each action leads, what is seen, how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.maps.counts import Counts, Sightings, Whole, count_sightings, count_transitions
from cogmap.maps.evidence import UNKNOWN, leaders
from cogmap.records import Walks


@dataclass(frozen=True, eq=False)
class Survey:
    """What the walks say of the nodes they are at."""

    next_node: Whole  # (V, A) where each action clearly leads, UNKNOWN where nothing is clear
    sees: Whole  # (V,) the observation seen most often
    tries: Whole  # (V, A) steps on which each action was taken
    flows: Counts  # steps between nodes
    seen: Sightings  # observations at nodes

    @property
    def num_nodes(self) -> int:
        return len(self.sees)


def survey(walks: Walks, steps: Whole) -> Survey:
    """Count what happens at the nodes that `steps` (B, N) are at."""
    nodes, actions = int(steps.max(initial=-1)) + 1, walks.num_actions
    flows = count_transitions(steps, walks.actions, nodes, actions)
    seen = count_sightings(steps, walks.observations, nodes, walks.num_observations)
    taken = walks.step_mask()[:, 1:] & (steps[:, :-1] >= 0)  # (B, N - 1)
    row = steps[:, :-1][taken] * np.int64(actions) + walks.actions[taken]
    tries = np.bincount(row, minlength=nodes * actions).reshape(nodes, actions)
    shape = (nodes, walks.num_observations)
    sees = leaders(seen.code, seen.observation, seen.count, shape).column
    return Survey(_clear_edges(flows, tries), sees, tries, flows, seen)


def _clear_edges(flows: Counts, tries: Whole) -> Whole:
    """(V, A): the node each action clearly leads to, else UNKNOWN.

    Clearly: the clear leader among known nodes; with not too many steps to where nobody knows, at most twice
    their share among all; and taken at least once in a hundred times that it was to be expected, for a few
    wrong codes must not make an edge of a move that is never made.
    """
    nodes, actions = tries.shape
    row = flows.source * actions + flows.action
    lead = leaders(row, flows.target, flows.count, (nodes * actions, max(nodes, 1)))
    count = lead.count.reshape(nodes, actions)
    known = flows.total / max(tries.sum(), 1)
    expected = tries.sum(axis=1, keepdims=True) * (tries.sum(axis=0) / max(tries.sum(), 1))
    clear = (2 * count >= known * tries) & (100 * count >= expected)
    return np.where(clear, lead.clear_column().reshape(nodes, actions), UNKNOWN)
