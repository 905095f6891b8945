"""Score a family's model on walks in new rooms, and print it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cogmap.commands.output import print_json
from cogmap.commands.room_scores import score_family
from cogmap.commands.run_walks import truth_for, walks_for
from cogmap.files import write_json

if TYPE_CHECKING:
    from cogmap.run import Run

SCORES_FILE = "scores.rooms.json"
_PERCENT = ("test_accu", "ceiling", "disentanglement", "imp_fallback", "optimal", "exact", "explained")
_NAMES = {
    "test_accu": "in-context accuracy",
    "ceiling": "ceiling of it",
    "imp_fallback": "ImpFallback",
    "ratio_sp": "RatioSP",
    "norm_ged": "NormGED",
    "norm_ged_lower": "NormGED at least",
    "optimal": "optimal plans",
    "exact": "exact maps",
    "explained": "steps explained",
}


def evaluate_rooms(
    opened: Run, path: Path, kinds: Sequence[str], context_length: int, rollouts: int, json: bool
) -> None:
    """`path` holds walks in rooms of the run's family, with `rooms` (B,)."""
    from cogmap.family_learning import rooms_for

    walks = walks_for(opened, path)
    rooms = rooms_for(path)
    truth = truth_for(opened, path, walks)
    found = score_family(opened, walks, truth, rooms, kinds, context_length, rollouts).flat()
    write_json(opened.folder / SCORES_FILE, found)
    if json:
        print_json(found)
        return
    print(f"{opened.name} on {path}, {len(set(rooms.tolist()))} rooms")
    for kind, row in found.items():
        print(f"  {kind} maps, each of its room's own walks:" if kind else "  predictions:")
        for name, value in row.items():
            print(f"    {_NAMES.get(name, name):<20}  {_shown(name, value)}")
    if truth is None:
        print("there is no truth beside the walks: without it there is no more to score")
    print(f"wrote {opened.folder / SCORES_FILE}")


def _shown(name: str, value: float) -> str:
    if name in _PERCENT:
        return f"{100 * value:.2f} %"
    return str(value) if isinstance(value, int) else f"{value:.4g}"
