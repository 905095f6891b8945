"""What an agent saw and did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cogmap.errors import BadWalks
from cogmap.records.fields import (
    Booleans,
    Floats,
    Integers,
    Labels,
    check_labels,
    check_range,
    take_integers,
    take_rewards,
)


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
        take_integers(self, "observations", 2, BadWalks)
        take_integers(self, "actions", 2, BadWalks)
        take_integers(self, "lengths", 1, BadWalks)
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
        check_range("observations", self.observations, self.num_observations, BadWalks)
        check_range("actions", self.actions, self.num_actions, BadWalks)
        check_labels("observation_labels", self.observation_labels, self.num_observations, BadWalks)
        check_labels("action_labels", self.action_labels, self.num_actions, BadWalks)
        if self.rewards is not None:
            take_rewards(self, "rewards", self.actions.shape, BadWalks)

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
