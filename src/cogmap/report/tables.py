"""Tables of scores beside the paper's rows and the ceiling, as text for a terminal or as HTML for a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from cogmap.evaluation.prompts import standard_error
from cogmap.evaluation.scores import Scores, percent, ratio
from cogmap.report.paper_rows import Mean, PaperRow, PaperTable, best_ginc_accuracy

MISSING = "-"
COLUMNS = ("", "TestAccu (%) ↑", "ImpFallback (%) ↑", "RatioSP ↓", "NormGED ↓", "nodes")
LOG_COLUMNS = ("", "TestAccu (%) ↑", "by the map alone (%) ↑", "nodes")
LOG_CAPTION = (
    "TestAccu: next observations that the model predicts on these walks. By the map alone: those of held-out walks "
    "that the map predicts without the model."
)
GINC_PROMPTS = 2500  # of each kind
# An exact filter that knows how prompts are generated, and one that reads them as documents.
GINC_CEILINGS = ("exact filter of prompts", "exact filter of documents")


@dataclass(frozen=True)
class Table:
    """Column headings and rows of text; the first column names the row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def text(self) -> str:
        """Columns under their headings, numbers aligned right, the caption below."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.columns))]
        padded = [
            "  ".join(
                [cells[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
            ).rstrip()
            for cells in lines
        ]
        rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([padded[0], rule, *padded[1:], *([self.caption] if self.caption else [])])

    def html(self) -> str:
        """The same as a table element without the caption; every text is escaped."""
        head = "".join(
            f'<th scope="col">{escape(column)}</th>' if column else "<td></td>" for column in self.columns
        )
        body = "\n".join(
            f'<tr><th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


class Scored(NamedTuple):
    """A model's printed name, a remark and its scores."""

    method: str
    remark: str  # "here", "here, the paper's map"
    scores: Scores


def score_table(scored: Sequence[Scored], paper: PaperTable | None) -> Table:
    """Our rows, each model followed by the paper's row of the same name if there is one, and the ceiling last.

    Without truth and without the paper's rows, only what can be said of a log.
    """
    if paper is None and all(entry.scores.positions is None for entry in scored):
        return _log_table(scored)
    rows = []
    for index, entry in enumerate(scored):
        rows.append((f"{entry.method}, {entry.remark}", *_ours(entry.scores)))
        theirs = paper.row(entry.method) if paper else None
        last_of_its_name = all(later.method != entry.method for later in scored[index + 1 :])
        if theirs is not None and last_of_its_name:
            rows.append((f"{entry.method}, in the paper", *_theirs(theirs)))
    rows.append(("ceiling", *_ceiling(scored[0].scores)))
    return Table(COLUMNS, tuple(rows), _caption(paper, scored[0].scores))


def _log_table(scored: Sequence[Scored]) -> Table:
    rows = [
        (
            f"{entry.method}, {entry.remark}",
            _shown(percent, entry.scores.test_accu),
            _shown(percent, entry.scores.explained),
            _shown(str, entry.scores.nodes),
        )
        for entry in scored
    ]
    return Table(LOG_COLUMNS, tuple(rows), LOG_CAPTION)


def all_scores_table(scored: Sequence[Scored]) -> Table:
    """All scores: a row for each score, a column for each model."""
    printed = [entry.scores.printed() for entry in scored]
    names = list(dict.fromkeys(name for scores in printed for name in scores))
    rows = tuple((name, *(scores.get(name, MISSING) for scores in printed)) for name in names)
    return Table(("", *(f"{entry.method}, {entry.remark}" for entry in scored)), rows)


def ginc_table(found: Mapping[tuple[str, int, int], float]) -> Table:
    """In-context accuracies on GINC, given as fractions `found` by method, k and n.

    A row for each kind of prompt; a column for each of our models, the paper's best model, and both ceilings.
    """
    methods = [method for method in dict.fromkeys(key[0] for key in found) if method not in GINC_CEILINGS]
    rows = []
    for length, examples in sorted({key[1:] for key in found}):
        ours = [_accuracy(found.get((method, length, examples))) for method in methods]
        theirs = best_ginc_accuracy(length, examples)
        printed = MISSING if theirs is None else _with_error(*theirs)
        above = [_accuracy(found.get((method, length, examples))) for method in GINC_CEILINGS]
        rows.append((f"k={length} n={examples}", *ours, printed, *above))
    columns = ("in-context accuracy (%)", *methods, "best of the paper's", *GINC_CEILINGS)
    return Table(columns, tuple(rows), f"{GINC_PROMPTS} prompts of each kind, standard errors in brackets.")


def _ours(scores: Scores) -> tuple[str, ...]:
    return (
        _shown(percent, scores.test_accu),
        _shown(percent, scores.imp_fallback),
        _shown(ratio, scores.ratio_sp),
        _distance(scores),
        _shown(str, scores.nodes),
    )


def _theirs(row: PaperRow) -> tuple[str, ...]:
    return (
        _mean(row.test_accu, 2),
        _mean(row.imp_fallback, 2),
        _mean(row.ratio_sp, 2),
        MISSING if row.norm_ged is None else _mean(row.norm_ged, 3),
        MISSING,
    )


def _ceiling(scores: Scores) -> tuple[str, ...]:
    return (_shown(percent, scores.ceiling), "100.00", "1.000", "0.000", _shown(str, scores.positions))


def _caption(paper: PaperTable | None, scores: Scores) -> str:
    problems = (
        "planning problems" if scores.problems is None else f"the {scores.problems} planning problems here"
    )
    theirs = f"The paper's rows are means over {paper.world}, their spread in brackets. " if paper else ""
    return (
        f"TestAccu: next observations predicted; ImpFallback: {problems} that were solved; RatioSP: the length of "
        "plans over that of the shortest; NormGED: how far the map is from the true one, 0 where it is exact. "
        f"{theirs}The ceiling of TestAccu is that of an exact Bayes filter that knows the world, on the same walks."
    )


def _shown(show: Callable[[Any], str], value: Any) -> str:
    return MISSING if value is None else show(value)


def _distance(scores: Scores) -> str:
    """NormGED, marked where it is only an upper bound."""
    bound = scores.norm_ged_lower is not None and scores.norm_ged_lower != scores.norm_ged
    return ("≤ " if bound else "") + _shown(ratio, scores.norm_ged)


def _mean(mean: Mean, digits: int) -> str:
    return f"{mean.value:.{digits}f} ({mean.spread:.{digits}f})"


def _accuracy(accuracy: float | None) -> str:
    if accuracy is None:
        return MISSING
    return _with_error(accuracy, standard_error(accuracy, GINC_PROMPTS))


def _with_error(accuracy: float, error: float) -> str:
    return f"{100 * accuracy:.1f} ({100 * error:.1f})"
