"""Figures of the paper, and figures in its text."""

from __future__ import annotations

from collections.abc import Sequence

from paper_page.rows import OWN, PAPERS, Row, first, table


def figures(tables: dict[str, list[Row]]) -> str:
    room = tables["table-1"]

    def of(metric: str, map_: str = "", method: str = "TDB(S=3, M=1)", encoder: str = "gru") -> str:
        value = first(room, method, encoder, metric, map_)
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
    value = first(rows, "TDB(S=3, M=4)", "gru", "disentanglement")
    return "not scored" if value is None else f"{100 * value:.2f} %"


def _merged(rows: Sequence[Row]) -> str:
    values = [first(rows, "TDB(S=1, M=1)", "gru", "merged_nodes", kind) for kind in (PAPERS, OWN)]
    if values[0] is None or values[1] is None:
        return "not scored"
    return f"{values[0]:.0f} by the paper's builder, {values[1]:.0f} on our map"
