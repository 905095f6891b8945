"""What a trained model predicts after its codes: the observation at the end of sequences of actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cogmap.models.tdb import TDB
from cogmap.records import Integers, PredictedFutures, Walks

# Sequences of actions of one length: all if there are fewer (8 actions, 3 steps), otherwise the frequent ones.
TESTS_OF_A_LENGTH = 512
_FEWEST_TESTS = 16  # of a length, if there are as many: fewer say too little
_NUMBERS_AT_ONCE = 1 << 24  # predicted probabilities held by the network at a time
# Probabilities in total, half a gigabyte; where there would be more, fewer tests are asked.
MOST_NUMBERS = 1 << 27


@torch.inference_mode()
def predicted_futures(
    model: TDB, code_tuples: NDArray[np.integer[Any]], walks: Walks
) -> PredictedFutures | None:
    """The heads' predictions for each of J tuples (J, M), after sequences of 1 to S actions.

    Every single action is a test, and the sequences that are usual in the walks: others may be impossible, as on a page
    without a button, and nothing was learned of them. None if there are so many observations that not even single
    actions fit.
    """
    tests = _tests(model, len(code_tuples), walks)
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


def _tests(model: TDB, tuples: int, walks: Walks) -> list[NDArray[np.int64]]:
    """For each number of actions from 1 to S, as far as memory allows, the sequences (t, s + 1) to be tried."""
    actions, tests = model.config.num_actions, [np.arange(model.config.num_actions)[:, None]]
    left = MOST_NUMBERS // max(tuples * model.config.num_targets, 1) - actions
    for length in range(2, model.config.prediction_steps + 1):
        wanted = min(TESTS_OF_A_LENGTH, left)
        if wanted < min(_FEWEST_TESTS, actions**length):
            break
        tests.append(_usual_sequences(walks, length, wanted))
        left -= len(tests[-1])
    return tests if left >= 0 else []


def _usual_sequences(walks: Walks, length: int, most: int) -> NDArray[np.int64]:
    """(t, length) the sequences of actions that the walks take most often, in ascending order."""
    made = walks.step_mask()[:, length:]
    taken = np.stack([walks.actions[:, step : step + made.shape[1]][made] for step in range(length)], axis=1)
    # The rank of each sequence, built action by action: one key of all actions could overflow.
    number = np.zeros(len(taken), dtype=np.int64)
    for step in range(length):
        number = np.unique(number * walks.num_actions + taken[:, step], return_inverse=True)[1].reshape(-1)
    _, first, count = np.unique(number, return_index=True, return_counts=True)
    chosen = np.sort(np.argsort(-count, kind="stable")[:most])
    return taken[first[chosen]].astype(np.int64)


def _padded(tests: list[NDArray[np.int64]], steps: int) -> Integers:
    """(T, S) the sequences of all lengths, then -1."""
    rows = [np.pad(part, ((0, 0), (0, steps - part.shape[1])), constant_values=-1) for part in tests]
    return np.concatenate(rows).astype(np.int32)
