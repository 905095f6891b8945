"""Who wins a log, and the tables of a bench."""

from pathlib import Path

from cogmap.experiments.cell_rows import read_table
from cogmap.experiments.standing import lost, standing_lines, table_of_logs, tables, winners
from cogmap.experiments.worlds import METHODS

ROOT = Path(__file__).parents[2]


def row(method, log="room", steps=200_000, exact=None, loss=None):
    figures = {"accuracy": 0.5, "states": 7, "cpu_seconds": 1.2} if loss is not None else {}
    key = {"log": log, "steps": steps, "seed": 0, "method": method, "places": 5, "ceiling": 0.75}
    key["unseen_moves"] = 2 if log == "machine" else 0
    return key | figures | {"exact": exact, "log_loss": loss}


def test_exact_maps_win_and_without_one_the_least_log_loss():
    tdb, cscg, ngram = (
        row("tdb", exact=True, loss=0.3),
        row("cscg", exact=False, loss=0.1),
        row("ngram", loss=0.2),
    )
    assert winners({"tdb": tdb, "cscg": cscg, "ngram": ngram}) == ["tdb"]
    assert winners({"cscg": cscg, "ngram": ngram}) == ["cscg"]
    assert winners({"tdb": tdb, "edsm": row("edsm", exact="True", loss="0.0")}) == ["tdb", "edsm"]
    assert winners({"edsm": row("edsm")}) == []


ROWS = [
    row("tdb", exact=True, loss=0.3),
    row("edsm"),
    row("tdb", log="machine", exact="False", loss="0.3"),
    row("edsm", log="machine", exact="True", loss="0.0"),
    row("tdb", log="machine", steps=10_000, exact=False, loss=0.3),
    row("edsm", log="machine", steps=10_000, exact=False, loss=0.4),
    row("tdb", log="alone", exact=True, loss=0.3),  # edsm was not run on it: nobody wins
]


def test_shares_are_of_the_logs_a_method_was_run_on_and_wins_of_those_that_all_were():
    tdb, edsm = standing_lines(ROWS, ["tdb", "edsm"])[2:]
    assert tdb == "| tdb | 4 of 4 | 2 of 4 | 2 of 3 | 2 of 2 | 2 of 3 | 2 of 3 |"
    assert edsm == "| edsm | 2 of 3 | 1 of 3 | 1 of 2 | 0 of 1 | 1 of 3 | 1 of 3 |"


def test_what_another_knows_and_tdb_does_not_is_listed():
    assert lost(ROWS) == [(("machine", 200_000, 0), ["edsm"])]


def test_every_log_has_a_line_and_who_cannot_take_it_a_dash():
    lines = table_of_logs(ROWS, ["tdb", "edsm"])
    assert lines[2] == "| room (5) | 200,000 | 0 | 75.00% | **exact, 50.00%, 1 s** | - |"
    assert (
        lines[3] == "| machine (5) | 200,000 | 2 | 75.00% | 7 states, 50.00%, 1 s | **exact, 50.00%, 1 s** |"
    )
    assert lines[4].startswith("| machine (5) | 10,000 | ")
    assert len(lines) == 6


def test_the_page_has_the_tables_of_the_rows_in_results():
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    for part in tables(read_table(ROOT / "results" / "worlds.csv"), METHODS):
        assert "\n".join(part) in page, (
            "python -m benchmarks.worlds --table prints the tables of docs/comparison.md"
        )
