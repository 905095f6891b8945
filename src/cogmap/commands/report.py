"""Write a run's report.html, one page that opens offline, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json
from cogmap.runs.run import load_run
from cogmap.tasks.reporting import write_report


@dataclass(frozen=True)
class Args:
    """Write a run's report.html, one page that opens offline, and its figures."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it; report.html and figures/ go into it"""
    walks: Path | None = None
    """test walks to draw and score; against the truth if <name>.truth.npz is beside them"""
    beside: Path | None = None
    """another run to show for comparison, on the same walks"""
    json: bool = False
    """print what was written as JSON"""


def run(args: Args) -> None:
    opened = load_run(args.run)
    page = write_report(opened, args.walks, None if args.beside is None else load_run(args.beside))
    figures = args.run / "figures"
    if args.json:
        print_json({"report": str(page), "figures": str(figures)})
        return
    print(f"wrote {page}: open it in a browser, no network needed")
    print(f"wrote {figures}: every picture of it as SVG")
    if opened.task == "places" and args.walks is None:
        print(
            "add --walks FILE for accuracy by step, and with <name>.truth.npz beside it for scores and the true world"
        )
