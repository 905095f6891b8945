"""Open the map explorer in a browser: look at a run's map, plan on it, walk in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

if TYPE_CHECKING:
    from cogmap.app.server import Served


@dataclass(frozen=True)
class Args:
    """Open the map explorer in a browser: look at a run's map, plan on it, walk in it."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path | None = None
    """walks to replay; with <name>.truth.npz beside them, also the true world and the true places of nodes"""
    host: str = "127.0.0.1"
    """address to listen on; any but a loopback address lets other machines in"""
    port: int | None = None
    """port to listen on, 0 for any; by default 8321 or the next that is free"""
    open: bool = False
    """open the page in the browser"""


def run(args: Args) -> None:
    from cogmap.app.server import serve_run

    serve_run(args.run, args.walks, args.host, args.port, started=lambda served: _tell(args, served))


def _tell(args: Args, served: Served) -> None:
    print(f"serving {args.run} at {served.address} (Ctrl-C ends it)", flush=True)
    if not served.on_loopback:
        print(f"warning: {args.host} lets other machines in, without a password", file=sys.stderr)
    for problem in served.problems:
        print(f"warning: {problem}", file=sys.stderr)
    if args.walks is None:
        print("add --walks FILE for replays and, with its truth beside it, the true world", flush=True)
    if args.open:
        import webbrowser

        webbrowser.open(served.address)
