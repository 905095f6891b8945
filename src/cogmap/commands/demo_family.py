"""The story of a family of rooms: a model that was trained once maps rooms it has never seen, each from one walk."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.commands.walk_worlds import Family
from cogmap.environments.room_family import RoomFamily
from cogmap.errors import BadRun
from cogmap.evaluation.places import is_exact, true_places
from cogmap.files import read_json
from cogmap.maps.store import save_map
from cogmap.records import CognitiveMap, Integers, Truth, Walks
from cogmap.report.html import FIGURES_FOLDER
from cogmap.report.map_figures import new_rooms_figure
from cogmap.report.page import write_report
from cogmap.report.style import save_figure
from cogmap.runs.folder import ATLAS_FILE, CONFIG_FILE, MAP_FILES, MODEL_FILE
from cogmap.runs.run import Run, load_run
from cogmap.tasks.family import new_room_map, score_family
from cogmap.tasks.places import material_of
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth

# Weights that were kept with the code: config, model and atlas of a run, and `family.json` with its rooms.
STORED = Path(__file__).resolve().parents[3] / "results" / "models" / "rooms-6x8"
FAMILY_FILE, METRICS_FILE = "family.json", "metrics.jsonl"
RUN = Path("runs/family")
SHORT, LONG = 100, 400  # steps of the one walk that a room is mapped from, and of those to score on
SHOWN_ROOMS, SCORED_ROOMS = 3, 50


@dataclass(frozen=True)
class Stored:
    """A stored model and the family that it was trained on."""

    run: Run
    rooms: dict[str, Any]  # options of `cogmap walk family`
    command: str  # that made it


def open_stored(folder: Path) -> Stored:
    """The model that is kept with the code; `BadRun` where the code was installed without it."""
    if not (folder / MODEL_FILE).is_file():
        rule = f"the demo of a family must find its trained model in {folder}, which comes with a checkout"
        raise BadRun(f"{rule}; train one with `cogmap walk family` and `cogmap learn --family`")
    stored = read_json(folder / FAMILY_FILE, BadRun)
    return Stored(load_run(folder), stored["rooms"], stored["command"])


def run_family(out: Path, seed: int) -> None:
    """Open, walk, map, score and draw; the folder has been made ready."""
    started = time.perf_counter()
    stored = open_stored(STORED)
    new = Family(**stored.rooms, rooms="test", walks=1, out=out / "new_room.npz")
    family = new.family()
    _tell(
        1,
        f"{stored.run.name}, trained once on {new.train_rooms} rooms that share a layout and differ in colours:",
    )
    print(f"made by: {stored.command}")
    folder = _copied(stored.run.folder, out / RUN)
    opened = load_run(folder)
    _tell(2, f"Rooms that it has never seen, each mapped from one walk of {SHORT} steps:")
    for room in range(SHOWN_ROOMS):
        walks, truth = _walks(family, room, 1, SHORT, [seed, room])
        print(f"  {_sentence(new_room_map(opened, walks), opened, walks, truth)}", flush=True)
    _tell(3, f"{SCORED_ROOMS} new rooms, four walks of {LONG} steps each, a path to plan in every walk:")
    _score(opened, family, seed)
    _tell(4, "Pictures, and one of the rooms to click on:")
    page = _draw(opened, family, out, seed)
    print(f"wrote {page}")
    print(f"That took {time.perf_counter() - started:.0f} s. Go on with:")
    for line in _next_commands(out):
        print(f"  {line}")


def _copied(stored: Path, folder: Path) -> Path:
    """The stored run as one of the demo's own, for its maps to be written beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (CONFIG_FILE, MODEL_FILE, ATLAS_FILE, METRICS_FILE):
        shutil.copyfile(stored / name, folder / name)
    return folder


def _walks(family: RoomFamily, room: int, count: int, steps: int, seed: list[int]) -> tuple[Walks, Truth]:
    base_walks, truth = sample_walks(family.base, count, steps, np.random.default_rng(seed))
    return family.paint(base_walks, np.full(count, room)), Truth(truth.positions, family.room(room))


def _places(found: CognitiveMap, opened: Run, walks: Walks, truth: Truth) -> Integers:
    """(V,) the place of every node: where the walks were when they were at it, and from there on by its moves."""
    place = true_places(found, walks, truth, opened.encode(walks)[0]).position.copy()
    edges = (found.edge_source, found.edge_action, found.edge_target)
    for _ in range(found.num_nodes):
        for source, action, target in zip(*edges, strict=True):
            if place[source] >= 0 and place[target] < 0:
                place[target] = truth.world.next_position[place[source], action]
    return place


def _sentence(found: CognitiveMap, opened: Run, walks: Walks, truth: Truth) -> str:
    colours = " ".join(str(colour) for colour in np.unique(walks.observations))
    visited = len(np.unique(truth.positions))
    told = f"colours {colours}: {found.num_nodes} places, of which the walk came by {visited}"
    if is_exact(found, _places(found, opened, walks, truth), truth.world):
        told += "; the map is the room, unseen places included"
    return told + "".join(f"; {warning}" for warning in found.warnings)


def _score(opened: Run, family: RoomFamily, seed: int) -> None:
    rooms = np.repeat(np.arange(SCORED_ROOMS, dtype=np.int32), 4)
    base_walks, truth = sample_walks(family.base, len(rooms), LONG, np.random.default_rng([seed, 99]))
    scores = score_family(opened, family.paint(base_walks, rooms), truth, rooms, kinds=("atlas",))
    row = scores.by_map["atlas"]
    ceiling = 0.0 if scores.ceiling is None else scores.ceiling.accuracy
    print(f"  foretold in new rooms {scores.accuracy.accuracy:.2%}, of at most {ceiling:.2%}")
    print(
        f"  ImpFallback {row['imp_fallback']:.2%}, RatioSP {row['ratio_sp']:.3f}, NormGED {row['norm_ged']:.4f}"
    )
    print(f"  {row['exact']:.0%} of the maps are the room, edge for edge")


def _draw(opened: Run, family: RoomFamily, out: Path, seed: int) -> Path:
    """Maps of a few rooms as a figure, and a report on the first of them."""
    new_room = out / "new_room.npz"
    pictured = []
    for room in range(SHOWN_ROOMS):
        walks, truth = _walks(family, room, 1, SHORT, [seed, room])
        found = new_room_map(opened, walks)
        pictured.append((truth.world, found, _places(found, opened, walks, truth)))
    figure = out / FIGURES_FOLDER / "new_rooms.png"
    save_figure(new_rooms_figure(pictured), figure)
    print(f"wrote {figure}")
    walks, truth = _walks(family, 0, 4, LONG, [seed, 0, 4])
    save_truth(new_room, truth)
    save_walks(new_room, walks)
    print(f"wrote {new_room}: {walks.num_walks} more walks in the first of them")
    for kind, name in MAP_FILES.items():
        save_map(opened.folder / name, new_room_map(opened, walks, kind))
    again = load_run(opened.folder)
    return write_report(
        out, material_of(again, walks, truth), None, [f"cogmap demo --world family --out {out} --seed {seed}"]
    )


def _next_commands(out: Path) -> tuple[str, ...]:
    return (
        f"cogmap plan {out / RUN} --walks {out / 'new_room.npz'} --from 0:100 --to 0:300",
        f"cogmap map {out / RUN} --walks YOUR_ROOM.npz --out your_room.graphml",
        "cogmap walk family --out family.npz && cogmap learn family.npz --family -M 4 --out runs/family",
    )


def _tell(number: int, sentence: str) -> None:
    print(f"\n[{number}/4] {sentence}", flush=True)
