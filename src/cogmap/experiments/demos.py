"""What `cogmap demo` shows: a small aliased room, and a 3D room seen through the agent's eyes, from walks to report."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadOutput
from cogmap.evaluation.closed_loop import goals_reached_from_pixels
from cogmap.files import write_json
from cogmap.records import TableWorld, Truth, Walks
from cogmap.report.html import FIGURES_FOLDER
from cogmap.report.material import Material, places_of
from cogmap.report.page import baseline_sentence, write_report
from cogmap.report.paper_rows import ALIASED_ROOM, EGOCENTRIC_ROOM
from cogmap.report.room3d_page import Room3dMaterial, draw_room_pictures, room_section
from cogmap.report.tables import score_table
from cogmap.runs.names import SCORE_FILES
from cogmap.runs.run import Run
from cogmap.tasks.learning import learn
from cogmap.tasks.places import material_of
from cogmap.version import __version__
from cogmap.walks.draw import Drawn, describe, draw, save_drawn
from cogmap.walks.quantize import ViewQuantizer
from cogmap.walks.views import ViewWalks

HEIGHT, WIDTH, OBSERVATIONS = 6, 8, 4
ROOM_WALKS, ROOM3D_WALKS = (512, 256), (768, 256)  # to train on, to test on
STEPS = 400  # of each walk
# So few codes have to be shared between places; with 1000, predicting one step was enough to distinguish all 48. The
# failure shows on the paper's map: the minimal map also asks how places follow one another.
BASELINE_CODES, BASELINE_STEPS = 64, 500
GOALS = 100
RUN, BASELINE = Path("runs/room"), Path("runs/room_one_step")
MARKER = "demo.json"
_WRITTEN = (
    MARKER,
    *(f"{name}{suffix}" for name in ("room", "test", "new_room") for suffix in (".npz", ".truth.npz")),
    "runs/family",
    str(RUN),
    str(BASELINE),
    FIGURES_FOLDER,
    "report.html",
)


def make_room_for(out: Path) -> None:
    """Remove what an earlier demo wrote, and nothing else."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not (out / MARKER).is_file():
        raise BadOutput(
            f"the demo folder must be new, empty or made by an earlier demo, {out} is not: give another --out"
        )
    for path in (out / name for name in _WRITTEN):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    write_json(out / MARKER, {"made_by": "cogmap demo", "cogmap": __version__})


def demo_room(out: Path, seed: int, steps: int) -> Path:
    """A map that plans, and beside it one that merges places because its model looks one step ahead only."""
    started = time.perf_counter()
    colours = f"{HEIGHT} x {WIDTH} cells in {OBSERVATIONS} colours"
    chapter("1/5", f"A room of {colours}, a patch of it twice. Random walks in it:")
    training, test = _draw(AliasedRoom(HEIGHT, WIDTH, OBSERVATIONS, seed=seed), out, ROOM_WALKS, seed)
    chapter("2/5", "TDB(S=3, M=1), a transformer that predicts three steps through a discrete bottleneck:")
    own = _learn(training.walks, out / RUN, encoder="transformer", steps=steps, seed=seed)
    chapter("3/5", f"TDB(S=1, M=1), a GRU that predicts one step only, through {BASELINE_CODES} codes:")
    baseline = _learn(
        training.walks,
        out / BASELINE,
        encoder="gru",
        prediction_steps=1,
        steps=min(steps, BASELINE_STEPS),
        seed=seed,
        num_codes=BASELINE_CODES,
    )
    chapter("4/5", "How well they predict and plan on walks they have not seen:")
    first = _material(own, test.walks, test.truth)
    second = _material(baseline, test.walks, test.truth, kind="paper")
    print(score_table([first.scored[0], second.scored[0]], ALIASED_ROOM).text())
    if second.reading is not None and second.truth is not None:
        print(baseline_sentence(second, int(places_of(second).merged.sum())))
    page = write_report(out, first, second, [f"cogmap demo --out {out} --seed {seed}"])
    chapter("5/5", f"Everything, with pictures and a map to click on: {page}")
    walks = out / "test.npz"
    next_commands(
        started,
        f"cogmap plan {out / RUN} --walks {walks} --from 3:50 --to 3:350 --avoid 1",
        f"cogmap evaluate {out / RUN} --walks {walks} --map paper",
        "cogmap walk room --height 15 --width 20 --out room.npz && cogmap learn room.npz --out runs/room",
    )
    return page


def demo_room3d(out: Path, seed: int, steps: int) -> Path:
    """Views, clusters, a map with a node for each place and heading, and a walk from pixels."""
    started = time.perf_counter()
    chapter("1/5", "A 3D room, seen through the agent's eyes: forward, left, right. Random walks in it:")
    room = EgocentricRoom(seed=seed)
    training, test = _draw(room, out, ROOM3D_WALKS, seed)
    chapter("2/5", "TDB(S=3, M=4), a GRU that predicts three steps through four discrete bottlenecks:")
    opened = _learn(training.walks, out / RUN, encoder="gru", bottlenecks=4, steps=steps, seed=seed)
    chapter("3/5", "How well it predicts and plans on walks that it has not seen:")
    shown, material = _read_views(opened, room, test)
    print(score_table([material.scored[0]], EGOCENTRIC_ROOM).text())
    print(aliasing(shown.world).sentence())
    chapter("4/5", f"From random starts to random goals, {GOALS} times, with views rendered as it walks:")
    found, rng = shown.cognitive_map, np.random.default_rng(0)
    reached = goals_reached_from_pixels(found, room, shown.quantizer, shown.place, GOALS, rng)
    print(f"it reached {reached:.0%} of the goals")
    chapter("5/5", "Pictures and a film:")
    figures, pictures = out / FIGURES_FOLDER, []
    for picture in draw_room_pictures(shown, figures):
        print(f"wrote {figures / picture.file}", flush=True)
        pictures.append(picture)
    command = f"cogmap demo --world 3d --out {out} --seed {seed}"
    page = write_report(out, material, None, [command], [room_section(figures, pictures)])
    print(f"wrote {page}: all of it, and a map to click on")
    next_commands(
        started,
        f"cogmap plan {out / RUN} --walks {out / 'test.npz'} --from 3:50 --to 3:350",
        f"cogmap evaluate {out / RUN} --walks {out / 'test.npz'}",
        "cogmap walk room3d --plan PLAN.txt --out own.npz && cogmap learn own.npz --out runs/own -M 4",
    )
    return page


def chapter(number: str, sentence: str) -> None:
    print(f"\n[{number}] {sentence}", flush=True)


def next_commands(started: float, *lines: str) -> None:
    print(f"This took {time.perf_counter() - started:.0f} s. What to try next:")
    print("\n".join(f"  {line}" for line in lines))


def _draw(world: TableWorld, out: Path, walks: Iterable[int], seed: int) -> list[Drawn]:
    """The training walks and the test walks, as `cogmap walk` draws them, written to room.npz and test.npz."""
    drawn = []
    for order, (name, count) in enumerate(zip(("room.npz", "test.npz"), walks, strict=True)):
        drawn.append(draw(world, count, STEPS, seed + order))
        print(describe(drawn[-1], save_drawn(out / name, drawn[-1])))
    return drawn


def _learn(walks: Walks, folder: Path, **choices: Any) -> Run:
    opened = learn(walks, folder, **choices)
    found = opened.map
    print(
        f"its map has {found.num_nodes} places, which predict {found.explained:.2%} of held-out observations"
    )
    return opened


def _material(opened: Run, walks: Walks, truth: Truth | None, **choices: Any) -> Material:
    """The run's reading of the test walks; its scores are kept in its folder."""
    material = material_of(opened, walks, truth, **choices)
    for entry in material.scored:
        entry.scores.save(opened.folder / SCORE_FILES[entry.scores.map_kind or "minimal"])  # type: ignore[index]
    return material


def _read_views(opened: Run, room: EgocentricRoom, test: Drawn) -> tuple[Room3dMaterial, Material]:
    """What the pictures are drawn from, and the run's reading of the test walks."""
    seen, quantizer = cast(ViewWalks, test.walks), cast(ViewQuantizer, opened.quantizer)
    walks, truth = quantizer.walks_and_truth(seen, cast(Truth, test.truth))
    material = _material(opened, walks, truth)
    place = places_of(material).position
    return Room3dMaterial(room, seen, quantizer, truth.world, opened.map, material.layout, place), material
