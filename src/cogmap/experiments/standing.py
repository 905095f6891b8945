"""Where each method stands on a bench: the share of logs on which it is exact, and that it wins.

A method wins a log if its map is exact; where none is, if it gives held-out observations the least log-loss. Several
may win: two exact maps of one world are the same map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cogmap.experiments.cell_rows import Row

Log = tuple[str, int, int]  # name, steps, seed
MANY = 200_000  # steps of a log that should suffice


def tables(rows: Sequence[Row], methods: Sequence[str]) -> list[list[str]]:
    """Where each method stands, the logs that others know and TDB does not, and every log: parts of a Markdown page."""
    missed = [f"- {name}, {steps:,} steps: {', '.join(others)}" for (name, steps, _), others in lost(rows)]
    return [standing_lines(rows, methods), missed or ["- none"], table_of_logs(rows, methods)]


def by_log(rows: Iterable[Row]) -> dict[Log, dict[str, Row]]:
    """The rows of each log by method."""
    logs: dict[Log, dict[str, Row]] = {}
    for row in rows:
        key = (str(row["log"]), int(float(row["steps"])), int(float(row["seed"])))
        logs.setdefault(key, {})[str(row["method"])] = row
    return logs


def is_exact(row: Row | None) -> bool:
    return row is not None and str(row.get("exact")) == "True"


def is_measured(row: Row | None) -> bool:
    return row is not None and row.get("log_loss") not in (None, "")


def shows_every_move(row: Row) -> bool:
    return str(row.get("unseen_moves")) in ("0", "None", "")


def winners(methods: Mapping[str, Row]) -> list[str]:
    """Of the methods on a log, those with an exact map; if there is none, that with the least log-loss."""
    exact = [method for method, row in methods.items() if is_exact(row)]
    if exact:
        return exact
    losses = {method: float(row["log_loss"]) for method, row in methods.items() if is_measured(row)}
    return [method for method, loss in losses.items() if loss == min(losses.values())]


def standing_lines(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """A Markdown table with a line for each method: shares of the logs it was run on, wins of those that all were."""
    logs = by_log(rows)
    whole = [_only(found, methods) for found in logs.values() if set(methods) <= set(found)]
    lines = [
        f"| method | logs taken | exact | exact of {MANY:,} steps | and every move made | won | won alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in methods:
        own = {log: found[method] for log, found in logs.items() if method in found}
        many = [row for log, row in own.items() if log[1] >= MANY]
        shown = [
            _share(map(is_measured, own.values())),
            _share(map(is_exact, own.values())),
            _share(map(is_exact, many)),
            _share(is_exact(row) for row in many if shows_every_move(row)),
            _share(method in winners(found) for found in whole),
            _share(winners(found) == [method] for found in whole),
        ]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    return lines


def lost(rows: Sequence[Row], method: str = "tdb") -> list[tuple[Log, list[str]]]:
    """The logs on which other methods are exact and this one is not."""
    found = []
    for log, methods in by_log(rows).items():
        others = [other for other, row in methods.items() if other != method and is_exact(row)]
        if others and method in methods and not is_exact(methods[method]):
            found.append((log, others))
    return found


def table_of_logs(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """A Markdown table with a line for each log: states, prediction and processor time of each method."""
    lines = [
        f"| world (places) | steps | moves never made | ceiling | {' | '.join(methods)} |",
        "|---|---|---|---|" + "---|" * len(methods),
    ]
    for (name, steps, _), found in sorted(by_log(rows).items(), key=_order(rows)):
        about = next(iter(found.values()))
        best = winners(_only(found, methods))
        cells = [_cell(found.get(method), method in best) for method in methods]
        of_log = [f"{name} ({about['places']})", f"{steps:,}", str(about.get("unseen_moves"))]
        lines.append(f"| {' | '.join([*of_log, _percent(about['ceiling']), *cells])} |")
    return lines


def _only(found: Mapping[str, Row], methods: Sequence[str]) -> dict[str, Row]:
    return {method: found[method] for method in methods if method in found}


def _order(rows: Sequence[Row]) -> Callable[[tuple[Log, dict[str, Row]]], tuple[int, int, int]]:
    """Worlds in the order of the rows, large logs first."""
    names = list(dict.fromkeys(str(row["log"]) for row in rows))
    return lambda item: (names.index(item[0][0]), -item[0][1], item[0][2])


def _cell(row: Row | None, won: bool) -> str:
    if row is None or not is_measured(row):
        return "-"
    about = "exact" if is_exact(row) else "" if row["method"] == "ngram" else f"{row['states']} states"
    text = ", ".join(
        part for part in (about, _percent(row["accuracy"]), f"{float(row['cpu_seconds']):.0f} s") if part
    )
    return f"**{text}**" if won else text


def _percent(value: object) -> str:
    return "-" if value in (None, "") else f"{float(str(value)):.2%}"


def _share(flags: Iterable[bool]) -> str:
    found = list(flags)
    return f"{sum(found)} of {len(found)}" if found else "-"
