"""A pass over walks for clone-structured graphs, compiled: beliefs forward, expected counts backward."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.steps import UNEXPLAINED

WHOLE = np.float32(65535)  # the root of a probability of 1, in 16 bits
_SCALE = np.float32(1 / 65535**2)
_UNLIKELY = 1e-4  # a clone this much less likely than the likeliest is passed over
_SEGMENT = 1024  # steps of a walk whose beliefs are in memory at once


# Loops over slices: an index that numba knows to be in range lets the compiler use vector instructions.
@njit(cache=True, fastmath=True)
def _add_moved(to: Any, roots: Any, weight: Any) -> None:
    weight *= _SCALE
    for index in range(len(to)):
        root = np.float32(roots[index])
        to[index] += weight * root * root


@njit(cache=True, fastmath=True)
def _add_scaled(to: Any, values: Any, weight: Any) -> None:
    for index in range(len(to)):
        to[index] += weight * values[index]


@njit(cache=True, fastmath=True)
def _dot(roots: Any, values: Any) -> Any:
    total = np.float32(0.0)
    for index in range(len(roots)):
        root = np.float32(roots[index])
        total += root * root * values[index]
    return total * _SCALE


@njit(cache=True, fastmath=True)
def _dot_some(roots: Any, values: Any, some: Any) -> Any:
    total = np.float32(0.0)
    for index in some:
        root = np.float32(roots[index])
        total += root * root * values[index]
    return total * _SCALE


@njit(cache=True, fastmath=True)
def _keep(alpha: Any, size: int, kept: Any, total: float) -> int:
    """Normalise a belief, pass over unlikely clones and list the others. Returns how many there are."""
    most = np.float32(0.0)
    for clone in range(size):
        most = max(most, alpha[clone])
    found, least, scale = 0, most * np.float32(_UNLIKELY), np.float32(1 / total)
    for clone in range(size):
        if alpha[clone] >= least and alpha[clone] > 0:
            alpha[clone] *= scale
            kept[found] = clone
            found += 1
        else:
            alpha[clone] = 0
    return found


@njit(cache=True, fastmath=True)
def _begin_anew(alpha: Any, first: Any, begin: int, size: int) -> float:
    """Fill the belief with the clones of an observation, by how often walks start there. Returns its sum."""
    total = 0.0
    for clone in range(size):
        alpha[clone] = first[begin + clone]
        total += alpha[clone]
    if total <= 0:
        for clone in range(size):
            alpha[clone] = np.float32(1.0)
        total = float(size)
    return total


@njit(cache=True, fastmath=True)
def _forward(seen: Any, done: Any, model: Any, beliefs: Any) -> float:
    """The beliefs after each step of a segment. Returns its log-likelihood."""
    begin, size, block, root, first = model
    alpha, kept, num_kept, anew = beliefs
    log_likelihood = 0.0
    for step in range(1, len(seen)):
        after = seen[step]
        clones, offset = size[after], block[done[step - 1], seen[step - 1], after]
        belief = alpha[step]
        belief[:clones] = 0
        total = 0.0
        if offset >= 0:
            for clone in kept[step - 1, : num_kept[step - 1]]:
                row = offset + clone * clones
                _add_moved(belief[:clones], root[row : row + clones], alpha[step - 1, clone])
            for clone in range(clones):
                total += belief[clone]
        anew[step] = total < UNEXPLAINED
        log_likelihood += np.log(max(total, UNEXPLAINED))
        if anew[step]:
            total = _begin_anew(belief, first, begin[after], clones)
        num_kept[step] = _keep(belief, clones, kept[step], total)
    return log_likelihood


@njit(cache=True, fastmath=True)
def _backward(seen: Any, done: Any, model: Any, beliefs: Any, messages: Any, counts: Any) -> None:
    """Add what times the probabilities is the expected counts of a segment; leaves the message to its first step."""
    _, size, block, root, _ = model
    alpha, kept, num_kept, anew = beliefs
    later, earlier = messages  # zero but for the clones that are kept
    steps = len(seen) - 1
    for clone in kept[steps, : num_kept[steps]]:
        later[clone] = np.float32(1.0)
    for step in range(steps, 0, -1):
        clones, offset = size[seen[step]], block[done[step - 1], seen[step - 1], seen[step]]
        before, here = kept[step - 1, : num_kept[step - 1]], kept[step, : num_kept[step]]
        few = 4 * len(here) < clones
        norm = 0.0
        for clone in before:
            row = offset + clone * clones
            if anew[step]:
                earlier[clone] = np.float32(1.0)
            elif few:
                earlier[clone] = _dot_some(root[row : row + clones], later[:clones], here)
            else:
                earlier[clone] = _dot(root[row : row + clones], later[:clones])
            norm += alpha[step - 1, clone] * earlier[clone]
        scale = np.float32(1 / max(norm, 1e-30))
        for clone in before:
            earlier[clone] *= scale
            weight, row = alpha[step - 1, clone] * scale, offset + clone * clones
            if anew[step]:
                continue
            if few:
                for other in here:
                    counts[row + other] += weight * later[other]
            else:
                _add_scaled(counts[row : row + clones], later[:clones], weight)
        for clone in here:
            later[clone] = 0
        for clone in before:
            later[clone] = earlier[clone]


@njit(cache=True, fastmath=True)
def sweep(arguments: Any, counts: Any, first_counts: Any, learns: bool) -> float:
    """A pass over walks. Returns their log-likelihood; `counts` times the probabilities are then expected counts.

    A walk is read in segments. Beliefs pass from one to the next; what is seen later does not pass back.
    """
    observations, actions, lengths, model = arguments
    begin, size, _, _, first = model
    widest, longest = max(1, size.max()), min(_SEGMENT, observations.shape[1]) + 1
    alpha = np.zeros((longest, widest), dtype=np.float32)
    kept, num_kept = np.zeros((longest, widest), dtype=np.int32), np.zeros(longest, dtype=np.int64)
    beliefs = (alpha, kept, num_kept, np.zeros(longest, dtype=np.bool_))
    later = np.zeros(widest, dtype=np.float32)
    messages = (later, np.zeros(widest, dtype=np.float32))
    log_likelihood = 0.0
    for walk in range(len(lengths)):
        shown, last, start = observations[walk, 0], lengths[walk] - 1, 0
        total = _begin_anew(alpha[0], first, begin[shown], size[shown])
        num_kept[0] = _keep(alpha[0], size[shown], kept[0], total)
        while start < last:
            end = min(start + longest - 1, last)
            seen, done = observations[walk, start : end + 1], actions[walk, start:end]
            log_likelihood += _forward(seen, done, model, beliefs)
            if learns:
                _backward(seen, done, model, beliefs, messages, counts)
                for clone in kept[0, : num_kept[0]]:
                    if start == 0:
                        first_counts[begin[shown] + clone] += alpha[0, clone] * later[clone]
                    later[clone] = 0
            steps = end - start
            kept[0], alpha[0], num_kept[0] = kept[steps], alpha[steps], num_kept[steps]
            start = end
    return log_likelihood
