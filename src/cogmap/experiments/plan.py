"""What `cogmap reproduce all` runs: the trials that the paper's tables take, in the order of what they tell."""

from __future__ import annotations

from dataclasses import replace

from cogmap.experiments.tables import CLONES, TABLES, VANILLA
from cogmap.experiments.trials import Options, Trial
from cogmap.report.paper_rows import GINC_TRAINING_ABOVE_98

ALL = "all"
EIGHT = (
    *VANILLA,
    *("TDB(S=1, M=1)", "TDB(S=1, M=4)", "TDB(S=1, enc, M=1)", "TDB(S=1, enc, M=4)"),
    *("TDB(S=3, M=1)", "TDB(S=3, M=4)"),
)
CUBE = (*VANILLA, "TDB(S=1, enc, M=1)", "TDB(S=3, M=1)")
BEST = ("TDB(S=3, M=1)",)
GRID = ("Vanilla GRU", *(f"TDB(S={steps}, M={bottlenecks})" for steps in (1, 3, 5) for bottlenecks in (1, 4)))
GRU, TRANSFORMER = Options(encoder="gru"), Options(encoder="transformer")

# A trial that several lines name runs once. Seeds, methods and encoders are part of a line, limits are not.
PLAN: tuple[tuple[str, Options], ...] = (
    ("table-1", replace(GRU, only=EIGHT)),
    ("table-1", replace(TRANSFORMER, only=BEST)),
    ("table-12-colours", replace(GRU, only=EIGHT)),
    ("table-cube", replace(GRU, only=CUBE)),
    ("table-3d", replace(GRU, only=(*EIGHT, CLONES))),
    ("table-3d-aliased", GRU),
    ("noise", GRU),
    ("ginc", TRANSFORMER),
    ("ginc", replace(TRANSFORMER, splice=0.0)),
    ("ginc-heads", TRANSFORMER),
    ("icl", replace(GRU, names="plain", training_rooms=(200, 2000, 10_000))),
    ("icl", replace(TRANSFORMER, names="plain", training_rooms=(200, 2000, 10_000))),
    ("icl", replace(GRU, only=("TDB(S=3, M=4)",), training_rooms=(200, 1000, 10_000))),
    ("icl-rule", GRU),
    ("icl-rule", replace(GRU, names="seen")),
    ("table-1", replace(GRU, only=BEST, rooms=10)),
    ("table-1", replace(TRANSFORMER, only=BEST, rooms=3)),
    ("table-1", replace(GRU, only=EIGHT, rooms=3)),
    *((table, replace(TRANSFORMER, only=BEST)) for table in ("table-12-colours", "table-cube", "noise")),
    ("table-3d", replace(TRANSFORMER, only=("TDB(S=3, M=1)", "TDB(S=3, M=4)"))),
    ("table-3d", replace(GRU, only=(*EIGHT, CLONES), rooms=3)),
    ("ginc", replace(TRANSFORMER, only=tuple(GINC_TRAINING_ABOVE_98))),  # how soon they learn
    ("icl-small", replace(GRU, only=("TDB(S=3, M=4)",), names="seen")),
    ("ladder", GRU),
    ("small-room", replace(GRU, only=BEST, rooms=10)),
    ("small-room", replace(TRANSFORMER, only=BEST, rooms=10)),
    ("small-room", replace(GRU, only=GRID)),
)
LIMITS = ("minutes", "steps", "out", "results")  # of the options, what can be asked of all trials at once


def every_trial(options: Options) -> list[Trial]:
    """The trials of the plan, with the limits and folders of `options`, and of its methods where it names any."""
    found: dict[object, Trial] = {}
    limits = {name: getattr(options, name) for name in LIMITS}
    for table, line in PLAN:
        for trial in TABLES[table].trials(table, replace(line, **limits)):
            if not options.only or trial.method in options.only:
                found.setdefault(trial.folder, trial)
    return list(found.values())
