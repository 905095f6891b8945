"""Learns a map of a place from what an agent saw and did there, although many spots look alike, and plans on it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cogmap.errors import CogmapError, NoPath, NotOnMap
from cogmap.version import __version__

if TYPE_CHECKING:
    from cogmap.environments.check import check_environment
    from cogmap.environments.cube import AliasedCube
    from cogmap.environments.egocentric.room import EgocentricRoom
    from cogmap.environments.room import AliasedRoom
    from cogmap.environments.room_family import RoomFamily
    from cogmap.environments.table import maze_from_text, torus
    from cogmap.learning import learn
    from cogmap.maps.build import build_map
    from cogmap.planning.navigator import Navigator
    from cogmap.records import Codes, CognitiveMap, Plan, TableWorld, Truth, Walks
    from cogmap.run import Run, load_run
    from cogmap.walks.sample import sample_walks
    from cogmap.walks.store import load_walks, save_walks

# Where each public name lives: loaded when first used, so that importing cogmap stays fast.
_HOMES = {
    "AliasedCube": "cogmap.environments.cube",
    "AliasedRoom": "cogmap.environments.room",
    "Codes": "cogmap.records",
    "CognitiveMap": "cogmap.records",
    "EgocentricRoom": "cogmap.environments.egocentric.room",
    "Navigator": "cogmap.planning.navigator",
    "Plan": "cogmap.records",
    "RoomFamily": "cogmap.environments.room_family",
    "Run": "cogmap.run",
    "TableWorld": "cogmap.records",
    "Truth": "cogmap.records",
    "Walks": "cogmap.records",
    "build_map": "cogmap.maps.build",
    "check_environment": "cogmap.environments.check",
    "learn": "cogmap.learning",
    "load_run": "cogmap.run",
    "load_walks": "cogmap.walks.store",
    "maze_from_text": "cogmap.environments.table",
    "sample_walks": "cogmap.walks.sample",
    "save_walks": "cogmap.walks.store",
    "torus": "cogmap.environments.table",
}

__all__ = [
    "AliasedCube",
    "AliasedRoom",
    "Codes",
    "CogmapError",
    "CognitiveMap",
    "EgocentricRoom",
    "Navigator",
    "NoPath",
    "NotOnMap",
    "Plan",
    "RoomFamily",
    "Run",
    "TableWorld",
    "Truth",
    "Walks",
    "__version__",
    "build_map",
    "check_environment",
    "learn",
    "load_run",
    "load_walks",
    "maze_from_text",
    "sample_walks",
    "save_walks",
    "torus",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cogmap' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
