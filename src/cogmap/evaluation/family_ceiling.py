"""The best in-context accuracy there is: a Bayes filter that knows the family's partition, but not the room's colours.

Its hypotheses are a position and an order: which set of the partition is the first that this walk showed, which the
second, and so on. Colours themselves tell nothing of sets, since rooms draw them without regard to order; only which
steps look alike does. What it foretells is the target in base: of an observation met before, its rank; of a new one,
the ranks that the colours not met yet would have.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.evaluation.ceiling import Ceiling
from cogmap.records import Booleans, Floats, Integers, TableWorld, Walks
from cogmap.walks.base_targets import base_targets

WALKS_AT_ONCE = 64


def family_ceiling(walks: Walks, base: TableWorld) -> Ceiling:
    """Accuracy of the filter on whole walks in rooms of the family whose `base` shows the sets."""
    right = np.concatenate(
        [
            _foretold(walks.rows(np.arange(first, min(first + WALKS_AT_ONCE, walks.num_walks))), base)
            for first in range(0, walks.num_walks, WALKS_AT_ONCE)
        ]
    )  # (B, N - 1)
    return Ceiling(accuracy=float(right.mean()), by_step=right.mean(axis=0))


def _foretold(walks: Walks, base: TableWorld) -> Booleans:
    """(B, N - 1) whether the filter's likeliest target at step n + 1 comes."""
    # (H, O) the set met first, second, ...
    orders = np.array(list(permutations(range(base.num_observations))))
    slot = np.argsort(orders, axis=1)[:, base.observation]  # (H, P) as which the look of a position is met
    likelihood = base.legal_actions() / base.legal_actions().sum(axis=1, keepdims=True)  # (P, A)
    moves = [_move(base, likelihood[:, action], action) for action in range(base.num_actions)]
    met = _Met(walks)
    targets = base_targets(walks)
    belief = np.ones((walks.num_walks, *slot.shape))  # (B, H, P)
    right = np.zeros((walks.num_walks, walks.num_steps - 1), dtype=bool)
    for step in range(walks.num_steps):
        if step:
            belief = np.stack(
                [row @ moves[a] for row, a in zip(belief, walks.actions[:, step - 1], strict=True)]
            )
            chances = _target_chances(_slot_mass(belief, slot), met)
            right[:, step - 1] = chances.argmax(axis=1) == targets[:, step]
        belief = belief * (slot[None] == met.look(walks.observations[:, step])[:, None, None])
        total = belief.sum(axis=(1, 2), keepdims=True)
        if not total.all():
            rule = "walks must be possible in the family"
            raise BadWalks(f"{rule}, walk {int(np.argmin(total))} is not from step {step} on")
        belief /= total
    return right


def _move(base: TableWorld, likelihood: Floats, action: int) -> Floats:
    """(P, P) how a belief moves with an action, and what drawing that action says of the place."""
    matrix = np.zeros((base.num_positions, base.num_positions))
    matrix[np.arange(base.num_positions), base.next_position[:, action]] = likelihood
    return matrix


def _slot_mass(belief: Floats, slot: NDArray[np.int_]) -> Floats:
    """(B, O) how likely the next look is the first one met, the second, ..."""
    looks = range(int(slot.max()) + 1)
    return np.stack([(belief * (slot == look)).sum(axis=(1, 2)) for look in looks], axis=1)


class _Met:
    """The observations that each walk has met so far, in the order in which it met them."""

    def __init__(self, walks: Walks) -> None:
        # (B, C) as which each was met, or -1
        self.order = np.full((walks.num_walks, walks.num_observations), -1)
        self.count = np.zeros(walks.num_walks, dtype=np.int64)  # (B,)

    def look(self, observations: Integers) -> NDArray[np.int_]:
        """(B,) as which one each observation (B,) is met; a new one is the next."""
        rows = np.arange(len(observations))
        new = self.order[rows, observations] < 0
        self.order[rows[new], observations[new]] = self.count[new]
        self.count += new
        return self.order[rows, observations]


def _target_chances(mass: Floats, met: _Met) -> Floats:
    """(B, O) the chance of every target, given how likely each look is (B, O)."""
    known = met.order >= 0  # (B, C)
    rank: NDArray[np.int_] = np.cumsum(known, axis=1) - known  # (B, C) observations met below each
    chances = np.zeros_like(mass)
    rows, observation = np.nonzero(known)
    chances[rows, rank[rows, observation]] += mass[rows, met.order[rows, observation]]
    slots = np.arange(mass.shape[1])
    new = np.where(slots >= met.count[:, None], mass, 0).sum(axis=1)  # (B,)
    share = new / np.maximum((~known).sum(axis=1), 1)
    rows, observation = np.nonzero(~known & (new > 0)[:, None])
    np.add.at(chances, (rows, np.minimum(rank[rows, observation], mass.shape[1] - 1)), share[rows])
    return chances
