"""Build the map of some walks with a trained model, or write a run's map for other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json, refuse_to_overwrite
from cogmap.commands.run_walks import MapKind, map_of, walks_for
from cogmap.errors import BadConfig
from cogmap.walks.family import room_of_each_walk


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


def run(args: Args) -> None:
    if args.walks is None and args.out is None:
        raise BadConfig(
            "there is nothing to do: give --walks to build a map from, or --out to write the run's map to"
        )
    if args.out is not None:
        refuse_to_overwrite([args.out], args.force)
    from cogmap.maps.build import build_map
    from cogmap.maps.export import export_map
    from cogmap.maps.store import save_map
    from cogmap.run import MAP_FILE, PAPER_MAP_FILE, load_run

    opened = load_run(args.run)
    if args.walks is None:
        found = map_of(opened, args.kind)
    elif opened.config.in_base:
        from cogmap.family_learning import new_room_map, one_room

        walks = one_room(walks_for(opened, args.walks), room_of_each_walk(args.walks), args.room)
        found = new_room_map(opened, walks, kind=args.kind)
    else:
        walks = walks_for(opened, args.walks)
        found = build_map(opened.encode(walks)[0], walks, kind=args.kind)
    out = args.out or args.run / (MAP_FILE if args.kind == "minimal" else PAPER_MAP_FILE)
    if out.suffix == ".npz":
        save_map(out, found)
    else:
        export_map(found, out)
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
    print(
        f"wrote {out}: {found.num_nodes} nodes, {found.num_edges} edges, {found.explained:.2%} of the steps explained"
    )
    for warning in found.warnings:
        print(f"warning: {warning}")
