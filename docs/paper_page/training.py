"""Steps of training by the number of bottlenecks, and the ladder between the presets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from cogmap.experiments.tables import RUNGS
from cogmap.report.paper_rows import GINC_TRAINING_ABOVE_98, TRAINING_ABOVE_98, TRAINING_AFTER_1K
from paper_page.missing import reason
from paper_page.rows import OWN, PAPERS, PRINTED, ROOT, Ours, Row, first, printed, shown, table

TRAINING = """\
## Steps of training, by the number of bottlenecks"""

LADDER = """\
## From the paper's preset to ours

One model, TDB(S=3, M=1), in one 6x8 room, from the preset `paper` to the preset `fast`, one switch a rung
(`cogmap reproduce ladder`). All transformers have the size of the fast preset in this room (width 64, three layers,
windows of 100 steps). Each rung has as many steps as take four processor minutes (`python scripts/ladder_steps.py`),
fewer where it ends by itself; rung 1 has those of an older row, about three minutes. There are 48 places."""


def training_steps(tables: dict[str, list[Row]]) -> str:
    room = [
        (
            method,
            f"{theirs.value:,.0f} ({theirs.spread:.0f})",
            *_by_encoder(tables["table-1"], method, "training_above_98"),
        )
        for method, theirs in TRAINING_ABOVE_98.items()
    ]
    views = [
        (method, printed(theirs, 2), *_by_encoder(tables["table-3d"], method, "validation_after_1k"))
        for method, theirs in TRAINING_AFTER_1K.items()
    ]
    text = [
        (method, f"{theirs:,}", _above_98_on_text(tables["ginc"], method))
        for method, theirs in GINC_TRAINING_ABOVE_98.items()
    ]
    head = ("model", "the paper", "ours, GRU", "ours, transformer")
    return "\n\n".join(
        (
            TRAINING,
            "Steps until 98 % in the 15x20 room (ours: of held-out walks, evaluated every 50 steps; a dash: [not "
            "run](#not-run), or older rows without it):",
            table(head, room),
            "Accuracy after 1,000 steps in 3D rooms, per cent (ours: of held-out walks, at the end where a training "
            "ended before):",
            table(head, views),
            "Steps until 98 % of the best training accuracy on GINC:",
            table(("model", "the paper", "ours"), text),
        )
    )


def _by_encoder(rows: Sequence[Row], method: str, metric: str) -> Iterator[str]:
    for encoder in ("gru", "transformer"):
        value = first(rows, method, encoder, metric)
        yield "-" if value is None else f"{100 * value:.2f}" if "1k" in metric else f"{value:,.0f}"


def _above_98_on_text(rows: Sequence[Row], method: str) -> str:
    found = [
        (row["method"].removeprefix(f"{method}, "), float(row["value"]))
        for row in rows
        if row["method"].startswith(f"{method},") and row["metric"] == "training_above_98"
    ]
    return "; ".join(f"{steps:,.0f} ({label})" for label, steps in found) or reason("ginc", method)


def ladder(tables: dict[str, list[Row]]) -> str:
    rows = tables["ladder"]
    lines = []
    for number, rung in enumerate(RUNGS):
        label = f"TDB(S=3, M=1), {rung.encoder}, {number}: {rung.name}"
        ours = Ours(label, tuple(row for row in rows if row["method"] == label))
        if not ours.rows:
            lines.append((str(number), rung.name, f"{rung.steps:,}", "not run", "", "", "", ""))
            continue
        steps = f"{mean(ours.values('', 'training_steps')):,.0f}"
        codes = f"{mean(ours.values('', 'codes_in_use')):,.0f}" if ours.values("", "codes_in_use") else ""
        figures = [shown(metric, ours.values(PAPERS, metric)) for metric in ("test_accu", "norm_ged")]
        printed_ged = shown("norm_ged", ours.values(PRINTED, "norm_ged"))
        lines.append(
            (
                str(number),
                rung.name,
                steps,
                figures[0],
                codes,
                printed_ged,
                figures[1],
                shown("norm_ged", ours.values(OWN, "norm_ged")),
            )
        )
    head = (
        "rung",
        "what it changes, beside those before it",
        "steps",
        "TestAccu",
        "codes in use",
        "NormGED, the paper's builder as printed",
        "the same on canonical codes",
        "our map",
    )
    drawn = (ROOT / "docs" / "images" / "ladder.png").is_file()
    picture = "\n\n![Accuracy, codes in use and NormGED of the rungs](images/ladder.png)" if drawn else ""
    return LADDER + "\n\n" + table(head, lines) + picture
