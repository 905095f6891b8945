"""The number of threads is chosen by the speed of steps, on simulated machines: no clock is read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from cogmap.errors import BadConfig
from cogmap.training.config import TrainingConfig
from cogmap.training.threads import ThreadChoice, own_threads, thread_choice

Speed = Callable[[int, int], float]  # seconds of a step, by its number and the threads


def spent(choice: ThreadChoice, speed: Speed, steps: int, seed: int = 0) -> tuple[float, dict[int, float]]:
    """Seconds of some steps, beside those that each number of threads alone would have taken."""
    rng = np.random.default_rng(seed)
    total, alone = 0.0, dict.fromkeys(choice._candidates, 0.0)
    for step in range(steps):
        noise = rng.lognormal(sigma=0.15)
        for number in alone:
            alone[number] += speed(step, number) * noise
        seconds = speed(step, choice.next) * noise
        total += seconds
        choice.took(seconds)
    return total, alone


def quiet(step: int, threads: int) -> float:
    return 1 / threads**0.6


def crowded(step: int, threads: int) -> float:
    return 1.0 if threads == 1 else 2.9


def neighbour_comes_and_goes(step: int, threads: int) -> float:
    return (crowded if 200 <= step < 700 else quiet)(step, threads)


@pytest.mark.parametrize("speed", [quiet, crowded, neighbour_comes_and_goes])
@pytest.mark.parametrize("candidates", [(1, 2), (1, 2, 4, 8)])
def test_never_much_slower_than_the_better_of_one_thread_and_all(
    speed: Speed, candidates: tuple[int, ...]
) -> None:
    for seed in range(5):
        total, alone = spent(ThreadChoice(candidates), speed, 1500, seed)
        assert total < 1.15 * min(alone[1], alone[candidates[-1]])


def test_a_short_training_between_two_neighbours_loses_little() -> None:
    """There all threads are six times as slow as one, and the speed of one comes and goes."""

    def between_two(step: int, threads: int) -> float:
        return (1.0 if threads == 1 else 5.7) * (1.6 if step // 20 % 2 else 1.0)

    for seed in range(5):
        total, alone = spent(ThreadChoice((1, 2)), between_two, 150, seed)
        assert total < 1.15 * alone[1]


def test_a_neighbour_that_stays_is_noticed_soon() -> None:
    choice = ThreadChoice((1, 2))
    spent(choice, quiet, 300)
    assert choice.chosen == 2
    spent(choice, crowded, 150)
    assert choice.chosen == 1


def test_steps_that_get_slower_by_themselves_do_not_cause_trials_without_end() -> None:
    """Slower steps cause a trial, but where the choice stays the next one waits twice as long."""
    choice, tried = ThreadChoice((1, 2)), 0
    for step in range(2000):
        tried += choice.next == 1
        choice.took(1.05 ** (step / 10) / choice.next**0.6)
    assert choice.chosen == 2
    assert tried < 200


def test_a_fixed_number_and_a_single_core_are_never_measured() -> None:
    for choice in (thread_choice(3, on_cpu=True), ThreadChoice((1,))):
        first = choice.next
        for seconds in (1.0, 9.0, 0.1) * 50:
            choice.took(seconds)
            assert choice.next == choice.chosen == first
    assert thread_choice(3, on_cpu=True).chosen == 3


def test_candidates_are_powers_of_two_and_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in {1: (1,), 2: (1, 2), 6: (1, 2, 4, 6), 8: (1, 2, 4, 8)}.items():
        monkeypatch.setattr(torch, "get_num_threads", lambda cores=cores: cores)
        assert thread_choice(None, on_cpu=True)._candidates == expected
        assert thread_choice(None, on_cpu=False)._candidates == (cores,)


def test_threads_are_as_before_after_a_training() -> None:
    before = torch.get_num_threads()
    with own_threads():
        torch.set_num_threads(before + 1)
    assert torch.get_num_threads() == before


def test_threads_must_be_a_sensible_number() -> None:
    with pytest.raises(BadConfig, match=r"`threads` must be from 1 to 1024, got 0"):
        TrainingConfig(threads=0)
