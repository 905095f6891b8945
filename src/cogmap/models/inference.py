"""A trained model on walks: codes and predictions, in bounded memory and time linear in the steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from cogmap.errors import BadRun, BadWalks
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.tdb import TDB, Model, VanillaModel, previous_actions
from cogmap.records import Codes, Integers, Labels, Walks
from cogmap.walks.family import observations_of_ranks, ranks_so_far
from cogmap.walks.text import token_walks

WALKS_AT_ONCE = 256
LONG_MEMORIES_AT_ONCE = 4
# What a chunk needs should stay in the processor's caches; a transformer reads a whole memory again for each chunk.
STEPS_AT_ONCE = {"transformer": 100, "gru": 20, "lstm": 20}


@torch.inference_mode()
def read_walks(
    model: Model, observations: Integers, actions: Integers, quantize: bool = True
) -> tuple[Integers, Integers]:
    """Codes (B, N, M) and the predicted next observation (B, N - 1) of walks (B, N) with actions (B, N - 1).

    Without codes, as in a vanilla model or before the bottleneck is switched on, M is 0.
    """
    was_training = model.training
    model.eval()
    walks, steps = observations.shape
    bottlenecks = model.config.bottlenecks if quantize and not model.config.vanilla else 0
    codes = np.zeros((walks, steps, bottlenecks), dtype=np.int32)
    predicted = np.zeros((walks, steps - 1), dtype=np.int32)
    at_once = _walks_at_once(model)
    for first in range(0, walks, at_once):
        rows = slice(first, first + at_once)
        for steps_read, chunk_codes, chunk_predicted in _read_rows(
            model, observations[rows], actions[rows], quantize
        ):
            codes[rows, steps_read] = chunk_codes.numpy(force=True)
            ahead = chunk_predicted.numpy(force=True)
            predicted[rows, steps_read.start : steps_read.start + ahead.shape[1]] = ahead
    model.train(was_training)
    return codes, predicted


def _walks_at_once(model: Model) -> int:
    """Few of the paper's transformer on a CPU, whose memory of 800 tokens fills the caches."""
    remembers_long = model.config.encoder == "transformer" and model.config.form == "paper"
    on_cpu = next(model.parameters()).device.type == "cpu"
    return LONG_MEMORIES_AT_ONCE if remembers_long and on_cpu else WALKS_AT_ONCE


def _read_rows(
    model: Model, observations: Integers, actions: Integers, quantize: bool
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """One chunk of steps after another, the state carried on: the steps, their codes and predictions."""
    device = next(model.parameters()).device
    seen = torch.from_numpy(observations.astype(np.int64)).to(device)
    done = torch.from_numpy(actions.astype(np.int64)).to(device)
    state: EncoderState | None = None
    arrival = torch.zeros(len(seen), dtype=torch.long, device=device)
    at_once = STEPS_AT_ONCE[model.config.encoder]
    for first in range(0, seen.shape[1], at_once):
        steps = slice(first, min(first + at_once, seen.shape[1]))
        codes, predicted, state = _read_chunk(model, seen[:, steps], done[:, steps], arrival, state, quantize)
        yield steps, codes, predicted
        if steps.stop < seen.shape[1]:
            arrival = done[:, steps.stop - 1] + 1


def _read_chunk(
    model: Model, seen: Tensor, done: Tensor, arrival: Tensor, state: EncoderState | None, quantize: bool
) -> tuple[Tensor, Tensor, EncoderState | None]:
    """The last step of a walk has no action after it, and so a code but no prediction."""
    ahead = done.shape[1]
    no_codes = seen.new_zeros(*seen.shape, 0)
    if isinstance(model, VanillaModel):
        if not ahead:  # a chunk of the last step alone: nothing to read an action with, nothing to foretell
            return no_codes, seen.new_zeros(len(seen), 0), state
        result = model(seen[:, :ahead], done, arrival, state)
        return no_codes, result.logits[0].argmax(2), result.state
    arrivals = previous_actions(done, arrival, seen.shape[1])
    if not quantize:
        outputs, state = model.encoder(seen, arrivals, state)
        vectors = model.bottlenecks.project(outputs).flatten(2)
        return no_codes, model.next_logits(vectors[:, :ahead], done).argmax(2), state
    codes, state = model.encode(seen, arrivals, state)
    vectors = model.bottlenecks.entries(codes).flatten(2)
    predicted = model.next_logits(vectors[:, :ahead], done, codes[:, :ahead]).argmax(2)
    return codes, predicted, state


class CodeStream:
    """The codes of one endless walk, step by step, at a constant cost a step."""

    def __init__(self, model: TDB) -> None:
        self.model = model.eval()
        self._state: EncoderState | None = None

    @torch.inference_mode()
    def step(self, observation: int, arrived_by: int | None = None) -> tuple[int, ...]:
        """The code tuple (M,) after seeing `observation`, reached by the action `arrived_by` (None at the start)."""
        device = next(self.model.parameters()).device
        seen = torch.tensor([[observation]], device=device)
        arrival = torch.tensor([[0 if arrived_by is None else arrived_by + 1]], device=device)
        codes, self._state = self.model.encode(seen, arrival, self._state)
        return tuple(codes[0, 0].tolist())


def encode(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """The codes of all walks, and the predicted next observations (B, N - 1) that come with them.

    A model trained in base foretells ranks; where one stands for nothing that the walk has shown yet there is -1.
    """
    codes, predicted = encode_targets(model, walks)
    return codes, _observations_of(model, walks, predicted)


def encode_targets(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """As `encode`, with what the model itself foretells: of one trained in base, ranks."""
    if model.config.vanilla:
        raise BadRun("only a TDB has codes, this run holds a vanilla model")
    check_vocabulary(model.config, walks)
    codes, predicted = read_walks(model, walks.observations, walks.actions)
    codes *= walks.step_mask()[:, :, None]
    return Codes(codes.astype(np.int32), walks.lengths, model.config.num_codes), predicted


def predict_next(model: Model, walks: Walks) -> Integers:
    """The predicted next observations (B, N - 1) of any model, as `encode` gives them."""
    return _observations_of(model, walks, predict_targets(model, walks))


def predict_targets(model: Model, walks: Walks) -> Integers:
    """What any model itself foretells (B, N - 1): of one trained in base, ranks."""
    check_vocabulary(model.config, walks)
    return read_walks(model, walks.observations, walks.actions)[1]


def _observations_of(model: Model, walks: Walks, predicted: Integers) -> Integers:
    if not model.config.in_base:
        return predicted
    nothing = np.zeros((1, walks.num_observations), dtype=bool)
    rows = zip(walks.observations[:, :-1], predicted, strict=True)
    return np.stack(
        [observations_of_ranks(guess, ranks_so_far(seen[None], nothing)[1][0]) for seen, guess in rows]
    )


def check_vocabulary(config: ModelConfig, walks: Walks) -> None:
    """Walks may know less than the run, never more."""
    for what in ("observations", "actions"):
        there, here = getattr(walks, f"num_{what}"), getattr(config, f"num_{what}")
        if there > here:
            raise BadWalks(f"walks must have at most the run's {here} {what}, got {there}")


def complete(model: Model, tokens: Integers, labels: Labels) -> Integers:
    """(B,): the most likely unit after each row of tokens (B, N), places among `labels`."""
    kept = tokens[:, -_most_read(model.config, tokens.shape[1]) :]
    asked = np.zeros((len(kept), 1), dtype=np.int32)  # a step that is predicted and never read
    walks = token_walks(np.concatenate([kept, asked], axis=1), labels)
    check_vocabulary(model.config, walks)
    predicted: Integers = read_walks(model, walks.observations, walks.actions)[1][:, -1]
    return predicted


def reads_all_of(config: ModelConfig, tokens: int) -> bool:
    """Whether a prompt of so many tokens is read from its beginning."""
    return _most_read(config, tokens) == tokens


def _most_read(config: ModelConfig, tokens: int) -> int:
    """The paper's transformer has a context and keeps the end of what is longer; all others read on and on."""
    limited = config.form == "paper" and config.encoder == "transformer"
    return min(tokens, config.context_length) if limited else tokens
