"""Figures of the paper, and figures in its text."""

from __future__ import annotations

from collections.abc import Callable

from paper_page.places import OF_OURS, PLACES
from paper_page.rows import OWN, PAPERS, ROOT, Row, first, table

IMAGES = ROOT / "docs" / "images"

TITLE = "## Figures and figures in the text"

PICTURES = {
    "accuracy": "Accuracy by observation, TDB(S=3, M=1) in a cube",
    "codes": "Codes by their count and mean step of activity, and which of them the paper's builder keeps "
    "before canonical codes, TDB(S=3, M=1) in a cube",
    "jumps": "Teleportation on the paper's map by observation, TDB(S=3, M=1) in a cube",
    "cube": "The map of a cube by TDB(S=3, M=1), laid out without truth",
    "merged": "The paper's map of a 3D room by TDB(S=1, M=4), nodes of several places ringed",
    "training": "Accuracy by training step in a 3D room, one bottleneck (dashed) and four",
}

NOT_DRAWN = """\
Every run's `report.html` (`cogmap report`) has these pictures. `python docs/make_paper_pictures.py` draws those of
kept trials for this page; not drawn yet:"""


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
            _everywhere(tables, _disentangled),
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
            _everywhere(tables, _merged),
        ),
        ("NormGED by networkx within 900 s", "the paper's own", _by_networkx(tables.get("networkx", []))),
        ("latent graph of GINC", "picture", "[docs/text.md](text.md)"),
    )
    return f"{TITLE}\n\n{table(('what', 'the paper', 'ours'), lines)}\n\n{_pictures()}"


def _everywhere(tables: dict[str, list[Row]], of: Callable[[list[Row]], str]) -> str:
    """A figure in every table of worlds that has it."""
    found = {name: of(tables[name]) for name in (*PLACES, *OF_OURS)}
    return "; ".join(f"{text} ({name})" for name, text in found.items() if text) or "not scored"


def _disentangled(rows: list[Row]) -> str:
    value = first(rows, "TDB(S=3, M=4)", "gru", "disentanglement")
    return "" if value is None else f"{100 * value:.2f} %"


def _merged(rows: list[Row]) -> str:
    values = [first(rows, "TDB(S=1, M=1)", "gru", "merged_nodes", kind) for kind in (PAPERS, OWN)]
    if values[0] is None or values[1] is None:
        return ""
    return f"{values[0]:.0f} by the paper's builder, {values[1]:.0f} on our map"


def _by_networkx(rows: list[Row]) -> str:
    found = {row["metric"]: float(row["value"]) for row in rows}
    if not found:
        return "not run: needs 0.25 core-hours, `python scripts/networkx_distance.py`"
    bounds = f"our bounds are {found['norm_ged_lower']:.3f} and {found['norm_ged']:.3f}"
    theirs = f"{found['norm_ged_networkx']:.3f}" if "norm_ged_networkx" in found else "no edit path was found"
    where = f"{rows[0]['method']} in a 6x8 room, {found['nodes']:.0f} nodes"
    where += ", a map without an error, which says little" if found["norm_ged"] == 0 else ""
    return f"{theirs} after {found['processor_seconds']:.1f} s of {found['limit']:.0f}, {bounds} ({where})"


def _pictures() -> str:
    """Those that are drawn, and how to draw the others."""
    drawn = {name: caption for name, caption in PICTURES.items() if (IMAGES / f"paper_{name}.png").is_file()}
    parts = [f"![{caption}](images/paper_{name}.png)\n\n*{caption}.*" for name, caption in drawn.items()]
    if others := [caption for name, caption in PICTURES.items() if name not in drawn]:
        parts.append(f"{NOT_DRAWN} {'; '.join(others)}.")
    return "\n\n".join(parts)
