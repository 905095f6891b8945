"""Tables of rooms, cubes and 3D rooms: the paper's rows with ours beneath."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from cogmap.experiments.trials import METHODS
from cogmap.report.paper_rows import (
    ALIASED_CUBE,
    ALIASED_ROOM,
    ALIASED_ROOM_12,
    EGOCENTRIC_ROOM,
    TRAINING_ABOVE_98,
    PaperTable,
)
from paper_page.missing import again, reason
from paper_page.rows import MAPS, METRICS, NAMES, Ours, Row, models, printed, rollouts_of, shown, table

PLACES = {
    "table-1": ("Rooms of 15x20, four observations (table 1)", ALIASED_ROOM),
    "table-12-colours": ("Rooms of 15x20, twelve observations", ALIASED_ROOM_12),
    "table-cube": ("Cubes", ALIASED_CUBE),
    "table-3d": ("3D rooms", EGOCENTRIC_ROOM),
}

OF_OURS = {
    "table-3d-aliased": ("3D rooms with 32 clusters of views", EGOCENTRIC_ROOM),
    "small-room": ("Rooms of 6x8, S by M", None),
}


def places(name: str, rows: Sequence[Row]) -> str:
    title, paper = PLACES[name]
    methods = [row.method for row in paper.rows]
    if name in ("table-1", "table-3d"):  # all eight models, also those that the paper has in its text alone
        methods += [method for method in TRAINING_ABOVE_98 if method not in methods]
    lines = [line for method in methods for line in _lines_of(name, paper, method, rows)]
    head = ("model", "whose", *NAMES.values())
    clones = models(rows, "TDB(S=3, M=1), clones")
    lines += [line for ours in clones for line in _our_lines(ours)]
    return f"## {title}\n\n{table(head, lines)}"


def our_places(name: str, rows: Sequence[Row]) -> str:
    """A table of worlds that the paper does not have; its rows of the nearest world stand beside ours."""
    title, paper = OF_OURS[name]
    lines = []
    for method in (method for method in METHODS if models(rows, method)):
        if paper is not None and paper.row(method) is not None:
            lines += list(_lines_of(name, paper, method, rows))
        else:
            found = [line for ours in models(rows, method) for line in _our_lines(ours)]
            lines += [(f"**{method}**", *line[1:]) if not index else line for index, line in enumerate(found)]
    command = f"`cogmap reproduce {name}`"
    if not lines:
        return f"## {title}\n\nNot in the paper, and not run yet: {command}."
    return (
        f"## {title}\n\nNot in the paper ({command}).\n\n{table(('model', 'whose', *NAMES.values()), lines)}"
    )


def _lines_of(name: str, paper: PaperTable, method: str, rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    theirs = paper.row(method)
    if theirs is not None:
        yield (
            f"**{method}**",
            "the paper, ten worlds",
            printed(theirs.test_accu, 2),
            printed(theirs.imp_fallback, 2),
            printed(theirs.ratio_sp, 2),
            printed(theirs.norm_ged, 3),
        )
    else:
        yield (f"**{method}**", "not in the paper's table", "", "", "", "")
    found = models(rows, method)
    for ours in found:
        yield from _our_lines(ours)
    if not found:
        yield ("", f"ours: {reason(name, method)}", "", "", "", "")


def _our_lines(ours: Ours) -> Iterator[tuple[str, ...]]:
    who = ours.label.rsplit(", ", 1)[1] if ", clones" not in ours.label and ", " in ours.label else ""
    who = who if who in ("gru", "lstm", "transformer") else ours.label if ", clones" in ours.label else ""
    who += ", preset paper" if ours.preset == "paper" else ""
    worlds = "1 world" if ours.seeds == 1 else f"{ours.seeds} worlds"
    for map_ in ours.maps:
        how = MAPS.get(map_) or f"{rollouts_of(ours)} rollouts"
        accuracy = shown("test_accu", ours.values(map_, "test_accu"))
        if ceiling := ours.values(map_, "ceiling"):
            accuracy += f", ceiling {100 * mean(ceiling):.2f}"
        rest = (shown(metric, ours.values(map_, metric)) for metric in METRICS[1:])
        whose = ", ".join(part for part in (f"ours{ours.mark(map_)}", who.strip(", "), worlds, how) if part)
        yield ("", whose, accuracy, *rest)


def noise(tables: dict[str, list[Row]]) -> str:
    lines: list[tuple[str, ...]] = [
        ("the paper, ten rooms", "88.03 (0.04)", "99.08 (0.01)", "99.49 (0.20)", "1.00 (0.00)", "")
    ]
    for ours in models(tables["noise"], "TDB(S=3, M=1)"):
        training = shown("test_accu", ours.values("", "training_accu")) or again("noise", "TDB(S=3, M=1)")
        for map_ in ours.maps:
            figures = (shown(metric, ours.values(map_, metric)) for metric in METRICS)
            lines.append(
                (f"ours{ours.mark(map_)}, {ours.label.rsplit(', ')[-1]}, {MAPS[map_]}", training, *figures)
            )
    head = ("10 % of the training observations random", "training accuracy", *NAMES.values())
    return "## Noise\n\n" + table(head, lines)
