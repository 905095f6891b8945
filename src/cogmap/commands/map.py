"""Build the map of some walks with a trained model, or write a run's map for other programs."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json, refuse_to_overwrite
from cogmap.errors import BadConfig
from cogmap.maps.export import write_map
from cogmap.records import CognitiveMap
from cogmap.runs.folder import MAP_FILES, MapKind
from cogmap.runs.run import load_run
from cogmap.runs.writing import writing
from cogmap.tasks.mapping import map_file


@dataclass(frozen=True)
class Args:
    """Build the map of some walks with a trained model, or write a run's map for other programs."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path | None = None
    """walks to build the map from; without them the run's own map is taken as it is"""
    room: int | None = None
    """which room, where the walks are of several rooms of a family"""
    kind: MapKind = "minimal"
    """which map: the minimal one, or the paper's"""
    out: Path | None = None
    """where to write it: .npz, .graphml, .dot or .json; without it a map that was built becomes the run's own"""
    force: bool = False
    """overwrite a file that is there"""
    json: bool = False
    """print what was written as JSON"""


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
    if args.out is not None:
        refuse_to_overwrite([args.out], args.force)
    opened = load_run(args.run)
    found = (
        opened.map_of(args.kind) if args.walks is None else map_file(opened, args.walks, args.kind, args.room)
    )
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
    sizes = f"{found.num_nodes} nodes, {found.num_edges} edges"
    print(f"wrote {out}: {sizes}, {_trusted(found)}")
    for warning in found.warnings:
        print(f"warning: {warning}")
