"""A Mealy machine: states, and for each input an output and the next state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cogmap.errors import BadWorld
from cogmap.records import Integers, Labels


@dataclass(frozen=True, eq=False)
class MealyMachine:
    """A deterministic machine: in state s, input a gives `output[s, a]` and leads to `next_state[s, a]`."""

    next_state: Integers  # (Q, A)
    output: Integers  # (Q, A) index into output_labels
    input_labels: Labels  # A strings
    output_labels: Labels  # strings
    initial: int = 0  # the state in which every log starts
    name: str = "machine"

    def __post_init__(self) -> None:
        states = np.shape(self.next_state)[0] if np.ndim(self.next_state) else 0
        shape = (states, len(self.input_labels))
        if 0 in shape:
            raise BadWorld(f"a machine must have a state and an input, got {shape[0]} and {shape[1]}")
        tables = {"next_state": states, "output": len(self.output_labels)}
        for name, bound in tables.items():
            object.__setattr__(self, name, _table(name, getattr(self, name), shape, bound))
        if not 0 <= self.initial < states:
            raise BadWorld(f"`initial` must be a state in [0, {states}), got {self.initial}")
        for name in ("input_labels", "output_labels"):
            labels = getattr(self, name)
            if len(set(labels)) != len(labels):
                repeated = next(label for label in labels if labels.count(label) > 1)
                raise BadWorld(f"`{name}` must be distinct, got {repeated!r:.60} more than once")

    @property
    def num_states(self) -> int:
        return self.next_state.shape[0]

    @property
    def num_inputs(self) -> int:
        return self.next_state.shape[1]

    def run(self, inputs: ArrayLike) -> Integers:
        """(T,): the outputs for a sequence of inputs (T,) from the initial state."""
        state, outputs = self.initial, []
        for symbol in np.asarray(inputs, dtype=np.int32).tolist():
            outputs.append(int(self.output[state, symbol]))
            state = int(self.next_state[state, symbol])
        return np.array(outputs, dtype=np.int32)


def _table(name: str, given: ArrayLike, shape: tuple[int, int], bound: int) -> Integers:
    """A read-only copy of a table (Q, A) of integers below `bound`."""
    table = np.array(given)
    if table.shape != shape:
        raise BadWorld(f"`{name}` must have shape (Q, A) = {shape}, got {table.shape}")
    if table.dtype.kind not in "iu":
        raise BadWorld(f"`{name}` must hold integers, got dtype {table.dtype}")
    if table.min() < 0 or table.max() >= bound:
        raise BadWorld(f"`{name}` must be in [0, {bound}), got {table.min()} to {table.max()}")
    table = table.astype(np.int32)
    table.flags.writeable = False
    return table
