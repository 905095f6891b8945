"""The table of addresses: from it the routes are made, and the OpenAPI document that describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from cogmap.app import schema
from cogmap.app.handlers import Call, Handlers
from cogmap.runs.names import MapKind
from cogmap.version import __version__

PNG = "image/png"


@dataclass(frozen=True)
class Endpoint:
    """One address and method."""

    method: str
    path: str
    work: Callable[[Handlers, Call[Any]], Any]
    summary: str
    answer: Any  # a type of `schema`, PNG, or None for no content
    body: type[schema.Request] | None = None
    long: bool = False  # may take more than a few milliseconds: done in a thread
    computes: bool = False  # a long one with a pool of its own, so that it cannot keep others from showing
    grows: bool = False  # computes, but takes a moment only, unless the map is large
    status: int = 200
    by_map: bool = False  # takes `?map=`


# Searched from the top: what is asked most often comes first.
ENDPOINTS = (
    Endpoint(
        "POST", "/api/plan", Handlers.plan, "A shortest path", schema.Plan, schema.PlanRequest, grows=True
    ),
    Endpoint(
        "POST",
        "/api/walks/{id}/steps",
        Handlers.step,
        "One step of it",
        schema.Step,
        schema.StepRequest,
        grows=True,
    ),
    Endpoint(
        "GET", "/api/live", Handlers.live, "Progress of the training, cheap enough to poll", schema.Live
    ),
    Endpoint(
        "GET",
        "/api/run",
        Handlers.run,
        "What the run is, and what there is to see of it",
        schema.Run,
        long=True,
    ),
    Endpoint("GET", "/api/map/{kind}", Handlers.map, "One of the run's maps, in columns", schema.Map),
    Endpoint("GET", "/api/room", Handlers.room, "The true world", schema.Room, long=True),
    Endpoint("GET", "/api/metrics", Handlers.metrics, "Curves of the training", schema.Metrics, long=True),
    Endpoint(
        "GET",
        "/api/replay/{walk}",
        Handlers.replay,
        "A walk of the file, and the agent's estimated nodes",
        schema.Replay,
        long=True,
        computes=True,
        by_map=True,
    ),
    Endpoint(
        "GET",
        "/api/replay/{walk}/{step}",
        Handlers.replay_step,
        "The belief at one step of a walk",
        schema.ReplayStep,
        long=True,
        computes=True,
        by_map=True,
    ),
    Endpoint("GET", "/api/view/{node}", Handlers.view, "What is seen at a node", PNG, long=True, by_map=True),
    Endpoint(
        "GET",
        "/api/concepts",
        Handlers.concepts,
        "The concept of each node of a text run",
        schema.Concepts,
        long=True,
    ),
    Endpoint(
        "POST",
        "/api/plans",
        Handlers.plans,
        "Many shortest paths at once",
        schema.Plans,
        schema.PlansRequest,
        long=True,
        computes=True,
    ),
    Endpoint(
        "POST",
        "/api/policy",
        Handlers.policy,
        "The best action at every node",
        schema.Policy,
        schema.PolicyRequest,
        long=True,
        computes=True,
    ),
    Endpoint(
        "POST",
        "/api/locate",
        Handlers.locate,
        "Where a history leads to",
        schema.Place,
        schema.LocateRequest,
        long=True,
        computes=True,
    ),
    Endpoint(
        "POST",
        "/api/walks",
        Handlers.new_walk,
        "Begin to walk as the agent",
        schema.Walk,
        schema.WalkRequest,
        long=True,
        computes=True,
        status=201,
    ),
    Endpoint("GET", "/api/walks/{id}", Handlers.walk, "A walk in progress", schema.Walk, grows=True),
    Endpoint("DELETE", "/api/walks/{id}", Handlers.end_walk, "End it", None, status=204),
)


class _Described(GenerateJsonSchema):
    """JSON Schema without defaults and titles of fields; answers hold what is described and nothing else."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        return {**super().typed_dict_schema(schema), "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def description(requests: Mapping[type[schema.Request], type[schema.Request]]) -> dict[str, Any]:
    """An OpenAPI document of all addresses, with the `requests` as this server takes them."""
    described: dict[Any, Any] = {one.answer: one.answer for one in ENDPOINTS if one.answer not in (None, PNG)}
    described = {schema.Error: schema.Error, **described, **requests}
    adapters = [(kind, "validation", TypeAdapter(actual)) for kind, actual in described.items()]
    references, schemas = TypeAdapter.json_schemas(
        adapters,  # type: ignore[arg-type]
        ref_template="#/components/schemas/{model}",
        schema_generator=_Described,
    )
    contents = {
        kind: {"content": {"application/json": {"schema": found}}} for (kind, _), found in references.items()
    }
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, contents)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cogmap explorer",
            "version": __version__,
            "description": "A run's maps: look, locate, plan, walk. In words: docs/explorer_api.md.",
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _operation(endpoint: Endpoint, contents: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    picture = {"content": {PNG: {"schema": {"type": "string", "format": "binary"}}}}
    content = {None: {}, PNG: picture}.get(endpoint.answer) or contents.get(endpoint.answer, {})
    operation: dict[str, Any] = {
        "operationId": endpoint.work.__name__,
        "summary": endpoint.summary,
        "parameters": list(_parameters(endpoint)),
        "responses": {
            str(endpoint.status): {"description": "done", **content},
            "default": {"description": "refused, and why", **contents[schema.Error]},
        },
    }
    if endpoint.answer is schema.Map:
        operation["responses"]["304"] = {"description": "not changed since the given ETag"}
    if endpoint.body is not None:
        required = any(field.is_required() for field in endpoint.body.model_fields.values())
        operation["requestBody"] = {"required": required, **contents[endpoint.body]}
    return operation


def _parameters(endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    kind = TypeAdapter(MapKind).json_schema()
    strings = {"kind": kind, "id": {"type": "string", "minLength": 1, "maxLength": 64}}
    index = TypeAdapter(schema.Index).json_schema()
    for name in re.findall(r"{(\w+)}", endpoint.path):
        yield {"name": name, "in": "path", "required": True, "schema": strings.get(name, index)}
    if endpoint.by_map:
        yield {"name": "map", "in": "query", "required": False, "schema": kind}
