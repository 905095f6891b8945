"""Run one of the paper's tables: sample, learn, score with both maps, and write each score as a row."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, TypeVar

import tyro

from cogmap.commands.output import print_json
from cogmap.experiments import Options, Running, reproduce, survey
from cogmap.experiments.display import dry_run_lines
from cogmap.experiments.hours import Status
from cogmap.experiments.local import free_cores

Record = TypeVar("Record")


@dataclass(frozen=True, kw_only=True)
class Args(Running, Options):
    """The options of every table, and which table."""

    table: tyro.conf.Positional[str]
    """table-1, table-12-colours, table-cube, table-3d, noise, ginc, icl, icl-rule; not in the paper: small-room, \
short-windows, ladder, table-3d-aliased, ginc-heads, icl-small; or all"""
    dry_run: bool = False
    """print the trials with their state and the hours that are left, and run nothing"""
    json: bool = False
    """with --dry-run: print as JSON"""


def run(args: Args) -> None:
    options, running = _part(Options, args), _part(Running, args)
    if not args.dry_run:
        reproduce(args.table, options, partial(print, flush=True), running)
        return
    statuses = survey(args.table, options, running)
    if args.json:
        print_json([_values(status) for status in statuses])
    else:
        print("\n".join(dry_run_lines(statuses, running.jobs or free_cores())))


def _part(kind: type[Record], args: Args) -> Record:
    return kind(**{field.name: getattr(args, field.name) for field in fields(kind)})  # type: ignore[arg-type]


def _values(status: Status) -> dict[str, Any]:
    trial = status.trial
    return {
        "table": trial.table,
        "method": trial.label,
        "config": status.config,
        "seed": trial.seed,
        "steps": trial.options.steps,
        "minutes": trial.options.minutes,
        "state": status.state,
        "hours_left": status.hours_left,
        "progress": None if status.step is None else asdict(status.step),
        "failed": status.failed or None,
        "folder": str(trial.folder),
        "command": trial.command,
    }
