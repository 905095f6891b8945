"""The story of a 3D room: views, clusters, a map with a node for each place and heading, and a walk from pixels."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from cogmap.commands import walk
from cogmap.commands.walk_room3d import Room3d
from cogmap.environments.oracle import aliasing
from cogmap.evaluation.closed_loop import goals_reached_from_pixels
from cogmap.evaluation.places import true_places
from cogmap.report.html import FIGURES_FOLDER
from cogmap.report.material import Material, Reading
from cogmap.report.page import write_report
from cogmap.report.paper_rows import EGOCENTRIC_ROOM
from cogmap.report.room3d_page import Room3dMaterial, draw_room_pictures, room_section
from cogmap.report.tables import score_table
from cogmap.runs.folder import SCORE_FILES
from cogmap.runs.run import Run
from cogmap.tasks.learning import learn
from cogmap.tasks.places import material_of
from cogmap.walks.quantize import ViewQuantizer
from cogmap.walks.store import load_walks
from cogmap.walks.truth_store import load_truth
from cogmap.walks.views import ViewWalks

TRAINING_WALKS, TEST_WALKS, STEPS = 768, 256, 400
RUN = Path("runs/room")
GOALS = 100


def run_3d(out: Path, seed: int, steps: int) -> None:
    """Walk, learn, score, walk again from pixels, and draw; the folder has been made ready."""
    started = time.perf_counter()
    training, test = _rooms(out, seed)
    _tell(1, "A 3D room, seen through the agent's eyes: forward, left, right. Random walks in it:")
    for room in (training, test):
        walk.run(room)
    _tell(2, "TDB(S=3, M=4), a GRU that must foretell three steps through four discrete bottlenecks:")
    opened = _learn(training, out / RUN, steps)
    _tell(3, "How well it foretells and plans on walks that it has not seen:")
    story, material = _read(opened, test)
    print(score_table([material.scored[0]], EGOCENTRIC_ROOM).text())
    print(aliasing(story.world).sentence())
    _tell(4, f"Put down anywhere, sent somewhere, {GOALS} times, with views rendered as it walks:")
    print(f"it came to {_reached(story):.0%} of the goals")
    _tell(5, "Pictures and a film:")
    page = _draw(opened, story, material, out, f"cogmap demo --world 3d --out {out} --seed {seed}")
    print(f"wrote {page}: all of it, and a map to click on")
    print(f"That took {time.perf_counter() - started:.0f} s. Go on with:")
    for line in _next_commands(out):
        print(f"  {line}")


def _rooms(out: Path, seed: int) -> tuple[Room3d, Room3d]:
    training = Room3d(walks=TRAINING_WALKS, steps=STEPS, seed=seed, out=out / "room.npz")
    return training, replace(training, walks=TEST_WALKS, walk_seed=seed + 1, out=out / "test.npz")


def _learn(training: Room3d, folder: Path, steps: int) -> Run:
    opened = learn(
        load_walks(training.out), folder, encoder="gru", bottlenecks=4, steps=steps, seed=training.seed
    )
    found = opened.map
    print(f"its map has {found.num_nodes} places, which explain {found.explained:.2%} of the steps")
    return opened


def _read(opened: Run, test: Room3d) -> tuple[Room3dMaterial, Material]:
    """What the pictures are drawn from, and the run's reading of the test walks."""
    seen, quantizer = cast(ViewWalks, load_walks(test.out)), cast(ViewQuantizer, opened.quantizer)
    walks, truth = quantizer.walks_and_truth(seen, load_truth(test.out, seen))
    material = material_of(opened, walks, truth)
    found, codes = opened.map, cast(Reading, material.reading).codes
    place = true_places(found, walks, truth, codes).position
    story = Room3dMaterial(test.world(), seen, quantizer, truth.world, found, material.layout, place)
    return story, material


def _reached(story: Room3dMaterial) -> float:
    rng = np.random.default_rng(0)
    return goals_reached_from_pixels(
        story.cognitive_map, story.room, story.quantizer, story.place, GOALS, rng
    )


def _draw(opened: Run, story: Room3dMaterial, material: Material, out: Path, command: str) -> Path:
    figures = out / FIGURES_FOLDER
    shown = []
    for each in draw_room_pictures(story, figures):
        print(f"wrote {figures / each.file}", flush=True)
        shown.append(each)
    for entry in material.scored:
        entry.scores.save(opened.folder / SCORE_FILES[entry.scores.map_kind or "minimal"])  # type: ignore[index]
    return write_report(out, material, None, [command], [room_section(figures, shown)])


def _next_commands(out: Path) -> tuple[str, ...]:
    return (
        f"cogmap plan {out / RUN} --walks {out / 'test.npz'} --from 3:50 --to 3:350",
        f"cogmap evaluate {out / RUN} --walks {out / 'test.npz'}",
        "cogmap walk room3d --plan PLAN.txt --out own.npz && cogmap learn own.npz --out runs/own --encoder gru -M 4",
    )


def _tell(number: int, sentence: str) -> None:
    print(f"\n[{number}/5] {sentence}", flush=True)
