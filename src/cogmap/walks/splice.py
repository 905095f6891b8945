"""Walks cut into pieces, and the pieces of each walk put together again in another order.

To a predictor that holds cuts impossible, a joint between two examples of a prompt is evidence against what it knew.
One that expects them can keep what lasts (the concept) and find anew what does not (where in it one is).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cogmap.errors import BadConfig
from cogmap.records import Integers, Walks


def splice(walks: Walks, chance: float, rng: np.random.Generator) -> Walks:
    """The same walks, each cut before any of its later steps with `chance` and its pieces shuffled.

    Only for walks with a single action: what is done at a joint would otherwise be a lie.
    """
    if not 0 <= chance <= 1:
        raise BadConfig(f"`splice` (={chance}) must be from 0 to 1")
    if walks.num_actions > 1:
        raise BadConfig(f"only walks with a single action can be spliced, these have {walks.num_actions}")
    observations = walks.observations.copy()
    for row, length in enumerate(walks.lengths.tolist()):
        observations[row, :length] = _shuffled(observations[row, :length], chance, rng)
    return replace(walks, observations=observations)


def _shuffled(steps: Integers, chance: float, rng: np.random.Generator) -> Integers:
    cuts = np.flatnonzero(rng.random(len(steps) - 1) < chance) + 1
    pieces = np.split(steps, cuts)
    return np.concatenate([pieces[place] for place in rng.permutation(len(pieces))])
