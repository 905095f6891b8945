"""What the nodes of a latent graph stand for, as tables; and a text walked on it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.records import CognitiveMap, Integers, label_of
from cogmap.report.tables import Table

_SHOWN = 24  # nodes, the most visited ones
_FOLLOWING = 4  # next nodes of each


def node_table(cognitive_map: CognitiveMap, concepts: NodeConcepts | None) -> Table:
    """The most visited nodes: their word, how often they are active, what follows, and their concept."""
    total = max(int(cognitive_map.node_support.sum()), 1)
    rows = []
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_SHOWN].tolist():
        row = (
            f"{node}: {_word(cognitive_map, node)}",
            f"{cognitive_map.node_support[node] / total:.2%}",
            _following(cognitive_map, node),
        )
        rows.append(row if concepts is None else (*row, _concept(concepts, node)))
    columns = ("node", "of the steps", "what follows") + (() if concepts is None else ("concept",))
    return Table(columns, tuple(rows), "A word may have many nodes: one for each of its uses.")


def word_table(cognitive_map: CognitiveMap) -> Table:
    """The words with the most nodes: those whose meaning depends most on what came before."""
    used = cognitive_map.node_support > 0
    nodes = np.bincount(cognitive_map.node_observation[used], minlength=cognitive_map.num_observations)
    rows = [
        (str(label_of(cognitive_map.observation_labels, word)), str(nodes[word]))
        for word in np.argsort(-nodes, kind="stable")[:_SHOWN].tolist()
        if nodes[word]
    ]
    return Table(("word", "nodes"), tuple(rows))


def walk_text(cognitive_map: CognitiveMap, units: int, rng: np.random.Generator) -> list[str]:
    """A text of so many units: from node to node, each edge as likely as it was taken."""
    if not cognitive_map.num_edges:
        return []
    node = int(cognitive_map.edge_source[cognitive_map.edge_support.argmax()])
    told = []
    for _ in range(units):
        told.append(_word(cognitive_map, node))
        edges = np.flatnonzero(cognitive_map.edge_source == node)
        if not len(edges):
            break
        taken = cognitive_map.edge_support[edges]
        node = int(cognitive_map.edge_target[rng.choice(edges, p=taken / taken.sum())])
    return told


def _following(cognitive_map: CognitiveMap, node: int) -> str:
    edges = np.flatnonzero(cognitive_map.edge_source == node)
    taken = cognitive_map.edge_support[edges]
    order = np.argsort(-taken, kind="stable")[:_FOLLOWING]
    shares = taken[order] / max(int(taken.sum()), 1)
    return _listed(cognitive_map, cognitive_map.edge_target[edges[order]], shares.tolist())


def _listed(cognitive_map: CognitiveMap, nodes: Integers, shares: Iterable[float]) -> str:
    told = [
        f"{_word(cognitive_map, node)} {share:.0%}"
        for node, share in zip(nodes.tolist(), shares, strict=True)
    ]
    return ", ".join(told) or "nothing"


def _word(cognitive_map: CognitiveMap, node: int) -> str:
    return str(label_of(cognitive_map.observation_labels, int(cognitive_map.node_observation[node])))


def _concept(concepts: NodeConcepts, node: int) -> str:
    concept = int(concepts.concept[node])
    return "never active" if concept < 0 else concepts.names[concept]
