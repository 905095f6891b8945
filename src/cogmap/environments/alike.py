"""Which positions of a world no agent could ever tell apart, and how far its looks alone tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.records import Integers, TableWorld


@dataclass(frozen=True)
class Aliasing:
    """How many places look alike."""

    places: int
    seen: int  # observations that occur
    shared: int  # of them, those that several places show
    places_sharing: int  # places that do not look like any other are not among these
    most: int  # places behind one observation
    told_apart: int  # places that differ in what can be seen and done from there on

    def sentence(self) -> str:
        told = (
            f"{self.places} places in {self.seen} looks: {self.shared} of these are shared, by {self.places_sharing} "
            f"places, up to {self.most} a look"
        )
        lost = self.places - self.told_apart
        return told + (f"; {lost} places can never be told from others" if lost else "")


def aliasing(world: TableWorld) -> Aliasing:
    behind = np.bincount(world.observation, minlength=world.num_observations)  # (O,) places
    return Aliasing(
        places=world.num_positions,
        seen=int((behind > 0).sum()),
        shared=int((behind > 1).sum()),
        places_sharing=int(behind[behind > 1].sum()),
        most=int(behind.max()),
        told_apart=int(alike(world).max()) + 1,
    )


def alike(world: TableWorld) -> Integers:
    """(P,): one number for all positions from which any actions show the same.

    The coarsest partition in which alike positions look alike and lead to alike positions (Moore's refinement).
    """
    group = np.unique(world.observation, return_inverse=True)[1].reshape(-1)
    while True:
        described = np.column_stack([group, group[world.next_position]])  # (P, 1 + A)
        finer = np.unique(described, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == group.max():
            return group.astype(np.int32)
        group = finer
