"""The table of addresses: from it the routes are made, and the description of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cogmap.app.explorer import Call, Explorer


@dataclass(frozen=True)
class Endpoint:
    """One address and method."""

    method: str
    path: str
    work: Callable[[Explorer, Call], Any]
    summary: str
    answer: str  # a schema of `schemas.ANSWERS`, "image/png" or "" for no content
    body: str = ""  # a schema of `schemas.request_schemas`
    long: bool = False  # may take more than a few milliseconds: worked on in a thread
    status: int = 200
    by_map: bool = False  # takes `?map=`


# Looked up from the top: what is asked most often comes first.
ENDPOINTS = (
    Endpoint("POST", "/api/plan", Explorer.plan, "A shortest path", "Plan", "PlanRequest"),
    Endpoint("POST", "/api/walks/{id}/steps", Explorer.step, "One step of it", "Step", "StepRequest"),
    Endpoint("GET", "/api/live", Explorer.live, "How the training goes, cheap enough to poll", "Live"),
    Endpoint("GET", "/api/run", Explorer.run, "What the run is, and what there is to see of it", "Run"),
    Endpoint("GET", "/api/map/{kind}", Explorer.map, "One of the run's maps, in columns", "Map"),
    Endpoint("GET", "/api/room", Explorer.room, "The true world", "Room", long=True),
    Endpoint("GET", "/api/metrics", Explorer.metrics, "How the training went", "Metrics", long=True),
    Endpoint(
        "GET",
        "/api/replay/{walk}",
        Explorer.replay,
        "A walk of the file, and where the agent takes itself to be",
        "Replay",
        long=True,
        by_map=True,
    ),
    Endpoint(
        "GET",
        "/api/replay/{walk}/{step}",
        Explorer.replay_step,
        "The belief at one step of a walk",
        "ReplayStep",
        long=True,
        by_map=True,
    ),
    Endpoint(
        "GET",
        "/api/view/{node}",
        Explorer.view,
        "What is seen at a node",
        "image/png",
        long=True,
        by_map=True,
    ),
    Endpoint("GET", "/api/concepts", Explorer.concepts, "The concept of each node of a text run", "Concepts"),
    Endpoint(
        "POST",
        "/api/plans",
        Explorer.plans,
        "Many shortest paths at once",
        "Plans",
        "PlansRequest",
        long=True,
    ),
    Endpoint(
        "POST",
        "/api/locate",
        Explorer.locate,
        "Where a history leads to",
        "Place",
        "LocateRequest",
        long=True,
    ),
    Endpoint(
        "POST",
        "/api/walks",
        Explorer.new_walk,
        "Begin to walk as the agent",
        "Walk",
        "WalkRequest",
        long=True,
        status=201,
    ),
    Endpoint("GET", "/api/walks/{id}", Explorer.walk, "A walk under way", "Walk"),
    Endpoint("DELETE", "/api/walks/{id}", Explorer.end_walk, "End it", "", status=204),
)
