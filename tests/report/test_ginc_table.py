"""The table of in-context accuracies, and the paper's rows in it."""

from __future__ import annotations

import pytest

from cogmap.report.paper_rows import best_ginc_accuracy, ginc_accuracy
from cogmap.report.tables import GINC_CEILINGS, ginc_table


@pytest.mark.parametrize(
    ("method", "length", "examples", "printed"),
    [  # corners and the middle of the printed table
        ("Vanilla LSTM", 3, 0, (0.426, 0.01)),
        ("Vanilla transformer", 5, 64, (0.88, 0.006)),
        ("TDB(S=3, M=4)", 3, 64, (0.676, 0.009)),
        ("TDB(S=5, M=1)", 8, 32, (0.956, 0.004)),
        ("TDB(S=5, M=1)", 10, 64, (0.956, 0.004)),
    ],
)
def test_the_papers_rows(method: str, length: int, examples: int, printed: tuple[float, float]) -> None:
    assert ginc_accuracy(method, length, examples) == printed


def test_what_the_paper_does_not_print() -> None:
    assert ginc_accuracy("TDB(S=5, M=1)", 3, 128) is None
    assert ginc_accuracy("TDB(S=1, M=1)", 3, 64) is None
    assert best_ginc_accuracy(2, 0) is None


def test_the_best_of_the_paper() -> None:
    assert [best_ginc_accuracy(k, 64) for k in (3, 5, 8, 10)] == [
        (0.676, 0.009),
        (0.924, 0.005),
        (0.955, 0.004),
        (0.956, 0.004),
    ]


def test_ours_the_papers_and_the_ceilings_stand_side_by_side() -> None:
    found = {
        ("TDB(S=5, M=1), gru", 10, 64): 0.98,
        ("TDB(S=5, M=1), gru", 3, 64): 0.5,
        (GINC_CEILINGS[0], 3, 64): 1.0,
        (GINC_CEILINGS[1], 3, 64): 0.656,
    }
    table = ginc_table(found)
    assert table.columns == (
        "in-context accuracy (%)",
        "TDB(S=5, M=1), gru",
        "best of the paper's",
        *GINC_CEILINGS,
    )
    assert table.rows == (
        ("k=3 n=64", "50.0 (1.0)", "67.6 (0.9)", "100.0 (0.0)", "65.6 (1.0)"),
        ("k=10 n=64", "98.0 (0.3)", "95.6 (0.4)", "-", "-"),
    )
