"""The frozen records that pass from room to room, each field with its shape.

One legend for every shape in this package:

    B walks, N steps of the longest walk, A actions, O observations, P positions,
    S prediction steps, M bottlenecks, K codes in a dictionary, D width,
    J unique code tuples, V nodes, E edges, L actions of a plan.

A *code* is an index into a dictionary, a *node* a vertex of the map, a *position* a true place.
Arrays become read-only when a record takes them in, so what is frozen stays frozen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun, BadWalks, BadWorld, CogmapError

Integers = NDArray[np.int32]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Labels = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Walks:
    """What an agent saw and did: `actions[b, n]` is taken at step n and leads to `observations[b, n + 1]`.

    Steps past a walk's length are padding and hold 0. Text is a walk with one action, `next`.
    """

    observations: Integers  # (B, N) in [0, num_observations)
    actions: Integers  # (B, N - 1) in [0, num_actions)
    lengths: Integers  # (B,) observations in each walk, from 2 to N
    num_observations: int
    num_actions: int
    observation_labels: Labels | None = None  # num_observations strings
    action_labels: Labels | None = None  # num_actions strings

    def __post_init__(self) -> None:
        _take(self, "observations", 2, BadWalks)
        _take(self, "actions", 2, BadWalks)
        _take(self, "lengths", 1, BadWalks)
        walks, steps = self.observations.shape
        if walks == 0:
            raise BadWalks("there must be at least one walk, got none")
        if self.actions.shape != (walks, steps - 1):
            rule = f"`actions` must have shape (B, N - 1) = {(walks, steps - 1)}"
            raise BadWalks(f"{rule}, got {self.actions.shape}")
        if self.lengths.shape != (walks,):
            raise BadWalks(f"`lengths` must have shape (B,) = {(walks,)}, got {self.lengths.shape}")
        short = int(self.lengths.argmin())
        if self.lengths[short] < 2:
            raise BadWalks(f"a walk must have at least 2 steps, walk {short} has {self.lengths[short]}")
        if self.lengths.max() > steps:
            raise BadWalks(f"`lengths` must be at most N (={steps}), got {self.lengths.max()}")
        _check_range("observations", self.observations, self.num_observations, BadWalks)
        _check_range("actions", self.actions, self.num_actions, BadWalks)
        _check_labels("observation_labels", self.observation_labels, self.num_observations, BadWalks)
        _check_labels("action_labels", self.action_labels, self.num_actions, BadWalks)

    @property
    def num_walks(self) -> int:
        return self.observations.shape[0]

    @property
    def num_steps(self) -> int:
        """Observations of the longest walk, N."""
        return self.observations.shape[1]

    def step_mask(self) -> Booleans:
        """(B, N): true where there is an observation and not padding."""
        return np.arange(self.num_steps) < self.lengths[:, None]

    def rows(self, chosen: Any) -> Walks:
        """Some of the walks: a slice, a mask or indices."""
        return replace(
            self,
            observations=self.observations[chosen],
            actions=self.actions[chosen],
            lengths=self.lengths[chosen],
        )


@dataclass(frozen=True, eq=False)
class TableWorld:
    """A deterministic world as tables: where each action leads from each position, and what is seen there."""

    next_position: Integers  # (P, A)
    observation: Integers  # (P,) in [0, num_observations)
    num_observations: int
    legal: Booleans | None = None  # (P, A) actions an agent may draw there; None is all of them
    coordinates: Floats | None = None  # (P, 2) or (P, 3) row, column(, heading or face), for pictures only
    observation_labels: Labels | None = None
    action_labels: Labels | None = None
    name: str = "table"

    def __post_init__(self) -> None:
        _take(self, "next_position", 2, BadWorld)
        _take(self, "observation", 1, BadWorld)
        positions, actions = self.next_position.shape
        if positions == 0 or actions == 0:
            raise BadWorld(f"a world needs a position and an action, got shape {self.next_position.shape}")
        if self.observation.shape != (positions,):
            raise BadWorld(
                f"`observation` must have shape (P,) = {(positions,)}, got {self.observation.shape}"
            )
        _check_range("next_position", self.next_position, positions, BadWorld)
        _check_range("observation", self.observation, self.num_observations, BadWorld)
        _check_labels("observation_labels", self.observation_labels, self.num_observations, BadWorld)
        _check_labels("action_labels", self.action_labels, actions, BadWorld)
        if self.legal is not None:
            legal = np.asarray(self.legal, dtype=bool)
            if legal.shape != (positions, actions):
                raise BadWorld(f"`legal` must have shape (P, A) = {(positions, actions)}, got {legal.shape}")
            if not legal.any(axis=1).all():
                stuck = int(np.flatnonzero(~legal.any(axis=1))[0])
                raise BadWorld(f"every position needs a legal action, position {stuck} has none")
            object.__setattr__(self, "legal", _read_only(legal.copy()))
        if self.coordinates is not None:
            coordinates = np.asarray(self.coordinates, dtype=np.float64)
            if (
                coordinates.ndim != 2
                or coordinates.shape[0] != positions
                or coordinates.shape[1] not in (2, 3)
            ):
                raise BadWorld(f"`coordinates` must have shape (P, 2) or (P, 3), got {coordinates.shape}")
            object.__setattr__(self, "coordinates", _read_only(coordinates.copy()))

    @property
    def num_positions(self) -> int:
        return self.next_position.shape[0]

    @property
    def num_actions(self) -> int:
        return self.next_position.shape[1]

    def legal_actions(self) -> Booleans:
        """(P, A): `legal`, or all true where every action may be drawn everywhere."""
        return np.ones(self.next_position.shape, dtype=bool) if self.legal is None else self.legal


@dataclass(frozen=True, eq=False)
class Truth:
    """Where the agent really was. Only `evaluation` and `report` may hold one."""

    positions: Integers  # (B, N) in [0, P); 0 past a walk's length
    world: TableWorld

    def __post_init__(self) -> None:
        _take(self, "positions", 2, BadWalks)
        _check_range("positions", self.positions, self.world.num_positions, BadWalks)


@dataclass(frozen=True, eq=False)
class Codes:
    """The active dictionary entries, one tuple a step: `codes[b, n]` has seen x_0, a_0, ..., x_n and no more."""

    codes: Integers  # (B, N, M) in [0, num_codes); 0 past a walk's length
    lengths: Integers  # (B,)
    num_codes: int

    def __post_init__(self) -> None:
        _take(self, "codes", 3, BadRun)
        _take(self, "lengths", 1, BadRun)
        if self.lengths.shape != self.codes.shape[:1]:
            raise BadRun(f"`lengths` must have shape {self.codes.shape[:1]}, got {self.lengths.shape}")
        _check_range("codes", self.codes, self.num_codes, BadRun)

    @property
    def bottlenecks(self) -> int:
        return self.codes.shape[2]

    def rows(self, chosen: Any) -> Codes:
        """Some of the walks' codes: a slice, a mask or indices."""
        return replace(self, codes=self.codes[chosen], lengths=self.lengths[chosen])


@dataclass(frozen=True, eq=False)
class CognitiveMap:
    """A graph of places: `edge_action[e]` leads from node `edge_source[e]` to node `edge_target[e]`."""

    kind: str  # "minimal" or "paper": which builder made it
    node_observation: Integers  # (V,) what is seen there
    node_support: Integers  # (V,) steps on which the node was active
    edge_source: Integers  # (E,)
    edge_action: Integers  # (E,)
    edge_target: Integers  # (E,)
    edge_support: Integers  # (E,) times the transition was taken
    code_tuples: Integers  # (J, M) every tuple met, in lexicographic order
    code_node: Integers  # (J,) the node of each tuple, or -1 where it stands for no one place
    num_observations: int
    num_actions: int
    explained: float  # share of all steps that follow an edge of the map
    warnings: tuple[str, ...] = ()  # reasons not to trust the map; empty when there is none
    observation_labels: Labels | None = None
    action_labels: Labels | None = None

    def __post_init__(self) -> None:
        for name in ("node_observation", "node_support", "edge_source", "edge_action", "edge_target"):
            _take(self, name, 1, BadRun)
        _take(self, "edge_support", 1, BadRun)
        _take(self, "code_tuples", 2, BadRun)
        _take(self, "code_node", 1, BadRun)
        if self.node_support.shape != self.node_observation.shape:
            raise BadRun(
                f"`node_support` must have shape {self.node_observation.shape}, got {self.node_support.shape}"
            )
        for name in ("edge_action", "edge_target", "edge_support"):
            if getattr(self, name).shape != self.edge_source.shape:
                raise BadRun(
                    f"`{name}` must have shape {self.edge_source.shape}, got {getattr(self, name).shape}"
                )
        if self.code_node.shape != self.code_tuples.shape[:1]:
            raise BadRun(
                f"`code_node` must have shape {self.code_tuples.shape[:1]}, got {self.code_node.shape}"
            )
        _check_range("node_observation", self.node_observation, self.num_observations, BadRun)
        _check_range("edge_source", self.edge_source, self.num_nodes, BadRun)
        _check_range("edge_target", self.edge_target, self.num_nodes, BadRun)
        _check_range("edge_action", self.edge_action, self.num_actions, BadRun)
        _check_range("code_node", self.code_node + 1, self.num_nodes + 1, BadRun)
        _check_labels("observation_labels", self.observation_labels, self.num_observations, BadRun)
        _check_labels("action_labels", self.action_labels, self.num_actions, BadRun)

    @property
    def num_nodes(self) -> int:
        return self.node_observation.shape[0]

    @property
    def num_edges(self) -> int:
        return self.edge_source.shape[0]

    def node_rows(self) -> list[dict[str, Any]]:
        """A dictionary a node: its id, observation, label and support."""
        columns = zip(self.node_observation.tolist(), self.node_support.tolist(), strict=True)
        return [
            {
                "id": node,
                "observation": observation,
                "label": str(label_of(self.observation_labels, observation)),
                "support": support,
            }
            for node, (observation, support) in enumerate(columns)
        ]

    def edge_rows(self) -> list[dict[str, Any]]:
        """A dictionary an edge: its source, target, action, label and support."""
        columns = (self.edge_source, self.edge_target, self.edge_action, self.edge_support)
        return [
            {
                "source": source,
                "target": target,
                "action": action,
                "label": str(label_of(self.action_labels, action)),
                "support": support,
            }
            for source, target, action, support in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def to_networkx(self) -> Any:
        """The map as a MultiDiGraph: an edge's key is its action, since two actions may lead the same way."""
        import networkx

        graph = networkx.MultiDiGraph(kind=self.kind, explained=self.explained)
        for node in self.node_rows():
            graph.add_node(node.pop("id"), **node)
        for edge in self.edge_rows():
            graph.add_edge(edge.pop("source"), edge.pop("target"), key=edge["action"], **edge)
        return graph


@dataclass(frozen=True, eq=False)
class Plan:
    """The way from `nodes[0]` to `nodes[-1]`: `actions[i]` leads from `nodes[i]` to `nodes[i + 1]`."""

    actions: Integers  # (L,)
    observations: Integers  # (L + 1,) what is to be seen at each node, the start's included
    nodes: Integers  # (L + 1,)
    observation_labels: Labels | None = None
    action_labels: Labels | None = None

    def __post_init__(self) -> None:
        for name in ("actions", "observations", "nodes"):
            _take(self, name, 1, CogmapError)

    def __len__(self) -> int:
        return self.actions.shape[0]


def label_of(labels: Labels | None, index: int) -> str | int:
    """The user's own word for an index, or the index itself where there are no words."""
    return int(index) if labels is None else labels[index]


def _take(record: Any, name: str, ndim: int, error: type[CogmapError]) -> None:
    """Replace a field by a read-only int32 copy of itself, or raise what it was instead."""
    array = np.asarray(getattr(record, name))
    frozen = array.dtype == np.int32 and not array.flags.writeable and array.base is None  # needs no copy
    if array.ndim != ndim:
        raise error(f"`{name}` must have {ndim} dimension(s), got shape {array.shape}")
    if array.dtype.kind not in "iu" and array.size:
        raise error(f"`{name}` must hold integers, got dtype {array.dtype}")
    limits = np.iinfo(np.int32)
    if array.dtype != np.int32 and array.size and (array.min() < limits.min or array.max() > limits.max):
        raise error(f"`{name}` must fit 32-bit integers, got {array.min()} to {array.max()}")
    object.__setattr__(record, name, array if frozen else _read_only(array.astype(np.int32)))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _check_range(name: str, array: Integers, bound: int, error: type[CogmapError]) -> None:
    if array.size and (array.min() < 0 or array.max() >= bound):
        raise error(f"`{name}` must be in [0, {bound}), got {array.min()} to {array.max()}")


def _check_labels(name: str, labels: Labels | None, count: int, error: type[CogmapError]) -> None:
    if labels is None:
        return
    if len(labels) != count:
        raise error(f"`{name}` must hold {count} labels, got {len(labels)}")
    if len(set(labels)) != count:
        repeated = Counter(labels).most_common(1)[0][0]
        raise error(f"`{name}` must be distinct, got {repeated!r:.60} more than once")
