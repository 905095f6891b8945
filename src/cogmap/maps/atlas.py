"""The atlas of a family of rooms, and maps of new rooms from it.

A model trained in base uses the same codes in all rooms with the same order of observations. So the training walks of
all rooms together determine which code tuples stand for one place. The atlas is the minimal map of these walks, with
ranks as observations. It has one component for every order of the observations.

A new room is one component of the atlas. The codes of its walks determine which one, and the node of each step; then
the walks are smoothed on the component by their real observations. The map contains the nodes and edges that the walks
visited. The rest of the component can be added, with a support of 0.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csgraph

from cogmap.hmm.counts import UNKNOWN, Counts, Whole, majority, spread, unique_codes
from cogmap.hmm.inference import expect
from cogmap.hmm.states import StateCounts
from cogmap.maps.build import build_map
from cogmap.maps.paper import explained_share
from cogmap.records import Codes, CognitiveMap, Integers, Walks
from cogmap.walks.family import base_targets

SETTLED = 0.8  # share of the later steps whose codes must be in the room's component of the atlas
_ROUNDS = 3  # of placing; colours of rarely visited places may change after the first
_NOISE = 0.01  # of observations that are not the node's own


def build_atlas(codes: Codes, walks: Walks, num_targets: int) -> CognitiveMap:
    """The minimal map of walks in many rooms, in base, without the first quarter of each walk.

    In its first steps a model sometimes confuses the room with another of the family. Such steps lead from one
    component of the atlas to another, and too many of them would connect the components.
    """
    from_step = int(np.median(walks.lengths)) // 4
    long = np.flatnonzero(walks.lengths > from_step + 1)
    later = Walks(
        observations=base_targets(walks)[long, from_step:],
        actions=walks.actions[long, from_step:],
        lengths=walks.lengths[long] - from_step,
        num_observations=num_targets,
        num_actions=walks.num_actions,
        action_labels=walks.action_labels,
    )
    codes = Codes(codes.codes[long, from_step:], later.lengths, codes.num_codes)
    return build_map(codes, later, kind="minimal")


def room_map(
    atlas: CognitiveMap, by_code: Integers, codes: Codes, walks: Walks, inferred: bool = True
) -> CognitiveMap:
    """The map of the room of `walks`, given the atlas node `by_code` (B, N) of each step's codes, -1 for none.

    inferred: add the places and moves of the family that the walks did not visit, with a support of 0.
    """
    next_node = _next_node(atlas)
    part = _part_of_each_node(next_node)
    chosen, agreed = _chosen_part(part, np.where(walks.step_mask(), by_code, UNKNOWN), walks)
    members = np.flatnonzero(part == chosen)  # (V,) of the atlas
    number = np.full(atlas.num_nodes, UNKNOWN, dtype=np.int32)
    number[members] = np.arange(len(members))
    within = spread(number, next_node[members])  # (V, A)
    steps, sees = _placed(walks, within, atlas.node_observation[members])
    return _record(codes, walks, within, steps, sees, inferred, _doubts(agreed))


def _next_node(atlas: CognitiveMap) -> Whole:
    """(V, A) where each action leads; a minimal map has one edge per move."""
    table = np.full((atlas.num_nodes, atlas.num_actions), UNKNOWN, dtype=np.int32)
    table[atlas.edge_source, atlas.edge_action] = atlas.edge_target
    return table


def _part_of_each_node(next_node: Whole) -> Whole:
    """(V,) the strongly connected component of each node."""
    source, action = np.nonzero(next_node >= 0)
    edges = (np.ones(len(source)), (source, next_node[source, action]))
    graph = coo_array(edges, shape=(len(next_node), len(next_node)))
    part: Whole = csgraph.connected_components(graph, directed=True, connection="strong")[1]
    return part


def _chosen_part(part: Whole, steps: Whole, walks: Walks) -> tuple[int, float]:
    """The component with most steps of the later half of the walks, and its share of these steps."""
    late = walks.step_mask() & (2 * np.arange(walks.num_steps) >= walks.lengths[:, None])
    known = late & (steps >= 0)
    votes = np.bincount(part[steps[known]], minlength=int(part.max(initial=0)) + 1)
    best = int(votes.argmax())
    return best, float(votes[best] / max(late.sum(), 1))


def _placed(walks: Walks, next_node: Whole, ranks: Integers) -> tuple[Whole, Whole]:
    """The likeliest node of every step (B, N) given its whole walk, and the observation of each node (V,)."""
    shown = np.unique(walks.observations[walks.step_mask()])
    # The component's ranks as the room's own colours.
    sees = shown[np.minimum(ranks, len(shown) - 1)].astype(np.int32)
    for _ in range(_ROUNDS):
        found = expect(_believed(walks, next_node, sees), walks)
        before, sees = sees, np.where(found.counts.visits >= 0.5, found.counts.shows(), sees).astype(np.int32)
        if np.array_equal(sees, before):
            break
    return found.path, sees


def _believed(walks: Walks, next_node: Whole, sees: Whole) -> StateCounts:
    """The component as a hidden Markov model: every known move is certain, an observation may be another one."""
    nodes, observations = len(sees), walks.num_observations
    source, action = np.nonzero(next_node >= 0)
    usual = np.arange(observations) == sees[:, None]  # (V, O)
    return StateCounts(
        first=np.ones(nodes),
        row=source * np.int64(walks.num_actions) + action,
        target=next_node[source, action].astype(np.int32),
        count=np.ones(len(source)),
        seen_at=np.repeat(np.arange(nodes, dtype=np.int32), observations),
        seen=np.tile(np.arange(observations, dtype=np.int32), nodes),
        seen_count=np.where(usual, 1 - _NOISE, _NOISE / max(observations - 1, 1)).ravel() * 1000,
        num_actions=walks.num_actions,
        num_observations=observations,
    )


def _record(
    codes: Codes,
    walks: Walks,
    next_node: Whole,
    steps: Whole,
    sees: Whole,
    inferred: bool,
    warnings: tuple[str, ...],
) -> CognitiveMap:
    """The room's map; with `inferred` false, only the nodes and edges that the walks visited."""
    support = np.bincount(steps[steps >= 0], minlength=len(sees))
    source, action = np.nonzero(next_node >= 0)
    target = next_node[source, action]
    taken = _times_taken(steps, walks, next_node)[source, action]
    nodes = np.ones(len(sees), dtype=bool) if inferred else support > 0
    edges = np.ones(len(source), dtype=bool) if inferred else taken > 0
    number = np.where(nodes, np.cumsum(nodes) - 1, UNKNOWN).astype(np.int32)
    code_tuples, index = unique_codes(codes)
    code_node = majority(index, spread(number, steps), len(code_tuples)).astype(np.int32)
    counts = Counts(
        number[source[edges]],
        action[edges].astype(np.int32),
        number[target[edges]],
        taken[edges].astype(np.int32),
        int(nodes.sum()),
        walks.num_actions,
    )
    return CognitiveMap(
        kind="minimal",
        node_observation=sees[nodes].astype(np.int32),
        node_support=support[nodes].astype(np.int64),
        edge_source=counts.source.astype(np.int32),
        edge_action=counts.action.astype(np.int32),
        edge_target=counts.target.astype(np.int32),
        edge_support=counts.count.astype(np.int64),
        code_tuples=code_tuples.astype(np.int32),
        code_node=code_node,
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=explained_share(spread(code_node, index), walks, counts),
        warnings=warnings,
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
    )


def _times_taken(steps: Whole, walks: Walks, next_node: Whole) -> Whole:
    """(V, A) how often the walks took each move and ended at its target."""
    here, there = steps[:, :-1], steps[:, 1:]
    known = (here >= 0) & (there >= 0)
    row, action = here[known], walks.actions[known]
    follows = next_node[row, action] == there[known]
    cell = row[follows] * np.int64(next_node.shape[1]) + action[follows]
    return np.bincount(cell, minlength=next_node.size).reshape(next_node.shape)


def _doubts(agreed: float) -> tuple[str, ...]:
    if agreed >= SETTLED:
        return ()
    return (
        f"the walks do not determine which room of the family this is: {agreed:.0%} of the later steps agree",
    )
