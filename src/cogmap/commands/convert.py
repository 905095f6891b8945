"""Convert walks to another format, part by part, so that they need not fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import Told, print_json, refuse_to_overwrite
from cogmap.walks.convert import convert_walks
from cogmap.walks.log import total_steps
from cogmap.walks.store import check_output, load_walks


@dataclass(frozen=True)
class Args:
    """Convert walks to the format of --out's suffix."""

    file: tyro.conf.Positional[Path]
    """walks to convert: .npz, .jsonl, .csv or .walks"""
    out: Path
    """file to write: .npz, .jsonl, .csv, or .walks, a memory-mapped folder for large logs"""
    force: bool = False
    """overwrite files that exist"""
    json: bool = False
    """print what was written as JSON"""


def run(args: Args) -> None:
    check_output(args.out)
    refuse_to_overwrite([args.out], args.force)
    convert_walks(args.file, args.out, Told(f"converting {args.file}"))
    walks = load_walks(args.out)
    sizes = {
        "num_walks": walks.num_walks,
        "total_steps": total_steps(walks),
        "num_observations": walks.num_observations,
        "num_actions": walks.num_actions,
    }
    if args.json:
        print_json({"walks": str(args.out), **sizes})
        return
    steps = f"{sizes['num_walks']} walks, {sizes['total_steps']} steps in all"
    words = f"{sizes['num_observations']} observations, {sizes['num_actions']} actions"
    print(f"wrote {args.out}: {steps}, {words}")
