"""The belief filter over whole walks, compiled by numba. Only likely nodes are kept, so that time grows with the steps
of the walks and not with the nodes of the map. `belief.py` has the model and the same filter for single steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.steps import NEGLIGIBLE, keep_likely


@njit(cache=True)
def _entry(index: Any, first: int, last: int, wanted: int) -> int:
    """Where `wanted` is in index[first:last], -1 if nowhere."""
    for entry in range(first, last):
        if index[entry] == wanted:
            return entry
    return -1


@njit(cache=True)
def _chance_of(node: int, observation: int, sights: Any) -> float:
    seen_start, seen, seen_chance, unseen = sights[:4]
    entry = _entry(seen, seen_start[node], seen_start[node + 1], observation)
    return float(seen_chance[entry] if entry >= 0 else unseen[node])


@njit(cache=True)
def _sign_of(node: int, code: int, signs: Any) -> float:
    sign_start, sign_node, sign_ratio, no_sign = signs
    if code < 0:
        return 1.0
    entry = _entry(sign_node, sign_start[code], sign_start[code + 1], node)
    return float(sign_ratio[entry] if entry >= 0 else no_sign[node])


@njit(cache=True)
def _act(states: Any, weights: Any, count: int, action: int, num_actions: int, moves: Any, belief: Any, touched: Any,
) -> tuple[int, float]:  # fmt: skip
    """Fill the belief after an action. Returns the number of nodes in it, and the chance of being anywhere else."""
    _, start, target, chance, anywhere, doable = moves
    found, lost, total = 0, 0.0, 0.0
    for index in range(count):
        total += weights[index] * doable[states[index] * num_actions + action]
    for index in range(count):
        row = states[index] * num_actions + action
        weight = weights[index] * doable[row] / total
        lost += weight * anywhere[row]
        for edge in range(start[row], start[row + 1]):
            node = target[edge]
            if belief[node] == 0:
                touched[found] = node
                found += 1
            belief[node] += weight * chance[edge]
    return found, lost


@njit(cache=True)
def _predict(found: int, lost: float, sights: Any, belief: Any, touched: Any, ahead: Any) -> int:
    """The likeliest next observation."""
    seen_start, seen, seen_chance = sights[:3]
    totals = sights[8]
    best, most = int(np.argmax(totals)), 0.0
    if found:
        for index in range(found):
            node = touched[index]
            for entry in range(seen_start[node], seen_start[node + 1]):
                ahead[seen[entry]] += belief[node] * seen_chance[entry]
        for index in range(found):
            node = touched[index]
            for entry in range(seen_start[node], seen_start[node + 1]):
                value = ahead[seen[entry]] + lost * totals[seen[entry]]
                if value > most or (value == most and seen[entry] < best):
                    most, best = value, seen[entry]
        for index in range(found):
            for entry in range(seen_start[touched[index]], seen_start[touched[index] + 1]):
                ahead[seen[entry]] = 0.0
    return best


@njit(cache=True)
def _see(
    found: int, lost: float, observation: int, code: int, prior: Any, sights: Any, signs: Any, belief: Any,
    touched: Any,
) -> tuple[int, float]:  # fmt: skip
    """Weigh the belief by observation and code. Returns the number of nodes, and the observation's likelihood."""
    shown_start, shown_at, shown_chance, peak, totals = sights[4:]
    likelihood, most = lost * totals[observation], 0.0
    for index in range(found):
        node = touched[index]
        belief[node] *= _chance_of(node, observation, sights)
        likelihood += belief[node]
        belief[node] *= _sign_of(node, code, signs)
        most = max(most, belief[node])
    highest = lost * peak[observation]
    if code >= 0:  # a node that only a code speaks for
        bound = 1.0
        for entry in range(signs[0][code], signs[0][code + 1]):
            bound = max(bound, signs[2][entry])
        highest *= bound
    if highest == 0.0:  # what no node shows
        for node in range(len(prior)):
            if belief[node] == 0:
                touched[found] = node
                found += 1
            belief[node] += (
                lost * prior[node] * _chance_of(node, observation, sights) * _sign_of(node, code, signs)
            )
    elif highest >= NEGLIGIBLE * most:
        for place in range(shown_start[observation], shown_start[observation + 1]):
            node = shown_at[place]
            if belief[node] == 0:
                touched[found] = node
                found += 1
            belief[node] += lost * prior[node] * shown_chance[place] * _sign_of(node, code, signs)
    return found, likelihood


@njit(cache=True)
def read(
    observations: Any, actions: Any, lengths: Any, codes: Any, moves: Any, sights: Any, signs: Any, num_actions: int,
    results: Any,
) -> None:  # fmt: skip
    """Fill `results`: nodes, certainty and log-likelihood (B, N), predicted observations (B, N - 1), last beliefs."""
    nodes, certainty, log_likelihood, predicted, last = results
    prior = moves[0]
    num_nodes = len(prior)
    belief, touched = np.zeros(num_nodes), np.empty(num_nodes, dtype=np.int32)
    states, weights = np.empty(num_nodes, dtype=np.int32), np.empty(num_nodes)
    ahead = np.zeros(len(sights[8]))
    for walk in range(len(lengths)):
        count = 0
        for step in range(lengths[walk]):
            code = codes[walk, step] if len(codes) else -1
            found, lost = 0, 1.0  # before the first observation the agent may be anywhere
            if step:
                action = actions[walk, step - 1]
                found, lost = _act(states, weights, count, action, num_actions, moves, belief, touched)
                predicted[walk, step - 1] = _predict(found, lost, sights, belief, touched, ahead)
            seen = observations[walk, step]
            found, likelihood = _see(found, lost, seen, code, prior, sights, signs, belief, touched)
            log_likelihood[walk, step] = np.log(likelihood)
            count = keep_likely(found, belief, touched, states, weights, 0)
            best = 0
            for index in range(count):
                higher = weights[index] > weights[best]
                if higher or (weights[index] == weights[best] and states[index] < states[best]):
                    best = index
            nodes[walk, step], certainty[walk, step] = states[best], weights[best]
        if len(last):
            for index in range(count):
                last[walk, states[index]] = weights[index]
