"""The frozen records that pass between packages, each field with its shape.

One legend for every shape in this package:

    B walks, N steps of the longest walk, A actions (or inputs), O observations, P positions, Q states of a machine,
    S prediction steps, M bottlenecks, K codes in a dictionary, D width,
    J unique code tuples, V nodes, E edges, L actions of a plan.

A *code* is an index into a dictionary, a *node* a vertex of the map, a *position* a true place.
Arrays become read-only when a record takes them in, so what is frozen stays frozen.
"""

from cogmap.records.codes import Codes, ImaginedMoves, PredictedFutures
from cogmap.records.cognitive_map import EDGE_FIELDS, CognitiveMap
from cogmap.records.fields import Booleans, Floats, Integers, Labels, label_of
from cogmap.records.plan import Plan
from cogmap.records.walks import Walks
from cogmap.records.worlds import ChanceWorld, TableWorld, Truth

__all__ = [
    "EDGE_FIELDS",
    "Booleans",
    "ChanceWorld",
    "Codes",
    "CognitiveMap",
    "Floats",
    "ImaginedMoves",
    "Integers",
    "Labels",
    "Plan",
    "PredictedFutures",
    "TableWorld",
    "Truth",
    "Walks",
    "label_of",
]
