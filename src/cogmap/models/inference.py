"""Inference with a trained model: codes and predictions of walks, in bounded memory and linear time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from cogmap.errors import BadRun, BadWalks
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.tdb import TDB, Model, VanillaModel, previous_actions
from cogmap.records import Booleans, Codes, Floats, Integers, Labels, Walks
from cogmap.walks.family import observations_of_ranks, ranks_so_far
from cogmap.walks.log import WalkLog, compact, evened, total_steps, walk_parts
from cogmap.walks.text import token_walks

WALKS_AT_ONCE = 256
WALKS_AT_ONCE_LONG_MEMORY = 4
# A chunk should fit in the processor's caches; a transformer attends to its whole memory again for each chunk.
STEPS_AT_ONCE = {"transformer": 100, "gru": 20, "lstm": 20}


def encode(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """The codes of all walks, and the predicted next observations (B, N - 1).

    For a model trained in base, -1 means an observation that the walk has not shown yet.
    """
    codes, predicted = encode_targets(model, walks)
    return codes, _as_observations(model, walks, predicted)


def encode_targets(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """As `encode`, with predicted targets (B, N - 1): ranks for a model trained in base."""
    if model.config.vanilla:
        raise BadRun("only a TDB has codes, this run holds a vanilla model")
    check_vocabulary(model.config, walks)
    codes, predicted = encode_and_predict(model, walks.observations, walks.actions)
    codes *= walks.step_mask()[:, :, None]
    return Codes(codes.astype(np.int32), walks.lengths, model.config.num_codes), predicted


def encode_parts(model: Model, walks: Walks) -> Iterator[tuple[NDArray[np.int64], Walks, Codes, Integers]]:
    """As `encode_targets`, some walks at a time: their numbers, the walks, their codes and predicted targets."""
    for numbers, part in walk_parts(walks):
        yield numbers, part, *encode_targets(model, part)


def encode_log(model: Model, log: WalkLog) -> tuple[Walks, Codes, Integers]:
    """Walks that are not padded, in pieces of similar lengths, their codes and the predicted next observations.

    A code knows the steps of its whole walk, not only of its piece.
    """
    log = compact(log)
    codes = np.zeros((total_steps(log), model.config.bottlenecks), dtype=np.int32)
    predicted = np.zeros(len(codes), dtype=np.int32)
    for numbers, part, found, guessed in encode_parts(model, log):
        mask = part.step_mask()
        place = (log.starts[numbers, None] + np.arange(part.num_steps))[mask]
        codes[place] = found.codes[mask]
        predicted[place] = np.pad(_as_observations(model, part, guessed), ((0, 0), (0, 1)))[mask]
    pieces = evened(log)
    walks = pieces.rows(slice(None))
    inside = walks.step_mask()
    place = np.where(inside, pieces.starts[:, None] + np.arange(walks.num_steps), 0)
    kept = Codes(np.where(inside[:, :, None], codes[place], 0), walks.lengths, model.config.num_codes)
    return walks, kept, np.where(inside[:, 1:], predicted[place[:, :-1]], 0)


def predict_next(model: Model, walks: Walks) -> Integers:
    """The predicted next observations (B, N - 1) of any model, as in `encode`."""
    return _as_observations(model, walks, predict_targets(model, walks))


def predict_targets(model: Model, walks: Walks) -> Integers:
    """The predicted targets (B, N - 1) of any model: ranks for a model trained in base."""
    check_vocabulary(model.config, walks)
    return encode_and_predict(model, walks.observations, walks.actions)[1]


@torch.inference_mode()
def encoder_outputs(model: Model, walks: Walks) -> Iterator[Floats]:
    """(b, N, D) what the encoder outputs, some walks at a time; that at step n knows x_0, a_0, ..., x_n."""
    device, at_once = next(model.parameters()).device, _walks_at_once(model)
    for first in range(0, walks.num_walks, at_once):
        rows = slice(first, first + at_once)
        seen, done = (
            torch.from_numpy(part[rows].astype(np.int64)).to(device)
            for part in (walks.observations, walks.actions)
        )
        before = previous_actions(done, torch.zeros_like(seen[:, 0]), seen.shape[1])
        yield model.eval().encoder(seen, before, None, False)[0].cpu().numpy()


def complete(model: Model, tokens: Integers, labels: Labels) -> Integers:
    """(B,): the most likely next token of each row of tokens (B, N), which are indices into `labels`."""
    kept = tokens[:, -_context(model.config, tokens.shape[1]) :]
    asked = np.zeros((len(kept), 1), dtype=np.int32)  # the step to predict, whose own token is not used
    walks = token_walks(np.concatenate([kept, asked], axis=1), labels)
    return predict_targets(model, walks)[:, -1]


def fits_context(config: ModelConfig, tokens: int) -> bool:
    """Whether a prompt of this many tokens is used from its first token."""
    return _context(config, tokens) == tokens


def check_vocabulary(config: ModelConfig, walks: Walks) -> None:
    """The vocabulary of the walks must not be larger than the model's."""
    for what in ("observations", "actions"):
        there, here = getattr(walks, f"num_{what}"), getattr(config, f"num_{what}")
        if there > here:
            raise BadWalks(f"walks must have at most the run's {here} {what}, got {there}")


class StreamingEncoder:
    """Encodes one walk step by step, at a constant cost per step."""

    def __init__(self, model: TDB) -> None:
        self.model = model.eval()
        self._state: EncoderState | None = None

    @torch.inference_mode()
    def step(self, observation: int, previous_action: int | None = None) -> tuple[int, ...]:
        """The code tuple (M,) after `observation`, reached by `previous_action` (None at the start)."""
        device = next(self.model.parameters()).device
        seen = torch.tensor([[observation]], device=device)
        before = torch.tensor([[0 if previous_action is None else previous_action + 1]], device=device)
        codes, self._state = self.model.encode(seen, before, self._state)
        return tuple(codes[0, 0].tolist())


@torch.inference_mode()
def encode_and_predict(
    model: Model, observations: Integers, actions: Integers, quantize: bool = True
) -> tuple[Integers, Integers]:
    """Codes (B, N, M) and predicted next targets (B, N - 1) of walks (B, N) with actions (B, N - 1).

    M is 0 for a vanilla model, and without `quantize`, as before the bottleneck is switched on.
    """
    was_training = model.training
    model.eval()
    walks, steps = observations.shape
    bottlenecks = model.config.bottlenecks if quantize and not model.config.vanilla else 0
    codes = np.zeros((walks, steps, bottlenecks), dtype=np.int32)
    predicted = np.zeros((walks, steps - 1), dtype=np.int32)
    for rows, chunk, chunk_codes, logits in _parts(model, observations, actions, quantize):
        codes[rows, chunk] = chunk_codes.numpy(force=True)
        predicted[rows, chunk.start : chunk.start + logits.shape[1]] = logits.argmax(2).numpy(force=True)
    model.train(was_training)
    return codes, predicted


@torch.inference_mode()
def score_targets(
    model: Model, observations: Integers, actions: Integers, targets: Integers, quantize: bool = True
) -> tuple[Booleans, Floats]:
    """Whether each step's most likely next target is the true one, and its log loss, both (B, N - 1).

    targets: (B, N - 1), the true ones. The rest is as in `encode_and_predict`.
    """
    was_training = model.training
    model.eval()
    right = np.zeros(targets.shape, dtype=bool)
    losses = np.zeros(targets.shape)
    for rows, chunk, _, logits in _parts(model, observations, actions, quantize):
        steps = slice(chunk.start, chunk.start + logits.shape[1])
        true = torch.from_numpy(targets[rows, steps].astype(np.int64)).to(logits.device)
        right[rows, steps] = (logits.argmax(2) == true).numpy(force=True)
        losses[rows, steps] = cross_entropy(logits.transpose(1, 2), true, reduction="none").numpy(force=True)
    model.train(was_training)
    return right, losses


def _parts(
    model: Model, observations: Integers, actions: Integers, quantize: bool
) -> Iterator[tuple[slice, slice, Tensor, Tensor]]:
    """Some walks and some steps at a time: which they are, their codes, and the logits of their next targets."""
    at_once = _walks_at_once(model)
    for first in range(0, len(observations), at_once):
        rows = slice(first, first + at_once)
        for chunk, codes, logits in _chunks(model, observations[rows], actions[rows], quantize):
            yield rows, chunk, codes, logits


def _walks_at_once(model: Model) -> int:
    """Few for the paper's transformer on a CPU, because its memory of 800 tokens fills the caches."""
    long_memory = model.config.encoder == "transformer" and model.config.attention_kind == "relative"
    on_cpu = next(model.parameters()).device.type == "cpu"
    return WALKS_AT_ONCE_LONG_MEMORY if long_memory and on_cpu else WALKS_AT_ONCE


def _chunks(
    model: Model, observations: Integers, actions: Integers, quantize: bool
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Chunks of steps with their codes and logits; the state carries over between chunks."""
    device = next(model.parameters()).device
    seen = torch.from_numpy(observations.astype(np.int64)).to(device)
    done = torch.from_numpy(actions.astype(np.int64)).to(device)
    state: EncoderState | None = None
    previous_action = torch.zeros(len(seen), dtype=torch.long, device=device)
    at_once = STEPS_AT_ONCE[model.config.encoder]
    for first in range(0, seen.shape[1], at_once):
        chunk = slice(first, min(first + at_once, seen.shape[1]))
        codes, logits, state = _chunk(model, seen[:, chunk], done[:, chunk], previous_action, state, quantize)
        yield chunk, codes, logits
        if chunk.stop < seen.shape[1]:
            previous_action = done[:, chunk.stop - 1] + 1


def _chunk(
    model: Model,
    seen: Tensor,
    done: Tensor,
    previous_action: Tensor,
    state: EncoderState | None,
    quantize: bool,
) -> tuple[Tensor, Tensor, EncoderState | None]:
    """Codes, logits and state. The last step of a walk has no action after it, so a code but no logits."""
    ahead = done.shape[1]
    no_codes = seen.new_zeros(*seen.shape, 0)
    if isinstance(model, VanillaModel):
        if not ahead:  # the chunk is the last step alone: there is nothing to predict
            return no_codes, torch.zeros(len(seen), 0, model.config.num_targets, device=seen.device), state
        result = model(seen[:, :ahead], done, previous_action, state)
        return no_codes, result.logits[0], result.state
    before = previous_actions(done, previous_action, seen.shape[1])
    if not quantize:
        outputs, state = model.encoder(seen, before, state)
        vectors = model.bottlenecks.project(outputs).flatten(2)
        return no_codes, model.next_logits(vectors[:, :ahead], done), state
    codes, state = model.encode(seen, before, state)
    vectors = model.bottlenecks.entries(codes).flatten(2)
    return codes, model.next_logits(vectors[:, :ahead], done, codes[:, :ahead]), state


def _as_observations(model: Model, walks: Walks, predicted: Integers) -> Integers:
    if not model.config.in_base:
        return predicted
    nothing = np.zeros((1, walks.num_observations), dtype=bool)
    rows = zip(walks.observations[:, :-1], predicted, strict=True)
    return np.stack(
        [observations_of_ranks(ranks, ranks_so_far(seen[None], nothing)[1][0]) for seen, ranks in rows]
    )


def _context(config: ModelConfig, tokens: int) -> int:
    """How many tokens of a prompt are used: the paper's transformer uses the last `context_length`, others all."""
    limited = config.attention_kind == "relative" and config.encoder == "transformer"
    return min(tokens, config.context_length) if limited else tokens
