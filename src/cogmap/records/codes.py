"""What a model says of walks: the codes of their steps, and what it predicts after them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun
from cogmap.records.fields import Integers, check_range, take_integers


@dataclass(frozen=True, eq=False)
class Codes:
    """The active dictionary entries, one tuple a step: `codes[b, n]` has seen x_0, a_0, ..., x_n and no more."""

    codes: Integers  # (B, N, M) in [0, num_codes); 0 past a walk's length
    lengths: Integers  # (B,)
    num_codes: int

    def __post_init__(self) -> None:
        take_integers(self, "codes", 3, BadRun)
        take_integers(self, "lengths", 1, BadRun)
        if self.lengths.shape != self.codes.shape[:1]:
            raise BadRun(f"`lengths` must have shape {self.codes.shape[:1]}, got {self.lengths.shape}")
        check_range("codes", self.codes, self.num_codes, BadRun)

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
    imagined: Integers | None = None  # (J, Q) the observation after longer sequences, -1 where not known

    def __post_init__(self) -> None:
        take_integers(self, "tests", 2, BadRun)
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
        take_integers(self, "code", 1, BadRun)
        for name in ("observation", "next_code"):
            take_integers(self, name, 2, BadRun)
            if len(getattr(self, name)) != len(self.code):
                raise BadRun(f"`{name}` must have {len(self.code)} rows, got {len(getattr(self, name))}")
