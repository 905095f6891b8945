"""What a part of the method does: planning by rollouts, and maps with one part left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean

from paper_page.places import PLACES
from paper_page.rows import OWN, PAPERS, PRINTED, Ours, Row, models, rollouts_of, shown, table

ROLLOUTS = """\
## Planning by rollouts

ImpFallback and RatioSP of the models without a map. A perfect predictor that plans by random rollouts has 34.2 % and
17.6 in the room with one rollout a problem, 92.3 % and 7.6 with ten, 100 % and 2.8 with a hundred
([readings](paper_readings.md#maps-plans-and-scores)): the paper's figures are those of one. A dash: the model was
[not run](#not-run), or scored before plans by fewer rollouts were kept beside it."""

BESIDE_TEXT = """\
## What each part does

The same models with a part left out: our map with the agent found by its codes alone, the paper's builder with and
without canonical codes, and both builders without a bottleneck, on k-means (1,000 clusters) of the states of a vanilla
model, and on observations alone."""

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


def rollouts(tables: dict[str, list[Row]]) -> str:
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
            end = "" if count == rollouts_of(ours) else f"_{count}"
            values = [ours.values("", f"{metric}{end}") for metric in ("imp_fallback", "ratio_sp")]
            if all(values):
                cells.append(f"{100 * mean(values[0]):.1f} %, {mean(values[1]):.1f}")
        yield "; ".join(cells) or "-"


def beside(tables: dict[str, list[Row]]) -> str:
    """What each part of the method does: maps with one part left out."""
    lines = []
    for name, rows in tables.items():
        methods = dict.fromkeys(row["method"] for row in rows)
        for ours in (each for method in methods for each in models(rows, method) if each.label == method):
            if ours.is_older:  # of other builders
                continue
            if name == "ladder" or not any(ours.values(kind, "norm_ged") for kind in NOT_ITS_OWN):
                continue
            for kind, words in BESIDE.items():
                if values := ours.values(kind, "norm_ged"):
                    nodes = f"{mean(ours.values(kind, 'nodes')):.0f}"
                    plans = shown("imp_fallback", ours.values(kind, "imp_fallback"))
                    lines.append(
                        (name, ours.label, words + ours.mark(kind), nodes, plans, shown("norm_ged", values))
                    )
    if not lines:
        return ""
    head = ("table", "model", "map", "nodes", "ImpFallback", "NormGED")
    return BESIDE_TEXT + "\n\n" + table(head, lines)
