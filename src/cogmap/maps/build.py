"""From codes to a cognitive map."""

from __future__ import annotations

import numpy as np

from cogmap.errors import BadConfig
from cogmap.maps.counts import check_codes, count_sightings, count_transitions, unique_codes
from cogmap.maps.minimise import minimise, survey
from cogmap.records import Codes, CognitiveMap, Walks


def build_map(
    codes: Codes, walks: Walks, kind: str = "minimal", t_ratio: float = 0.1, d_hamming: float = 0.25
) -> CognitiveMap:
    """The map that the codes of some walks hold."""
    if kind not in ("minimal", "paper"):
        raise BadConfig(f"`kind` must be minimal or paper, got {kind!r}")
    check_codes(codes, walks)
    tuples, index = unique_codes(codes)
    counts = count_transitions(index, walks.actions, len(tuples), walks.num_actions)
    seen = count_sightings(index, walks.observations, len(tuples), walks.num_observations)
    code_node, steps = minimise(index, walks, counts, seen)
    view = survey(walks, steps)
    source, action = np.nonzero(view.next_node >= 0)
    target = view.next_node[source, action]
    flows = {
        (s, a, t): c
        for s, a, t, c in zip(
            view.flows.source.tolist(),
            view.flows.action.tolist(),
            view.flows.target.tolist(),
            view.flows.count.tolist(),
            strict=True,
        )
    }
    support = [
        flows.get((s, a, t), 0)
        for s, a, t in zip(source.tolist(), action.tolist(), target.tolist(), strict=True)
    ]
    return CognitiveMap(
        kind=kind,
        node_observation=view.sees,
        node_support=np.bincount(steps[steps >= 0], minlength=view.num_nodes).astype(np.int32),
        edge_source=source.astype(np.int32),
        edge_action=action.astype(np.int32),
        edge_target=target,
        edge_support=np.array(support, dtype=np.int32),
        code_tuples=tuples,
        code_node=code_node,
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=float(sum(support)) / max(1, int((walks.lengths - 1).sum())),
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
    )
