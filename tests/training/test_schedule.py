"""The life of a training: when the bottleneck comes on, when the fall begins, when it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cogmap.training.config import TrainingConfig
from cogmap.training.schedule import Schedule

CONFIG = TrainingConfig(steps=3000, bottleneck_from=500)


def test_rate_warms_up_holds_and_falls_to_nothing() -> None:
    schedule = Schedule(quantize_from=0)
    assert schedule.scale(0) == 1 / 50
    assert schedule.scale(49) == schedule.scale(2000) == 1.0
    schedule.start_fall(1000, CONFIG)
    assert schedule.fall_steps == 1250
    assert schedule.scale(1000) == 1.0
    assert schedule.scale(1625) == 0.5
    assert schedule.scale(2250) == 0.0
    assert schedule.finished(2250)
    assert not schedule.finished(2249)


def test_bottleneck_comes_on_early_when_the_continuous_model_is_good() -> None:
    schedule = Schedule(quantize_from=500)
    schedule.note(100, 0.5, 0.5, CONFIG)
    assert schedule.quantize_from == 500
    schedule.note(200, 0.95, 0.999, CONFIG)
    assert schedule.quantize_from == 200
    assert schedule.fall_from is None, "the fall must wait for a validation with the bottleneck on"
    schedule.note(300, 0.95, 0.999, CONFIG)
    assert schedule.fall_from is None
    schedule.note(400, 0.95, 0.999, CONFIG)
    assert schedule.fall_from == 400


def test_bottleneck_closes_gradually_unless_it_is_there_from_the_start() -> None:
    late, always = Schedule(quantize_from=500), Schedule(quantize_from=0)
    assert [late.strength(step) for step in (0, 499, 500, 599, 699, 2000)] == [
        0.0,
        0.0,
        1 / 200,
        0.5,
        1.0,
        1.0,
    ]
    assert always.strength(0) == 1.0


def test_bottleneck_closes_sooner_the_sooner_it_began() -> None:
    assert [Schedule(quantize_from=start).strength(start + 99) for start in (50, 100, 160, 400)] == [
        1.0,
        1.0,
        100 / 160,
        0.5,
    ]


def test_a_short_fall_will_do_for_a_world_that_is_solved() -> None:
    solved, nearly = Schedule(quantize_from=0), Schedule(quantize_from=0)
    solved.note(400, 0.99, 0.999, CONFIG)
    nearly.note(400, 0.98, 0.995, CONFIG)
    assert (solved.fall_steps, nearly.fall_steps) == (150, 500)


def test_a_long_wait_before_learning_sets_in_is_not_mistaken_for_the_end() -> None:
    schedule = Schedule(quantize_from=500)
    for step in range(100, 1300, 100):
        schedule.note(step, 0.3, 0.3, CONFIG)
    assert schedule.fall_from is None
    schedule.note(1300, 0.3, 0.3, CONFIG)
    assert schedule.fall_from == 1300


def test_fall_begins_in_time_for_the_steps_allowed() -> None:
    schedule = Schedule(quantize_from=0)
    schedule.heed_limits(1333, 10.0, CONFIG)
    assert schedule.fall_from is None
    schedule.heed_limits(1334, 10.0, CONFIG)
    assert schedule.fall_from == 1334
    assert schedule.last_step(CONFIG) == 3000


def test_fall_fits_into_the_minutes_allowed() -> None:
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, minutes=1.0)
    schedule.heed_limits(260, 26.0, config)
    assert schedule.fall_from is None
    schedule.heed_limits(270, 27.0, config)
    assert schedule.fall_from == 270
    assert schedule.fall_steps == 337  # a quarter more than went before: 33 s at ten steps a second


@pytest.mark.parametrize("slower", [0.5, 1, 4])
def test_fall_ends_with_the_minutes_at_whatever_speed(slower: float) -> None:
    """A closing bottleneck or a neighbour on the machine may change the speed."""
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, minutes=1.0)
    step, seconds = 0, 0.0
    while seconds < 60 and not schedule.finished(step):
        step, seconds = step + 1, seconds + 0.1 * (1 if schedule.fall_from is None else slower)
        schedule.heed_limits(step, seconds, config)
    assert schedule.scale(step) < 0.05
    assert seconds > 59 or slower < 1


def test_papers_schedule_never_falls() -> None:
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, decays=False)
    schedule.note(2500, 1.0, 1.0, config)
    schedule.heed_limits(2900, 1e9, config)
    assert schedule.fall_from is None


def test_bottleneck_closes_in_time_for_the_limits() -> None:
    schedule = Schedule(quantize_from=1500)
    schedule.heed_limits(239, 1.0, replace(CONFIG, steps=600))
    assert schedule.quantize_from == 1500
    schedule.heed_limits(240, 1.0, replace(CONFIG, steps=600))
    assert schedule.quantize_from == 240


def test_a_world_not_solved_by_the_first_fall_gets_another() -> None:
    schedule = Schedule(quantize_from=0)
    schedule.note(600, 0.98, 0.992, CONFIG)
    assert (schedule.fall_from, schedule.fall_steps) == (600, 750)
    schedule.note(1350, 0.985, 0.996, CONFIG)
    assert (schedule.fall_from, schedule.fall_steps) == (1350, 1650)
    schedule.note(3000, 0.99, 0.996, CONFIG)
    assert schedule.finished(3000), "there are no steps left for a third"
    solved = Schedule(quantize_from=0)
    solved.note(600, 0.98, 0.992, CONFIG)
    solved.note(1350, 0.99, 0.9995, CONFIG)
    assert solved.finished(1350)
