"""An account of walks: states that expectation-maximisation has settled, and how long it takes to say them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.hmm.inference import Expectation, settle
from cogmap.hmm.states import StateCounts, count_states, without_unused
from cogmap.records import Booleans, Walks
from cogmap.search.description import description_length
from cogmap.search.doubt import entropies

ROUNDS = 6  # of expectation-maximisation that settle a proposal
SETTLED = 1.0  # nats: a description that is not shorter by this is not shorter

# Is told the number of states of the shortest account so far, and says whether to go on searching.
Watch = Callable[[int], bool]


@dataclass(frozen=True, eq=False)
class Account:
    """States, what the walks say of them, and how long it all takes to say."""

    found: Expectation
    length: float  # nats

    @property
    def counts(self) -> StateCounts:
        return self.found.counts

    @property
    def num_states(self) -> int:
        return self.found.counts.num_states

    @property
    def name(self) -> float:
        """Nats that the name of a state takes."""
        return float(np.log(max(self.num_states, 2)))

    def in_doubt(self) -> Booleans:
        """(V,) states with a move whose target takes more nats to say than a name: they may be several."""
        return np.asarray(entropies(self.counts) > self.name)

    def may_hide_states(self) -> bool:
        """Whether some states' moves are in doubt, or some step is unexplained."""
        return self.found.unexplained > 0 or bool(self.in_doubt().any())


@dataclass(eq=False)
class Log:
    """The walks that are explained, until when, who watches, and the shortest account of them so far."""

    walks: Walks
    until: float = np.inf  # of the monotonic clock
    watch: Watch | None = None
    shortest: Account | None = None

    def is_over(self) -> bool:
        """Whether there is an account, and the time is up or who watches ends the search."""
        if self.shortest is None:
            return False
        stopped = self.watch is not None and not self.watch(self.shortest.num_states)
        return stopped or time.monotonic() > self.until


def drawn_walks(walks: Walks, steps: float, seed: int = 0) -> Whole:
    """Whole walks with so many steps in all, drawn at random, in order."""
    order = np.random.default_rng(seed).permutation(walks.num_walks)
    enough = int(np.searchsorted(np.cumsum(walks.lengths[order]), steps)) + 1
    return np.sort(order[:enough])


class OutOfTime(Exception):
    """The time of a search is up, or it was ended."""


def account(log: Log, counts: StateCounts, rounds: int = ROUNDS, below: float = np.inf) -> Account:
    """The account that these counts come to after some rounds of expectation-maximisation.

    below: the length that it is to come below. It is left as it is as soon as the rounds that are left would not get it
    there if each gained as much as the last one; they gain less and less.
    Raises `OutOfTime` if the search is over. The first account is made in any case.
    """
    if log.is_over():
        raise OutOfTime
    made, left = None, rounds
    for found in settle(log.walks, without_unused(counts), rounds):
        left -= 1
        if below < np.inf:
            before, made = made, Account(found, description_length(found))
            if before is not None and made.length - left * max(before.length - made.length, 0) > below:
                break
        if time.monotonic() > log.until or log.is_over():
            break
    if made is None:
        made = Account(found, description_length(found))
    if log.shortest is None or made.length < log.shortest.length:
        log.shortest = made
    return made


def hardened(log: Log, current: Account) -> Account:
    """Settled again from the likeliest state of each step alone: soft counts forget a wrong edge only slowly."""
    return account(log, count_states(current.found.path, log.walks, current.num_states))
