"""Statistics of walks by node: where each action leads, the observations, and how often actions were taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.maps.counts import Counts, Sightings, Whole, count_sightings, count_transitions
from cogmap.maps.evidence import UNKNOWN, leaders
from cogmap.records import Walks


@dataclass(frozen=True, eq=False)
class Survey:
    """Statistics of walks by node."""

    next_node: Whole  # (V, A) the clear target of each action, UNKNOWN where there is none
    sees: Whole  # (V,) the most frequent observation
    tries: Whole  # (V, A) steps on which each action was taken
    flows: Counts  # steps between nodes
    seen: Sightings  # observations at nodes

    @property
    def num_nodes(self) -> int:
        return len(self.sees)


def survey(walks: Walks, steps: Whole) -> Survey:
    """Count transitions and observations at the nodes of `steps` (B, N)."""
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
    """(V, A) the clear target of each action, else UNKNOWN.

    A target is clear if it is the clear leader among known nodes, if at most twice the usual share of steps leads to
    unknown nodes, and if it was reached at least once in a hundred expected times: a few wrong codes must not make an
    edge of a move that is never made.
    """
    nodes, actions = tries.shape
    row = flows.source * actions + flows.action
    lead = leaders(row, flows.target, flows.count, (nodes * actions, max(nodes, 1)))
    count = lead.count.reshape(nodes, actions)
    known = flows.total / max(tries.sum(), 1)
    expected = tries.sum(axis=1, keepdims=True) * (tries.sum(axis=0) / max(tries.sum(), 1))
    clear = (2 * count >= known * tries) & (100 * count >= expected)
    return np.where(clear, lead.clear_column().reshape(nodes, actions), UNKNOWN)
