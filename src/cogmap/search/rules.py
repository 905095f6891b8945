"""How many nats it takes to say where the moves of all states lead by what they have in common, chance aside.

Most moves are alike: a button does nothing, a step along a corridor shows the corridor again. So what is said first is
what a move does, seen from outside: it leaves the state as it is, or something is seen after it. How often that happens
by one action at one sight is said once for all states there. Then comes which of the states that look like that it is.

A state that differs from another in a few moves may name that state, and only these moves. What a state is called
makes no difference: all orders of the names say the same map, so that what it takes to choose one is not counted.

A state more takes less to say so than by its moves alone (`description`). Where chance explains what it is for just as
well, as noise does, that is too little to keep states out; where there is no chance, it is what lets rare ones in.
"""

from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np
from numba import njit

_STAYS = 0  # the kind of a move that leaves the state as it is; that after which o is seen is o + 1


@njit(cache=True)
def rules(leads: Any, shows: Any, visits: Any, num_observations: int) -> float:
    """Nats of all moves, given what each state shows.

    leads: (V, A) the target of each move, -1 if it was never tried. shows, visits: (V,). A state that is never visited
    takes nothing. One may name another that looks the same and is visited more.
    """
    nats, kinds = _alone(leads, shows, visits, num_observations)
    states = (visits > 0).sum()
    each = _of_states(leads, nats, shows, visits, num_observations)
    by_name, orders = states * log(2), lgamma(states + 1)  # one bit of a state says whether it names another
    return float(each + kinds + by_name - orders)


@njit(cache=True)
def _alone(leads: Any, shows: Any, visits: Any, num_observations: int) -> tuple[Any, float]:
    """(V, A) nats of each move, 0 if it was never tried, and of how often each kind of move is made."""
    states, actions = leads.shape
    alike = np.zeros(num_observations, dtype=np.int64)
    often = np.zeros((num_observations * actions, num_observations + 1), dtype=np.int64)
    for state in range(states):
        if visits[state] > 0:
            alike[shows[state]] += 1
            for action in range(actions):
                if leads[state, action] >= 0:
                    often[shows[state] * actions + action, _kind(leads, shows, state, action)] += 1
    # Each kind is named, and its share is as precise as the moves allow; the last one's follows from the others.
    made, kinds = often.sum(axis=1), 0.0
    for group in np.flatnonzero(made):
        number = (often[group] > 0).sum()
        kinds += number * log(num_observations + 1) + 0.5 * log(made[group]) * (number - 1)
    nats = np.zeros((states, actions))
    for state in range(states):
        for action in range(actions):
            target = leads[state, action]
            if visits[state] > 0 and target >= 0:
                group, kind = shows[state] * actions + action, _kind(leads, shows, state, action)
                which = 0.0 if kind == _STAYS else log(max(alike[shows[target]], 1))
                nats[state, action] = log(made[group] / often[group, kind]) + which
    return nats, kinds


@njit(cache=True)
def _kind(leads: Any, shows: Any, state: int, action: int) -> int:
    target = leads[state, action]
    return _STAYS if target == state else shows[target] + 1


@njit(cache=True)
def _of_states(leads: Any, nats: Any, shows: Any, visits: Any, num_observations: int) -> float:
    """Nats of the moves of all states, each said alone or by the cheapest other one that comes before it."""
    states, actions = leads.shape
    last_alike = np.full(num_observations, -1, dtype=np.int64)  # states with one observation form a list
    before = np.full(states, -1, dtype=np.int64)
    alike = np.zeros(num_observations, dtype=np.int64)
    total = 0.0
    for state in np.argsort(-visits, kind="mergesort"):
        if visits[state] <= 0:
            break
        fewest, other = nats[state].sum(), last_alike[shows[state]]
        name = log(max(alike[shows[state]], 1)) + log(actions + 1)
        while other >= 0:
            moves, said = 0, name
            for action in range(actions):
                target, there = leads[state, action], leads[other, action]
                stays = target == state and there == other
                if target >= 0 and target != there and not stays:
                    moves += 1
                    said += nats[state, action]
                    if said >= fewest:
                        break
            if said < fewest:
                which = lgamma(actions + 1) - lgamma(moves + 1) - lgamma(actions - moves + 1)
                fewest = min(fewest, said + which)
            other = before[other]
        total += fewest
        before[state] = last_alike[shows[state]]
        last_alike[shows[state]] = state
        alike[shows[state]] += 1
    return total
