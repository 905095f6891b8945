"""Maps without an edge, and the empty one."""

import numpy as np

from cogmap.records import CognitiveMap


def edgeless_map(node_observation, num_observations=4, num_actions=4, **fields):
    """A minimal map of these nodes, which no code stands for and no move leads to."""
    none = np.zeros(0, dtype=np.int32)
    support = np.ones(len(node_observation), dtype=np.int32)
    tuples = np.zeros((0, 1), dtype=np.int32)
    nodes = (np.asarray(node_observation, dtype=np.int32), support)
    sizes = (num_observations, num_actions, 0.0)
    return CognitiveMap("minimal", *nodes, none, none, none, none, tuples, none, *sizes, **fields)
