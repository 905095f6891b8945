"""A plan: the actions from one node of a map to another."""

from __future__ import annotations

from dataclasses import dataclass

from cogmap.errors import CogmapError
from cogmap.records.fields import Integers, Labels, label_of, take_integers


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
            take_integers(self, name, 1, CogmapError)

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
