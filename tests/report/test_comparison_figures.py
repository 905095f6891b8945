"""What the pictures of a comparison show."""

import numpy as np

from cogmap.report.comparison_figures import accuracy_by_steps, accuracy_by_time


def row(method, log, steps, accuracy, exact=None):
    return {"method": method, "log": log, "steps": str(steps), "accuracy": accuracy, "ceiling": "0.8", "exact": exact,
            "cpu_seconds": "3"}  # fmt: skip


ROWS = [
    row("tdb", "room", 100, "0.4", "False"),
    row("tdb", "machine", 100, "0.8", "True"),
    row("tdb", "room", 1000, "0.8", "True"),
    row("edsm", "room", 100, ""),
    row("edsm", "machine", 100, "0.8", "True"),
    row("cscg", "room", 100, "0.8", "False"),
    row("cscg", "machine", 100, "0.4", "False"),
    row("ngram", "room", 100, "0.2"),
]


def lines(axes):
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}


def test_accuracy_is_a_share_of_the_ceiling_and_the_mean_over_logs():
    accuracy, exact = accuracy_by_steps(ROWS).axes
    assert lines(accuracy)["tdb"] == ([100, 1000], [50.0, 100.0])  # of the room alone: it has both sizes
    assert lines(accuracy)["edsm"] == ([100], [100.0])
    assert lines(accuracy)["cscg"] == ([100], [75.0])
    assert lines(exact)["tdb"] == ([100, 1000], [0.0, 100.0])
    assert lines(exact)["edsm"] == ([100], [50.0])  # it could not take one of two logs
    assert "ngram" not in lines(exact)


def test_one_log_has_one_picture():
    assert len(accuracy_by_steps([each for each in ROWS if each["log"] == "room"]).axes) == 1


def test_exact_maps_are_filled():
    marks = accuracy_by_time(ROWS[:2]).axes[0].collections[0]
    assert np.allclose(marks.get_offsets(), [[3, 50], [3, 100]])
    assert [face[3] for face in marks.get_facecolors()] == [0, 1]
