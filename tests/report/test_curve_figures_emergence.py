"""Emergence curves: a line through the points of every method, and dotted lines for the paper's."""

from __future__ import annotations

import numpy as np

from cogmap.report.curve_figures import COLOURS, emergence_figure
from cogmap.report.paper_rows import ICL, ICL_METHODS, ICL_ROOMS, ICL_RULE


def test_ours_are_lines_through_their_points_and_the_papers_are_dotted() -> None:
    curves = {
        "test_accu": {"TDB(S=3, M=4), gru, nameless": [(1000, 0.9), (200, 0.5)]},
        "norm_ged": {"TDB(S=3, M=4), gru, nameless": [(200, 0.6)]},
    }
    axes = emergence_figure(curves).axes
    ours = [line for line in axes[0].lines if line.get_linestyle() == "-"]
    assert [line.get_label() for line in ours] == ["TDB(S=3, M=4), gru, nameless"]
    np.testing.assert_allclose(ours[0].get_xydata(), [[200, 50], [1000, 90]])
    assert ours[0].get_color() == COLOURS["TDB(S=3, M=4)"]
    assert sum(line.get_linestyle() == ":" for line in axes[0].lines) == len(ICL["test_accu"])
    assert axes[3].get_ylabel() == "NormGED"
    assert len(axes[1].lines) == len(ICL["imp_fallback"])


def test_each_encoder_has_its_own_line_style() -> None:
    ends = (", gru", ", gru, nameless", ", gru, plain")
    drawn = (
        emergence_figure({"test_accu": {f"TDB(S=3, M=4){end}": [(200, 0.5)] for end in ends}}).axes[0].lines
    )
    ours = [(line.get_linestyle(), line.get_marker()) for line in drawn if line.get_linestyle() != ":"]
    assert len(set(ours)) == 3


def test_the_papers_table_is_whole() -> None:
    for metric, methods in ICL.items():
        assert set(methods) <= set(ICL_METHODS)
        assert all(len(values) == len(ICL_ROOMS) for values in methods.values()), metric
    assert list(ICL_RULE) == ["A", "B", "C", "D"]
