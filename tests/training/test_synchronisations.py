"""A step of a training asks the device for no number: on a GPU that would wait until all work is done.

Not so for a teacher, whose average torch starts by asking how many steps it holds, and for the slot encoder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from test_loop import KINDS, some_walks
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from cogmap.training.devices import Processes
from cogmap.training.loop import Trainer
from cogmap.training.optimizers import shared_work
from cogmap.training.split import split_walks

# What brings a number, or a size that depends on numbers, from the device to the host.
WAITING = (
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "equal.default",
    "is_nonzero",
    "bincount",
    "unique",
)


class Waits(TorchDispatchMode):
    """Counts the operations that would wait for a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        if any(word in name for word in WAITING):
            self.found[name] += 1
        if "index.Tensor" in name or "index_put" in name:
            masks = [each for each in args[1] if each is not None and each.dtype == torch.bool]
            self.found[name] += len(masks)
        return func(*args, **(kwargs or {}))


def _unwatched(work: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        with _disable_current_modes():
            work()

    return run


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in ("gru", "lstm", "transformer", "clones")])
def test_a_step_does_not_wait_for_the_device(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, config = KINDS[kind]
    walks = some_walks()
    trainer = Trainer(model, config, split_walks(walks, None, 0), torch.device("cpu"), Processes())
    for _ in range(6):
        trainer.step()  # past the start of the dictionary, which happens once
    monkeypatch.setattr(trainer, "_checks_each_step", False)  # as on a GPU, where `validate` asks
    adam = trainer.optimizers.parts[0]
    monkeypatch.setattr(adam, "step", _unwatched(adam.step))  # it keeps its number of steps on the host
    with Waits() as waits:
        report = trainer.step()
    assert {name: count for name, count in waits.found.items() if count} == {}
    with waits:
        assert report.losses
    assert waits.found  # asking for them does wait


@pytest.mark.parametrize("kind", ["transformer", "gru", "lstm", "slots", "seen set"])
def test_a_step_runs_with_products_in_bfloat16(kind: str) -> None:
    """Any processor can, with or without units for it: weights and losses stay in 32 bits and finite."""
    model, config = KINDS[kind]
    config = replace(config, bfloat16=True)
    walks = some_walks()
    trainer = Trainer(model, config, split_walks(walks, None, 0), torch.device("cpu"), Processes())
    first = trainer.step()
    for _ in range(6):
        last = trainer.step()
    assert sum(last.losses.values()) < sum(first.losses.values()) + 1
    assert {parameter.dtype for parameter in trainer.model.parameters()} == {torch.float32}


def test_work_is_shared_evenly() -> None:
    owners = shared_work([4, 4, 2, 2, 2, 2], 2)
    assert [sum(w for w, o in zip([4, 4, 2, 2, 2, 2], owners, strict=True) if o == p) for p in (0, 1)] == [
        8,
        8,
    ]
    assert shared_work([5], 4) == [0]
