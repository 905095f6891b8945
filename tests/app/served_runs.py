"""Made-up run folders to serve: a room, a perfect map of it, walks in it, and what a training would have written."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np

from cogmap.app.application import Application
from cogmap.app.security import Limits
from cogmap.app.watcher import RunWatcher
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.scores import Scores
from cogmap.maps.store import save_map
from cogmap.models.config import ModelConfig
from cogmap.records import TableWorld
from cogmap.runs.stored import save_config
from cogmap.training.config import TrainingConfig
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth

_PLAIN = AliasedRoom(6, 8, observations=4, seed=0)
ROOM = TableWorld(
    next_position=_PLAIN.next_position,
    observation=_PLAIN.observation,
    num_observations=4,
    coordinates=_PLAIN.coordinates,
    observation_labels=("red", "green", "blue", "grey"),
    action_labels=_PLAIN.action_labels,
    name="room",
)
ROWS = [
    {"step": 100, "seconds": 1.5, "loss": 2.0, "validation_accuracy": 0.5, "codes_in_use": []},
    {
        "step": 200,
        "seconds": 3.0,
        "loss": 1.0,
        "validation_accuracy": 0.9,
        "codes_in_use": [80],
        "late_accuracy": 0.95,
    },
]


def found_map(world=ROOM, kind="minimal"):
    return replace(true_map(world), kind=kind)


def write_config(folder: Path, world=ROOM):
    known = sample_walks(world, 20, 2, np.random.default_rng(0))[0]  # only their vocabulary is stored
    sizes = ModelConfig(world.num_observations, world.num_actions, world.num_observations, num_codes=100)
    save_config(folder, "places", sizes, TrainingConfig(), known)


def write_rows(folder: Path, rows=ROWS):
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_run(folder: Path, world=ROOM, walks=20, steps=120, truth=True) -> tuple[Path, Path]:
    """A finished run, and walks beside it."""
    run, walks_path = folder / "run", folder / "walks.npz"
    run.mkdir(parents=True)
    write_config(run, world)
    write_rows(run)
    (run / "model.safetensors").write_bytes(b"never read")
    save_map(run / "map.npz", found_map(world))
    save_map(run / "map.paper.npz", found_map(world, "paper"))
    Scores(test_accu=0.98, ceiling=0.99, imp_fallback=1.0, ratio_sp=1.0, nodes=48).save(run / "scores.json")
    taken, true = sample_walks(world, walks, steps, np.random.default_rng(0))
    save_walks(walks_path, taken)
    if truth:
        save_truth(walks_path, true)
    return run, walks_path


def opened(run: Path, walks: Path | None = None) -> RunWatcher:
    watcher = RunWatcher(run, walks)
    watcher.open()
    return watcher


def application(run: Path, walks: Path | None = None, **limits) -> Application:
    return Application(opened(run, walks), Limits(**limits))


class Client:
    """Asks an application without a network. It does not watch the folder: tests say when to look again."""

    def __init__(self, app: Application) -> None:
        self.app = app

    def request(self, method, path, **options) -> httpx.Response:
        return asyncio.run(self.ask(method, path, **options))

    async def ask(self, method, path, **options) -> httpx.Response:
        transport = httpx.ASGITransport(self.app.asgi, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as client:
            return await client.request(method, path, **options)

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def delete(self, path, **options):
        return self.request("DELETE", path, **options)


def client_of(app: Application) -> Client:
    return Client(app)
