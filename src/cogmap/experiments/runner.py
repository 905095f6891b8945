"""One loop for every table: train, resume or open each model, score it, merge its rows into the table's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cogmap.errors import BadConfig
from cogmap.experiments.rows import Row, merge_rows, rows_of
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, OF_SOME_KINDS, Options, Tell, Trial

if TYPE_CHECKING:
    from cogmap.runs.run import Run

State = Literal["new", "begun", "unmapped", "finished"]


def reproduce(table: str, options: Options | None = None, tell: Tell = print) -> list[Row]:
    """Run one of the paper's tables here and write every figure as a row of `<results>/<table>.csv`.

    Runs that are there already are not trained again: see `Options.out`. A row takes the place of the one with the
    same method, environment, seed, map, metric and preset.

    table: a key of `TABLES`. options: what to run, how, for how long. tell: gets each line of progress.
    Returns: the rows of this call.
    """
    options = options or Options()
    trials = trials_of(table, options)
    path = options.results / f"{table}.csv"
    rows = TABLES[table].begin(options, path, tell)
    if rows:
        merge_rows(path, rows)
    for trial in trials:
        found = run_trial(trial, tell)
        merge_rows(path, found)
        tell(f"wrote {len(found)} rows to {path}")
        rows = [*rows, *found]
    TABLES[table].end(path, tell)
    return rows


def trials_of(table: str, options: Options) -> list[Trial]:
    """The independent trials of a table; `BadConfig` for options that it cannot have."""
    if options.rollouts < 1:
        raise BadConfig(f"`--rollouts` must be at least 1, got {options.rollouts}")
    if table not in TABLES:
        raise BadConfig(f"the table must be one of {', '.join(TABLES)}, got {table!r}")
    if min(options.training_rooms, default=2) < 2:
        raise BadConfig(f"`--training-rooms` must be numbers of at least 2, got {options.training_rooms}")
    for method in options.only:
        if method not in METHODS:
            raise BadConfig(f"a method must be one of {'; '.join(METHODS)}, got {method!r}")
    for name in sorted(OF_SOME_KINDS - TABLES[table].own):
        if getattr(options, name) != getattr(Options, name):
            raise BadConfig(f"the table {table} has no option `--{name.replace('_', '-')}`")
    return TABLES[table].trials(table, options)


def run_trial(trial: Trial, tell: Tell = print) -> list[Row]:
    """Train a model, if that has not been done, and score it. Returns its rows; no file of rows is written."""
    tell(trial.title)
    run = _finished(trial)
    found = TABLES[trial.table].score(trial, run, tell)
    rows = run.metrics()
    return rows_of(trial, found, rows[-1].get("seconds", 0.0) if rows else 0.0)


def state_of(trial: Trial) -> State:
    """How far a trial's training is: finished if it was allowed as many steps as are asked for now."""
    from cogmap.runs.folder import ATLAS_FILE, MAP_FILES, MODEL_FILE, RunFolder
    from cogmap.training.loop import checkpoint_path

    folder, steps = trial.folder, trial.options.steps
    trained = (folder / MODEL_FILE).is_file()
    if trained and (steps is None or steps <= RunFolder(folder).training.steps):
        run = RunFolder(folder)
        file = ATLAS_FILE if run.task == "family" else MAP_FILES["minimal"]
        return "finished" if run.config.vanilla or (folder / file).is_file() else "unmapped"
    return "begun" if checkpoint_path(folder).is_file() else "new"


def _finished(trial: Trial) -> Run:
    """The trial's run: trained, resumed, or opened with its maps built again."""
    from cogmap.runs.run import load_run
    from cogmap.tasks.learning import learn
    from cogmap.tasks.mapping import build_maps

    kind, state = TABLES[trial.table], state_of(trial)
    if state != "finished":
        choices = {**kind.training(trial), **trial.learn}
        if state == "unmapped":  # a training that was killed after its end: it needs no more minutes or steps
            choices = {name: value for name, value in choices.items() if name not in ("minutes", "steps")}
        return learn(out=trial.folder, resume=state != "new", **choices)
    if kind.remaps:
        build_maps(load_run(trial.folder), kind.training(trial)["source"])
    return load_run(trial.folder)
