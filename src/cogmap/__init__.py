"""Learn a map of a place from what an agent saw and did there, even where many spots look alike, and plan on it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cogmap.errors import (
    BadConfig,
    BadOutput,
    BadRun,
    BadWalks,
    BadWorld,
    CogmapError,
    Diverged,
    MissingExtra,
    NoPath,
    NotOnMap,
    Stopped,
)
from cogmap.version import __version__

if TYPE_CHECKING:
    from cogmap.environments.check import check_environment
    from cogmap.environments.cube import AliasedCube
    from cogmap.environments.egocentric.room import EgocentricRoom
    from cogmap.environments.gym import WorldEnv
    from cogmap.environments.machines import MachineWorld, MealyMachine, load_machine, random_machine
    from cogmap.environments.room import AliasedRoom
    from cogmap.environments.room_family import RoomFamily
    from cogmap.environments.streets import street_network
    from cogmap.environments.table import maze_from_text, torus
    from cogmap.evaluation.scores import Scores
    from cogmap.maps.build import build_map
    from cogmap.maps.dream import environment_of_map
    from cogmap.maps.export import write_map
    from cogmap.maps.store import load_map, save_map
    from cogmap.models.config import ModelConfig
    from cogmap.planning.navigator import Navigator
    from cogmap.records import ChanceWorld, Codes, CognitiveMap, Plan, TableWorld, Truth, Walks
    from cogmap.report.sketch import sketch
    from cogmap.runs.folder import RunFolder
    from cogmap.runs.run import Run, load_run
    from cogmap.tasks.evaluation import evaluate
    from cogmap.tasks.family import new_room_map
    from cogmap.tasks.learning import learn
    from cogmap.tasks.reporting import write_report
    from cogmap.tasks.text import read_text
    from cogmap.training.config import TrainingConfig
    from cogmap.walks.record import record_walks
    from cogmap.walks.sample import Agent, sample_walks
    from cogmap.walks.store import load_walks, save_walks
    from cogmap.walks.text import TextReading
    from cogmap.walks.truth_store import load_truth, save_truth

# Where each public name lives: loaded when first used, so that importing cogmap stays fast.
_HOMES = {
    "Agent": "cogmap.walks.sample",
    "AliasedCube": "cogmap.environments.cube",
    "AliasedRoom": "cogmap.environments.room",
    "ChanceWorld": "cogmap.records",
    "Codes": "cogmap.records",
    "CognitiveMap": "cogmap.records",
    "EgocentricRoom": "cogmap.environments.egocentric.room",
    "MachineWorld": "cogmap.environments.machines",
    "MealyMachine": "cogmap.environments.machines",
    "ModelConfig": "cogmap.models.config",
    "Navigator": "cogmap.planning.navigator",
    "Plan": "cogmap.records",
    "RoomFamily": "cogmap.environments.room_family",
    "Run": "cogmap.runs.run",
    "RunFolder": "cogmap.runs.folder",
    "Scores": "cogmap.evaluation.scores",
    "TableWorld": "cogmap.records",
    "TextReading": "cogmap.walks.text",
    "TrainingConfig": "cogmap.training.config",
    "Truth": "cogmap.records",
    "WalkLog": "cogmap.walks.log",
    "Walks": "cogmap.records",
    "WorldEnv": "cogmap.environments.gym",
    "build_map": "cogmap.maps.build",
    "check_environment": "cogmap.environments.check",
    "convert_walks": "cogmap.walks.convert",
    "environment_of_map": "cogmap.maps.dream",
    "evaluate": "cogmap.tasks.evaluation",
    "learn": "cogmap.tasks.learning",
    "load_machine": "cogmap.environments.machines",
    "load_map": "cogmap.maps.store",
    "load_run": "cogmap.runs.run",
    "load_truth": "cogmap.walks.truth_store",
    "load_walks": "cogmap.walks.store",
    "maze_from_text": "cogmap.environments.table",
    "new_room_map": "cogmap.tasks.family",
    "random_machine": "cogmap.environments.machines",
    "read_text": "cogmap.tasks.text",
    "record_walks": "cogmap.walks.record",
    "sample_walks": "cogmap.walks.sample",
    "save_map": "cogmap.maps.store",
    "save_truth": "cogmap.walks.truth_store",
    "save_walks": "cogmap.walks.store",
    "sketch": "cogmap.report.sketch",
    "street_network": "cogmap.environments.streets",
    "torus": "cogmap.environments.table",
    "walk_parts": "cogmap.walks.log",
    "write_map": "cogmap.maps.export",
    "write_report": "cogmap.tasks.reporting",
}

__all__ = [
    "Agent",
    "AliasedCube",
    "AliasedRoom",
    "BadConfig",
    "BadOutput",
    "BadRun",
    "BadWalks",
    "BadWorld",
    "ChanceWorld",
    "Codes",
    "CogmapError",
    "CognitiveMap",
    "Diverged",
    "EgocentricRoom",
    "MachineWorld",
    "MealyMachine",
    "MissingExtra",
    "ModelConfig",
    "Navigator",
    "NoPath",
    "NotOnMap",
    "Plan",
    "RoomFamily",
    "Run",
    "RunFolder",
    "Scores",
    "Stopped",
    "TableWorld",
    "TextReading",
    "TrainingConfig",
    "Truth",
    "WalkLog",
    "Walks",
    "WorldEnv",
    "__version__",
    "build_map",
    "check_environment",
    "convert_walks",
    "environment_of_map",
    "evaluate",
    "learn",
    "load_machine",
    "load_map",
    "load_run",
    "load_truth",
    "load_walks",
    "maze_from_text",
    "new_room_map",
    "random_machine",
    "read_text",
    "record_walks",
    "sample_walks",
    "save_map",
    "save_truth",
    "save_walks",
    "sketch",
    "street_network",
    "torus",
    "walk_parts",
    "write_map",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cogmap' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
