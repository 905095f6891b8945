"""Text: GINC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cogmap.report.paper_rows import GINC_METHODS, ginc_accuracy
from paper_page.missing import reason
from paper_page.rows import Row, table

TEXT = """\
## Text (GINC)

In-context accuracy in per cent, by the length k of the examples and their number n. "spliced 0.03": training documents
were cut before three tokens in a hundred and their pieces shuffled, which the paper does not do
([why](paper_readings.md#text-ginc)). A step has 3,200 positions for every model of ours: the same `--steps` are as many
positions, unless a training ends by itself."""

TEXTS = {"ginc": "", "ginc-longer": ", trained longer", "ginc-heads": ", by the heads alone"}


def text(tables: dict[str, list[Row]]) -> str:
    asked = [(length, examples) for length in (3, 5, 8, 10) for examples in (0, 64)]
    lines = []
    for method in GINC_METHODS:
        theirs = (ginc_accuracy(method, *each) for each in asked)
        lines.append(
            (f"**{method}**", "the paper", *(f"{100 * value.value:.1f}" if value else "" for value in theirs))
        )
        ours = [line for name in TEXTS for line in _readers(tables[name], method, TEXTS[name], asked)]
        lines += ours or [("", f"ours: {reason('ginc', method)}", *[""] * len(asked))]
    lines += [
        (label, "ceiling", *_accuracies(tables["ginc"], label, asked))
        for label in ("exact filter of prompts", "exact filter of documents")
    ]
    head = ("model", "whose", *(f"k={length}, n={examples}" for length, examples in asked))
    return TEXT + "\n\n" + table(head, lines) + "\n\n" + _every_prompt(tables)


def _readers(
    rows: Sequence[Row], method: str, end: str, asked: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, ...]]:
    for label in labels(rows, method):
        yield ("", _who_reads(label, method, rows) + end, *_accuracies(rows, label, asked))


def _who_reads(label: str, method: str, rows: Sequence[Row]) -> str:
    positions = [
        float(row["value"]) for row in rows if (row["method"], row["metric"]) == (label, "positions")
    ]
    told = f", {positions[0] / 1e6:.1f} M positions" if positions else ""
    return "ours, " + (label.removeprefix(method).strip(", ") or "documents whole") + told


def _accuracies(rows: Sequence[Row], label: str, asked: Sequence[tuple[int, int]]) -> Iterator[str]:
    for each in asked:
        value = accuracy(rows, label, *each)
        yield "" if value is None else f"{100 * value:.1f}"


def accuracy(rows: Sequence[Row], label: str, length: int, examples: int) -> float | None:
    """Of a model by its label, in prompts of so many examples of that length."""
    where = f"ginc: k={length} n={examples}"
    found = [row["value"] for row in rows if (row["method"], row["environment"]) == (label, where)]
    return float(found[0]) if found else None


def labels(rows: Sequence[Row], method: str) -> list[str]:
    """Our models of the paper's name."""
    return list(dict.fromkeys(row["method"] for row in rows if row["method"].startswith(method)))


def _every_prompt(tables: dict[str, list[Row]]) -> str:
    """All rows of the paper's table: its figure, and ours of every model that is as in the plan or nearest to it."""
    rows = tables["ginc"]
    shown = {method: label for method in GINC_METHODS for label in labels(rows, method)}  # the last of each
    lines = []
    for length in (3, 5, 8, 10):
        for examples in (0, 1, 2, 4, 8, 16, 32, 64):
            cells = [f"{length}", f"{examples}"]
            for method in GINC_METHODS:
                theirs = ginc_accuracy(method, length, examples)
                ours = accuracy(rows, shown[method], length, examples) if method in shown else None
                cells += [f"{100 * theirs.value:.1f}" if theirs else ""]
                cells += ["" if ours is None else f"{100 * ours:.1f}"]
            lines.append(cells)
    heads = [
        part
        for method in GINC_METHODS
        for part in (
            f"{method}, the paper",
            shown.get(method, f"{method}: not run").replace(method, "ours", 1),
        )
    ]
    return "Every row of the paper's table:\n\n" + table(("k", "n", *heads), lines)
