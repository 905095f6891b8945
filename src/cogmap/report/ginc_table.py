"""The paper's table of in-context accuracies on GINC: ours, the paper's, the ceilings, and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cogmap.report import paper_ginc
from cogmap.report.tables import MISSING, Table

METRIC = "in_context_accuracy"
PROMPTS = 2500  # of each kind
# The ceilings: an exact filter that knows how prompts are made, and one that takes them for documents.
CEILINGS = ("exact filter of prompts", "exact filter of documents")


class Cell(NamedTuple):
    """One accuracy, a fraction."""

    method: str
    length: int  # k
    examples: int  # n
    accuracy: float


def ginc_table(cells: Sequence[Cell]) -> Table:
    """A row for each kind of prompt; a column for each model of ours, the paper's best model, and both ceilings."""
    found = {(cell.method, cell.length, cell.examples): cell.accuracy for cell in cells}
    methods = [method for method in dict.fromkeys(cell.method for cell in cells) if method not in CEILINGS]
    kinds = sorted({(cell.length, cell.examples) for cell in cells})
    rows = []
    for length, examples in kinds:
        ours = [_percent(found.get((method, length, examples))) for method in methods]
        theirs = paper_ginc.best(length, examples)
        printed = MISSING if theirs is None else _shown(*theirs)
        above = [_percent(found.get((method, length, examples))) for method in CEILINGS]
        rows.append((f"k={length} n={examples}", *ours, printed, *above))
    columns = ("in-context accuracy (%)", *methods, "best of the paper's", *CEILINGS)
    return Table(columns, tuple(rows), f"{PROMPTS} prompts of each kind, standard errors in brackets.")


def _percent(accuracy: float | None) -> str:
    if accuracy is None:
        return MISSING
    return _shown(accuracy, (accuracy * (1 - accuracy) / PROMPTS) ** 0.5)


def _shown(accuracy: float, error: float) -> str:
    return f"{100 * accuracy:.1f} ({100 * error:.1f})"
