"""Writes docs/paper.md, the paper's tables and figures beside ours, from the rows in results/.

python docs/make_paper_page.py writes the page; tests/test_paper_page.py holds that it is current.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from cogmap.experiments.hours import measured, stored_commit, training_seconds
from cogmap.experiments.plan import every_trial
from cogmap.experiments.rows import read_rows
from cogmap.experiments.tables import RUNGS, TABLES
from cogmap.experiments.trials import METHODS, Options, Trial
from cogmap.report.paper_rows import (
    ALIASED_CUBE,
    ALIASED_ROOM,
    ALIASED_ROOM_12,
    EGOCENTRIC_ROOM,
    GINC_METHODS,
    GINC_TRAINING_ABOVE_98,
    ICL,
    ICL_METHODS,
    ICL_ROOMS,
    ICL_RULE,
    TRAINING_ABOVE_98,
    TRAINING_AFTER_1K,
    Mean,
    PaperTable,
    ginc_accuracy,
)

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "paper.md"
OWN, PAPERS, PRINTED = "minimal", "paper", "paper, as printed"
MAPS = {OWN: "our map", PAPERS: "the paper's builder", PRINTED: "the paper's builder, as printed"}
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
METRICS = ("test_accu", "imp_fallback", "ratio_sp", "norm_ged")
# Metrics as shares here, in per cent in the paper; and whether more is better.
PERCENT, MORE_IS_BETTER = {"test_accu", "imp_fallback"}, {"test_accu", "imp_fallback"}
NAMES = {
    "test_accu": "TestAccu",
    "imp_fallback": "ImpFallback",
    "ratio_sp": "RatioSP",
    "norm_ged": "NormGED",
}
SMALLEST = {"test_accu": 0.05, "imp_fallback": 0.5, "ratio_sp": 0.01, "norm_ged": 0.005}  # gap that is told

Row = dict[str, str]


@dataclass(frozen=True)
class Ours:
    """One of our models in one table: the rows of all its rooms."""

    label: str  # as rows have it
    rows: tuple[Row, ...]

    @property
    def preset(self) -> str:
        return self.rows[0]["preset"]

    @property
    def seeds(self) -> int:
        return len({row["seed"] for row in self.rows})

    @property
    def is_older(self) -> bool:
        """Whether it was scored before the paper's builder started from canonical codes."""
        return not all(row["trained_at"] for row in self.rows)

    def values(self, map_: str, metric: str) -> list[float]:
        """One for each room."""
        found = [row for row in self.rows if (row["map"], row["metric"]) == (map_, metric)]
        return [float(row["value"]) for row in found if row["value"] not in ("", "nan")]

    @property
    def maps(self) -> list[str]:
        """Of those that the tables show, the maps it has; "" is planning by rollouts."""
        held = {row["map"] for row in self.rows if row["metric"] == "imp_fallback"}
        return [kind for kind in ("", *MAPS) if kind in held]


OTHERS = ("campaign", "chance", "worlds", "maps")  # rows that are of no table of the paper


def page() -> str:
    """The whole page."""
    files = {path.stem: path for path in RESULTS.glob("*.csv") if path.stem not in OTHERS}
    tables = {name: read_rows(RESULTS / f"{name}.csv") for name in sorted({*files, *TABLES})}
    parts = [
        INTRODUCTION,
        _below(tables),
        _not_reproduced(tables),
        *(_places(name, tables[name]) for name in PLACES),
        *(_our_places(name, tables[name]) for name in OF_OURS),
        _rollouts(tables),
        _beside(tables),
        _noise(tables),
        _training_steps(tables),
        _new_rooms(tables),
        _rule(tables),
        _text(tables),
        _figures(tables),
        _ladder(tables),
        _missing(),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def models(rows: Iterable[Row], method: str) -> list[Ours]:
    """Our models of the paper's name, by label and preset; those scored by an earlier builder stand alone."""
    found: dict[tuple[str, str, bool], list[Row]] = {}
    for row in rows:
        is_it = row["method"] == method or row["method"].startswith(f"{method}, ")
        if is_it and not row["method"].startswith(f"{method}, clones"):
            found.setdefault((row["method"], row["preset"], bool(row["trained_at"])), []).append(row)
    return [Ours(key[0], tuple(found[key])) for key in sorted(found)]


def shown(metric: str, values: Sequence[float]) -> str:
    """The mean, and the standard error where there are several rooms, in the paper's units."""
    if not values:
        return ""
    scale, digits = (100, 2) if metric in PERCENT else (1, 3)
    text = f"{scale * mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ({scale * stdev(values) / math.sqrt(len(values)):.{digits}f})"
    return text


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    every = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def printed(value: Mean | None, digits: int) -> str:
    return "" if value is None else f"{value.value:.{digits}f} ({value.spread:.{digits}f})"


# The parts of the page


def _places(name: str, rows: Sequence[Row]) -> str:
    title, paper = PLACES[name]
    methods = [row.method for row in paper.rows]
    if name in ("table-1", "table-3d"):  # all eight models, also those that the paper has in its text alone
        methods += [method for method in TRAINING_ABOVE_98 if method not in methods]
    lines = [line for method in methods for line in _lines_of(name, paper, method, rows)]
    head = ("model", "whose", *NAMES.values())
    clones = models(rows, "TDB(S=3, M=1), clones")
    lines += [line for ours in clones for line in _our_lines(ours)]
    return f"## {title}\n\n{table(head, lines)}"


def _our_places(name: str, rows: Sequence[Row]) -> str:
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
        yield ("", "ours: not run", "", "", "", "")


def _our_lines(ours: Ours) -> Iterator[tuple[str, ...]]:
    who = ours.label.rsplit(", ", 1)[1] if ", clones" not in ours.label and ", " in ours.label else ""
    who = who if who in ("gru", "lstm", "transformer") else ours.label if ", clones" in ours.label else ""
    who += ", preset paper" if ours.preset == "paper" else ""
    worlds = "1 world" if ours.seeds == 1 else f"{ours.seeds} worlds"
    older = "¹" if ours.is_older else ""
    for map_ in ours.maps:
        how = MAPS.get(map_) or f"{_rollouts_of(ours)} rollouts"
        accuracy = shown("test_accu", ours.values(map_, "test_accu"))
        if ceiling := ours.values(map_, "ceiling"):
            accuracy += f", ceiling {100 * mean(ceiling):.2f}"
        rest = (shown(metric, ours.values(map_, metric)) for metric in METRICS[1:])
        whose = ", ".join(part for part in (f"ours{older}", who.strip(", "), worlds, how) if part)
        yield ("", whose, accuracy, *rest)


def _rollouts_of(ours: Ours) -> int:
    told = re.search(r"--rollouts (\d+)", ours.rows[0]["command"])
    return int(told[1]) if told else 100


def _below(tables: dict[str, list[Row]]) -> str:
    """Every figure of ours that is worse than the paper's, the paper's builder first."""
    lines = []
    for map_ in (PAPERS, OWN):
        for name, (_, paper) in PLACES.items():
            for theirs in paper.rows:
                for ours in models(tables[name], theirs.method):
                    if map_ in ours.maps and ours.preset == "fast":
                        lines += list(_worse(name, theirs.method, map_, ours, paper))
    head = ("table", "model", "map", "figure", "the paper", "ours")
    return BELOW + "\n\n" + table(head, lines)


def _worse(name: str, method: str, map_: str, ours: Ours, paper: PaperTable) -> Iterator[tuple[str, ...]]:
    theirs = paper.row(method)
    for metric in METRICS:
        values, printed_mean = ours.values(map_, metric), getattr(theirs, metric)
        if not values or printed_mean is None or (metric == "test_accu" and map_ == PAPERS):
            continue
        scale = 100 if metric in PERCENT else 1
        gap = scale * mean(values) - printed_mean.value
        if (-gap if metric in MORE_IS_BETTER else gap) > SMALLEST[metric]:
            mark = "¹" if ours.is_older else ""
            digits = 2 if metric in PERCENT else 3
            what = (name, ours.label + mark, MAPS[map_], NAMES[metric])
            yield (*what, f"{printed_mean.value:.{digits}f}", shown(metric, values))


def _first(rows: Iterable[Row], method: str, encoder: str, metric: str, map_: str = "") -> float | None:
    """The mean over rooms, of a model by its encoder."""
    for ours in reversed(models(rows, method)):  # the latest builders first
        if ours.label == f"{method}, {encoder}" and ours.preset == "fast" and ours.values(map_, metric):
            return mean(ours.values(map_, metric))
    return None


def _speed_up(tables: dict[str, list[Row]]) -> str:
    """Steps to 98 % with one bottleneck and with four, of every pair that was measured."""
    pairs = []
    for name in (*PLACES, *OF_OURS):
        for objective in ("S=1", "S=1, enc", "S=3", "S=5"):
            for encoder in ("gru", "transformer"):
                both = [f"TDB({objective}, M={bottlenecks})" for bottlenecks in (1, 4)]
                steps = [_first(tables[name], model, encoder, "training_above_98") for model in both]
                if steps[0] is not None and steps[1] is not None:
                    pairs.append(f"{steps[0]:,.0f} and {steps[1]:,.0f} ({name}, {objective}, {encoder})")
    return "; ".join(pairs) + " steps to 98 % of held-out walks" if pairs else "no pair was measured yet"


def _converged(tables: dict[str, list[Row]]) -> str:
    """Accuracy of one bottleneck in both kinds of 3D rooms."""
    found = []
    for name, clusters in (("table-3d", 128), ("table-3d-aliased", 32)):
        accuracy = _first(tables[name], "TDB(S=3, M=1)", "gru", "test_accu", OWN)
        if accuracy is not None:
            found.append(f"{100 * accuracy:.2f} % with {clusters} clusters of views")
    return f"{', '.join(found)}: it converges, in rooms of ours" if found else "not run"


def _fewest_plans(tables: dict[str, list[Row]]) -> str:
    """The lowest ImpFallback of a vanilla model by as many rollouts as its row was scored with."""
    vanilla = [
        ours
        for name in PLACES
        for method in ("Vanilla transformer", "Vanilla LSTM")
        for ours in models(tables[name], method)
    ]
    worst = min(vanilla, key=lambda ours: mean(ours.values("", "imp_fallback")))
    share = f"{100 * mean(worst.values('', 'imp_fallback')):.1f} %"
    return f"at least {share} ({worst.label}, {_rollouts_of(worst)} rollouts)"


def _steps(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.0f}"


def _not_reproduced(tables: dict[str, list[Row]]) -> str:
    room = tables["table-1"]
    merged = [_first(room, "TDB(S=1, M=1)", "gru", "imp_fallback", kind) for kind in (OWN, PAPERS)]
    lines = (
        (
            "four bottlenecks train twice as fast",
            "8,300 steps to 98 % with M=1, 4,000 with M=4",
            _speed_up(tables),
        ),
        (
            "3D rooms do not converge with one bottleneck",
            "TestAccu 58.51 % for TDB(S=3, M=1)",
            _converged(tables),
        ),
        (
            "TDB(S=1, M=1) fails to plan, as its map merges places",
            "ImpFallback 6.61 %",
            "not run"
            if merged[0] is None or merged[1] is None
            else f"{100 * merged[1]:.1f} % by the paper's builder; our builder splits what codes merge: "
            f"{100 * merged[0]:.1f} %",
        ),
        (
            "vanilla models find few plans by 100 rollouts",
            "ImpFallback 26.6 to 43.8 %",
            f"{_fewest_plans(tables)}: the paper's figures are those of one rollout a problem, "
            "[below](#planning-by-rollouts)",
        ),
        (
            "the paper's own training at 15x20",
            "99.06 % after 25,000 steps of 32 x 400",
            "not trained to its end: [the ladder](#from-the-papers-preset-to-ours) has it in a 6x8 room",
        ),
    )
    return "## Not reproduced\n\n" + table(("the paper says", "with the figure", "ours"), lines)


def _rollouts(tables: dict[str, list[Row]]) -> str:
    lines = []
    for name, (_, paper) in PLACES.items():
        for method in ("Vanilla transformer", "Vanilla LSTM"):
            theirs = paper.row(method)
            lines.append(
                (
                    name,
                    method,
                    f"{theirs.imp_fallback.value:.1f} %, {theirs.ratio_sp.value:.1f}" if theirs else "",
                    *_by_count(models(tables[name], method)),
                )
            )
    head = ("table", "model", "the paper", "1 rollout", "10", "100")
    return ROLLOUTS + "\n\n" + table(head, lines)


def _by_count(found: Sequence[Ours]) -> Iterator[str]:
    for count in (1, 10, 100):
        cells = []
        for ours in found:
            end = "" if count == _rollouts_of(ours) else f"_{count}"
            values = [ours.values("", f"{metric}{end}") for metric in ("imp_fallback", "ratio_sp")]
            if all(values):
                cells.append(f"{100 * mean(values[0]):.1f} %, {mean(values[1]):.1f}")
        yield "; ".join(cells) or "not scored"


BESIDE = {
    OWN: "our map",
    "minimal, by codes": "our map, the agent found by codes alone",
    PAPERS: "the paper's builder on canonical codes",
    PRINTED: "the paper's builder as printed, on codes as they are",
    "minimal, k-means of states": "our builder on k-means of a vanilla model's states",
    "paper, k-means of states": "the paper's builder on k-means of a vanilla model's states",
    "minimal, observations alone": "our builder on observations alone",
}
NOT_ITS_OWN = [kind for kind in BESIDE if kind not in (OWN, PAPERS)]


def _beside(tables: dict[str, list[Row]]) -> str:
    """What each part of the method does: maps with one part left out."""
    lines = []
    for name, rows in tables.items():
        by_model: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            if row["trained_at"]:  # older rows are of other builders
                by_model.setdefault((row["method"], row["preset"]), []).append(row)
        for (label, _), of_model in by_model.items():
            ours = Ours(label, tuple(of_model))
            if name == "ladder" or not any(ours.values(kind, "norm_ged") for kind in NOT_ITS_OWN):
                continue
            for kind, words in BESIDE.items():
                if values := ours.values(kind, "norm_ged"):
                    nodes = f"{mean(ours.values(kind, 'nodes')):.0f}"
                    plans = shown("imp_fallback", ours.values(kind, "imp_fallback"))
                    lines.append((name, label, words, nodes, plans, shown("norm_ged", values)))
    if not lines:
        return ""
    head = ("table", "model", "map", "nodes", "ImpFallback", "NormGED")
    return BESIDE_TEXT + "\n\n" + table(head, lines)


def _noise(tables: dict[str, list[Row]]) -> str:
    lines = [("the paper, ten rooms", "88.03 (0.04)", "99.08 (0.01)", "99.49 (0.20)", "1.00 (0.00)", "")]
    for ours in models(tables["noise"], "TDB(S=3, M=1)"):
        training = shown("test_accu", ours.values("", "training_accu")) or "not scored"
        for map_ in ours.maps:
            figures = (shown(metric, ours.values(map_, metric)) for metric in METRICS)
            mark = "¹" if ours.is_older else ""
            lines.append((f"ours{mark}, {ours.label.rsplit(', ')[-1]}, {MAPS[map_]}", training, *figures))
    head = ("10 % of the training observations random", "training accuracy", *NAMES.values())
    return "## Noise\n\n" + table(head, lines)


def _training_steps(tables: dict[str, list[Row]]) -> str:
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
        (method, f"{theirs:,}", _steps(_above_98_on_text(tables["ginc"], method)))
        for method, theirs in GINC_TRAINING_ABOVE_98.items()
    ]
    head = ("model", "the paper", "ours, GRU", "ours, transformer")
    return "\n\n".join(
        (
            TRAINING,
            "Steps until 98 % in the 15x20 room (ours: of held-out walks, evaluated every 50 steps):",
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
        value = _first(rows, method, encoder, metric)
        yield "" if value is None else f"{100 * value:.2f}" if "1k" in metric else f"{value:,.0f}"


def _above_98_on_text(rows: Sequence[Row], method: str) -> float | None:
    found = [
        row for row in rows if row["method"].startswith(f"{method},") and row["metric"] == "training_above_98"
    ]
    return float(found[0]["value"]) if found else None


NAMINGS = {", nameless": "slots", ", plain": "plain names", "": "names seen"}
OF_NEW_ROOMS = {
    "paper": "own walks, the paper's builder",
    "minimal": "own walks, our builder",
    "atlas": "atlas of the training rooms",
    "": "10 rollouts",
}


def _new_rooms(tables: dict[str, list[Row]]) -> str:
    lines = []
    for method in ICL_METHODS:
        for index, rooms in enumerate(ICL_ROOMS):
            theirs = {metric: values[method][index] for metric, values in ICL.items() if method in values}
            ours = list(_in_rooms(tables["icl"], method, rooms))
            if not ours and rooms not in (200, 2000, 10_000):
                continue
            cells = (_of_paper(metric, theirs.get(metric)) for metric in METRICS)
            lines.append((f"**{method}**, {rooms:,} rooms", "the paper", *cells))
            lines += ours or [("", "ours: not run", "", "", "", "")]
    extra = [line for rooms in (200, 1000, 10_000) for line in _in_rooms(tables["icl"], "Vanilla GRU", rooms)]
    if extra:
        lines += [("**Vanilla GRU**, 10,000 rooms", "not in the paper", "", "", "", ""), *extra]
    return NEW_ROOMS + "\n\n" + table(("model", "whose", *NAMES.values()), lines)


def _of_paper(metric: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f}" if metric in PERCENT else f"{value:.3g}"


def _in_rooms(rows: Sequence[Row], method: str, rooms: int) -> Iterator[tuple[str, ...]]:
    """Lines of our models of this name: maps of a room's own walks first, then the atlas."""
    here = [row for row in rows if row["environment"] == f"icl: {rooms} rooms"]
    for ours in models(here, method):
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


def _rule(tables: dict[str, list[Row]]) -> str:
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


TEXTS = {"ginc": "", "ginc-longer": ", trained longer", "ginc-heads": ", by the heads alone"}


def _text(tables: dict[str, list[Row]]) -> str:
    asked = [(length, examples) for length in (3, 5, 8, 10) for examples in (0, 64)]
    lines = []
    for method in GINC_METHODS:
        theirs = (ginc_accuracy(method, *each) for each in asked)
        lines.append(
            (f"**{method}**", "the paper", *(f"{100 * value.value:.1f}" if value else "" for value in theirs))
        )
        ours = [line for name in TEXTS for line in _readers(tables[name], method, TEXTS[name], asked)]
        lines += ours or [("", "ours: not run", *[""] * len(asked))]
    lines += [
        (label, "ceiling", *_accuracies(tables["ginc"], label, asked))
        for label in ("exact filter of prompts", "exact filter of documents")
    ]
    head = ("model", "whose", *(f"k={length}, n={examples}" for length, examples in asked))
    return TEXT + "\n\n" + table(head, lines)


def _readers(
    rows: Sequence[Row], method: str, end: str, asked: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, ...]]:
    for label in dict.fromkeys(row["method"] for row in rows if row["method"].startswith(method)):
        yield ("", _who_reads(label, method, rows) + end, *_accuracies(rows, label, asked))


def _who_reads(label: str, method: str, rows: Sequence[Row]) -> str:
    positions = [
        float(row["value"]) for row in rows if (row["method"], row["metric"]) == (label, "positions")
    ]
    told = f", {positions[0] / 1e6:.1f} M positions" if positions else ""
    return "ours, " + (label.removeprefix(method).strip(", ") or "documents whole") + told


def _accuracies(rows: Sequence[Row], label: str, asked: Sequence[tuple[int, int]]) -> Iterator[str]:
    for length, examples in asked:
        where = f"ginc: k={length} n={examples}"
        found = [row["value"] for row in rows if (row["method"], row["environment"]) == (label, where)]
        yield f"{100 * float(found[0]):.1f}" if found else ""


def _figures(tables: dict[str, list[Row]]) -> str:
    room = tables["table-1"]

    def of(metric: str, map_: str = "", method: str = "TDB(S=3, M=1)", encoder: str = "gru") -> str:
        value = _first(room, method, encoder, metric, map_)
        return "not scored" if value is None else f"{100 * value:.2f} %"

    lines = (
        ("accuracy by observation", "99.50 % after the 30th", of("accuracy_after_30") + " from the 30th on"),
        (
            "teleportation on the paper's map",
            "5 % at the 20th, 0.75 % after the 100th",
            f"{of('teleportation_at_20', PAPERS)} and {of('teleportation_after_100', PAPERS)}",
        ),
        (
            "teleportation on our map",
            "",
            f"{of('teleportation_at_20', OWN)} and {of('teleportation_after_100', OWN)}",
        ),
        (
            "disentanglement accuracy of TDB(S=3, M=4), chance 0.10 %",
            "84.99 % (0.56) in rooms, 99.06 % (0.06) in 3D",
            of("disentanglement", method="TDB(S=3, M=4)")
            + " in rooms, "
            + _of_views(tables["table-3d"])
            + " in 3D",
        ),
        (
            "one colour avoided, TDB(S=3, M=1)",
            "ImpFallback 99.55 %, RatioSP 1.00",
            of("constrained_imp_fallback", OWN)
            + " by our map, "
            + of("constrained_imp_fallback", PAPERS)
            + " by the paper's",
        ),
        (
            "nodes that stand for several places, TDB(S=1, M=1)",
            "merged pairs, shown in a picture",
            _merged(room),
        ),
        (
            "code counts against mean step; maps, cube and 3D pictures",
            "pictures",
            "in every run's `report.html` (`cogmap report`)",
        ),
        ("latent graph of GINC", "picture", "[docs/text.md](text.md)"),
    )
    return "## Figures and figures in the text\n\n" + table(("what", "the paper", "ours"), lines)


def _of_views(rows: Sequence[Row]) -> str:
    value = _first(rows, "TDB(S=3, M=4)", "gru", "disentanglement")
    return "not scored" if value is None else f"{100 * value:.2f} %"


def _merged(rows: Sequence[Row]) -> str:
    values = [_first(rows, "TDB(S=1, M=1)", "gru", "merged_nodes", kind) for kind in (PAPERS, OWN)]
    if values[0] is None or values[1] is None:
        return "not scored"
    return f"{values[0]:.0f} by the paper's builder, {values[1]:.0f} on our map"


def _ladder(tables: dict[str, list[Row]]) -> str:
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


def _missing() -> str:
    """The trials of the plan that have no rows, with command and hours."""
    known = measured(RESULTS)
    groups: dict[tuple[str, str, tuple[int, ...]], list[Trial]] = {}
    for trial in every_trial(Options()):
        if not stored_commit(trial, known):
            groups.setdefault((trial.table, trial.label, trial.options.training_rooms), []).append(trial)
    lines = []
    for trials in groups.values():
        seconds = [training_seconds(trial, known) for trial in trials]
        hours = sum(each or 0.0 for each in seconds) / 3600
        lines.append(
            (f"`{trials[0].command}`", ", ".join(str(trial.seed) for trial in trials), f"{hours:.1f}")
        )
    total = sum(float(line[2]) for line in lines)
    head = ("command, with the first seed", "seeds", "core-hours, about")
    return f"{MISSING.format(hours=round(total))}\n\n{table(head, lines)}"


INTRODUCTION = """\
# The paper, theirs and ours

Every table and figure of the paper, its figures beside ours. The page is written from the rows in
[results](../results/README.md) by `python docs/make_paper_page.py`, and a test holds that it is current. Means over
worlds have their standard errors in brackets; TestAccu and ImpFallback are in per cent.

`cogmap reproduce TABLE` samples the walks, trains, scores the maps and writes one row a metric into
`results/TABLE.csv`, with the command and the commits that trained and scored it. `cogmap reproduce all` takes every
trial of the paper's tables, `--dry-run` lists them with state and hours, `--rescore` scores again what is trained. What
is scored is not run again, and what was cut off resumes: [many trials, many machines](clusters.md).

```sh
# not run in the tests: trains for minutes to hours
cogmap reproduce small-room --rooms 10 --only "TDB(S=3, M=1)" --encoder gru
cogmap reproduce table-1 --only "TDB(S=3, M=1)" "Vanilla LSTM" --encoder gru --minutes 20
```

From Python: `cogmap.experiments.reproduce`. [How much data and time do I need?](data_and_time.md) has the seconds.
Where the paper leaves something open, [readings of the paper](paper_readings.md) has what we take, and why.

"our map" is the minimal map. "the paper's builder" is that of its appendix C on canonical codes, that is, on classes of
codes with one predicted future; "as printed" is on the codes as they are. Ours are of the preset `fast` unless a line
says otherwise; the paper's of its transformer.

¹ These rows were scored before the paper's builder started from canonical codes, and before our map was that of a
hidden Markov model: they show the paper's builder on the codes as they are. `cogmap reproduce TABLE` makes them
again. Rows without a mark that were scored at 7efa10c or eb3e62f are of a step 2 that took no notice of actions
([reading](paper_readings.md#maps-plans-and-scores)), which merges places of 3D rooms."""
BELOW = """\
## Where ours is below the paper

Every figure of ours that is worse than the paper's mean, by the paper's own builder first."""
ROLLOUTS = """\
## Planning by rollouts

ImpFallback and RatioSP of the models without a map. A perfect predictor that plans by random rollouts has 34.2 % and
17.6 in the room with one rollout a problem, 92.3 % and 7.6 with ten, 100 % and 2.8 with a hundred
([readings](paper_readings.md#maps-plans-and-scores)): the paper's figures are those of one."""
BESIDE_TEXT = """\
## What each part does

The same models with a part left out: our map with the agent found by its codes alone, the paper's builder with and
without canonical codes, and both builders without a bottleneck, on k-means (1,000 clusters) of the states of a vanilla
model, and on observations alone."""
TRAINING = """\
## Steps of training, by the number of bottlenecks"""
NEW_ROOMS = """\
## New rooms, in context

Rooms of 6x8 never trained in, 4 of 30 colours. Maps of a room's own four walks come first; the atlas, which knows which
codes stand for one place in the training rooms, is not in the paper. "slots" is our encoder that does not know
observations by name, "plain names" are the paper's tokens."""
TEXT = """\
## Text (GINC)

In-context accuracy in per cent, by the length k of the examples and their number n. "spliced 0.03": training documents
were cut before three tokens in a hundred and their pieces shuffled, which the paper does not do
([why](paper_readings.md#text-ginc))."""
LADDER = """\
## From the paper's preset to ours

One model, TDB(S=3, M=1), in one 6x8 room, from the preset `paper` to the preset `fast`, one switch a rung
(`cogmap reproduce ladder`). All transformers have the size of the fast preset in this room (width 64, three layers,
windows of 100 steps) and each rung as many steps as take four processor minutes (`python scripts/ladder_steps.py`).
There are 48 places."""
MISSING = """\
## Not run

Trials of `cogmap reproduce all` without rows, some {hours} core-hours by what was measured of their like."""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
