"""An account of walks: states that expectation-maximisation has settled, and how long it takes to say them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from cogmap.hmm.inference import Expectation, settle
from cogmap.hmm.states import StateCounts, count_states, without_unused
from cogmap.records import Booleans, Walks
from cogmap.search.description import description_length
from cogmap.search.doubt import entropies

ROUNDS = 6  # of expectation-maximisation that settle a proposal
SETTLED = 1.0  # nats: a description that is not shorter by this is not shorter


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
    """The walks that are explained, until when, and the shortest account of them so far."""

    walks: Walks
    until: float = np.inf  # of the monotonic clock
    shortest: Account | None = None


class OutOfTime(Exception):
    """The time of a search is up."""


def account(log: Log, counts: StateCounts, rounds: int = ROUNDS, below: float = np.inf) -> Account:
    """The account that these counts come to after some rounds of expectation-maximisation.

    below: the length that it is to come below. It is left as it is as soon as the rounds that are left would not get it
    there if each gained as much as the last one; they gain less and less.
    Raises `OutOfTime` if the time is up. The first account is made in any case.
    """
    if log.shortest is not None and time.monotonic() > log.until:
        raise OutOfTime
    made, left = None, rounds
    for found in settle(log.walks, without_unused(counts), rounds):
        left -= 1
        if below < np.inf:
            before, made = made, Account(found, description_length(found))
            if before is not None and made.length - left * max(before.length - made.length, 0) > below:
                break
        if time.monotonic() > log.until:
            break
    if made is None:
        made = Account(found, description_length(found))
    if log.shortest is None or made.length < log.shortest.length:
        log.shortest = made
    return made


def hardened(log: Log, current: Account) -> Account:
    """Settled again from the likeliest state of each step alone: soft counts forget a wrong edge only slowly."""
    return account(log, count_states(current.found.path, log.walks, current.num_states))
