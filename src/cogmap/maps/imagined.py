"""Moves that were never tried, asked of the model: imagined, with support 0.

A model that has learned a place can say what an action would show that was never taken there, and which code it would
be at then. That is often right and never sure, so these edges are guesses: they are drawn, and help to locate an agent
that tries them, but no plan counts on one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.records import EDGE_FIELDS, Booleans, CognitiveMap, ImaginedMoves

_FEWEST = 2  # histories of a node that agree; one may be of another place


def with_imagined_moves(found: CognitiveMap, moves: ImaginedMoves) -> CognitiveMap:
    """The map with a guessed edge for each move that was never made, if most histories of its node imagine one target.

    Only actions that were taken at what the node shows: others may not be offered there.
    """
    return add_imagined(found, *_agreed(found, moves), guessed=True)


def add_imagined(
    found: CognitiveMap, source: Whole, action: Whole, target: Whole, guessed: bool
) -> CognitiveMap:
    """The map with these edges, which no walk took."""
    if not len(source):
        return found
    new: dict[str, Any] = {
        "edge_source": source,
        "edge_action": action,
        "edge_target": target,
        "edge_support": np.zeros(len(source)),
        "edge_probability": np.ones(len(source)),
        "edge_imagined": np.ones(len(source)),
    }
    old = {name: getattr(found, name) for name in EDGE_FIELDS if getattr(found, name) is not None}
    if guessed:
        old.setdefault("edge_guessed", np.zeros(found.num_edges, dtype=bool))
    new["edge_guessed"] = np.full(len(source), guessed)
    new["edge_reward"] = np.zeros(len(source))
    edges: dict[str, Any] = {
        name: np.concatenate([values, new[name].astype(values.dtype)]) for name, values in old.items()
    }
    return replace(found, **edges)


def _agreed(found: CognitiveMap, moves: ImaginedMoves) -> tuple[Whole, Whole, Whole]:
    """Source, action and target of the moves that more than half of a node's histories agree on."""
    node = found.code_node[moves.code]  # (H,)
    known = np.append(found.code_node, -1)
    target = np.where(node[:, None] >= 0, known[moves.next_code], -1)  # (H, A); -1 reads the last entry
    shown = np.append(found.node_observation, -1)
    target = np.where(shown[target] == moves.observation, target, -1)
    history, action = np.nonzero((target >= 0) & _untried(found)[node])
    key = (node[history].astype(np.int64) * found.num_actions + action) * found.num_nodes + target[
        history, action
    ]
    move, votes = np.unique(key, return_counts=True)
    row, to = np.divmod(move, max(found.num_nodes, 1))
    source, by = np.divmod(row, found.num_actions)
    asked = np.bincount(node[node >= 0], minlength=found.num_nodes)[source]
    kept = (votes >= _FEWEST) & (2 * votes > asked)
    return source[kept], by[kept], to[kept]


def _untried(found: CognitiveMap) -> Booleans:
    """(V + 1, A) actions never taken at a node, but at another one that looks the same; the last row is of no node."""
    tried = np.zeros((found.num_nodes + 1, found.num_actions), dtype=bool)
    tried[found.edge_source, found.edge_action] = True
    offered = np.zeros((found.num_observations, found.num_actions), dtype=bool)
    offered[found.node_observation[found.edge_source], found.edge_action] = True
    untried = ~tried
    untried[:-1] &= offered[found.node_observation]
    untried[-1] = False
    return untried
