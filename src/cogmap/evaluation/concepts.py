"""Which concept each node of a latent graph belongs to, and how well nodes and edges keep to theirs.

C concepts. A document is of one concept throughout, so every step of it votes for the node it is at.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cogmap.errors import BadRun
from cogmap.files import read_json, write_json
from cogmap.records import CognitiveMap, Integers, Labels

SHARES = ("purity", "mean_node_purity", "edges_within", "moves_within")


@dataclass(frozen=True, eq=False)
class NodeConcepts:
    """The concept most frequent when a node is active, and how frequent."""

    names: Labels  # C
    concept: Integers  # (V,) in [0, C), -1 for a node that was never active
    purity: float  # share of the steps at nodes that are of their node's concept
    mean_node_purity: float  # the same share for each node, averaged over the nodes
    edges_within: float  # share of the edges between different nodes that join nodes of one concept
    moves_within: float  # the same, each edge counted as often as it was taken

    def save(self, path: str | Path) -> None:
        shares = {name: getattr(self, name) for name in SHARES}
        write_json(path, {"names": list(self.names), "concept": self.concept.tolist(), **shares})


def node_concepts(
    cognitive_map: CognitiveMap, nodes: Integers, concept: Integers, names: Labels
) -> NodeConcepts:
    """From the node at every step (B, N), -1 where there is none, and the concept of every walk (B,)."""
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
    """What `save` wrote, for a map of so many nodes."""
    stored = read_json(path, BadRun)
    try:
        found = NodeConcepts(
            names=tuple(map(str, stored["names"])),
            concept=np.array(stored["concept"], dtype=np.int32),
            **{name: float(stored[name]) for name in SHARES},
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadRun(f"{path} must hold the concepts of a map's nodes: {problem!r}") from problem
    if found.concept.shape != (num_nodes,) or found.concept.max(initial=-1) >= len(found.names):
        rule = f"{path} must name one of {len(found.names)} concepts for each of {num_nodes} nodes"
        raise BadRun(f"{rule}, got shape {found.concept.shape} up to {found.concept.max(initial=-1)}")
    return found
