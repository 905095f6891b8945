"""The clusters of a text's latent graph: nodes that lead to each other more than to others, named by their words."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from cogmap.records import CognitiveMap, Integers, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.style import FADED, INK, styled
from cogmap.report.tables import Table

_MOST_CLUSTERS = 12  # the smaller ones are left out of picture and table
_WORDS = 4  # that name a cluster in the picture
_TABLE_WORDS = 12
_LEAST_FLOW = 0.05  # of a cluster's steps; an arrow for less would be one of many


def find_clusters(graph: CognitiveMap) -> Integers:
    """(V,) the cluster of each node by Louvain's method on the undirected moves, most visited clusters first."""
    import networkx

    weighted = networkx.Graph()
    weighted.add_nodes_from(range(graph.num_nodes))
    for one, other, times in zip(
        graph.edge_source.tolist(), graph.edge_target.tolist(), graph.edge_support.tolist(), strict=True
    ):
        before = weighted.edges[one, other]["weight"] if weighted.has_edge(one, other) else 0
        weighted.add_edge(one, other, weight=before + times)
    found = networkx.community.louvain_communities(weighted, seed=0)
    visits = [sum(int(graph.node_support[node]) for node in members) for members in found]
    cluster = np.empty(graph.num_nodes, dtype=np.int32)
    for number, index in enumerate(np.argsort([-count for count in visits], kind="stable").tolist()):
        cluster[list(found[index])] = number
    return cluster


def cluster_words(graph: CognitiveMap, cluster: Integers, number: int, most: int) -> list[str]:
    """The words that are met most often in a cluster."""
    times = np.zeros(graph.num_observations, dtype=np.int64)
    inside = cluster == number
    np.add.at(times, graph.node_observation[inside], graph.node_support[inside])
    words = np.argsort(-times, kind="stable")[:most]
    return [str(label_of(graph.observation_labels, int(word))) for word in words if times[word]]


def cluster_table(graph: CognitiveMap, cluster: Integers) -> Table:
    """The largest clusters: their share of the text, how many nodes they have, and their words."""
    share = _shares(graph, cluster)
    nodes = np.bincount(cluster)
    rows = tuple(
        (
            f"cluster {number + 1}",
            f"{share[number]:.1%}",
            str(nodes[number]),
            ", ".join(cluster_words(graph, cluster, number, _TABLE_WORDS)),
        )
        for number in range(min(len(nodes), _MOST_CLUSTERS))
    )
    return Table(("", "share of steps", "nodes", "most frequent words"), rows)


@styled
def cluster_figure(graph: CognitiveMap, cluster: Integers) -> Figure:
    """The largest clusters on a circle as discs, and arrows where one often leads to another."""
    share = _shares(graph, cluster)
    shown = min(len(share), _MOST_CLUSTERS)
    angle = np.pi / 2 - 2 * np.pi * np.arange(shown) / shown
    places = np.stack([1.6 * np.cos(angle), np.sin(angle)], axis=1)
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    axes = figure.add_subplot()
    for source, target in zip(
        *np.nonzero(_flows(graph, cluster)[:shown, :shown] >= _LEAST_FLOW), strict=True
    ):
        flow = _flows(graph, cluster)[source, target]
        arrow = FancyArrowPatch(
            places[source],
            places[target],
            arrowstyle="-|>",
            connectionstyle="arc3,rad=0.12",
            shrinkA=16,
            shrinkB=16,
            mutation_scale=9,
            linewidth=0.6 + 4 * flow,
            color=FADED,
            zorder=1,
        )
        axes.add_patch(arrow)
    sizes = 150 + 4000 * share[:shown]
    colours = list(observation_colours(shown))
    axes.scatter(places[:, 0], places[:, 1], s=sizes, c=colours, edgecolors=INK, linewidths=0.7, zorder=2)
    for number, place in enumerate(places):
        words = "\n".join(_cut(word) for word in cluster_words(graph, cluster, number, _WORDS))
        outward = place / np.linalg.norm(place)
        axes.annotate(
            words.replace("$", r"\$"),
            place,
            xytext=tuple(outward * (np.sqrt(sizes[number] / np.pi) + 4)),
            textcoords="offset points",
            ha="center" if abs(outward[0]) < 0.3 else "left" if outward[0] > 0 else "right",
            va="center" if abs(outward[1]) < 0.5 else "bottom" if outward[1] > 0 else "top",
            fontsize=8,
            zorder=3,
        )
    axes.set(aspect="equal")
    axes.margins(0.22)
    axes.set_axis_off()
    return figure


def _cut(word: str) -> str:
    return word if len(word) <= 14 else f"{word[:13]}…"


def _shares(graph: CognitiveMap, cluster: Integers) -> np.ndarray:
    """(clusters,) the share of all steps that are in each."""
    visits = np.bincount(cluster, weights=graph.node_support)
    return np.asarray(visits / max(visits.sum(), 1))


def _flows(graph: CognitiveMap, cluster: Integers) -> np.ndarray:
    """(clusters, clusters) the share of a cluster's moves that lead to another one; 0 on the diagonal."""
    count = int(cluster.max()) + 1
    moves = np.zeros((count, count))
    np.add.at(moves, (cluster[graph.edge_source], cluster[graph.edge_target]), graph.edge_support)
    flows = moves / np.maximum(moves.sum(axis=1, keepdims=True), 1)
    np.fill_diagonal(flows, 0)
    return np.asarray(flows)
