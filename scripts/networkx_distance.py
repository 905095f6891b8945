"""NormGED by networkx within the paper's 900 s, beside our bounds: python scripts/networkx_distance.py [SECONDS] [RUNS]

Of the paper's map of TDB(S=1, M=1) in a 6x8 room, which `cogmap reproduce small-room --only "TDB(S=1, M=1)" --encoder
gru` trains and keeps in RUNS (runs/reproduce). Writes results/networkx.csv.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cogmap.evaluation.ged import edit_distance, map_graph, networkx_edit_distance, world_graph
from cogmap.evaluation.places import true_places
from cogmap.experiments import Options, trials_of
from cogmap.experiments.commits import current_commit
from cogmap.experiments.ledger import read_record
from cogmap.experiments.places import Places
from cogmap.experiments.rows import flat, merge_rows, rows_of
from cogmap.experiments.tables import TABLES
from cogmap.runs.run import load_run

TABLE, METHOD = "small-room", "TDB(S=1, M=1)"
RESULT = Path(__file__).parents[1] / "results" / "networkx.csv"


def main(seconds: float, runs: Path) -> None:
    (trial,) = trials_of(TABLE, Options(only=(METHOD,), encoder="gru", out=runs))
    record, kind, run = read_record(trial), TABLES[TABLE], load_run(trial.folder)
    assert record is not None
    assert isinstance(kind, Places)
    walks, truth = kind.test_set(trial, run)
    places = true_places(run.paper_map, walks, truth, run.encode(walks)[0])
    learned, true = map_graph(run.paper_map, places.position), world_graph(truth.world)
    ours = edit_distance(learned, true)
    began = time.process_time()
    by_networkx = networkx_edit_distance(learned, true, seconds)
    found = {"norm_ged": ours.norm_ged, "norm_ged_lower": ours.lower / ours.size, "limit": seconds}
    found |= {"processor_seconds": time.process_time() - began, "nodes": run.paper_map.num_nodes}
    if by_networkx is not None:
        found["norm_ged_networkx"] = by_networkx / ours.size
    print(", ".join(f"{name} {value:.4g}" for name, value in found.items()))
    figures = flat(f"{TABLE}: {truth.world.name}", {"paper": found})
    trained_at, command = "+".join(record.trained_at), f"python scripts/networkx_distance.py {seconds:g}"
    rows = rows_of(trial, figures, record.training_seconds, trained_at, current_commit())
    merge_rows(RESULT, [{**row, "command": command} for row in rows])


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else 900.0, Path(given[1] if len(given) > 1 else "runs/reproduce"))
