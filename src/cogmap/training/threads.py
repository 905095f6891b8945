"""How many threads to compute with, by measuring: beside other work, two threads may take three times as long as one.

Threads that share a product wait for each other. On a quiet machine more of them are faster; where another process
takes one of the cores, all wait for the thread that lost it. Which it is shows only in the speed of steps, and may
change at any time. So each number is tried for a few steps in turn at the beginning, again when many threads get slower
or few get faster, and now and then, such that trials of slower numbers take a small share of the time.

Sums in another order differ in their last bits. So a training whose number of threads is fixed (`threads`, or a
machine with one core, or OMP_NUM_THREADS=1) is repeated and resumed bit for bit; one that chooses is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import torch

CLEAR_ROUNDS, MOST_ROUNDS = 2, 5  # of a trial; in each round every number of threads gets one step
CLEAR = 1.3  # times as slow, for a trial to end early, or for steps to have another speed than before
MOST_SHARE = 0.02  # of the time that trials may lose
RECENT = 5  # steps whose median speed is compared with that of the last trial
PATIENCE = 20  # steps after a trial before the next because of another speed; doubled while the choice stays


class ThreadChoice:
    """Chooses the number of threads of the next step from the seconds of those before. It reads no clock."""

    def __init__(self, candidates: tuple[int, ...]) -> None:
        self._candidates = candidates
        self.chosen = candidates[0]
        self._plan = [self.chosen, *candidates] if len(candidates) > 1 else []  # the first step is a warm-up
        self._warm_up, self._rounds = len(candidates) > 1, 1
        self._times: dict[int, list[float]] = {number: [] for number in candidates}
        self._expected, self._lost, self._since = 0.0, 0.0, 0.0
        self._steps, self._patience = 0, PATIENCE
        self._recent: deque[float] = deque(maxlen=RECENT)

    @property
    def next(self) -> int:
        """Threads of the next step."""
        return self._plan[0] if self._plan else self.chosen

    def took(self, seconds: float) -> None:
        """Note the seconds of the step that `next` was for."""
        if len(self._candidates) == 1:
            return
        if self._plan:
            number = self._plan.pop(0)
            if self._warm_up:
                self._warm_up = False
            else:
                self._times[number].append(seconds)
            if not self._plan:
                self._judge()
            return
        self._since += seconds
        self._steps += 1
        self._recent.append(seconds)
        due = self._steps >= PATIENCE and self._lost <= MOST_SHARE * self._since
        if due or self._may_be_better():
            self._times = {number: [] for number in self._candidates}
            self._plan, self._rounds = list(self._candidates), 1

    def _may_be_better(self) -> bool:
        """Whether steps got slower, so that fewer threads may be better, or faster, so that more may be.

        One thread that gets slower has neighbours, beside which more threads are slower still.
        """
        if self._steps < self._patience or len(self._recent) < RECENT:
            return False
        now = median(self._recent)
        crowded = self.chosen > self._candidates[0] and now > CLEAR * self._expected
        freed = self.chosen < self._candidates[-1] and CLEAR * now < self._expected
        return crowded or freed

    def _judge(self) -> None:
        """Choose, or try for another round where it is not clear yet."""
        typical = {number: median(times) for number, times in self._times.items()}
        best = min(typical, key=lambda number: typical[number])
        others = [time for number, time in typical.items() if number != best]
        # Beside two neighbours a step of all threads takes as long as six of one: the clearer, the fewer rounds.
        clear = CLEAR ** max(CLEAR_ROUNDS - self._rounds + 1, 1)
        if self._rounds < MOST_ROUNDS and min(others) <= clear * typical[best]:
            self._plan, self._rounds = list(self._candidates), self._rounds + 1
            return
        self._patience = 2 * self._patience if best == self.chosen else PATIENCE
        self.chosen, self._expected = best, typical[best]
        self._lost = sum(sum(times) - len(times) * typical[best] for times in self._times.values())
        self._since, self._steps = 0.0, 0
        self._recent.clear()


def thread_choice(fixed: int | None, on_cpu: bool) -> ThreadChoice:
    """1, 2, 4, ... up to torch's own number, which OMP_NUM_THREADS limits; or the fixed number alone."""
    most = torch.get_num_threads()
    if fixed is not None or not on_cpu:
        return ThreadChoice((fixed or most,))
    powers = [1 << bit for bit in range(most.bit_length()) if 1 << bit < most]
    return ThreadChoice((*powers, most))


@contextmanager
def own_threads() -> Iterator[None]:
    """What is computed after a training has the number of threads that it had before."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)
