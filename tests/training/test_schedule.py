"""When the bottleneck is annealed, when the learning rate decays, when the training ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cogmap.training.config import TrainingConfig
from cogmap.training.schedule import Schedule, restored_schedule

CONFIG = TrainingConfig(steps=3000, bottleneck_from=500)


def test_rate_warms_up_stays_constant_and_decays_to_zero() -> None:
    schedule = Schedule(quantize_from=0)
    assert schedule.scale(0) == 1 / 50
    assert schedule.scale(49) == schedule.scale(2000) == 1.0
    schedule.start_decay(1000, CONFIG)
    assert schedule.decay_steps == 1250
    assert schedule.scale(1000) == 1.0
    assert schedule.scale(1625) == 0.5
    assert schedule.scale(2250) == 0.0
    assert schedule.finished(2250)
    assert not schedule.finished(2249)


def test_without_a_warm_up_the_first_step_has_the_full_rate() -> None:
    assert Schedule(quantize_from=0, warm_up=0).scale(0) == 1.0


def test_bottleneck_comes_on_early_when_the_continuous_model_is_good() -> None:
    schedule = Schedule(quantize_from=500)
    schedule.after_validation(100, 0.89, 0.3, CONFIG)
    assert schedule.quantize_from == 500
    schedule.after_validation(200, 0.999, 0.1, CONFIG)
    assert schedule.quantize_from == 200
    assert schedule.decay_from is None, "the decay must wait for a validation with the bottleneck on"
    schedule.after_validation(300, 0.999, 0.1, CONFIG)
    assert schedule.decay_from is None
    schedule.after_validation(400, 0.999, 0.1, CONFIG)
    assert schedule.decay_from == 400


def test_bottleneck_is_annealed_unless_it_is_on_from_the_start() -> None:
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


def test_annealing_is_shorter_the_sooner_it_starts() -> None:
    assert [Schedule(quantize_from=start).strength(start + 99) for start in (50, 100, 160, 400)] == [
        1.0,
        1.0,
        100 / 160,
        0.5,
    ]


def test_a_solved_world_gets_a_short_decay() -> None:
    solved, nearly = Schedule(quantize_from=0), Schedule(quantize_from=0)
    solved.after_validation(400, 0.999, 0.02, CONFIG)
    nearly.after_validation(400, 0.995, 0.02, CONFIG)
    assert (solved.decay_steps, nearly.decay_steps) == (150, 500)


def test_a_long_wait_before_learning_starts_is_not_mistaken_for_the_end() -> None:
    schedule = Schedule(quantize_from=500)
    for step in range(100, 1300, 100):
        schedule.after_validation(step, 0.3, 0.9, CONFIG)
    assert schedule.decay_from is None
    schedule.after_validation(1300, 0.3, 0.9, CONFIG)
    assert schedule.decay_from is None, "the first loss with the bottleneck fully on came at 700"
    schedule.after_validation(1500, 0.3, 0.9, CONFIG)
    assert schedule.decay_from == 1500


def test_a_loss_that_falls_is_worth_waiting_for_even_if_no_prediction_changes() -> None:
    falling, standing = Schedule(quantize_from=0), Schedule(quantize_from=0)
    for step in range(100, 2000, 100):
        falling.after_validation(step, 0.6, 0.8 - step * 1e-4, CONFIG)
        standing.after_validation(step, 0.6, 0.8 - step * 1e-7, CONFIG)
    assert falling.decay_from is None
    assert standing.decay_from == 900


def test_a_plateau_is_shorter_once_most_is_learned() -> None:
    """States that were seen too seldom keep a protocol's log from being nearly solved."""
    schedule = Schedule(quantize_from=0)
    for step in range(100, 600, 100):
        schedule.after_validation(step, 0.95, 0.04 if step >= 200 else 0.1, CONFIG)
        assert schedule.decay_from == (500 if step == 500 else None)


def test_a_rising_loss_ends_the_constant_phase() -> None:
    """Overfitting: the best was at 400, and the patience of 800 steps is over at 1200."""
    schedule = Schedule(quantize_from=0)
    for step in range(100, 1300, 100):
        schedule.after_validation(step, 0.8, 0.5 + abs(step - 400) * 1e-3, CONFIG)
    assert schedule.decay_from == 1200
    assert not schedule.hurried  # it was over anyway


def test_decay_starts_in_time_for_the_steps_allowed() -> None:
    schedule = Schedule(quantize_from=0)
    schedule.apply_limits(1333, 10.0, CONFIG)
    assert schedule.decay_from is None
    schedule.apply_limits(1334, 10.0, CONFIG)
    assert schedule.decay_from == 1334
    assert schedule.last_step(CONFIG) == 3000
    assert schedule.hurried


def test_decay_fits_into_the_minutes_allowed() -> None:
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, minutes=1.0)
    schedule.apply_limits(230, 23.0, config)
    assert schedule.decay_from is None
    schedule.apply_limits(240, 24.0, config)
    assert schedule.decay_from == 240
    assert schedule.decay_steps == 300  # a quarter more than went before: 30 s at ten steps a second


@pytest.mark.parametrize(("slower", "ends"), [(0.5, 24 + 300 * 0.05), (1, 54), (4, 54)])
def test_decay_ends_with_nine_tenths_of_the_minutes_at_any_speed(slower: float, ends: float) -> None:
    """Annealing or another process on the machine may change the speed. The last tenth is for the map."""
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, minutes=1.0)
    step, seconds = 0, 0.0
    while seconds < 54 and not schedule.finished(step):
        step, seconds = step + 1, seconds + 0.1 * (1 if schedule.decay_from is None else slower)
        schedule.apply_limits(step, seconds, config)
    assert schedule.scale(step) < 0.05
    assert seconds == pytest.approx(ends, abs=0.2)


def test_papers_schedule_never_decays() -> None:
    schedule = Schedule(quantize_from=0)
    config = replace(CONFIG, decays=False)
    schedule.after_validation(2500, 1.0, 1.0, config)
    schedule.apply_limits(2900, 1e9, config)
    assert schedule.decay_from is None


def test_annealing_starts_in_time_for_the_limits() -> None:
    schedule = Schedule(quantize_from=1500)
    schedule.apply_limits(239, 1.0, replace(CONFIG, steps=600))
    assert schedule.quantize_from == 1500
    schedule.apply_limits(240, 1.0, replace(CONFIG, steps=600))
    assert schedule.quantize_from == 240


@pytest.mark.parametrize("slower", [0.3, 1, 3])
@pytest.mark.parametrize("seconds_a_step", [0.01, 0.3, 2.0, 9.0])
def test_the_bottleneck_is_annealed_before_any_limit(seconds_a_step: float, slower: float) -> None:
    """However few steps the minutes allow, and though steps change their speed when the bottleneck is on."""
    schedule = Schedule(quantize_from=1500)
    config = replace(CONFIG, minutes=1.0)
    step, seconds, strengths = 0, 0.0, []
    while seconds < 54 and step < 3000 and not schedule.finished(step):
        strengths.append(schedule.strength(step))
        seconds += seconds_a_step * (slower if strengths[-1] else 1)
        step += 1
        schedule.apply_limits(step, seconds, config)
    assert strengths[0] == 0
    assert strengths[-1] == 1
    assert strengths == sorted(strengths)


def test_a_world_not_solved_by_the_first_decay_gets_another() -> None:
    schedule = Schedule(quantize_from=0)
    schedule.after_validation(600, 0.992, 0.05, CONFIG)
    assert (schedule.decay_from, schedule.decay_steps) == (600, 750)
    schedule.after_validation(1350, 0.996, 0.04, CONFIG)
    assert (schedule.decay_from, schedule.decay_steps) == (1350, 1650)
    schedule.after_validation(3000, 0.996, 0.03, CONFIG)
    assert schedule.finished(3000), "there are no steps left for a third"
    solved = Schedule(quantize_from=0)
    solved.after_validation(600, 0.992, 0.05, CONFIG)
    solved.after_validation(1350, 0.9995, 0.01, CONFIG)
    assert solved.finished(1350)


def test_a_schedule_of_an_earlier_version_is_restored() -> None:
    """In checkpoints of earlier versions the fields of the decay have other names, and there was a best accuracy."""
    stored = {
        "quantize_from": 200,
        "best_accuracy": 0.93,
        "fall_from": 600,
        "fall_steps": 750,
        "longest_fall": 800,
        "fall_seconds": 9.5,
    }
    decay = {"decay_from": 600, "decay_steps": 750, "longest_decay": 800, "seconds_at_decay": 9.5}
    assert restored_schedule(stored) == Schedule(quantize_from=200, **decay)
    assert restored_schedule(Schedule(quantize_from=7).state()) == Schedule(quantize_from=7)


def test_where_all_of_few_held_out_steps_are_right_no_decay_is_repeated() -> None:
    """Counted as if one more were wrong, all of 220 steps are 0.9956: below what a solved world has."""
    few, many = Schedule(quantize_from=0), Schedule(quantize_from=0)
    for step in (600, 1350):
        few.after_validation(step, 0.9956, 0.05, CONFIG, highest=0.9956)
        many.after_validation(step, 0.9956, 0.05, CONFIG)
    assert few.finished(1350)
    assert many.decay_from == 1350, "of many steps some are still wrong: the learning rate rises again"
