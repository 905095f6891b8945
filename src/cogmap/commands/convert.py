"""Convert walks to another format. A text of gigabytes becomes a `.walks` folder part by part."""

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
    """Convert walks to another format, which the ending of --out says."""

    file: tyro.conf.Positional[Path]
    """walks to convert: .npz, .jsonl, .csv or .walks"""
    out: Path
    """file to write: .npz, .jsonl, .csv, or .walks, a folder that is mapped and need not fit in memory"""
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
