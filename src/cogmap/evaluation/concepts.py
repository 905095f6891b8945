"""Which concept each node of a latent graph belongs to, and how well the graph separates the concepts.

C concepts. A document has one concept throughout, so each of its steps is a vote for the concept of the step's node.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.files import read_json, write_json
from cogmap.records import CognitiveMap, Integers, Labels

SHARES = ("purity", "mean_node_purity", "edges_within", "moves_within")


@dataclass(frozen=True, eq=False)
class NodeConcepts:
    """The most frequent concept at each node, and how frequent it is."""

    names: Labels  # C
    concept: Integers  # (V,) in [0, C), -1 for a node that was never active
    purity: float  # share of steps whose concept is that of their node
    mean_node_purity: float  # the same share for each node, averaged over the nodes
    edges_within: float  # share of edges, without self-loops, between nodes of the same concept
    moves_within: float  # the same, each edge weighted by how often it was taken

    def save(self, path: str | Path) -> None:
        shares = {name: getattr(self, name) for name in SHARES}
        write_json(path, {"names": list(self.names), "concept": self.concept.tolist(), **shares})


def node_concepts(
    cognitive_map: CognitiveMap, nodes: Integers, concept: Integers, names: Labels
) -> NodeConcepts:
    """The concepts of nodes, from the node of every step (B, N), -1 for none, and the concept of every walk (B,)."""
    located = nodes >= 0
    votes = np.zeros((cognitive_map.num_nodes, len(names)))
    np.add.at(votes, (nodes[located], np.broadcast_to(concept[:, None], nodes.shape)[located]), 1)
    active, most = votes.sum(axis=1), votes.max(axis=1, initial=0)
    found = np.where(active > 0, votes.argmax(axis=1), -1).astype(np.int32)
    source, target = cognitive_map.edge_source, cognitive_map.edge_target
    between = source != target
    within = found[source[between]] == found[target[between]]
    taken = cognitive_map.edge_support[between]
    return NodeConcepts(
        names=names,
        concept=found,
        purity=float(most.sum() / max(active.sum(), 1)),
        mean_node_purity=float((most[active > 0] / active[active > 0]).mean()) if located.any() else 0.0,
        edges_within=float(within.mean()) if len(within) else 0.0,
        moves_within=float(taken[within].sum() / max(taken.sum(), 1)),
    )


def load_concepts(path: str | Path, num_nodes: int) -> NodeConcepts:
    """Read what `save` wrote, for a map of `num_nodes` nodes."""
    where = f"{path} must hold the concepts of a map's nodes"
    stored = checked(_Stored, read_json(path, BadRun), where, BadRun)
    concept, names = stored.concept, stored.names
    if len(concept) != num_nodes or not -1 <= min(concept, default=-1) <= max(concept, default=-1) < len(
        names
    ):
        rule = f"{path} must name one of {len(names)} concepts for each of {num_nodes} nodes, or -1"
        got = f"{len(concept)} from {min(concept, default=-1)} to {max(concept, default=-1)}"
        raise BadRun(f"{rule}, got {got}")
    return NodeConcepts(
        names=names,
        concept=np.array(concept, dtype=np.int32),
        **{name: float(getattr(stored, name)) for name in SHARES},
    )


@dataclass(frozen=True)
class _Stored:
    """concepts.json."""

    names: tuple[str, ...]
    concept: tuple[int, ...]
    purity: float
    mean_node_purity: float
    edges_within: float
    moves_within: float
