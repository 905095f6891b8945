"""Random machines like those of protocols: most inputs change nothing, and some states hardly differ."""

from __future__ import annotations

import numpy as np

from cogmap.environments.machines import MachineWorld, MealyMachine, minimised
from cogmap.maps.opinions import Opinion
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks

INPUTS, OUTPUTS = 6, 5
QUIET = 0.5  # of the moves: they stay, and give output 0


def protocol(states: int, seed: int, sinks: int = 0, twins: int = 0, depth: int = 2) -> MealyMachine:
    """sinks: absorbing states. twins: states that differ from another only after `depth` given inputs in a row."""
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt])
        target = rng.integers(states, size=(states, INPUTS))
        output = rng.integers(1, OUTPUTS, size=(states, INPUTS))
        quiet = rng.random(target.shape) < QUIET
        quiet[states - sinks :] = True
        target = np.where(quiet, np.arange(states)[:, None], target)
        output = np.where(quiet, 0, output)
        for _ in range(twins):
            target, output = _with_twin(target, output, depth, rng)
        labels = [tuple(f"{kind}{number}" for number in range(10)) for kind in "io"]
        found = minimised(MealyMachine(target, output, labels[0][:INPUTS], labels[1][:OUTPUTS]))
        if found.num_states >= states + twins:
            return found
    raise AssertionError("no machine was large enough")


def _with_twin(target, output, depth, rng):
    """A path of states beside that of some inputs: only its last output is another; half of the moves lead to it."""
    here = int(rng.integers(len(target)))
    inputs = rng.integers(INPUTS, size=depth)
    entries = np.argwhere(target == here)
    path = [here]
    for action in inputs[:-1]:
        path.append(int(target[path[-1], action]))
    new = len(target) + np.arange(depth)
    target, output = np.vstack([target, target[path]]), np.vstack([output, output[path]])
    target[new[:-1], inputs[:-1]] = new[1:]
    output[new[-1], inputs[-1]] = (output[new[-1], inputs[-1]] + 1) % OUTPUTS
    for state, action in entries[rng.random(len(entries)) < 0.5]:
        target[state, action] = new[0]
    return target, output


def log_of(machine: MealyMachine, walks: int, steps: int, seed: int = 0) -> tuple[MachineWorld, Walks]:
    world = MachineWorld(machine)
    return world, sample_walks(world, walks, steps, np.random.default_rng(seed))[0]


def states_of(machine: MealyMachine, walks: Walks) -> np.ndarray:
    """(B, N) the true state of each step."""
    state = np.full(walks.observations.shape, machine.initial)
    for step in range(walks.actions.shape[1]):
        state[:, step + 1] = machine.next_state[state[:, step], walks.actions[:, step]]
    return state


def no_opinion(walks: Walks) -> Opinion:
    return Opinion(np.where(walks.step_mask(), 0, -1), np.zeros((1, 1), dtype=bool))
