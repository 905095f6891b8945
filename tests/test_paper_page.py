"""docs/paper.md is what docs/make_paper_page.py writes from the rows in results/, and its comparisons are right."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Part = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def part() -> Iterator[Part]:
    """Imports a module of the package beside the script, as the script does."""
    sys.path.insert(0, str(ROOT / "docs"))
    yield lambda name: importlib.import_module(f"paper_page.{name}")
    sys.path.remove(str(ROOT / "docs"))


def row(
    method: str, map_: str, metric: str, value: float, seed: int = 0, trained_at: str = "abc"
) -> dict[str, str]:
    shared = {"preset": "fast", "environment": "table-1: room", "command": "", "trained_at": trained_at}
    return {**shared, "method": method, "map": map_, "metric": metric, "value": str(value), "seed": str(seed)}


def test_the_page_is_current(part: Part) -> None:
    written = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert written == part("page").page(), "python docs/make_paper_page.py writes it again"


def test_a_mean_has_its_standard_error_where_there_are_several_rooms(part: Part) -> None:
    assert part("rows").shown("imp_fallback", [0.5]) == "50.00"
    assert part("rows").shown("imp_fallback", [0.5, 0.7]) == "60.00 (10.00)"
    assert part("rows").shown("norm_ged", [0.1, 0.3]) == "0.200 (0.100)"
    assert part("rows").shown("norm_ged", []) == ""


def test_models_are_not_mistaken_for_one_another(part: Part) -> None:
    name = "TDB(S=3, M=1)"
    rows = [
        row(f"{name}, gru", "minimal", "norm_ged", 0.0),
        row(f"{name}, gru", "minimal", "norm_ged", 0.0, seed=1, trained_at=""),
        row(f"{name}, clones, gru", "minimal", "norm_ged", 0.0),
        row("TDB(S=3, M=4), gru", "minimal", "norm_ged", 0.0),
    ]
    found = part("rows").models(rows, name)
    assert [(ours.label, ours.seeds, ours.is_older) for ours in found] == [
        (f"{name}, gru", 1, True),
        (f"{name}, gru", 1, False),
    ]
    assert [ours.label for ours in part("rows").models(rows, f"{name}, clones")] == [f"{name}, clones, gru"]


def test_what_is_worse_than_the_papers_is_reported_and_what_is_better_is_not(part: Part) -> None:
    name = "TDB(S=3, M=1)"  # the paper: 99.06 %, 99.55 %, 1.00, 0.124
    figures = {"test_accu": 0.95, "imp_fallback": 1.0, "ratio_sp": 1.2, "norm_ged": 0.02}
    rows = [row(f"{name}, gru", "minimal", *figure) for figure in figures.items()]
    tables = {"table-1": rows, "table-12-colours": [], "table-cube": [], "table-3d": []}
    told = [each.line for each in part("below").in_places(tables, "minimal") if each.is_worse]
    assert [line[3:] for line in told] == [
        ("TestAccu", "99.06", "95.00"),
        ("RatioSP", "1.000", "1.200"),
    ]


def test_networkx_stands_beside_our_bounds(part: Part) -> None:
    values = {"norm_ged": 0.5, "norm_ged_lower": 0.25, "limit": 900.0, "nodes": 40.0}
    values["processor_seconds"] = 899.6
    rows = [row("TDB(S=1, M=1), gru", "paper", *figure) for figure in values.items()]
    told = part("figures")._by_networkx(rows)
    assert "no edit path was found after 899.6 s of 900, our bounds are 0.250 and 0.500" in told
    rows.append(row("TDB(S=1, M=1), gru", "paper", "norm_ged_networkx", 0.4))
    assert part("figures")._by_networkx(rows).startswith("0.400 after 899.6 s of 900")
    exact = [{**each, "value": "0.0"} if each["metric"].startswith("norm_ged") else each for each in rows]
    assert "which says little" in part("figures")._by_networkx(exact)
    assert "which says little" not in told
    assert part("figures")._by_networkx([]).startswith("not run")


def test_a_row_that_was_not_run_says_what_it_takes(part: Part) -> None:
    with pytest.raises(ValueError, match="must be in the plan"):
        part("missing").reason("table-cube", "TDB(S=5, M=4)")
