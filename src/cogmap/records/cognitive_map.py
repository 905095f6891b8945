"""The map: nodes, edges by actions, and how likely each is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cogmap.errors import BadRun
from cogmap.records.fields import (
    Booleans,
    Floats,
    Integers,
    Labels,
    check_labels,
    check_range,
    check_shape,
    label_of,
    take_booleans,
    take_integers,
    take_rewards,
    take_shares,
)

EDGE_FIELDS = (
    "edge_source",
    "edge_action",
    "edge_target",
    "edge_support",
    "edge_probability",
    "edge_imagined",
    "edge_guessed",
    "edge_reward",
)


@dataclass(frozen=True, eq=False)
class CognitiveMap:
    """A graph of places: `edge_action[e]` leads from node `edge_source[e]` to node `edge_target[e]`."""

    kind: str  # "minimal" or "paper": which builder made it
    node_observation: Integers  # (V,) what is seen there
    node_support: Integers  # (V,) steps on which the node was active; int64 where they are more than 2^31
    edge_source: Integers  # (E,)
    edge_action: Integers  # (E,)
    edge_target: Integers  # (E,)
    edge_support: Integers  # (E,) times the transition was taken; int64 as above
    code_tuples: Integers  # (J, M) every tuple met, in lexicographic order
    code_node: Integers  # (J,) the node of each tuple, or -1 where it stands for no one place
    num_observations: int
    num_actions: int
    explained: float  # share of the observations of held-out walks that the map alone predicts
    warnings: tuple[str, ...] = ()  # reasons not to trust the map; empty when there is none
    observation_labels: Labels | None = None
    action_labels: Labels | None = None
    edge_probability: Floats | None = None  # (E,) of its target, given node and action; None is by support
    edge_imagined: Booleans | None = None  # (E,) never taken, only predicted by the model; None is nowhere
    edge_guessed: Booleans | None = None  # (E,) its target is uncertain: no plan uses it; None is nowhere
    seen_node: Integers | None = None  # (I,) in ascending order
    seen_observation: Integers | None = None  # (I,)
    seen_probability: Floats | None = None  # (I,) of seeing it at that node; None is `node_observation` alone
    model_accuracy: float | None = None  # the same share as `explained`, of what the model predicts
    start_probability: Floats | None = None  # (V,) of the node at which a walk starts; None is by support
    edge_reward: Floats | None = None  # (E,) mean reward of the move; None without rewards
    # (C,) row of `code_tuples`, of held-out steps at known nodes; of the paper's map, each code that has several nodes
    sign_code: Integers | None = None
    sign_node: Integers | None = None  # (C,) the node of these steps
    sign_count: Integers | None = None  # (C,) how many they were; None is not counted
    sign_weight: float | None = None  # how much codes say beside observations, 0 to 1; None is not known

    def __post_init__(self) -> None:
        for name in ("node_observation", "edge_source", "edge_action", "edge_target"):
            take_integers(self, name, 1, BadRun)
        for name in ("node_support", "edge_support"):
            take_integers(self, name, 1, BadRun, may_be_wide=True)
        take_integers(self, "code_tuples", 2, BadRun)
        take_integers(self, "code_node", 1, BadRun)
        check_shape("node_support", self.node_support, self.node_observation.shape, BadRun)
        for name in ("edge_action", "edge_target", "edge_support"):
            check_shape(name, getattr(self, name), self.edge_source.shape, BadRun)
        check_shape("code_node", self.code_node, self.code_tuples.shape[:1], BadRun)
        check_range("node_observation", self.node_observation, self.num_observations, BadRun)
        check_range("edge_source", self.edge_source, self.num_nodes, BadRun)
        check_range("edge_target", self.edge_target, self.num_nodes, BadRun)
        check_range("edge_action", self.edge_action, self.num_actions, BadRun)
        check_range("code_node", self.code_node + 1, self.num_nodes + 1, BadRun)
        self._take_probabilities()
        check_labels("observation_labels", self.observation_labels, self.num_observations, BadRun)
        check_labels("action_labels", self.action_labels, self.num_actions, BadRun)

    def __repr__(self) -> str:
        kind = "map" if self.kind == "minimal" else f"{self.kind} map"
        trust = f"{self.explained:.1%} explained" + "".join(f"; warning: {each}" for each in self.warnings)
        return f"CognitiveMap: a {kind} of {self.num_nodes} places and {self.num_edges} moves, {trust}"

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        import cogmap  # a record reaches other rooms only by the package's public names

        return cogmap.sketch(self)

    def _take_probabilities(self) -> None:
        """Fill in what a map of an earlier format lacks, and check the rest."""
        move = self.edge_source.astype(np.int64) * self.num_actions + self.edge_action  # (E,)
        if self.edge_probability is None:
            support = np.maximum(self.edge_support, 1).astype(np.float64)
            total = np.bincount(move, weights=support, minlength=1)
            object.__setattr__(self, "edge_probability", support / total[move])
        if self.edge_imagined is None:
            object.__setattr__(self, "edge_imagined", np.zeros(self.num_edges, dtype=bool))
        for name in ("edge_imagined", "edge_guessed"):
            if getattr(self, name) is not None:
                take_booleans(self, name, self.num_edges)
        if self.seen_node is None or self.seen_observation is None or self.seen_probability is None:
            object.__setattr__(self, "seen_node", np.arange(self.num_nodes, dtype=np.int32))
            object.__setattr__(self, "seen_observation", self.node_observation)
            object.__setattr__(self, "seen_probability", np.ones(self.num_nodes))
        take_integers(self, "seen_node", 1, BadRun)
        take_integers(self, "seen_observation", 1, BadRun)
        node, observation = np.asarray(self.seen_node), np.asarray(self.seen_observation)
        check_range("seen_node", node, self.num_nodes, BadRun)
        check_range("seen_observation", observation, self.num_observations, BadRun)
        check_shape("seen_observation", observation, node.shape, BadRun)
        take_shares(self, "edge_probability", move, self.edge_source.shape)
        take_shares(self, "seen_probability", node, node.shape)
        if self.start_probability is not None:
            all_of_one = np.zeros(self.num_nodes, dtype=np.int64)
            take_shares(self, "start_probability", all_of_one, (self.num_nodes,))
        if self.edge_reward is not None:
            take_rewards(self, "edge_reward", self.edge_source.shape)
        self._take_signs()

    def _take_signs(self) -> None:
        """How often each tuple of codes was met at each node: all of it or nothing."""
        names = ("sign_code", "sign_node", "sign_count")
        if all(getattr(self, name) is None for name in names):
            return
        for name in names:
            take_integers(self, name, 1, BadRun)
        code, node, count = (np.asarray(getattr(self, name)) for name in names)
        check_shape("sign_node", node, code.shape, BadRun)
        check_shape("sign_count", count, code.shape, BadRun)
        check_range("sign_code", code, len(self.code_tuples), BadRun)
        check_range("sign_node", node, self.num_nodes, BadRun)
        if count.min(initial=0) < 0:
            raise BadRun(f"`sign_count` must be at least 0, got {count.min()}")
        if self.sign_weight is not None and not 0 <= self.sign_weight <= 1:
            raise BadRun(f"`sign_weight` must be from 0 to 1, got {self.sign_weight}")

    @property
    def num_nodes(self) -> int:
        return self.node_observation.shape[0]

    @property
    def num_edges(self) -> int:
        return self.edge_source.shape[0]

    def guesses(self) -> Booleans:
        """(E,) which edges are guessed."""
        return np.zeros(self.num_edges, dtype=bool) if self.edge_guessed is None else self.edge_guessed

    def known(self) -> CognitiveMap:
        """Without edges that are guessed: they help to locate an agent, but no plan counts on one."""
        return self if self.edge_guessed is None else self._with_edges(~self.edge_guessed, edge_guessed=None)

    def _with_edges(self, kept: Any, **changes: Any) -> CognitiveMap:
        """With some of the edges, given by a mask or indices, and other fields changed."""
        values = {name: getattr(self, name) for name in EDGE_FIELDS if getattr(self, name) is not None}
        return replace(self, **{name: value[kept] for name, value in values.items()} | changes)

    def deterministic(self) -> CognitiveMap:
        """A minimal map with the likeliest known edge of each node and action only; any other stays as it is."""
        return self.known().shown()

    def shown(self) -> CognitiveMap:
        """What a picture shows: as `deterministic`, but with the guesses, still marked."""
        move = self.edge_source.astype(np.int64) * self.num_actions + self.edge_action  # (E,)
        if self.kind != "minimal" or len(np.unique(move)) == self.num_edges:
            return self
        best = np.full(self.num_nodes * self.num_actions, -1)
        ascending = np.argsort(np.asarray(self.edge_probability), kind="stable")
        best[move[ascending]] = ascending  # the last write is the likeliest
        kept = np.sort(best[best >= 0])
        return self._with_edges(kept, edge_probability=np.ones(len(kept)))

    def move_probability(self) -> Floats:
        """(E,) of each edge of `shown()`: how likely its action leads there on this map."""
        drawn = self.shown()
        if drawn is self:
            return np.asarray(self.edge_probability)
        move = self.edge_source.astype(np.int64) * self.num_actions + self.edge_action
        most = np.zeros(self.num_nodes * self.num_actions)
        np.maximum.at(most, move, np.asarray(self.edge_probability))
        return most[drawn.edge_source.astype(np.int64) * self.num_actions + drawn.edge_action]

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
        """A dictionary an edge: ends, action, label, support, probability, and whether it is imagined or guessed."""
        names = (
            "edge_source",
            "edge_target",
            "edge_action",
            "edge_support",
            "edge_probability",
            "edge_imagined",
        )
        columns = [*(getattr(self, name) for name in names), self.guesses()]
        return [
            {
                "source": source,
                "target": target,
                "action": action,
                "label": str(label_of(self.action_labels, action)),
                "support": support,
                "probability": probability,
                "imagined": imagined,
                "guessed": guessed,
            }
            for source, target, action, support, probability, imagined, guessed in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def to_gymnasium(self, goal: int | None = None, max_steps: int | None = None) -> Any:
        """The map as a Gymnasium environment that shows observations, never nodes (extra `gym`).

        goal: the node at which an episode ends with reward 1; None is the rewards of the map, and no end.
        max_steps: actions after which an episode is truncated; None is never.
        """
        import cogmap

        return cogmap.environment_of_map(self, goal, max_steps)

    def to_networkx(self) -> Any:
        """The map as a MultiDiGraph: an edge's key is its action, since two actions may lead the same way."""
        import networkx

        graph = networkx.MultiDiGraph(kind=self.kind, explained=self.explained)
        for node in self.node_rows():
            graph.add_node(node.pop("id"), **node)
        for edge in self.edge_rows():
            graph.add_edge(edge.pop("source"), edge.pop("target"), key=edge["action"], **edge)
        return graph
