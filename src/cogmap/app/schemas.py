"""The bodies of requests and answers as JSON Schema: described in the OpenAPI document, and checked by `checking`."""

from __future__ import annotations

from typing import Any

from cogmap.app.limits import Limits

Schema = dict[str, Any]

LARGEST = 2**31 - 1
KINDS = ("minimal", "paper")
INDEX: Schema = {"type": "integer", "minimum": 0, "maximum": LARGEST}
LABEL: Schema = {"type": "string", "maxLength": 1000}
NAMED: Schema = {"anyOf": [INDEX, LABEL]}  # an observation or an action, by its index or its label
KIND: Schema = {"type": "string", "enum": list(KINDS)}
REVISION: Schema = {"type": "string", "maxLength": 40}
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
BIT: Schema = {"type": "integer", "minimum": 0, "maximum": 1}


def record(properties: Schema, *optional: str) -> Schema:
    """An object of an answer: all of its fields are there but the optional ones."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def rows(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def request(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def request_schemas(limits: Limits) -> dict[str, Schema]:
    """What may be posted, by the name that the description gives it."""
    problem = {
        "start": INDEX,
        "goal": INDEX,
        "showing": NAMED,
        "avoid": {"type": "array", "items": NAMED, "maxItems": limits.problems},
        "strict": FLAG,
    }
    ends = {"oneOf": [{"required": ["goal"]}, {"required": ["showing"]}]}
    common = {"map": KIND, "revision": REVISION}
    one = {**request(problem, "start"), **ends}
    return {
        "Problem": one,
        "PlanRequest": {**request({**problem, **common}, "start"), **ends},
        "PlansRequest": request(
            {"problems": {"type": "array", "items": one, "maxItems": limits.problems}, **common}, "problems"
        ),
        "LocateRequest": request(
            {
                "observations": {"type": "array", "items": NAMED, "minItems": 1, "maxItems": limits.history},
                "actions": {"type": "array", "items": NAMED, "maxItems": limits.history},
                **common,
            },
            "observations",
            "actions",
        ),
        "WalkRequest": request(
            {
                "seed": INDEX,
                "position": INDEX,
                "actions": {"type": "array", "items": NAMED, "maxItems": limits.history},
                **common,
            }
        ),
        "StepRequest": request({"action": NAMED, "step": INDEX}, "action"),
    }


_PLACED = {"node": INDEX, "certainty": NUMBER, "sure": FLAG}
_BELIEF = record({"nodes": rows(INDEX), "probabilities": rows(NUMBER), "rest": NUMBER, "candidates": NUMBER})
_WALK = {
    "id": TEXT,
    "map": KIND,
    "revision": TEXT,
    "world": {"type": "string", "enum": ["true", "map"]},
    "origin": INDEX,
    "position": INDEX,
    "step": INDEX,
    "observation": INDEX,
    "legal": rows(INDEX),
    **_PLACED,
    "belief": _BELIEF,
}
_MAP_SUMMARY = {
    "kind": KIND,
    "revision": TEXT,
    "nodes": INDEX,
    "edges": INDEX,
    "explained": NUMBER,
    "warnings": rows(TEXT),
    "early": FLAG,
}
_NODE_COLUMNS = {
    "observation": rows(INDEX),
    "support": rows(INDEX),
    "x": rows(NUMBER),
    "y": rows(NUMBER),
    "true_x": rows(or_null(NUMBER)),
    "true_y": rows(or_null(NUMBER)),
    "position": rows(or_null(INDEX)),
    "merged": rows(BIT),
}
_EDGE_COLUMNS = {
    "source": rows(INDEX),
    "action": rows(INDEX),
    "target": rows(INDEX),
    "support": rows(INDEX),
    "doubtful": rows(BIT),
    "wrong": rows(BIT),
}
_PLAN = record(
    {
        "nodes": rows(INDEX),
        "actions": rows(INDEX),
        "observations": rows(INDEX),
        "avoided": FLAG,
        "positions": or_null(rows(INDEX)),
    }
)
_ERROR = record({"error": TEXT})

ANSWERS: dict[str, Schema] = {
    "Error": _ERROR,
    "Run": record(
        {
            "name": TEXT,
            "folder": TEXT,
            "version": TEXT,
            "observations": record({"labels": rows(TEXT), "colours": rows(TEXT)}),
            "actions": record({"labels": rows(TEXT)}),
            "maps": rows(record(_MAP_SUMMARY)),
            "truth": FLAG,
            "walks": or_null(record({"count": INDEX, "longest": INDEX})),
            "world": {"type": "string", "enum": ["true", "map"]},
            "views": FLAG,
            "concepts": FLAG,
            "state": TEXT,
            "warnings": rows(TEXT),
            "scores": or_null(record({"columns": rows(TEXT), "rows": rows(rows(TEXT)), "caption": TEXT})),
            "config": {"type": "object"},
        }
    ),
    "Map": record(
        {
            "kind": KIND,
            "revision": TEXT,
            "early": FLAG,
            "explained": NUMBER,
            "warnings": rows(TEXT),
            "nodes": record(_NODE_COLUMNS, "true_x", "true_y", "position", "merged"),
            "edges": record(_EDGE_COLUMNS, "wrong"),
        }
    ),
    "Room": record(
        {
            "name": TEXT,
            "positions": INDEX,
            "observation": rows(INDEX),
            "x": or_null(rows(NUMBER)),
            "y": or_null(rows(NUMBER)),
            "moves": record({"source": rows(INDEX), "action": rows(INDEX), "target": rows(INDEX)}),
        }
    ),
    "Metrics": record(
        {"columns": {"type": "object", "additionalProperties": {"type": "array"}}, "num_codes": INDEX}
    ),
    "Live": record(
        {
            "state": {"type": "string", "enum": ["waiting", "training", "mapping", "finished", "stopped"]},
            "step": or_null(NUMBER),
            "last_step": or_null(INDEX),
            "seconds": or_null(NUMBER),
            "validation_accuracy": or_null(NUMBER),
            "rows": INDEX,
            "revisions": {"type": "object", "additionalProperties": TEXT},
            "problems": rows(TEXT),
        }
    ),
    "Replay": record(
        {
            "walk": INDEX,
            "map": KIND,
            "revision": TEXT,
            "observations": rows(INDEX),
            "actions": rows(INDEX),
            "nodes": rows(INDEX),
            "certainty": rows(NUMBER),
            "sure": rows(BIT),
            "teleported": rows(INDEX),
            "positions": or_null(rows(INDEX)),
        }
    ),
    "ReplayStep": record(
        {"walk": INDEX, "step": INDEX, "revision": TEXT, "observation": INDEX, **_PLACED, "belief": _BELIEF}
    ),
    "Concepts": record(
        {"concept": rows(or_null(TEXT)), "colours": {"type": "object", "additionalProperties": TEXT}}
    ),
    "Plan": _PLAN,
    "Plans": record({"plans": rows({"anyOf": [_PLAN, _ERROR]})}),
    "Place": record({**_PLACED, "belief": _BELIEF, "revision": TEXT}),
    "Walk": record(
        {
            **_WALK,
            "history": record(
                {
                    "observations": rows(INDEX),
                    "actions": rows(INDEX),
                    "nodes": rows(INDEX),
                    "certainty": rows(NUMBER),
                    "positions": rows(INDEX),
                }
            ),
        }
    ),
    "Step": record({**_WALK, "surprise": NUMBER}),
}
