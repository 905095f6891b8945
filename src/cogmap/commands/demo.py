"""The whole story on a small aliased room, with pictures, in minutes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cogmap.commands import walk
from cogmap.commands.walk_worlds import Room
from cogmap.errors import BadConfig, BadOutput
from cogmap.files import write_json
from cogmap.version import __version__

if TYPE_CHECKING:
    from cogmap.models.config import EncoderKind
    from cogmap.report.material import Material
    from cogmap.runs.run import Run

HEIGHT, WIDTH, OBSERVATIONS = 6, 8, 4
TRAINING_WALKS, TEST_WALKS, STEPS = 512, 256, 400
# As few codes as this have to be shared between places; with 1000, one step ahead was enough to tell all 48 apart. The
# failure shows on the paper's map: the minimal map also asks how places follow one another. Both have a share in it.
RIVAL_CHANGE, RIVAL_STEPS = {"num_codes": 64}, 500
MARKER = "demo.json"
RUN, RIVAL = Path("runs/room"), Path("runs/room_one_step")
_OURS = (
    MARKER,
    "room.npz",
    "room.truth.npz",
    "test.npz",
    "test.truth.npz",
    "new_room.npz",
    "new_room.truth.npz",
    Path("runs/family"),
    RUN,
    RIVAL,
    "figures",
    "report.html",
)


@dataclass(frozen=True)
class Args:
    """The whole story on a small aliased room, with pictures, in minutes."""

    out: Path = Path("demo")
    """folder for the walks, the runs and report.html; one that an earlier demo made is made anew"""
    seed: int = 0
    """of the room, the walks and the training"""
    steps: int = 1000
    """of the training, at the most, so that a slow machine learns as much as a fast one"""
    world: Literal["room", "3d", "family"] = "room"
    """a small room of four colours; a 3D room seen through the agent's eyes (extra `3d`); or rooms never trained on"""


def run(args: Args) -> None:
    started = time.perf_counter()
    if args.steps < 1:
        raise BadConfig(f"`--steps` must be at least 1, got {args.steps}")
    _make_room_for(args.out)
    if args.world == "3d":
        from cogmap.commands.demo_3d import run_3d

        run_3d(args.out, args.seed, args.steps)
        return
    if args.world == "family":
        from cogmap.commands.demo_family import run_family

        run_family(args.out, args.seed)
        return
    _tell(
        1,
        f"A room of {HEIGHT} x {WIDTH} cells in {OBSERVATIONS} colours, a patch of it twice. Random walks in it:",
    )
    for room in _rooms(args):
        walk.run(room)
    _tell(2, "TDB(S=3, M=1), a transformer that must foretell three steps through a discrete bottleneck:")
    own = _learn(args, RUN, "transformer", 3, args.steps, {})
    _tell(
        3,
        f"TDB(S=1, M=1), a GRU that must foretell one step only, through {RIVAL_CHANGE['num_codes']} codes:",
    )
    rival = _learn(args, RIVAL, "gru", 1, min(args.steps, RIVAL_STEPS), RIVAL_CHANGE)
    _tell(4, "How well they foretell and plan on walks they have not seen:")
    page = _score_and_report(args, own, rival)
    _tell(5, f"Everything, with pictures and a map to click on: {page}")
    print(f"That took {time.perf_counter() - started:.0f} s. Go on with:")
    for line in _next_commands(args.out):
        print(f"  {line}")


def _make_room_for(out: Path) -> None:
    """Take away what an earlier demo wrote, and nothing else."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not (out / MARKER).is_file():
        raise BadOutput(
            f"the demo folder must be new, empty or made by an earlier demo, {out} is not: give another --out"
        )
    for path in (out / name for name in _OURS):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    write_json(out / MARKER, {"made_by": "cogmap demo", "cogmap": __version__})


def _rooms(args: Args) -> tuple[Room, Room]:
    """The training walks and the test walks, as `cogmap walk` would draw them."""
    training = Room(
        height=HEIGHT,
        width=WIDTH,
        observations=OBSERVATIONS,
        walks=TRAINING_WALKS,
        steps=STEPS,
        seed=args.seed,
        out=args.out / "room.npz",
    )
    test = replace(training, walks=TEST_WALKS, walk_seed=args.seed + 1, out=args.out / "test.npz")
    return training, test


def _learn(
    args: Args,
    folder: Path,
    encoder: EncoderKind,
    prediction_steps: int,
    steps: int,
    change: Mapping[str, Any],
) -> Run:
    from cogmap.tasks.learning import learn
    from cogmap.walks.store import load_walks

    opened = learn(
        load_walks(_rooms(args)[0].out),
        args.out / folder,
        encoder=encoder,
        prediction_steps=prediction_steps,
        steps=steps,
        seed=args.seed,
        **change,
    )
    found = opened.map
    print(f"its map has {found.num_nodes} places, which explain {found.explained:.2%} of the steps")
    return opened


def _score_and_report(args: Args, own: Run, rival: Run) -> Path:
    from cogmap.records import Truth
    from cogmap.report.page import write_report
    from cogmap.runs.folder import SCORE_FILES
    from cogmap.tasks.places import material_of
    from cogmap.walks.store import load_walks
    from cogmap.walks.truth_store import load_truth

    test = _rooms(args)[1]
    walks = load_walks(test.out)
    # This world knows where its patches are, which a file does not tell.
    truth = Truth(load_truth(test.out, walks).positions, test.world())
    first, second = material_of(own, walks, truth), material_of(rival, walks, truth, kind="paper")
    for opened, material in ((own, first), (rival, second)):
        for entry in material.scored:
            entry.scores.save(opened.folder / SCORE_FILES[entry.scores.map_kind or "minimal"])  # type: ignore[index]
    _tell_scores(first, second)
    return write_report(args.out, first, second, [f"cogmap demo --out {args.out} --seed {args.seed}"])


def _tell_scores(own: Material, rival: Material) -> None:
    from cogmap.report.material import places_of
    from cogmap.report.page import baseline_sentence
    from cogmap.report.paper_rows import ALIASED_ROOM
    from cogmap.report.tables import score_table

    print(score_table([own.scored[0], rival.scored[0]], ALIASED_ROOM).text())
    if rival.reading is not None and rival.truth is not None:
        print(baseline_sentence(rival, int(places_of(rival).merged.sum())))


def _next_commands(out: Path) -> tuple[str, ...]:
    return (
        f"cogmap plan {out / RUN} --walks {out / 'test.npz'} --from 3:50 --to 3:350 --avoid 1",
        f"cogmap evaluate {out / RUN} --walks {out / 'test.npz'} --map paper",
        "cogmap walk room --height 15 --width 20 --out room.npz && cogmap learn room.npz --out runs/room --encoder gru",
    )


def _tell(number: int, sentence: str) -> None:
    print(f"\n[{number}/5] {sentence}", flush=True)
