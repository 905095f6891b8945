"""`cogmap reproduce`: the trials of a table, or of all, by one of the engines; every figure a row of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from cogmap.errors import BadConfig, CogmapError
from cogmap.experiments.commits import check_commits, current_commit
from cogmap.experiments.display import Display, default_display
from cogmap.experiments.hours import Status, measured, status_of
from cogmap.experiments.ledger import read_record, state_of, training_state, trial_file
from cogmap.experiments.plan import ALL, LIMITS, every_trial
from cogmap.experiments.rows import Row, merge_rows
from cogmap.experiments.runner import Job, Outcome, outcome_of, run_trial
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, OF_SOME_KINDS, Options, Tell, Trial


@dataclass(frozen=True, kw_only=True)
class Running:
    """How trials are run; their figures do not depend on it."""

    jobs: int | None = None
    """trials at once on this machine, each with a process and a thread; by default the number of free cores"""
    engine: Literal["local", "ray"] = "local"
    """run on this machine, or as tasks of a Ray cluster (extra `ray`) with --out in a folder that all share"""
    gpus: float = 0.0
    """with --engine ray: GPUs for each trial, such as 0.25"""
    rescore: bool = False
    """build the maps of trained runs again and score them again; train nothing"""


def reproduce(
    table: str, options: Options | None = None, tell: Tell = print, running: Running | None = None
) -> list[Row]:
    """Run one of the paper's tables, or all, and write every figure as a row of `<results>/<table>.csv`.

    Trials that are scored already are not run again: see `Options.out`. A row takes the place of the one with the same
    method, environment, seed, map, metric and preset. A trial that fails does not stop the others.

    table: a key of `TABLES`, or `all`. options: what to run, how, for how long. tell: gets each line of progress.
    running: where, and how many at once.
    Returns: the rows of these trials.
    """
    options, running = options or Options(), running or Running()
    trials = trials_of(table, options)
    if running.jobs is not None and running.jobs < 1:
        raise BadConfig(f"`--jobs` must be at least 1, got {running.jobs}")
    check_commits(options.results, [current_commit()])
    tables = list(dict.fromkeys(trial.table for trial in trials))
    rows = [row for name in tables for row in _begin(name, options, tell)]
    asked, found = _asked(trials, running, tell), {}
    for outcome in _outcomes(asked, running, tell):
        if not outcome.failed and not outcome.elsewhere:
            _keep(outcome, options, tell)
        found[outcome.trial.title, outcome.trial.command] = outcome
    for name in tables:
        TABLES[name].end(options.results / f"{name}.csv", tell)
    _tell_of_failures(list(found.values()), tell)
    ordered = (found.get((trial.title, trial.command)) for trial in trials)
    return rows + [row for outcome in ordered if outcome is not None for row in outcome.rows]


def survey(table: str, options: Options | None = None, running: Running | None = None) -> list[Status]:
    """What `reproduce` would run: every trial with its state and the time that it still takes. Nothing is run."""
    options, running = options or Options(), running or Running()
    known = measured(options.results)
    return [status_of(trial, known, running.rescore) for trial in trials_of(table, options)]


def trials_of(table: str, options: Options) -> list[Trial]:
    """The independent trials of a table, or of all; `BadConfig` for options that it cannot have."""
    if options.rollouts < 1:
        raise BadConfig(f"`--rollouts` must be at least 1, got {options.rollouts}")
    if table not in (*TABLES, ALL):
        raise BadConfig(f"the table must be one of {', '.join(TABLES)}, or all, got {table!r}")
    if min(options.training_rooms, default=2) < 2:
        raise BadConfig(f"`--training-rooms` must be numbers of at least 2, got {options.training_rooms}")
    for method in options.only:
        if method not in METHODS:
            raise BadConfig(f"a method must be one of {'; '.join(METHODS)}, got {method!r}")
    for name in _options_without(table):
        if getattr(options, name) != getattr(Options, name):
            raise BadConfig(f"the table {table} has no option `--{name.replace('_', '-')}`")
    return every_trial(options) if table == ALL else TABLES[table].trials(table, options)


def _options_without(table: str) -> list[str]:
    """The options that a table does not have."""
    if table == ALL:
        return sorted(set(vars(Options())) - {*LIMITS, "only"})
    return sorted(OF_SOME_KINDS - TABLES[table].own)


def _begin(table: str, options: Options, tell: Tell) -> list[Row]:
    path = options.results / f"{table}.csv"
    rows = TABLES[table].begin(options, path, tell)
    if rows:
        merge_rows(path, rows)
    return rows


def _asked(trials: Sequence[Trial], running: Running, tell: Tell) -> list[Job]:
    """The jobs of these trials. To score again, a trial must have been trained."""
    if not running.rescore:
        return [Job(trial, TABLES[trial.table]) for trial in trials]
    ready = [trial for trial in trials if training_state(trial) == "finished"]
    if len(ready) < len(trials):
        tell(f"{len(trials) - len(ready)} of {len(trials)} trials are not trained, and left out")
    return [Job(trial, TABLES[trial.table], rescore=True) for trial in ready]


def _outcomes(jobs: Sequence[Job], running: Running, tell: Tell) -> Iterator[Outcome]:
    """Those that are scored already first, then the others as they end."""
    waiting = []
    for job in jobs:
        record = read_record(job.trial)
        if record is not None and not job.rescore and state_of(job.trial) == "scored":
            yield Outcome(job.trial, record.rows)
        else:
            waiting.append(job)
    if len(waiting) < len(jobs):
        tell(f"{len(jobs) - len(waiting)} of {len(jobs)} trials are scored already")
    yield from _run(waiting, running, tell)


def _run(jobs: Sequence[Job], running: Running, tell: Tell) -> Iterator[Outcome]:
    if not jobs:
        return
    if running.engine == "ray":
        from cogmap.experiments.cluster import cluster_cores, run_on_ray

        at_once = cluster_cores()
        yield from _shown(run_on_ray(jobs, running.gpus), default_display(jobs, at_once, tell))
        return
    from cogmap.experiments.local import free_cores, run_locally

    at_once = min(len(jobs), running.jobs or free_cores())
    if at_once == 1:
        yield from _here(jobs, tell)
    else:
        yield from _shown(run_locally(jobs, at_once), default_display(jobs, at_once, tell))


def _here(jobs: Sequence[Job], tell: Tell) -> Iterator[Outcome]:
    """One after the other in this process. An error of the only trial is the command's."""
    for job in jobs:
        if len(jobs) > 1:
            yield outcome_of(job, tell)
        else:
            yield Outcome(job.trial, run_trial(job.trial, tell, job.kind, job.rescore))


def _shown(outcomes: Iterator[Outcome | None], display: Display) -> Iterator[Outcome]:
    with display:
        for outcome in outcomes:
            if outcome is None:
                display.look()
            else:
                display.ended(outcome)
                yield outcome


def _keep(outcome: Outcome, options: Options, tell: Tell) -> None:
    path = options.results / f"{outcome.trial.table}.csv"
    check_commits(
        options.results, {row[name] for row in outcome.rows for name in ("trained_at", "scored_at")}
    )
    merge_rows(path, outcome.rows)
    tell(f"wrote {len(outcome.rows)} rows to {path}")


def _tell_of_failures(outcomes: Sequence[Outcome], tell: Tell) -> None:
    for outcome in outcomes:
        if outcome.elsewhere:
            tell(f"another process runs {outcome.trial.title}")
    failed = [outcome for outcome in outcomes if outcome.failed]
    if failed:
        first = failed[0]
        where = f"its log is {trial_file(first.trial, 'log')}"
        raise CogmapError(
            f"{len(failed)} of {len(outcomes)} trials failed, {first.trial.title}: {first.failed}; {where}"
        )
