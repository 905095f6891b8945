"""The frozen records that pass from room to room, each field with its shape.

One legend for every shape in this package:

    B walks, N steps of the longest walk, A actions (or inputs), O observations, P positions, Q states of a machine,
    S prediction steps, M bottlenecks, K codes in a dictionary, D width,
    J unique code tuples, V nodes, E edges, L actions of a plan.

A *code* is an index into a dictionary, a *node* a vertex of the map, a *position* a true place.
Arrays become read-only when a record takes them in, so what is frozen stays frozen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun, BadWalks, BadWorld, CogmapError

Integers = NDArray[np.int32]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Labels = tuple[str, ...]

_INT32 = np.iinfo(np.int32)
_MOST_SUPPORT = 1 << 53
_MOST_REWARD = 1e100  # in size: the sum over a log, and a policy's value, must be numbers too
_SUM_TOLERANCE = 1e-6  # of probabilities that were written with few digits


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
    rewards: Floats | None = None  # (B, N - 1) of each action; 0 past a walk's length

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
        if self.rewards is not None:
            _take_rewards(self, "rewards", self.actions.shape, BadWalks)

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

    def __repr__(self) -> str:
        lengths = sorted({int(self.lengths.min()), int(self.lengths.max())})
        sizes = f"{self.num_observations} observations, {self.num_actions} actions"
        return f"Walks: {self.num_walks} of {' to '.join(map(str, lengths))} steps, {sizes}"

    def rows(self, chosen: Any) -> Walks:
        """Some of the walks: a slice, a mask or indices."""
        return replace(
            self,
            observations=self.observations[chosen],
            actions=self.actions[chosen],
            lengths=self.lengths[chosen],
            rewards=None if self.rewards is None else self.rewards[chosen],
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
    start_probability: Floats | None = None  # (P,) of the position at which a walk starts; None is uniform

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
        if self.start_probability is not None:
            _take_probabilities(self, "start_probability", (positions,))

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
class ChanceWorld(TableWorld):
    """A world with chance in its moves and in what is seen.

    `next_position` and `observation` are the likeliest ones, so that whatever takes a `TableWorld` takes this one too.
    A move e leads from `move_source[e]` by `move_action[e]` to `move_target[e]` with `move_probability[e]`; those of
    one position and action sum to one. The record sorts them by source, action and target.
    """

    move_source: Integers = field(kw_only=True)  # (E,)
    move_action: Integers = field(kw_only=True)  # (E,)
    move_target: Integers = field(kw_only=True)  # (E,)
    move_probability: Floats = field(kw_only=True)  # (E,) above 0
    move_reward: Floats | None = field(default=None, kw_only=True)  # (E,) mean reward of the move
    observation_probability: Floats | None = field(default=None, kw_only=True)  # (P, O); None is no chance

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("move_source", "move_action", "move_target"):
            _take(self, name, 1, BadWorld)
        _check_range("move_source", self.move_source, self.num_positions, BadWorld)
        _check_range("move_action", self.move_action, self.num_actions, BadWorld)
        _check_range("move_target", self.move_target, self.num_positions, BadWorld)
        self._sort_moves()
        self._check_moves()
        if self.observation_probability is not None:
            shape = (self.num_positions, self.num_observations)
            _take_probabilities(self, "observation_probability", shape)
            _check_likeliest("observation", self.observation_probability, self.observation)

    @property
    def move_row(self) -> NDArray[np.int64]:
        """(E,): the number of each move's source and action, source * A + action, in ascending order."""
        return self.move_source.astype(np.int64) * self.num_actions + self.move_action

    def _sort_moves(self) -> None:
        moves = self.move_source.shape
        for name in ("move_action", "move_target", "move_probability", "move_reward"):
            array = getattr(self, name)
            if array is not None and np.shape(array) != moves:
                raise BadWorld(f"`{name}` must have shape (E,) = {moves}, got {np.shape(array)}")
        order = np.lexsort((self.move_target, self.move_action, self.move_source))
        for name in ("move_source", "move_action", "move_target"):
            object.__setattr__(self, name, _read_only(getattr(self, name)[order]))
        for name in ("move_probability", "move_reward"):
            if getattr(self, name) is not None:
                array = np.asarray(getattr(self, name), dtype=np.float64)[order]
                if not np.isfinite(array).all():
                    raise BadWorld(f"`{name}` must be finite, got NaN or infinity")
                object.__setattr__(self, name, _read_only(array))

    def _check_moves(self) -> None:
        if (self.move_probability <= 0).any():
            raise BadWorld(f"`move_probability` must be above 0, got {self.move_probability.min()}")
        row = self.move_row
        twice = np.flatnonzero((np.diff(row) == 0) & (np.diff(self.move_target) == 0))
        if twice.size:
            move = [
                int(column[twice[0]]) for column in (self.move_source, self.move_action, self.move_target)
            ]
            raise BadWorld(f"a source, action and target must be given once, got {tuple(move)} twice")
        total = np.bincount(row, self.move_probability, minlength=self.next_position.size)
        wrong = int(np.abs(total - 1).argmax())
        if abs(total[wrong] - 1) > _SUM_TOLERANCE:
            place = divmod(wrong, self.num_actions)
            rule = "`move_probability` must sum to one for every position and action"
            raise BadWorld(f"{rule}, got {total[wrong]} for position {place[0]} and action {place[1]}")
        likeliest = np.zeros(self.next_position.size)
        np.maximum.at(likeliest, row, self.move_probability)
        given = self.move_target == self.next_position.ravel()[row]  # (E,)
        chance = np.bincount(row[given], self.move_probability[given], minlength=self.next_position.size)
        if (chance < likeliest - _SUM_TOLERANCE).any():
            place = divmod(int((likeliest - chance).argmax()), self.num_actions)
            rule = "`next_position` must be a likeliest target"
            raise BadWorld(f"{rule}, it is not for position {place[0]} and action {place[1]}")


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
class PredictedFutures:
    """What a model predicts after each tuple of codes: the observation at the end of some sequences of actions."""

    tests: Integers  # (T, S) the actions of each sequence, then -1
    probabilities: NDArray[np.float32]  # (J, T, O) for each tuple that was met, in lexicographic order
    imagined: Integers | None = (
        None  # (J, Q) the observation at the end of longer sequences, -1 where it is not known
    )

    def __post_init__(self) -> None:
        _take(self, "tests", 2, BadRun)
        if self.probabilities.ndim != 3 or self.probabilities.shape[1] != len(self.tests):
            rule = f"`probabilities` must have shape (J, T, O) with T = {len(self.tests)}"
            raise BadRun(f"{rule}, got {self.probabilities.shape}")
        if self.imagined is not None and len(self.imagined) != len(self.probabilities):
            rule = f"`imagined` must have a row for each of {len(self.probabilities)} tuples"
            raise BadRun(f"{rule}, got {len(self.imagined)}")


@dataclass(frozen=True, eq=False)
class ImaginedMoves:
    """What a model imagines one action after some histories: the next observation, and the tuple of codes there."""

    code: Integers  # (H,) the row of each history's tuple among those that were met
    observation: Integers  # (H, A) -1 where the model is not sure
    next_code: Integers  # (H, A) the row of the next tuple, -1 where it is not sure, or was never met

    def __post_init__(self) -> None:
        _take(self, "code", 1, BadRun)
        for name in ("observation", "next_code"):
            _take(self, name, 2, BadRun)
            if len(getattr(self, name)) != len(self.code):
                raise BadRun(f"`{name}` must have {len(self.code)} rows, got {len(getattr(self, name))}")


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
    explained: (
        float  # share of the observations of held-out walks that the map alone predicts; of steps before 2.0
    )
    warnings: tuple[str, ...] = ()  # reasons not to trust the map; empty when there is none
    observation_labels: Labels | None = None
    action_labels: Labels | None = None
    edge_probability: Floats | None = None  # (E,) of its target, given node and action; None is by support
    edge_imagined: Booleans | None = None  # (E,) never taken, only predicted by the model; None is nowhere
    edge_guessed: Booleans | None = (
        None  # (E,) where it leads is not known for sure: no plan counts on it; None is nowhere
    )
    seen_node: Integers | None = None  # (I,) in rising order
    seen_observation: Integers | None = None  # (I,)
    seen_probability: Floats | None = None  # (I,) of seeing it at that node; None is `node_observation` alone
    model_accuracy: float | None = (
        None  # share of the same observations that the model predicts, beside `explained`
    )
    start_probability: Floats | None = None  # (V,) of the node at which a walk starts; None is by support
    edge_reward: Floats | None = None  # (E,) mean reward of the move; None without rewards
    sign_code: Integers | None = None  # (C,) row of `code_tuples`, of held-out steps at known nodes
    sign_node: Integers | None = None  # (C,) the node of these steps
    sign_count: Integers | None = None  # (C,) how many they were; None is not counted
    sign_weight: float | None = None  # how much codes say beside observations, 0 to 1; None is not known

    def __post_init__(self) -> None:
        for name in ("node_observation", "edge_source", "edge_action", "edge_target"):
            _take(self, name, 1, BadRun)
        for name in ("node_support", "edge_support"):
            _take(self, name, 1, BadRun, may_be_wide=True)
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
        self._take_probabilities()
        _check_labels("observation_labels", self.observation_labels, self.num_observations, BadRun)
        _check_labels("action_labels", self.action_labels, self.num_actions, BadRun)

    def __repr__(self) -> str:
        kind = "map" if self.kind == "minimal" else f"{self.kind} map"
        trust = f"{self.explained:.1%} explained" + "".join(f"; warning: {each}" for each in self.warnings)
        return f"CognitiveMap: a {kind} of {self.num_nodes} places and {self.num_edges} moves, {trust}"

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        import cogmap  # the package's face, by whose public names alone a record knows other rooms

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
                _take_truths(self, name, self.num_edges)
        if self.seen_node is None or self.seen_observation is None or self.seen_probability is None:
            object.__setattr__(self, "seen_node", np.arange(self.num_nodes, dtype=np.int32))
            object.__setattr__(self, "seen_observation", self.node_observation)
            object.__setattr__(self, "seen_probability", np.ones(self.num_nodes))
        _take(self, "seen_node", 1, BadRun)
        _take(self, "seen_observation", 1, BadRun)
        node, observation = np.asarray(self.seen_node), np.asarray(self.seen_observation)
        _check_range("seen_node", node, self.num_nodes, BadRun)
        _check_range("seen_observation", observation, self.num_observations, BadRun)
        if node.shape != observation.shape:
            raise BadRun(f"`seen_observation` must have shape {node.shape}, got {observation.shape}")
        _take_shares(self, "edge_probability", move, self.edge_source.shape)
        _take_shares(self, "seen_probability", node, node.shape)
        if self.start_probability is not None:
            _take_shares(
                self, "start_probability", np.zeros(self.num_nodes, dtype=np.int64), (self.num_nodes,)
            )
        if self.edge_reward is not None:
            _take_rewards(self, "edge_reward", self.edge_source.shape)
        self._take_signs()

    def _take_signs(self) -> None:
        """How often each tuple of codes was met at each node: all of it or nothing."""
        names = ("sign_code", "sign_node", "sign_count")
        if all(getattr(self, name) is None for name in names):
            return
        for name in names:
            _take(self, name, 1, BadRun)
        code, node, count = (np.asarray(getattr(self, name)) for name in names)
        if not code.shape == node.shape == count.shape:
            rule = f"`sign_node` and `sign_count` must have shape {code.shape}"
            raise BadRun(f"{rule}, got {node.shape} and {count.shape}")
        _check_range("sign_code", code, len(self.code_tuples), BadRun)
        _check_range("sign_node", node, self.num_nodes, BadRun)
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
        rising = np.argsort(
            np.asarray(self.edge_probability), kind="stable"
        )  # the last write is the likeliest
        best[move[rising]] = rising
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

    @property
    def action_words(self) -> list[str | int]:
        """The actions in the user's own words, or as indices where there are none."""
        return [label_of(self.action_labels, action) for action in self.actions.tolist()]

    @property
    def observation_words(self) -> list[str | int]:
        """What is to be seen at each node, in the user's own words."""
        return [label_of(self.observation_labels, seen) for seen in self.observations.tolist()]

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"Plan: no action, it is at node {self.nodes[0]} already"
        ends = f"from node {self.nodes[0]} to node {self.nodes[-1]}"
        return f"Plan of {len(self)} actions {ends}: {' '.join(map(str, self.action_words))}"


def label_of(labels: Labels | None, index: int) -> str | int:
    """The user's own word for an index, or the index itself where there are no words."""
    return int(index) if labels is None else labels[index]


def _take(record: Any, name: str, ndim: int, error: type[CogmapError], *, may_be_wide: bool = False) -> None:
    """Replace a field by a read-only int32 copy of itself, or raise what it was instead.

    may_be_wide: numbers that do not fit become int64; below 2^53, as JSON and floats hold them exactly.
    """
    array = np.asarray(getattr(record, name))
    frozen = array.dtype == np.int32 and not array.flags.writeable and array.base is None  # needs no copy
    if array.ndim != ndim:
        raise error(f"`{name}` must have {ndim} dimension(s), got shape {array.shape}")
    if array.dtype.kind not in "iu" and array.size:
        raise error(f"`{name}` must hold integers, got dtype {array.dtype}")
    if array.dtype != np.int32 and array.size and (array.min() < _INT32.min or array.max() > _INT32.max):
        if not may_be_wide:
            raise error(f"`{name}` must fit 32-bit integers, got {array.min()} to {array.max()}")
        if array.min() < 0 or array.max() >= _MOST_SUPPORT:
            raise error(f"`{name}` must be from 0 to below 2^53, got {array.min()} to {array.max()}")
        object.__setattr__(record, name, _read_only(array.astype(np.int64)))
        return
    object.__setattr__(record, name, array if frozen else _read_only(array.astype(np.int32)))


def _take_shares(record: Any, name: str, of: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Replace a field by a read-only copy; raise unless it holds probabilities that sum to one for each `of`."""
    array = np.asarray(getattr(record, name))
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise BadRun(f"`{name}` must hold numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all() or (array < 0).any():
        raise BadRun(f"`{name}` must hold probabilities, got {array.min()} to {array.max()}")
    total = np.bincount(of, weights=array)[np.unique(of)]
    if total.size and np.abs(total - 1).max() > _SUM_TOLERANCE:
        raise BadRun(f"`{name}` must sum to one, got {total[np.abs(total - 1).argmax()]}")
    object.__setattr__(record, name, _read_only(array))


def _take_truths(record: Any, name: str, count: int) -> None:
    """Replace a field by a read-only copy; raise unless it holds so many truth values."""
    array = np.asarray(getattr(record, name))
    if array.dtype != np.bool_ or array.shape != (count,):
        raise BadRun(f"`{name}` must hold {count} truth values, got {array.dtype} of shape {array.shape}")
    object.__setattr__(record, name, _read_only(array.copy()))


def _take_rewards(record: Any, name: str, shape: tuple[int, ...], error: type[CogmapError] = BadRun) -> None:
    """Replace a field by a read-only copy; raise unless it holds numbers of this shape that can be added up."""
    array = np.asarray(getattr(record, name))
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise error(f"`{name}` must hold numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    array = array.astype(np.float64)
    if not (np.abs(array) <= _MOST_REWARD).all():  # nor is NaN
        wrong = array[~(np.abs(array) <= _MOST_REWARD)][0]
        raise error(f"`{name}` must be finite and at most {_MOST_REWARD:g} in size, got {wrong:g}")
    object.__setattr__(record, name, _read_only(array))


def _take_probabilities(record: Any, name: str, shape: tuple[int, ...]) -> None:
    """Replace a field by a read-only copy of itself whose last axis sums to one, or raise what it was instead."""
    array = np.array(getattr(record, name), dtype=np.float64)
    if array.shape != shape:
        raise BadWorld(f"`{name}` must have shape {shape}, got {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise BadWorld(f"`{name}` must be 0 or more, got {array.min()}")
    total = array.sum(axis=-1)
    if np.abs(total - 1).max() > _SUM_TOLERANCE:
        raise BadWorld(f"`{name}` must sum to one, got {total.flat[np.abs(total - 1).argmax()]}")
    object.__setattr__(record, name, _read_only(array))


def _check_likeliest(name: str, probability: Floats, chosen: Integers) -> None:
    """Raise if `chosen` (P,) is not of the highest probability (P, O) in its row."""
    short = probability.max(axis=1) - probability[np.arange(len(chosen)), chosen]
    if (short > _SUM_TOLERANCE).any():
        raise BadWorld(f"`{name}` must be a likeliest one, it is not for position {int(short.argmax())}")


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
