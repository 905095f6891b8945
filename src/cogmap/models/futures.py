"""What a trained model predicts after its codes: the observation at the end of sequences of actions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cogmap.models.tdb import TDB
from cogmap.records import Integers, PredictedFutures

TESTS_OF_A_LENGTH = (
    64  # all sequences where there are fewer, as with 4 actions and 3 steps; a random share otherwise
)
_NUMBERS_AT_ONCE = 1 << 24  # predicted probabilities held by the network at a time
MOST_NUMBERS = (
    1 << 27
)  # probabilities in all, half a gigabyte; there are fewer tests where there would be more


@torch.inference_mode()
def predicted_futures(
    model: TDB, code_tuples: NDArray[np.integer[Any]], seed: int = 0
) -> PredictedFutures | None:
    """The heads' predictions for each of J tuples (J, M), after sequences of 1 to S actions.

    Every single action is a test. None if there are so many observations that not even these fit.
    """
    tests = _tests(model, len(code_tuples), np.random.default_rng(seed))
    if not tests:
        return None
    model.eval()
    device = next(model.parameters()).device
    width = sum(map(len, tests))
    found = np.empty((len(code_tuples), width, model.config.num_targets), dtype=np.float32)
    rows = max(1, _NUMBERS_AT_ONCE // (width * model.config.num_targets))
    for first in range(0, len(code_tuples), rows):
        some = torch.from_numpy(code_tuples[first : first + rows].astype(np.int64)).to(device)[
            :, None
        ]  # (j, 1, M)
        found[first : first + rows] = _predict(model, some, tests)
    return PredictedFutures(_padded(tests, model.config.prediction_steps), found)


def _predict(model: TDB, codes: torch.Tensor, tests: list[NDArray[np.int64]]) -> NDArray[np.float32]:
    """(j, T, O) for codes (j, 1, M)."""
    vectors = model.bottlenecks.entries(codes).flatten(2)  # (j, 1, M * W)
    own = None if model.code_logits is None else model.code_logits(codes)
    parts = []
    for step, (head, sequences) in enumerate(zip(model.heads, tests, strict=False)):
        actions = (
            torch.from_numpy(sequences).to(codes.device)[None].expand(len(codes), -1, -1)
        )  # (j, t, s + 1)
        logits = head(vectors.expand(-1, len(sequences), -1), actions)
        parts.append(torch.softmax(logits if own is None else logits + own[step], dim=2))
    return torch.cat(parts, dim=1).numpy(force=True)


def _tests(model: TDB, tuples: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """For each number of actions from 1 to S, as far as memory allows, the sequences (t, s + 1) to be tried."""
    actions, tests = model.config.num_actions, []
    left = MOST_NUMBERS // max(tuples * model.config.num_targets, 1)
    for length in range(1, model.config.prediction_steps + 1):
        wanted = actions if length == 1 else min(TESTS_OF_A_LENGTH, actions**length)
        if wanted > left:
            break
        left -= wanted
        if actions**length <= wanted:
            tests.append(np.array(list(itertools.product(range(actions), repeat=length))))
        else:
            tests.append(rng.integers(actions, size=(wanted, length)))
    return tests


def _padded(tests: list[NDArray[np.int64]], steps: int) -> Integers:
    """(T, S) the sequences of all lengths, then -1."""
    rows = [np.pad(part, ((0, 0), (0, steps - part.shape[1])), constant_values=-1) for part in tests]
    return np.concatenate(rows).astype(np.int32)
