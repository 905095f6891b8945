"""Build the map of other walks with a trained model, or export a run's map."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json, refuse_to_overwrite
from cogmap.errors import BadConfig
from cogmap.maps.export import write_map
from cogmap.maps.machine import machine_of_map, write_machine
from cogmap.records import CognitiveMap
from cogmap.runs.names import MAP_FILES, MapKind
from cogmap.runs.run import Run, load_run
from cogmap.runs.writing import writing
from cogmap.tasks.counting import Engine
from cogmap.tasks.mapping import map_file
from cogmap.training.progress import Silent, default_progress


@dataclass(frozen=True)
class Args:
    """Build the map of other walks with a trained model, or export a run's map."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path | None = None
    """walks to build the map from; without them the run's own map is exported"""
    room: int | None = None
    """which room, where the walks are of several rooms of a family"""
    kind: MapKind = "minimal"
    """which map: the minimal one, or the paper's"""
    out: Path | None = None
    """file to write: .npz, .graphml, .dot, .json, .drn or .prism; without it, a map of --walks becomes the run's own"""
    outputs_on_moves: bool = False
    """write a Mealy machine (.dot, .json): an observation is the output of the action before it, as in a protocol"""
    engine: Engine = "local"
    """what counts a log of more than two million steps in a folder .walks: this machine, or tasks of a Ray cluster"""
    force: bool = False
    """overwrite files that exist"""
    json: bool = False
    """print what was written as JSON"""


def _built(args: Args, opened: Run, walks: Path) -> CognitiveMap:
    progress = Silent() if args.json else default_progress()
    return map_file(opened, walks, args.kind, args.room, progress, args.engine)


def _write_machine(args: Args, found: CognitiveMap) -> None:
    if args.out is None:
        raise BadConfig("`--outputs-on-moves` writes a machine: give --out FILE.dot or FILE.json")
    machine = machine_of_map(found)
    write_machine(args.out, machine)
    moves = int((machine.next_state >= 0).sum())
    if args.json:
        print_json({"machine": str(args.out), "states": machine.num_states, "moves": moves})
        return
    untried = machine.next_state.size - moves
    more = f", {untried} were never tried" if untried else ""
    print(f"wrote {args.out}: a machine of {machine.num_states} states with {moves} moves{more}")


def _trusted(found: CognitiveMap) -> str:
    """What the map says of walks that it was not made from."""
    if found.kind == "paper":
        return f"{found.explained:.2%} of the moves follow it"
    return f"{found.explained:.2%} of held-out observations predicted by the map alone"


def run(args: Args) -> None:
    if args.walks is None and args.out is None:
        raise BadConfig(
            "there is nothing to do: give --walks to build a map from, or --out to write the run's map to"
        )
    if args.engine != "local" and args.walks is None:
        raise BadConfig(f"`--engine {args.engine}` counts walks: give --walks")
    if args.out is not None:
        refuse_to_overwrite([args.out], args.force)
    opened = load_run(args.run)
    found = opened.map_of(args.kind) if args.walks is None else _built(args, opened, args.walks)
    if args.outputs_on_moves:
        _write_machine(args, found)
        return
    out = args.out or args.run / MAP_FILES[args.kind]
    with nullcontext() if args.out else writing(args.run):
        write_map(out, found)
    if args.json:
        print_json(
            {
                "map": str(out),
                "nodes": found.num_nodes,
                "edges": found.num_edges,
                "explained": found.explained,
                "warnings": list(found.warnings),
            }
        )
        return
    for warning in found.warnings:
        print(f"warning: {warning}")
    sizes = f"{found.num_nodes} nodes, {found.num_edges} edges"
    print(f"wrote {out}: {sizes}, {_trusted(found)}")
