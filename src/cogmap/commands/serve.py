"""The map explorer in a browser: look at a run's map, plan on it, walk in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Args:
    """The map explorer in a browser: look at a run's map, plan on it, walk in it."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path | None = None
    """walks to replay; with <name>.truth.npz beside them, also the true world and where its nodes really are"""
    host: str = "127.0.0.1"
    """address to listen on; any but a loopback address lets other machines in"""
    port: int | None = None
    """port to listen on, 0 for any; by default 8321 or the next that is free"""
    open: bool = False
    """open the page in the browser"""


def run(args: Args) -> None:
    from cogmap.app.hosts import Hosts, is_loopback
    from cogmap.app.server import address, check_extra, listen, serve

    check_extra()
    from cogmap.app.application import Application
    from cogmap.app.keeper import Keeper

    keeper = Keeper(args.run, args.walks)
    keeper.open()
    listening = listen(args.host, args.port)
    page = address(listening)

    def started(stop: Callable[[], None]) -> None:
        print(f"serving {args.run} at {page} (Ctrl-C ends it)", flush=True)
        if not is_loopback(args.host):
            print(
                f"warning: {args.host} lets other machines in, and nobody is asked who they are",
                file=sys.stderr,
            )
        for problem in keeper.problems:
            print(f"warning: {problem}", file=sys.stderr)
        if args.walks is None:
            print("add --walks FILE for replays and, with its truth beside it, the true world", flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(page)

    try:
        serve(Application(keeper, hosts=Hosts.of(args.host)).asgi, listening, started)
    except KeyboardInterrupt:
        return
