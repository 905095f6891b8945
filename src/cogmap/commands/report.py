"""Write a run's report.html, one page that opens offline, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from cogmap.commands.output import print_json
from cogmap.commands.run_walks import truth_for, walks_for
from cogmap.errors import BadConfig

if TYPE_CHECKING:
    from cogmap.run import Run
    from cogmap.text_learning import Reading


@dataclass(frozen=True)
class Args:
    """Write a run's report.html, one page that opens offline, and its figures."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it; report.html and figures/ go into it"""
    walks: Path | None = None
    """test walks to read, draw and score; with <name>.truth.npz beside them, against the truth"""
    beside: Path | None = None
    """another run to show beside it on the same walks, as one that plans worse"""
    json: bool = False
    """print what was written as JSON"""


def run(args: Args) -> None:
    from cogmap.run import load_run
    from cogmap.text_learning import stored_reading

    opened = load_run(args.run)
    reading = stored_reading(args.run)
    if reading is not None:
        _report_text(args, opened, reading)
        return
    from cogmap.commands.run_report import learn_command, material_of, report_command
    from cogmap.report.page import write_report

    other = None if args.beside is None else load_run(args.beside)
    walks = None if args.walks is None else walks_for(opened, args.walks)
    truth = None if args.walks is None or walks is None else truth_for(opened, args.walks, walks)
    page = write_report(
        args.run,
        material_of(opened, walks, truth),
        None if other is None else material_of(other, walks, truth),
        [
            *(learn_command(each) for each in (opened, other) if each is not None),
            report_command(args.run, args.walks, args.beside),
        ],
    )
    _tell(args, page)
    if truth is None and not args.json:
        print("add --walks TEST.npz, with its truth beside it, for scores, the true world and a plan in it")


def _report_text(args: Args, opened: Run, reading: Reading) -> None:
    """A text has no places to be scored at, and no plans to be shown."""
    if args.walks is not None or args.beside is not None:
        raise BadConfig(
            f"the report of a text takes neither --walks nor --beside, {args.run} is a run on a text"
        )
    from cogmap.commands.text_report import report_text

    _tell(args, report_text(opened, reading))


def _tell(args: Args, page: Path) -> None:
    from cogmap.report.page import FIGURES_FOLDER

    figures = args.run / FIGURES_FOLDER
    if args.json:
        print_json({"report": str(page), "figures": str(figures)})
        return
    print(f"wrote {page}: open it in a browser, no network needed")
    print(f"wrote {figures}: every picture of it as SVG")
