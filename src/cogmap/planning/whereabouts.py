"""Where the agent was at every step: by the codes, by the map, or by both.

- On the paper's map the codes alone decide, as in the paper: it has too many roads that do not exist.
- On a minimal map that has nothing to warn of, a filter over its nodes is the best there is once it is sure: codes are
  made from the same history, are now and then wrong, and stay wrong for some steps. Until then their word is taken.
- On a minimal map with warnings the filter takes the codes as evidence, so that each can make up for the other.
"""

from __future__ import annotations

import numpy as np

from cogmap.planning.belief import track
from cogmap.planning.locate import locate
from cogmap.records import Codes, CognitiveMap, Integers

BELIEVED = 0.9  # a node less likely than this is no answer of the filter


def whereabouts(
    cognitive_map: CognitiveMap, codes: Codes, observations: Integers, actions: Integers
) -> Integers:
    """(B, N) the node of every step, judged by what was seen and done up to it; -1 where it is not known yet.

    `observations` (B, N) and `actions` (B, N - 1) are those that the codes were made from.
    """
    by_code = nodes_by_code(cognitive_map, codes)
    if cognitive_map.kind == "paper" or cognitive_map.num_nodes == 0:
        return by_code
    suggestions = by_code if cognitive_map.warnings else None
    by_step = np.arange(observations.shape[1])
    nodes, certainty = track(cognitive_map, observations, actions, suggestions)
    nodes = np.where(certainty >= BELIEVED, nodes, by_code)
    return np.where(by_step < codes.lengths[:, None], nodes, -1).astype(np.int32)


def nodes_by_code(cognitive_map: CognitiveMap, codes: Codes) -> Integers:
    """(B, N) the node of every step by its codes alone, -1 where there is none and on padding."""
    walks, steps, bottlenecks = codes.codes.shape
    nodes = locate(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    return np.where(np.arange(steps) < codes.lengths[:, None], nodes, -1).astype(np.int32)
