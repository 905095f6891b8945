"""The API's own description, made from the table of addresses and the schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cogmap.app.endpoints import ENDPOINTS, Endpoint
from cogmap.app.limits import Limits
from cogmap.app.schemas import ANSWERS, INDEX, KIND, request_schemas
from cogmap.version import __version__

_STRINGS = {"kind": KIND, "id": {"type": "string", "minLength": 1, "maxLength": 64}}


def description(limits: Limits) -> dict[str, Any]:
    """An OpenAPI document of all addresses."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cogmap explorer",
            "version": __version__,
            "description": "A run's maps: look, locate, plan, walk. In words: docs/explorer_api.md.",
        },
        "paths": paths,
        "components": {"schemas": {**ANSWERS, **request_schemas(limits)}},
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.work.__name__,
        "summary": endpoint.summary,
        "parameters": list(_parameters(endpoint)),
        "responses": {
            str(endpoint.status): {"description": "done", **_content(endpoint.answer)},
            "default": {"description": "refused, and why", **_content("Error")},
        },
    }
    if endpoint.path == "/api/map/{kind}":
        operation["responses"]["304"] = {"description": "not changed since the given ETag"}
    if endpoint.body:
        required = endpoint.body != "WalkRequest"
        operation["requestBody"] = {"required": required, **_content(endpoint.body)}
    return operation


def _parameters(endpoint: Endpoint) -> Iterable[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", endpoint.path):
        yield {"name": name, "in": "path", "required": True, "schema": _STRINGS.get(name, INDEX)}
    if endpoint.by_map:
        yield {"name": "map", "in": "query", "required": False, "schema": KIND}


def _content(answer: str) -> dict[str, Any]:
    if not answer:
        return {}
    if answer == "image/png":
        return {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{answer}"}}}}
