"""New rooms, in context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cogmap.report.paper_rows import ICL, ICL_METHODS, ICL_ROOMS, ICL_RULE
from paper_page.missing import reason
from paper_page.rows import METRICS, NAMES, PERCENT, Ours, Row, models, shown, table

NEW_ROOMS = """\
## New rooms, in context

Rooms of 6x8 never trained in, 4 of 30 colours. Maps of a room's own four walks come first; the atlas, which knows which
codes stand for one place in the training rooms, is not in the paper. "slots" is our encoder that does not know
observations by name, "plain names" are the paper's tokens."""

PLANNED = (200, 2000, 10_000)  # of the paper's six numbers of training rooms

NAMINGS = {", nameless": "slots", ", plain": "plain names", "": "names seen"}

OF_NEW_ROOMS = {
    "paper": "own walks, the paper's builder",
    "minimal": "own walks, our builder",
    "atlas": "atlas of the training rooms",
    "": "10 rollouts",
}


def new_rooms(tables: dict[str, list[Row]]) -> str:
    lines = []
    for method in ICL_METHODS:
        for index, rooms in enumerate(ICL_ROOMS):
            theirs = {metric: values[method][index] for metric, values in ICL.items() if method in values}
            ours = list(_lines_in_rooms(tables["icl"], method, rooms))
            cells = (_of_paper(metric, theirs.get(metric)) for metric in METRICS)
            lines.append((f"**{method}**, {rooms:,} rooms", "the paper", *cells))
            lines += ours or [("", f"ours: {_reason(method, rooms)}", "", "", "", "")]
    extra = [
        line for rooms in (200, 1000, 10_000) for line in _lines_in_rooms(tables["icl"], "Vanilla GRU", rooms)
    ]
    if extra:
        lines += [("**Vanilla GRU**, 10,000 rooms", "not in the paper", "", "", "", ""), *extra]
    return NEW_ROOMS + "\n\n" + table(("model", "whose", *NAMES.values()), lines)


def _reason(method: str, rooms: int) -> str:
    if rooms in PLANNED:
        return reason("icl", method, (rooms,))
    return f"not run: the plan has {', '.join(f'{each:,}' for each in PLANNED)} rooms"


def _of_paper(metric: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f}" if metric in PERCENT else f"{value:.3g}"


def in_rooms(rows: Sequence[Row], method: str, rooms: int) -> list[Ours]:
    """Our models that were trained on so many rooms."""
    return models([row for row in rows if row["environment"] == f"icl: {rooms} rooms"], method)


def _lines_in_rooms(rows: Sequence[Row], method: str, rooms: int) -> Iterator[tuple[str, ...]]:
    """Lines of our models of this name: maps of a room's own walks first, then the atlas."""
    for ours in in_rooms(rows, method, rooms):
        encoder = ours.label.split(", ")
        naming = next(words for end, words in NAMINGS.items() if ours.label.endswith(end))
        who = ", ".join(word for word in encoder if word in ("gru", "transformer", "lstm"))
        accuracy = shown("test_accu", ours.values("", "test_accu"))
        mark = "¹" if ours.is_older else ""
        for map_, words in OF_NEW_ROOMS.items():
            if ours.values(map_, "imp_fallback"):
                figures = (shown(metric, ours.values(map_, metric)) for metric in METRICS[1:])
                whose = ", ".join(part for part in (f"ours{mark}", who, naming, words) if part)
                yield ("", whose, accuracy, *figures)


def rule(tables: dict[str, list[Row]]) -> str:
    labels = list(dict.fromkeys(row["method"] for row in tables["icl-rule"]))
    lines = [("the paper", *(f"{100 * value:.2f}" for value in ICL_RULE.values()))]
    for label in labels:
        values = {
            row["environment"].split(": ")[1]: float(row["value"])
            for row in tables["icl-rule"]
            if row["method"] == label and row["metric"] == "test_accu"
        }
        lines.append((f"ours, {label}", *(f"{100 * values[name]:.2f}" for name in ICL_RULE)))
    head = ("accuracy in rooms that break the rule R", "never (A)", "once (B)", "twice (C)", "always (D)")
    return "### Rooms that break the rule\n\n" + table(head, lines)
