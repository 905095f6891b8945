"""What comes first: where ours is below the paper, and what it says that we do not find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from cogmap.report.paper_rows import GINC_METHODS, ICL, ICL_METHODS, ICL_ROOMS, PaperRow, ginc_accuracy
from paper_page.families import OF_NEW_ROOMS, in_rooms
from paper_page.places import OF_OURS, PLACES
from paper_page.rows import (
    MAPS,
    METRICS,
    MORE_IS_BETTER,
    NAMES,
    OWN,
    PAPERS,
    PERCENT,
    Ours,
    Row,
    first,
    models,
    rollouts_of,
    shown,
    table,
)
from paper_page.text import accuracy, labels

BELOW = """\
## Where ours is below the paper

Every figure of ours that is worse than the paper's mean, by the paper's own builder first."""

SMALLEST = {"test_accu": 0.05, "imp_fallback": 0.5, "ratio_sp": 0.01, "norm_ged": 0.005}  # gap that is listed


@dataclass(frozen=True)
class Compared:
    """A figure of the paper's, and ours."""

    where: tuple[str, str, str]  # table, model and map
    metric: str
    theirs: float  # in the paper's units, as are ours
    ours: Sequence[float]
    name: str = ""  # of the figure, if not the metric's

    @property
    def is_worse(self) -> bool:
        gap = mean(self.ours) - self.theirs
        return (-gap if self.metric in MORE_IS_BETTER else gap) > SMALLEST[self.metric]

    @property
    def line(self) -> tuple[str, ...]:
        scale, digits = (100, 2) if self.metric in PERCENT else (1, 3)
        shares = [value / scale for value in self.ours]
        figure = self.name or NAMES[self.metric]
        table, model, map_ = self.where
        map_ = "" if self.metric == "test_accu" else map_  # the model's own
        return (table, model, map_, figure, f"{self.theirs:.{digits}f}", shown(self.metric, shares))


def below(tables: dict[str, list[Row]]) -> str:
    """Every figure of ours that is worse than the paper's, the paper's builder first."""
    compared = [each for map_ in (PAPERS, OWN, "") for each in in_places(tables, map_)]
    compared += [*_in_new_rooms(tables["icl"]), *_in_text(tables["ginc"])]
    head = ("table", "model", "map", "figure", "the paper", "ours")
    return BELOW + "\n\n" + table(head, [each.line for each in compared if each.is_worse])


def in_places(tables: dict[str, list[Row]], map_: str) -> Iterator[Compared]:
    """Figures of one map in the tables of worlds; "" is planning by rollouts."""
    for name, (_, paper) in PLACES.items():
        for theirs in paper.rows:
            for ours in models(tables[name], theirs.method):
                if map_ in ours.maps and ours.preset == "fast":
                    how = MAPS.get(map_) or f"{rollouts_of(ours)} rollouts"
                    yield from _figures(ours, map_, (name, ours.label + ours.mark(map_), how), _means(theirs))


def _in_new_rooms(rows: Sequence[Row]) -> Iterator[Compared]:
    for map_, how in OF_NEW_ROOMS.items():
        for method in ICL_METHODS:
            for index, rooms in enumerate(ICL_ROOMS):
                theirs = {
                    metric: (100 if metric in PERCENT else 1) * values[method][index]
                    for metric, values in ICL.items()
                    if method in values
                }
                for ours in in_rooms(rows, method, rooms):
                    yield from _figures(
                        ours, map_, (f"icl, {rooms:,} rooms", ours.label + ours.mark(map_), how), theirs
                    )


def _in_text(rows: Sequence[Row]) -> Iterator[Compared]:
    for method in GINC_METHODS:
        for label in labels(rows, method):
            for length in (3, 5, 8, 10):
                for examples in (0, 64):
                    theirs, ours = (
                        ginc_accuracy(method, length, examples),
                        accuracy(rows, label, length, examples),
                    )
                    if theirs is not None and ours is not None:
                        name = f"k={length}, n={examples}"
                        where = ("ginc", label, "")
                        yield Compared(where, "imp_fallback", 100 * theirs.value, [100 * ours], name)


def _figures(
    ours: Ours, map_: str, where: tuple[str, str, str], theirs: Mapping[str, float]
) -> Iterator[Compared]:
    """Accuracy is a model's, and compared with our map alone, or where there is none."""
    for metric, value in theirs.items():
        values = ours.values(map_, metric)
        if values and not (metric == "test_accu" and map_ == PAPERS):
            scale = 100 if metric in PERCENT else 1
            yield Compared(where, metric, value, [scale * each for each in values])


def _means(row: PaperRow) -> dict[str, float]:
    found = {metric: getattr(row, metric) for metric in METRICS}
    return {metric: each.value for metric, each in found.items() if each is not None}


def not_reproduced(tables: dict[str, list[Row]]) -> str:
    room = tables["table-1"]
    merged = [first(room, "TDB(S=1, M=1)", "gru", "imp_fallback", kind) for kind in (OWN, PAPERS)]
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
            "not run: needs about 280 core-hours, 40 s a step ([reading](paper_readings.md#the-preset-paper)), `cogmap "
            'reproduce table-1 --only "TDB(S=3, M=1)" --preset paper`; '
            "[the ladder](#from-the-papers-preset-to-ours) has it in a 6x8 room",
        ),
    )
    return "## Not reproduced\n\n" + table(("the paper says", "with the figure", "ours"), lines)


def _speed_up(tables: dict[str, list[Row]]) -> str:
    """Steps to 98 % with one bottleneck and with four, of every pair that was measured."""
    pairs = []
    for name in (*PLACES, *OF_OURS):
        for objective in ("S=1", "S=1, enc", "S=3", "S=5"):
            for encoder in ("gru", "transformer"):
                both = [f"TDB({objective}, M={bottlenecks})" for bottlenecks in (1, 4)]
                steps = [first(tables[name], model, encoder, "training_above_98") for model in both]
                if steps[0] is not None and steps[1] is not None:
                    pairs.append(f"{steps[0]:,.0f} and {steps[1]:,.0f} ({name}, {objective}, {encoder})")
    return "; ".join(pairs) + " steps to 98 % of held-out walks" if pairs else "no pair was measured yet"


def _converged(tables: dict[str, list[Row]]) -> str:
    """Accuracy of one bottleneck in both kinds of 3D rooms."""
    found = []
    for name, clusters in (("table-3d", 128), ("table-3d-aliased", 32)):
        accuracy = first(tables[name], "TDB(S=3, M=1)", "gru", "test_accu", OWN)
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
    return f"at least {share} ({worst.label}, {rollouts_of(worst)} rollouts)"
