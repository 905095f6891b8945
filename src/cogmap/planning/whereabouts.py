"""Where the agent was at every step: what the codes say, put right by the map.

A code is now and then wrong, and early in a walk it stands for several places. The map knows which places can follow
each other, so a filter over its nodes that takes the codes as evidence outvotes a wrong one. The paper's map has too
many roads that do not exist for that: on it, the codes alone decide, as in the paper.
"""

from __future__ import annotations

import numpy as np

from cogmap.planning.belief import track
from cogmap.planning.locate import locate
from cogmap.records import Codes, CognitiveMap, Integers, Walks

BELIEVED = 0.5  # a node less likely than this is no answer


def whereabouts(cognitive_map: CognitiveMap, codes: Codes, walks: Walks) -> Integers:
    """(B, N) the node of every step, judged by what was seen and done up to it; -1 where it is not known yet."""
    by_code = nodes_by_code(cognitive_map, codes)
    if cognitive_map.kind == "paper" or cognitive_map.num_nodes == 0:
        return by_code
    nodes, certainty = track(cognitive_map, walks.observations, walks.actions, suggestions=by_code)
    return np.where((certainty >= BELIEVED) & walks.step_mask(), nodes, -1).astype(np.int32)


def nodes_by_code(cognitive_map: CognitiveMap, codes: Codes) -> Integers:
    """(B, N) the node of every step by its codes alone, -1 where there is none and on padding."""
    walks, steps, bottlenecks = codes.codes.shape
    nodes = locate(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    return np.where(np.arange(steps) < codes.lengths[:, None], nodes, -1).astype(np.int32)
