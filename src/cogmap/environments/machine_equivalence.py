"""Machines compared: minimal forms, isomorphism, and a learned machine against the true one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cogmap.environments.mealy import MealyMachine
from cogmap.records import Integers


def minimised(machine: MealyMachine) -> MealyMachine:
    """The smallest machine with the same outputs for all inputs from the initial state.

    States are numbered in the order in which they are first reached, trying inputs in their order. So machines of the
    same behaviour and labels become equal. Outputs that no longer occur are dropped.
    """
    group = equivalent_states(machine)  # (Q,)
    member = np.zeros(group.max() + 1, dtype=np.int64)
    member[group] = np.arange(machine.num_states)  # any state of each group
    next_group = group[machine.next_state[member]]  # (groups, A)
    order = reached_in_order(next_group, int(group[machine.initial]))
    number = np.full(len(member), -1)
    number[order] = np.arange(len(order))
    used, output = np.unique(machine.output[member[order]], return_inverse=True)
    return MealyMachine(
        next_state=number[next_group[order]],
        output=output.reshape(len(order), machine.num_inputs).astype(np.int32),
        input_labels=machine.input_labels,
        output_labels=tuple(machine.output_labels[index] for index in used),
        initial=0,
        name=machine.name,
    )


def equivalent_states(machine: MealyMachine) -> Integers:
    """(Q,): the class of each state. No inputs distinguish two states of one class. Moore's partition refinement."""
    group = np.unique(machine.output, axis=0, return_inverse=True)[1].reshape(-1)
    while True:
        described = np.column_stack([group, group[machine.next_state]])  # (Q, 1 + A)
        finer = np.unique(described, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == group.max():
            return group.astype(np.int32)
        group = finer


def reached_in_order(next_state: Integers, initial: int) -> list[int]:
    order, met = [initial], {initial}
    for state in order:  # grows while it is read
        for target in next_state[state].tolist():
            if target not in met:
                met.add(target)
                order.append(target)
    return order


def matching_states(first: MealyMachine, second: MealyMachine) -> Integers | None:
    """(Q,): the state of `second` for each state of `first`, if the machines are isomorphic; None if they are not.

    Isomorphic: as many states, all of them reached from the initial state, and every output equal under the bijection.
    Inputs and outputs are compared by their labels, in whatever order the machines have them.
    """
    if set(first.input_labels) != set(second.input_labels) or first.num_states != second.num_states:
        return None
    column = [second.input_labels.index(label) for label in first.input_labels]  # (A,)
    shown = [np.array(machine.output_labels)[machine.output] for machine in (first, second)]
    outputs = [shown[0].tolist(), shown[1][:, column].tolist()]
    follows = [first.next_state.tolist(), second.next_state[:, column].tolist()]
    partner = {first.initial: second.initial}
    queue = [first.initial]
    for state in queue:  # grows while it is read
        other = partner[state]
        if outputs[0][state] != outputs[1][other]:
            return None
        for target, match in zip(follows[0][state], follows[1][other], strict=True):
            if target not in partner:
                partner[target] = match
                queue.append(target)
            elif partner[target] != match:
                return None
    if len(partner) != first.num_states or len(set(partner.values())) != first.num_states:
        return None
    return np.array([partner[state] for state in range(first.num_states)], dtype=np.int32)


class MachineScore(NamedTuple):
    """A learned machine, some of whose moves may be unknown, against the true one."""

    states_found: int  # true states that stand behind some learned state
    states: int  # true states that can be reached
    wrong_moves: int  # known moves with another output than the truth, or to a state that stands for another
    unknown_moves: int  # of learned states that can be reached
    exact: bool  # no wrong and no unknown move, and one learned state for each true one


def score_machine(
    next_state: Integers, output: Integers, truth: MealyMachine, initial: int = 0
) -> MachineScore:
    """How a learned machine agrees with the truth, state by state from the initial ones along known moves.

    A learned state stands for the true state at which it is first met, nearest first. If moves meet it again at another
    true state, those moves are wrong.

    next_state: (Q, A) with the inputs of `truth`; -1 where a move is unknown.
    output: (Q, A) indices into the outputs of `truth`; ignored where a move is unknown.
    """
    partner = {initial: truth.initial}
    queue = [initial]
    wrong = unknown = 0
    for state in queue:  # grows while it is read
        true_state = partner[state]
        for symbol in range(truth.num_inputs):
            target = int(next_state[state, symbol])
            if target < 0:
                unknown += 1
                continue
            expected = int(truth.next_state[true_state, symbol])
            if target not in partner:
                partner[target] = expected
                queue.append(target)
            same = output[state, symbol] == truth.output[true_state, symbol]
            wrong += not (same and partner[target] == expected)
    found = len(set(partner.values()))
    states = len(reached_in_order(truth.next_state, truth.initial))
    exact = not wrong and not unknown and found == states == len(partner)
    return MachineScore(found, states, wrong, unknown, exact)
