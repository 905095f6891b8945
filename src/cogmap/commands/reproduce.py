"""Run one of the paper's tables here: sample, learn, score with both maps, and write every figure as a row."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

import tyro

from cogmap.experiments import Options, reproduce


@dataclass(frozen=True, kw_only=True)
class Args(Options):
    """The options of every table, and which table."""

    table: tyro.conf.Positional[str]
    """small-room, table-1, table-12-colours, table-cube, table-3d, noise, ginc, icl, icl-small or icl-rule."""


def run(args: Args) -> None:
    options = Options(**{field.name: getattr(args, field.name) for field in fields(Options)})
    reproduce(args.table, options, partial(print, flush=True))
