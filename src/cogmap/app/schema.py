"""What goes over the wire: requests and answers as types, by which pydantic checks and describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, create_model, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict  # typing's own is understood by pydantic from Python 3.12 on

from cogmap.app.security import Limits
from cogmap.runs.names import MapKind, State

T = TypeVar("T")
Ended = TypeVar("Ended", "Problem", "PolicyRequest")  # requests that go somewhere


class _NotNull:
    """For `T | None`: the field may be left out, but JSON's null is refused."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source)["schema"]


class _OneError:
    """For a union: one error for all of its types together."""

    def __init__(self, types: str) -> None:
        self.types = types

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "custom_error_type": "union", "custom_error_message": self.types}


Index = Annotated[int, Field(ge=0, le=2**31 - 1)]
Label = Annotated[str, Field(max_length=1000)]
Named = Annotated[Index | Label, _OneError("an integer or a string")]  # an observation or an action
Names = Annotated[tuple[Named, ...], Field(strict=False)]  # JSON's arrays, as tuples: a default is not copied
Ground = Literal["true", "map"]  # what an agent walks on
Bit = Annotated[int, Field(ge=0, le=1)]
Given = Annotated[T | None, _NotNull()]


class Request(BaseModel):
    """The body of a request: nothing is converted, nothing unknown is let through."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class OnMap(Request):
    map: MapKind = "minimal"
    revision: Given[Annotated[str, Field(max_length=40)]] = None


_ONE_END = ConfigDict(json_schema_extra={"oneOf": [{"required": ["goal"]}, {"required": ["showing"]}]})


def _has_one_end(asked: Ended) -> Ended:
    if (asked.goal is None) == (asked.showing is None):
        got = "neither" if asked.goal is None else "both"
        raise PydanticCustomError("ends", "must have one of `goal` and `showing`, got {got}", {"got": got})
    return asked


class Problem(Request):
    model_config = _ONE_END
    start: Index
    goal: Given[Index] = None
    showing: Given[Named] = None
    avoid: Names = ()
    strict: bool = False
    _one_end = model_validator(mode="after")(_has_one_end)


class PlanRequest(OnMap, Problem):
    pass


class PolicyRequest(OnMap):
    model_config = _ONE_END
    goal: Given[Index] = None
    showing: Given[Named] = None
    avoid: Names = ()
    _one_end = model_validator(mode="after")(_has_one_end)


class PlansRequest(OnMap):
    problems: Annotated[tuple[Problem, ...], Field(strict=False)]


class LocateRequest(OnMap):
    observations: Names
    actions: Names


class WalkRequest(OnMap):
    seed: Given[Index] = None
    position: Given[Index] = None
    actions: Names = ()


class StepRequest(Request):
    action: Named
    step: Given[Index] = None


def limited(limits: Limits) -> dict[type[Request], type[Request]]:
    """Each request as a server takes it: with its limits on the lengths of lists."""
    most, longest = limits.problems, limits.history
    avoid: Any = (Annotated[Names, Field(max_length=most), FailFast()], ())
    problem: Any = create_model("Problem", __base__=Problem, avoid=avoid)
    problems = Annotated[tuple[problem, ...], Field(strict=False, max_length=most), FailFast()]
    history = Annotated[Names, Field(max_length=longest), FailFast()]
    seen = Annotated[Names, Field(min_length=1, max_length=longest), FailFast()]
    return {
        PlanRequest: create_model("PlanRequest", __base__=PlanRequest, avoid=avoid),
        PolicyRequest: create_model("PolicyRequest", __base__=PolicyRequest, avoid=avoid),
        PlansRequest: create_model("PlansRequest", __base__=PlansRequest, problems=(problems, ...)),
        LocateRequest: create_model(
            "LocateRequest", __base__=LocateRequest, observations=(seen, ...), actions=(history, ...)
        ),
        WalkRequest: create_model("WalkRequest", __base__=WalkRequest, actions=(history, ())),
        StepRequest: StepRequest,
    }


class Error(TypedDict):
    error: str


class Observations(TypedDict):
    labels: list[str]
    colours: list[str]


class Actions(TypedDict):
    labels: list[str]


class MapSummary(TypedDict):
    kind: MapKind
    revision: str
    nodes: Index
    edges: Index
    explained: float
    warnings: list[str]
    early: bool


class WalksSize(TypedDict):
    count: Index
    longest: Index


class ScoreTable(TypedDict):
    columns: list[str]
    rows: list[list[str]]
    caption: str


class Run(TypedDict):
    name: str
    folder: str
    version: str
    observations: Observations
    actions: Actions
    maps: list[MapSummary]
    truth: bool
    walks: WalksSize | None
    world: Ground
    views: bool
    concepts: bool
    state: State
    warnings: list[str]
    scores: ScoreTable | None
    config: dict[str, Any]


class NodeColumns(TypedDict):
    observation: list[Index]
    support: list[Index]
    x: list[float]
    y: list[float]
    true_x: NotRequired[list[float | None]]
    true_y: NotRequired[list[float | None]]
    position: NotRequired[list[Index | None]]
    merged: NotRequired[list[Bit]]


class EdgeColumns(TypedDict):
    source: list[Index]
    action: list[Index]
    target: list[Index]
    support: list[Index]
    probability: list[float]
    doubtful: list[Bit]
    guessed: list[Bit]
    wrong: NotRequired[list[Bit]]


class Map(TypedDict):
    kind: MapKind
    revision: str
    early: bool
    explained: float
    warnings: list[str]
    nodes: NodeColumns
    edges: EdgeColumns


class Moves(TypedDict):
    source: list[Index]
    action: list[Index]
    target: list[Index]


class Room(TypedDict):
    name: str
    positions: Index
    observation: list[Index]
    x: list[float] | None
    y: list[float] | None
    moves: Moves


class Metrics(TypedDict):
    columns: dict[str, list[Any]]
    num_codes: Index


class Live(TypedDict):
    state: State
    step: float | None
    last_step: Index | None
    seconds: float | None
    validation_accuracy: float | None
    rows: Index
    revisions: dict[str, str]
    problems: list[str]


class Belief(TypedDict):
    nodes: list[Index]
    probabilities: list[float]
    rest: float
    candidates: float


class Estimate(TypedDict):
    node: Index
    certainty: float
    sure: bool
    belief: Belief


class Place(Estimate):
    revision: str


class Replay(TypedDict):
    walk: Index
    map: MapKind
    revision: str
    observations: list[Index]
    actions: list[Index]
    nodes: list[Index]
    certainty: list[float]
    sure: list[Bit]
    teleported: list[Index]
    positions: list[Index] | None


class ReplayStep(Estimate):
    walk: Index
    step: Index
    revision: str
    observation: Index


class Concepts(TypedDict):
    concept: list[str | None]
    colours: dict[str, str]


class Plan(TypedDict):
    nodes: list[Index]
    actions: list[Index]
    observations: list[Index]
    avoided: bool
    positions: list[Index] | None


class Policy(TypedDict):
    goals: list[Index]
    actions: list[Index | None]
    targets: list[Index | None]
    arrival: list[float]
    steps: list[float | None]


class Plans(TypedDict):
    plans: list[Plan | Error]


class History(TypedDict):
    observations: list[Index]
    actions: list[Index]
    nodes: list[Index]
    certainty: list[float]
    positions: list[Index]


class WalkState(Estimate):
    id: str
    map: MapKind
    revision: str
    world: Ground
    origin: Index
    position: Index
    step: Index
    observation: Index
    legal: list[Index]


class Walk(WalkState):
    history: History


class Step(WalkState):
    surprise: float
