"""Diagnostics counted by hand."""

import dataclasses

import numpy as np
import pytest

from cogmap.environments.table import torus
from cogmap.errors import BadRun
from cogmap.evaluation.diagnostics import code_use, teleportation_by_step, training_above, training_after
from cogmap.evaluation.ged import true_map
from cogmap.planning.localise import nodes_by_code
from cogmap.records import Codes

RING = dataclasses.replace(
    true_map(torus(3, 4)),
    edge_probability=None,
    edge_imagined=None,
    seen_node=None,
    node_observation=np.zeros(3, int),
    node_support=np.ones(3, int),
    edge_source=np.array([0, 1, 2]),
    edge_action=np.array([0, 0, 0]),
    edge_target=np.array([1, 2, 0]),
    edge_support=np.ones(3, int),
    code_tuples=np.array([[0], [1], [2], [9]]),
    code_node=np.array([0, 1, 2, -1]),
)


def test_code_use_counts_real_steps():
    codes = Codes(np.array([[[9], [0], [1]], [[9], [9], [0]], [[7], [0], [0]]]), np.array([3, 2, 1]), 10)
    use = code_use(codes, RING)
    assert use.code_tuples.tolist() == [[0], [1], [7], [9]]
    assert use.count.tolist() == [1, 1, 1, 3]
    assert use.mean_step.tolist() == [1.0, 2.0, 0.0, 1 / 3]
    assert use.retained.tolist() == [True, True, False, False]
    given = code_use(codes, RING, retained=np.array([False, True, True, True]))
    assert given.retained.tolist() == [False, True, False, True]
    with pytest.raises(BadRun, match=r"`retained` must have shape \(J,\) = \(4,\), got \(2,\)"):
        code_use(codes, RING, retained=np.array([True, False]))


def test_nodes_of_codes_with_padding():
    codes = Codes(np.array([[[9], [0], [1]], [[2], [9], [0]]]), np.array([3, 2]), 10)
    assert nodes_by_code(RING, codes).tolist() == [[-1, 0, 1], [2, -1, -1]]


def test_teleportation_goes_by_direction_and_leaves_out_the_unlocated():
    nodes = np.array([[0, 1, 0, -1], [1, 1, 2, -1], [2, 1, 2, -1], [-1, 0, 1, 2]])
    # Step 0: 0>1 edge, 1=1, 2>1 against a one-way edge. Step 1: 1>0 jump, then edges. Step 2: 1>2 edge.
    np.testing.assert_allclose(teleportation_by_step(nodes, RING), [1 / 3, 1 / 4, 0])
    assert np.isnan(teleportation_by_step(np.array([[0, -1]]), RING)).all()


def test_training_above():
    rows = [
        {"step": 500, "loss": 1.0},
        {"step": 1000, "train_accuracy": 0.5},
        {"step": 2000, "train_accuracy": 0.98},
        {"step": 3000, "train_accuracy": 0.981},
    ]
    assert training_above(rows) == 3000
    assert training_above(rows, 0.99) is None
    assert training_above(rows, 0.98, of_best=True) == 2000
    assert training_above([]) is None


def test_training_after_a_thousand_steps_is_the_first_evaluation_from_there_on() -> None:
    rows = [{"step": 500, "train_accuracy": 0.4}, {"step": 1000}, {"step": 1100, "train_accuracy": 0.9}]
    assert training_after(rows) == 0.9
    assert training_after(rows, step=100) == 0.4
    assert training_after(rows, step=5000) == 0.9  # it had ended before
    with pytest.raises(BadRun, match="the metrics must hold `validation_accuracy`, got no row with it"):
        training_after(rows, accuracy="validation_accuracy")
