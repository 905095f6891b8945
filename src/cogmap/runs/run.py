"""A run opened to be used: where is the agent after a history, and how does it get somewhere else."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.errors import BadOutput, BadRun, BadWalks, NotOnMap
from cogmap.hmm.inference import predict
from cogmap.planning.localise import Belief, estimated_nodes, read_history
from cogmap.planning.policies import Policy, find_policy
from cogmap.planning.shortest_paths import Goal, solve
from cogmap.records import Codes, Integers, Labels, Plan, Walks
from cogmap.runs.folder import RunFolder
from cogmap.runs.names import MODEL_FILE
from cogmap.walks.views import as_views, shows_views

if TYPE_CHECKING:
    from cogmap.models.inference import StreamingEncoder
    from cogmap.models.tdb import Model


class Run(RunFolder):
    """A run folder with its model. Model and maps are loaded when first asked for."""

    def __init__(self, folder: str | Path, device: str = "auto") -> None:
        super().__init__(folder)
        self._device = device

    def __repr__(self) -> str:
        found = f": {self.map!r}" if self.has_map else ", without a map"
        return f"Run {self.folder} of {self.name}{found}"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        return self.map._repr_svg_() if self.has_map else None

    @cached_property
    def model(self) -> Model:
        """The trained network, on the run's device; `BadRun` in a run of a method without one."""
        if not self.has_network:
            raise BadRun(
                f"only a TDB or a vanilla model has a network, {self.folder} was learned by {self.name}"
            )
        from cogmap.training.checkpoint import load_model
        from cogmap.training.devices import choose_device

        model = load_model(self.config, self.folder / MODEL_FILE)
        return model.to(choose_device(self._device)).eval()

    @property
    def has_codes(self) -> bool:
        """False for a vanilla model, and before a training has reached its bottleneck."""
        if not self.has_network:
            return True
        from cogmap.models.tdb import TDB

        return isinstance(self.model, TDB) and bool(self.model.bottlenecks.ready)

    def encode(self, walks: Walks) -> tuple[Codes, Integers]:
        """Codes of walks, and predicted next observations (B, N - 1).

        Without a network the code of a step is the likeliest state of the run's hidden Markov model.
        """
        if not self.has_network:
            own = self._own(walks)
            state, predicted, _ = predict(self.states, own)
            codes = np.maximum(state, 0)[:, :, None]
            return Codes(codes, own.lengths, self.states.num_states), np.maximum(predicted, 0)
        from cogmap.models.inference import encode

        return encode(self.model, self._own(walks))

    def predict(self, walks: Walks) -> Integers:
        """Predicted next observations (B, N - 1), of a model with or without bottleneck."""
        if not self.has_network:
            return self.encode(walks)[1]
        from cogmap.models.inference import predict_next

        return predict_next(self.model, self._own(walks))

    def _own(self, walks: Walks) -> Walks:
        walks = self.categorical(walks)
        self.check_walks(walks)
        return walks

    def stream(self) -> StreamingEncoder:
        """Codes step by step, for a walk without end. Without a network: `planning.navigator` needs the map alone."""
        from cogmap.models.inference import StreamingEncoder
        from cogmap.models.tdb import TDB

        if not isinstance(self.model, TDB):
            raise BadRun(f"only a TDB has codes, {self.folder} holds a {self.name}")
        return StreamingEncoder(self.model)

    def locate(self, observations: Sequence[Any], actions: Sequence[Any]) -> int:
        """The node where an agent is that saw `observations` (N,) and did `actions` (N - 1,): indices or labels.

        A run that learned from views takes views as well: images (N, H, W, C), vectors (N, F) or image files.
        """
        seen, done, codes = self._history(observations, actions)
        lengths = np.array([seen.shape[1]], dtype=np.int32)
        node = int(estimated_nodes(self.map, seen, done, lengths, codes)[0, -1])
        if node < 0:
            rule = "a history must lead to one place of the map"
            raise NotOnMap(f"{rule}, these {seen.shape[1]} observation(s) do not yet: walk on")
        return node

    def belief(self, observations: Sequence[Any], actions: Sequence[Any]) -> Belief:
        """How likely an agent is at each node after `observations` (N,) and `actions` (N - 1,), as in `locate`."""
        seen, done, codes = self._history(observations, actions)
        if self.map.num_nodes == 0:
            raise NotOnMap("the map must have at least one node, got 0")
        lengths = np.array([seen.shape[1]], dtype=np.int32)
        return Belief(read_history(self.map, seen, done, lengths, codes, last=True).last[0])

    def _history(
        self, observations: Sequence[Any], actions: Sequence[Any]
    ) -> tuple[Integers, Integers, Codes]:
        """One walk (1, N) and (1, N - 1) in indices, and its codes."""
        if self.quantizer is not None and shows_views(observations):
            observations = self.quantizer(as_views(observations)).tolist()
        seen = _indices("observation", observations, self.observation_labels, self.config.num_observations)
        done = _indices("action", actions, self.action_labels, self.config.num_actions)
        if len(seen) == 0 or len(done) != len(seen) - 1:
            raise BadWalks(
                f"a history must have one action fewer than observations, got {len(seen)} and {len(done)}"
            )
        lengths = np.array([len(seen)], dtype=np.int32)
        return seen[None], done[None], self._codes_of(seen[None], done[None], lengths)

    def _codes_of(self, seen: Integers, done: Integers, lengths: Integers) -> Codes:
        """Codes of one history (1, N), which may be of a single observation."""
        if not self.has_network:
            again = seen if seen.shape[1] > 1 else np.repeat(seen, 2, axis=1)
            done = done if seen.shape[1] > 1 else np.zeros((1, 1), dtype=np.int32)
            sizes = (self.config.num_observations, self.config.num_actions)
            state = predict(self.states, Walks(again, done, np.maximum(lengths, 2), *sizes))[0]
            return Codes(state[:, : seen.shape[1], None], lengths, self.states.num_states)
        from cogmap.models.inference import encode_and_predict

        return Codes(encode_and_predict(self.model, seen, done)[0], lengths, self.config.num_codes)

    def plan(self, here: int, there: Goal, avoid: Sequence[Any] = (), strict: bool = False) -> Plan:
        """The shortest path between two nodes, past the observations to `avoid` (indices or labels)."""
        return solve(self.map, here, there, avoid=avoid, strict=strict)

    def policy(
        self,
        goal: Goal | None = None,
        avoid: Sequence[Any] = (),
        costs: Mapping[Any, float] | None = None,
        discount: float | None = None,
    ) -> Policy:
        """The best action at every node, for worlds with chance.

        goal: a node, several, or `Showing` an observation; None is the rewards of the walks.
        avoid: observations that must not be passed on the way.
        costs: an extra cost, in steps, each time that an observation is passed.
        discount: of a step, below 1. With a goal there is none by default; of rewards it is 0.95.
        """
        return find_policy(self.map, goal, avoid, costs, discount)

    def save(self, folder: str | Path) -> Run:
        """Copy the run to another folder, which must not be there yet: the way to keep a run of `learn(out=None)`."""
        if Path(folder).exists():
            raise BadOutput(f"a run is saved to a new folder, {folder} exists")
        shutil.copytree(self.folder, folder)
        return load_run(folder, self._device)


def load_run(folder: str | Path, device: str = "auto") -> Run:
    """Open a run folder; `BadRun` if it is missing, incomplete, damaged or of another version."""
    return Run(folder, device)


def _indices(what: str, values: Sequence[Any], labels: Labels | None, count: int) -> Integers:
    """Indices of what a user gave as labels or as indices."""
    position = {label: index for index, label in enumerate(labels or ())}
    indices = []
    for value in values:
        index = position.get(value) if isinstance(value, str) else value
        if not isinstance(index, int | np.integer) or not 0 <= index < count:
            known = f"{', '.join(labels):.300}" if labels else f"0 to {count - 1}"
            raise NotOnMap(f"{what} must be one of {known}, got {value!r:.60}")
        indices.append(int(index))
    return np.array(indices, dtype=np.int32)
