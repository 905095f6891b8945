"""Bodies of requests held against the schemas that describe them: what is documented is what is checked.

Only the words of JSON Schema that `schemas.py` uses are known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from cogmap.app.refusals import Refusal

Schema = Mapping[str, Any]

_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
}


def parse_body(body: bytes) -> Any:
    """The JSON value of a body; an empty one is an object without fields."""
    if not body.strip():
        return {}
    try:
        return _DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise Refusal(400, f"the body must be JSON: {problem or type(problem).__name__}") from None


def check(value: Any, schema: Schema, name: str = "the body") -> None:
    """Refuse, with the rule and the value, what the schema does not allow."""
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], name)
        return
    kind = schema["type"]
    if not isinstance(value, _KINDS[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise _wrong(f"{name} must be {_article(kind)}", value)
    if "enum" in schema and value not in schema["enum"]:
        raise _wrong(f"{name} must be one of {', '.join(schema['enum'])}", value)
    _CHECKS.get(kind, lambda *_: None)(value, schema, name)


def _check_any(value: Any, choices: list[Schema], name: str) -> None:
    for choice in choices:
        try:
            return check(value, choice, name)
        except Refusal as refusal:
            if refusal.status != 422:
                raise
    raise _wrong(f"{name} must be {' or '.join(_article(choice['type']) for choice in choices)}", value)


def _check_object(value: dict[str, Any], schema: Schema, name: str) -> None:
    fields: Mapping[str, Schema] = schema["properties"]
    unknown = next((field for field in value if field not in fields), None)
    if unknown is not None:
        raise _wrong(f"{name} must have no other fields than {', '.join(fields)}", unknown)
    for field in schema.get("required", ()):
        if field not in value:
            raise Refusal(422, f"{name} must have the field `{field}`, it does not")
    if "oneOf" in schema:
        _check_one_of(value, [choice["required"][0] for choice in schema["oneOf"]], name)
    for field, inner in value.items():
        check(inner, fields[field], f"`{field}`")


def _check_one_of(value: dict[str, Any], fields: list[str], name: str) -> None:
    given = [field for field in fields if field in value]
    if len(given) != 1:
        wanted = " and ".join(f"`{field}`" for field in fields)
        raise Refusal(422, f"{name} must have one of {wanted}, got {'both' if given else 'neither'}")


def _check_array(value: list[Any], schema: Schema, name: str) -> None:
    if len(value) > schema.get("maxItems", len(value)):
        raise Refusal(413, f"{name} must hold at most {schema['maxItems']} entries, got {len(value)}")
    if len(value) < schema.get("minItems", 0):
        raise Refusal(422, f"{name} must hold at least {schema['minItems']} entries, got {len(value)}")
    for index, inner in enumerate(value):
        check(inner, schema["items"], f"{name}[{index}]")


def _check_integer(value: int, schema: Schema, name: str) -> None:
    if value < schema.get("minimum", value):
        raise _wrong(f"{name} must be at least {schema['minimum']}", value)
    if value > schema.get("maximum", value):
        raise _wrong(f"{name} must be at most {schema['maximum']}", value)


def _check_string(value: str, schema: Schema, name: str) -> None:
    if len(value) > schema.get("maxLength", len(value)):
        raise _wrong(f"{name} must have at most {schema['maxLength']} characters", value)


_CHECKS: dict[str, Any] = {
    "object": _check_object,
    "array": _check_array,
    "integer": _check_integer,
    "string": _check_string,
}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _wrong(rule: str, value: Any) -> Refusal:
    """The rule, then the value, cut short where it is long."""
    told = json.dumps(value)
    return Refusal(422, f"{rule}, got {told if len(told) <= 80 else told[:77] + '...'}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> int | float:
    """415.0 is a whole number too, says JSON Schema."""
    value = float(text)
    return int(value) if value.is_integer() else value


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_number
)  # made once, not at every request
