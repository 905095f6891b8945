"""What a trained model imagines after its codes: sequences of actions that are longer than its heads predict.

Two states may differ only many steps ahead: two floors of an elevator by the way to the top, a cart by what is asked at
the check-out. Heads predict S steps, but the encoder carries what it needs further on. So histories that have a code
are continued: an action, the observation that is predicted, fed back as if it had been seen, the next action. A test is
a sequence of actions with what is imagined at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cogmap.models.encoder import EncoderState
from cogmap.models.tdb import TDB
from cogmap.records import Booleans, ImaginedMoves, Integers, Walks
from cogmap.walks.offered import offered_actions

LENGTH = 10  # actions of a sequence
HISTORIES = 4  # of each code: an error of one of them makes a test say nothing
NOTHING = -1
_SURE = 0.8  # of an imagined observation: what follows a doubtful one is a guess
_FEWEST, _MOST = 16, 512  # sequences; fewer say too little
# Products of all imagined steps, some seconds; larger models and more codes get fewer sequences.
_MOST_PRODUCTS = 1e11
_LONG = 512  # steps that a model needs at the most to know where it is; longer walks are read in pieces, side by side
_NUMBERS_AT_ONCE = 1 << 24  # in the states of the histories that are continued together


@torch.inference_mode()
def imagined_futures(model: TDB, index: NDArray[np.integer], walks: Walks) -> Integers | None:
    """(J, T * LENGTH) the observation that every history of a code imagines at the end of a test, -1 where they differ.

    It is also -1 where they are not sure, or where an action cannot be taken at what they imagine before it. None if
    there are too many codes to ask much of each.
    index: (B, N) the row of each step's code, -1 on padding.
    """
    codes = int(index.max(initial=-1)) + 1
    products = sum(each.numel() for name, each in model.encoder.named_parameters() if "embedding" not in name)
    number = int(_MOST_PRODUCTS / max(products * codes * HISTORIES * LENGTH, 1))
    tests = action_sequences(walks, min(number, _MOST))
    if number < _FEWEST or not len(tests):
        return None
    model.eval()
    offered = offered_actions(walks)
    index, walks = _pieces(index, walks)
    walk, step = _histories(index)
    imagined = np.full((len(walk), tests.size), NOTHING, dtype=np.int32)
    for rows, outputs, state in _read(model, walks, walk, step):
        seen = walks.observations[walk[rows], step[rows]]
        imagined[rows] = _imagine(model, outputs, state, seen, tests, offered)
    return _agreed(imagined, index[walk, step], codes)


@torch.inference_mode()
def imagined_moves(
    model: TDB, code_tuples: NDArray[np.integer], index: NDArray[np.integer], walks: Walks
) -> ImaginedMoves:
    """What histories of every code imagine after each single action, and which code they are at then.

    code_tuples: (J, M) every tuple met, in lexicographic order; index: (B, N) the row of each step's, -1 on padding.
    """
    model.eval()
    index, walks = _pieces(index, walks)
    walk, step = _histories(index)
    seen = np.full((len(walk), walks.num_actions), NOTHING, dtype=np.int32)
    after = seen.copy()
    row_of = {tuple(codes): row for row, codes in enumerate(code_tuples.tolist())}
    for rows, outputs, state in _read(model, walks, walk, step):
        last = walks.observations[walk[rows], step[rows]]
        for action in range(walks.num_actions):
            likely, sure = _next(model, outputs, last, action)
            encoded, _ = _append(model, likely, action, state)
            codes = _codes(model, encoded, likely).tolist()
            seen[rows, action] = np.where(sure, likely, NOTHING)
            after[rows, action] = np.where(
                sure, [row_of.get(tuple(each), NOTHING) for each in codes], NOTHING
            )
    return ImaginedMoves(index[walk, step].astype(np.int32), seen, after)


def action_sequences(walks: Walks, most: int, length: int = LENGTH) -> NDArray[np.int64]:
    """(T, length) sequences of actions of the walks, as many for each observation that they start from."""
    walk, step = np.nonzero(walks.step_mask()[:, length:])
    order = np.random.default_rng(0).permutation(len(walk))
    seen = walks.observations[walk[order], step[order]]
    turn = _occurrence(seen)  # the first of each observation, then the second of each
    chosen = order[np.argsort(turn, kind="stable")[:most]]
    found = walks.actions[walk[chosen, None], step[chosen, None] + np.arange(length)]
    return np.unique(found.astype(np.int64), axis=0)


def _pieces(index: NDArray[np.integer], walks: Walks) -> tuple[NDArray[np.integer], Walks]:
    """Long walks as pieces of twice `_LONG` steps that overlap by half, and the index where a piece knows its place.

    In the first half of a piece, but for a walk's first, there is no code (-1), so that each step has one in one piece.
    """
    if walks.num_steps <= 2 * _LONG:
        return index, walks
    walk, number = np.nonzero(np.arange(0, walks.num_steps - _LONG, _LONG) < walks.lengths[:, None] - _LONG)
    short = np.flatnonzero(walks.lengths <= _LONG)
    walk, start = np.append(walk, short), np.append(number * _LONG, np.zeros_like(short))
    step = np.minimum(start[:, None] + np.arange(2 * _LONG), walks.num_steps - 1)
    lengths = np.minimum(walks.lengths[walk] - start, 2 * _LONG)
    there = np.arange(2 * _LONG) < lengths[:, None]
    known = there & ((start == 0)[:, None] | (np.arange(2 * _LONG) >= _LONG))
    pieces = replace(
        walks,
        observations=np.where(there, walks.observations[walk[:, None], step], 0),
        actions=walks.actions[walk[:, None], np.minimum(step, walks.num_steps - 2)[:, :-1]],
        lengths=lengths,
        rewards=None,
    )
    return np.where(known, index[walk[:, None], step], NOTHING), pieces


def _histories(index: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(H,) walks and (H,) steps of a few histories of each code, of different walks where there are."""
    walk, step = np.nonzero(index >= 0)
    order = np.random.default_rng(0).permutation(len(walk))
    walk, step = walk[order], step[order]
    code = index[walk, step].astype(np.int64)
    again = _occurrence(code * len(index) + walk)
    order = np.lexsort((walk, again))  # few walks have to be read: they serve many codes
    kept = order[_occurrence(code[order]) < HISTORIES]
    return walk[kept], step[kept]


def _occurrence(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """(n,) how often each value has come before."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]] if len(values) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))
    occurrence = np.empty(len(values), dtype=np.int64)
    occurrence[order] = np.arange(len(values)) - start
    return occurrence


def _read(
    model: TDB, walks: Walks, walk: NDArray[np.int64], step: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], Tensor, EncoderState]]:
    """Some histories at a time: which, what the encoder outputs at their last step (h, D), and its state there."""
    device = next(model.parameters()).device
    size = sum(each[:, :1].numel() for each in model.encoder.initial_state(1, device).tensors)
    at_once = max(_NUMBERS_AT_ONCE // size, 1)
    distinct = np.unique(walk)
    for first in range(0, len(distinct), at_once):
        group = distinct[first : first + at_once]
        inside = np.flatnonzero(np.isin(walk, group))
        row = np.searchsorted(group, walk[inside])
        last = step[inside]
        seen, done = (
            torch.from_numpy(part[group, : last.max() + 1].astype(np.int64)).to(device)
            for part in (walks.observations, walks.actions)
        )
        state = model.encoder.initial_state(len(group), device)
        waiting: list[tuple[NDArray[np.int64], Tensor, EncoderState]] = []
        for here in range(int(last.max()) + 1):
            before = done[:, here - 1 : here] + 1 if here else torch.zeros_like(seen[:, :1])
            outputs, state = model.encoder(seen[:, here : here + 1], before, state)
            ends = np.flatnonzero(last == here)
            if len(ends):
                rows = torch.from_numpy(row[ends]).to(device)
                waiting.append((inside[ends], outputs[rows, 0], state.rows(rows)))
            if sum(len(each[0]) for each in waiting) >= at_once or here == last.max():
                yield _together(waiting)
                waiting = []


def _together(
    parts: list[tuple[NDArray[np.int64], Tensor, EncoderState]],
) -> tuple[NDArray[np.int64], Tensor, EncoderState]:
    numbers, outputs, states = zip(*parts, strict=True)
    tensors = zip(*(each.tensors for each in states), strict=True)
    state = EncoderState(tuple(torch.cat(each, dim=1) for each in tensors))
    return np.concatenate(numbers), torch.cat(outputs), state


def _imagine(
    model: TDB,
    outputs: Tensor,
    state: EncoderState,
    seen: Integers,
    tests: NDArray[np.int64],
    offered: Booleans,
) -> Integers:
    """(h, T * LENGTH) what each history imagines, from the encoder's outputs (h, D) and what is seen there (h,)."""
    found = np.full((len(seen), *tests.shape), NOTHING, dtype=np.int32)
    for number, actions in enumerate(tests):
        rows, last, at, memory = np.arange(len(seen)), seen, outputs, state
        for depth, action in enumerate(actions):
            there = np.flatnonzero(offered[last, action])
            rows, last, at, memory = _only(there, rows, last, at, memory)
            if not len(rows):
                break
            likely, sure = _next(model, at, last, int(action))
            there = np.flatnonzero(sure)
            rows, last, at, memory = _only(there, rows, likely, at, memory)
            if not len(rows):
                break
            found[rows, number, depth] = last
            at, memory = _append(model, last, int(action), memory)
    return found.reshape(len(seen), -1)


def _only(
    kept: NDArray[np.int64], rows: NDArray[np.int64], last: Integers, at: Tensor, memory: EncoderState
) -> tuple[NDArray[np.int64], Integers, Tensor, EncoderState]:
    """Some of the histories that are under way."""
    if len(kept) == len(rows):
        return rows, last, at, memory
    chosen = torch.from_numpy(kept).to(at.device)
    return rows[kept], last[kept], at[chosen], memory.rows(chosen)


def _append(model: TDB, seen: Integers, action: int, memory: EncoderState) -> tuple[Tensor, EncoderState]:
    """The encoder's outputs (h, D) and its state after an action and what is seen then (h,)."""
    shown = torch.from_numpy(seen.astype(np.int64)).to(memory.tensors[0].device)[:, None]
    encoded, after = model.encoder(shown, torch.full_like(shown, action + 1), memory)
    assert after is not None  # it was asked for
    return encoded[:, 0], after


def _codes(model: TDB, outputs: Tensor, seen: Integers) -> Tensor:
    """(h, M) the codes of encoder outputs (h, D) where something is seen (h,)."""
    shown = torch.from_numpy(seen.astype(np.int64)).to(outputs.device)[:, None]
    return model.bottlenecks.nearest_code(model.bottlenecks.project(outputs[:, None]), shown)[:, 0]


def _next(model: TDB, outputs: Tensor, last: Integers, action: int) -> tuple[Integers, Booleans]:
    """(h,) the likeliest next observation after an action, and whether it is sure."""
    codes = _codes(model, outputs, last)[:, None]  # (h, 1, M)
    vectors = model.bottlenecks.entries(codes).flatten(2)
    logits = model.next_logits(vectors, torch.full_like(codes[:, :, 0], action), codes)[:, 0]
    chance, likeliest = torch.softmax(logits, dim=1).max(dim=1)
    return likeliest.numpy(force=True).astype(np.int32), (chance > _SURE).numpy(force=True)


def _agreed(imagined: Integers, code: NDArray[np.integer], codes: int) -> Integers:
    """(J, Q) what all histories of a code say that say anything, -1 if they differ. imagined: (H, Q); code: (H,)."""
    agreed = np.full((codes, imagined.shape[1]), NOTHING, dtype=np.int32)
    differ = np.zeros(agreed.shape, dtype=bool)
    for turn in range(HISTORIES):
        rows = np.flatnonzero(_occurrence(code) == turn)
        said, known = imagined[rows], agreed[code[rows]]
        differ[code[rows]] |= (said >= 0) & (known >= 0) & (said != known)
        agreed[code[rows]] = np.where(known >= 0, known, said)
    return np.where(differ, NOTHING, agreed)
