"""The diagnostic curves: the numbers given are the numbers drawn."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from report_material import ROWS

from cogmap.evaluation.diagnostics import CodeUse
from cogmap.report.curve_figures import (
    DISCARDED_COLOUR,
    RETAINED_COLOUR,
    accuracy_figure,
    code_use_figure,
    teleportation_figure,
    training_figure,
)


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def test_accuracy_by_step_beside_the_ceiling():
    drawn = curves(accuracy_figure(np.array([0.5, 0.75]), np.array([0.5, 1.0])).axes[0])
    assert drawn == {"ceiling": [[1, 50], [2, 100]], "model": [[1, 50], [2, 75]]}


def test_accuracy_without_truth_has_no_ceiling():
    assert list(curves(accuracy_figure(np.array([0.5])).axes[0])) == ["model"]


def test_codes_are_green_when_retained_and_red_when_not():
    use = CodeUse(
        code_tuples=np.array([[0], [1], [2]]),
        count=np.array([5, 90, 80]),
        mean_step=np.array([2.0, 100.0, 120.0]),
        retained=np.array([False, True, True]),
    )
    axes = code_use_figure(use).axes[0]
    red, green = [artist for artist in axes.get_children() if type(artist) is PathCollection]
    assert [to_hex(dots.get_facecolor()[0]) for dots in (red, green)] == [DISCARDED_COLOUR, RETAINED_COLOUR]
    assert red.get_offsets().tolist() == [[2, 5]]
    assert green.get_offsets().tolist() == [[100, 90], [120, 80]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["discarded (1)", "retained (2)"]


def test_teleportation_leaves_a_gap_where_nobody_is_on_the_map():
    (line,) = teleportation_figure(np.array([np.nan, 0.25])).axes[0].lines
    assert np.array_equal(line.get_ydata(), [np.nan, 25], equal_nan=True)


def test_training_curves_with_the_use_of_the_dictionary():
    loss, accuracy, codes = training_figure(ROWS).axes
    assert loss.lines[0].get_xydata()[0].tolist() == [100, 2]
    assert curves(accuracy)["held-out walks"][0] == pytest.approx([100, 55])
    assert curves(codes)["in use"][0] == [300, 300]
    assert curves(codes)["perplexity"][-1] == [800, 400]


def test_training_without_a_bottleneck_has_no_dictionary():
    rows = [row | {"codes_in_use": [], "perplexity": []} for row in ROWS]
    assert len(training_figure(rows).axes) == 2
