"""Codes that stand for two places are split by the agent's previous node.

Two places that differ only a few steps away may share a code, and no partition of codes can split them. But the agent
comes to them from different places. So a code is split if it often leads elsewhere than its node leads, or has no node
although the previous node is known. Its steps get new codes by the old code, the previous node and the action, and the
map is minimised again.
"""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Whole, count_sightings, count_transitions
from cogmap.maps.evidence import UNKNOWN
from cogmap.maps.minimise import Minimised, minimise, spread
from cogmap.maps.survey import survey
from cogmap.records import Booleans, Walks

_ROUNDS = 3  # of splitting; one is usual
_FAITHFUL = 0.9  # share of a code's steps that must lead where its node leads
_ENOUGH = 10  # steps per action before a code is judged


def minimise_and_split(index: Whole, walks: Walks, num_codes: int) -> Minimised:
    """The same as `minimise` of `index` (B, N), with codes that stand for several places split."""
    for round_ in range(_ROUNDS + 1):
        counts = count_transitions(index, walks.actions, num_codes, walks.num_actions)
        seen = count_sightings(index, walks.observations, num_codes, walks.num_observations)
        found = minimise(index, walks, counts, seen)
        shared = unfaithful(index, walks, found) | placeless(index, walks, found)
        if round_ == _ROUNDS or not shared.any():
            break
        index, num_codes = split(index, walks, shared, found.steps)
    return found


def unfaithful(index: Whole, walks: Walks, found: Minimised) -> Booleans:
    """(J,) codes from which actions often lead elsewhere than from their node."""
    node = spread(found.code_node, index)  # (B, N)
    next_node = survey(walks, found.steps).next_node
    here, there = node[:, :-1], node[:, 1:]
    judged = (here >= 0) & (there >= 0)
    expected = next_node[here[judged], walks.actions[judged]]
    code, codes = index[:, :-1][judged], len(found.code_node)
    tries = np.bincount(code, minlength=codes)
    kept = np.bincount(code[expected == there[judged]], minlength=codes)
    return (tries >= _ENOUGH * walks.num_actions) & (kept < _FAITHFUL * tries)


def placeless(index: Whole, walks: Walks, found: Minimised) -> Booleans:
    """(J,) codes without a place that often follow a step with a known node."""
    codes = len(found.code_node)
    from_somewhere = (found.steps[:, :-1] >= 0) & (index[:, 1:] >= 0)
    come_to = np.bincount(index[:, 1:][from_somewhere], minlength=codes)
    return (found.code_node < 0) & (come_to >= _ENOUGH * walks.num_actions)


def split(index: Whole, walks: Walks, shared: Booleans, steps: Whole) -> tuple[Whole, int]:
    """The index (B, N) with new codes for shared ones, by code, previous node and action; and the number of codes."""
    before = np.pad(steps[:, :-1], ((0, 0), (1, 0)), constant_values=UNKNOWN)  # (B, N)
    by = np.pad(walks.actions, ((0, 0), (1, 0)))
    chosen = (index >= 0) & (before >= 0) & shared[index]
    key = np.stack([index[chosen], before[chosen], by[chosen]])
    found, number = np.unique(key, axis=1, return_inverse=True)
    parted = index.copy()
    parted[chosen] = len(shared) + number.reshape(-1)
    return parted, len(shared) + found.shape[1]
