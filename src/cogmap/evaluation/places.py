"""Which true place each node of a map stands for, and whether the map equals the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.errors import BadWalks
from cogmap.planning.localise import estimated_nodes
from cogmap.records import Booleans, Codes, CognitiveMap, Integers, TableWorld, Truth, Walks

MERGED_SHARE = 0.9  # a node with less than this share of its steps at one position stands for several places
_STEPS_PER_NODE, _FEWEST_STEPS, _MOST_STEPS = 40, 5_000, 100_000  # that are read without codes, in total


@dataclass(frozen=True, eq=False)
class NodePlaces:
    """The true positions at which each node was active."""

    nodes: Integers  # (B, N) the node of every step of the walks that were read, -1 where there is none
    position: Integers  # (V,) the most frequent position, -1 if the node was never active
    merged: Booleans  # (V,) whether the node stands for several positions
    purity: float  # share of located steps at the most frequent position of their node
    located: float  # share of steps that have a node
    places_covered: float  # share of all positions that have a node
    nodes_per_place: float  # number of nodes with a position, divided by the number of positions with a node


def true_places(
    cognitive_map: CognitiveMap, walks: Walks, truth: Truth, codes: Codes | None = None
) -> NodePlaces:
    """The places of a map's nodes, in the same way for scores, reports and the explorer.

    With the model's `codes` all walks are read. Without them the map alone localises the agent, and only as many
    walks are read as are needed to visit every node several times, so that large files take little time.
    """
    if codes is None:
        some = slice(_enough_walks(walks, cognitive_map.num_nodes))
        walks, truth = walks.rows(some), Truth(truth.positions[some], truth.world)
    nodes = estimated_nodes(cognitive_map, walks.observations, walks.actions, walks.lengths, codes)
    return node_places(nodes, walks.step_mask(), cognitive_map.num_nodes, truth)


def node_places(nodes: Integers, steps: Booleans, num_nodes: int, truth: Truth) -> NodePlaces:
    """The places of a map's nodes, from the node of every step (B, N), -1 where there is none.

    `steps` (B, N) is false on padding, which is ignored.
    """
    if nodes.shape != truth.positions.shape or steps.shape != nodes.shape:
        shapes = f"{nodes.shape}, {steps.shape} and {truth.positions.shape}"
        raise BadWalks(f"nodes, steps and true positions must have one shape (B, N), got {shapes}")
    located = steps & (nodes >= 0)
    node, position = nodes[located].astype(np.int64), truth.positions[located]
    places = truth.world.num_positions
    cells, visits = np.unique(node * places + position, return_counts=True)
    rising = np.argsort(visits, kind="stable")  # the last write is the most frequent
    cells, visits = cells[rising], visits[rising]
    majority, most = np.full(num_nodes, -1, dtype=np.int32), np.zeros(num_nodes)
    majority[cells // places] = (cells % places).astype(np.int32)
    most[cells // places] = visits
    standing = majority[majority >= 0]
    covered = np.unique(standing).size
    return NodePlaces(
        nodes=nodes,
        position=majority,
        merged=most < MERGED_SHARE * np.bincount(node, minlength=num_nodes),
        purity=float((majority[node] == position).mean()) if node.size else 0.0,
        located=float(located.sum() / steps.sum()),
        places_covered=covered / places,
        nodes_per_place=standing.size / covered if covered else 0.0,
    )


def is_exact(cognitive_map: CognitiveMap, position: Integers, world: TableWorld) -> bool:
    """Whether the map equals the world: one node per position, its observation, and every likeliest move.

    Moves that stay in place may be missing on the map, but not wrong.
    """
    cognitive_map = cognitive_map.deterministic()
    if sorted(position.tolist()) != list(range(world.num_positions)):
        return False
    if (world.observation[position] != cognitive_map.node_observation).any():
        return False
    source, target = position[cognitive_map.edge_source], position[cognitive_map.edge_target]
    if (world.next_position[source, cognitive_map.edge_action] != target).any():
        return False
    moves = world.legal_actions() & (world.next_position != np.arange(world.num_positions)[:, None])
    known = np.zeros_like(moves)
    known[source, cognitive_map.edge_action] = True
    return bool(_neighbours(world, moves) <= _neighbours(world, moves & known))


def _enough_walks(walks: Walks, num_nodes: int) -> int:
    enough = min(max(_STEPS_PER_NODE * num_nodes, _FEWEST_STEPS), _MOST_STEPS)
    return max(1, int(np.searchsorted(np.cumsum(walks.lengths), enough, side="right")))


def _neighbours(world: TableWorld, moves: Booleans) -> set[tuple[int, int]]:
    """Pairs of positions that these moves (P, A) join; two actions between the same positions count as one."""
    source, action = np.nonzero(moves)
    return set(zip(source.tolist(), world.next_position[source, action].tolist(), strict=True))
