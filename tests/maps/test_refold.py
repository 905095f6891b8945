"""Machines made as short as they get."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.machines import MachineWorld, random_machine, score_machine
from cogmap.maps import rewire
from cogmap.maps.fold import fold, history_tree
from cogmap.maps.opinions import Opinion
from cogmap.maps.refold import Folded, refold, shortest
from cogmap.maps.rewire import histories_of
from cogmap.records import Walks
from cogmap.walks.sample import Agent, sample_walks


def folded_log(seed: int, walks: int) -> tuple[MachineWorld, Walks, Folded]:
    """A short log of a small machine, folded from what was seen alone."""
    world = MachineWorld(random_machine(6, 3, 3, seed))
    sampled, _ = sample_walks(world, walks, 40, np.random.default_rng(seed), Agent(start=0))
    opinion = Opinion(np.where(sampled.step_mask(), 0, -1), np.zeros((1, 1), dtype=bool))
    tree = history_tree(sampled)
    assert tree is not None
    machine = fold(tree, opinion, 200)
    return world, sampled, Folded(machine, machine.length(sampled.lengths), opinion)


def is_exact(folded: Folded, world: MachineWorld) -> bool:
    return score_machine(folded.machine.next_state, folded.machine.output - 1, world.machine).exact


def refolded(walks: Walks, folded: list[Folded], seconds: float = np.inf) -> list[Folded]:
    tree = history_tree(walks)
    assert tree is not None
    return refold(histories_of(tree), folded, walks.lengths, seconds)


def test_a_wrong_merge_is_found_by_what_is_shorter_without_it() -> None:
    """Of 30 walks, folding makes a wrong merge early on, and 13 states for 6."""
    world, walks, folded = folded_log(2, 30)
    assert not is_exact(folded, world)
    better = refolded(walks, [folded])[0]
    assert is_exact(better, world)
    assert better.length == better.machine.length(walks.lengths) < folded.length


@pytest.mark.parametrize("seed", range(6))
def test_no_machine_gets_longer_and_no_step_contradicts_it(seed: int) -> None:
    _, walks, folded = folded_log(seed, 20)
    better = refolded(walks, [folded])[0]
    assert better.length <= folded.length
    here, after = better.machine.steps[:, :-1], better.machine.steps[:, 1:]
    known = (here >= 0) & (after >= 0)
    assert (better.machine.output[here, walks.actions] == walks.observations[:, 1:])[known].all()
    assert (better.machine.next_state[here, walks.actions] == after)[known].all()


def test_without_time_machines_stay_as_they_are() -> None:
    _, walks, folded = folded_log(2, 30)
    assert refolded(walks, [folded], seconds=0) == [folded]


def test_a_machine_that_is_too_large_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    _, walks, folded = folded_log(2, 30)
    monkeypatch.setattr(
        rewire, "_MOST_TARGETS", folded.machine.next_state.size * folded.machine.num_states - 1
    )
    assert refolded(walks, [folded]) == [folded]


def test_the_shortest_few_are_kept_in_order() -> None:
    _, _, folded = folded_log(0, 20)
    lengths = [5.0, 3.0, 3.0, 9.0, 1.0, 7.0]
    found = shortest([Folded(folded.machine, length, folded.opinion) for length in lengths])
    assert [each.length for each in found] == [1.0, 3.0, 5.0, 7.0]
