"""Bytes to checked requests, and answers to bytes. A request is refused in one line: the rule, then the value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cogmap.app.schema import Problem, Request
from cogmap.app.security import Refusal

AnyRequest = TypeVar("AnyRequest", bound=Request)
_PIECE = 10_000  # entries of a list that are encoded at once
_TYPES = {
    "int_type": "an integer",
    "string_type": "a string",
    "bool_type": "a boolean",
    "tuple_type": "an array",
    "model_type": "an object",
}


def parse_json(body: bytes) -> Any:
    """The JSON value of a body; an empty one is an object without fields."""
    if not body.strip(b" \t\n\r"):  # white space of JSON: Python's has more
        return {}
    try:
        value = _DECODER.decode(body.decode("utf-8"))
        return _without_lone_surrogates(value) if b"\\u" in body else value
    except (ValueError, RecursionError) as problem:
        raise Refusal(400, f"the body must be JSON: {problem or type(problem).__name__}") from None


def check(value: Any, kind: type[AnyRequest]) -> AnyRequest:
    """A JSON value as a request; refused with the first rule that it breaks."""
    try:
        return kind.model_validate(value)
    except ValidationError as problem:
        raise _refusal(problem.errors(include_url=False)[0], kind) from None


def encode_json(value: Any) -> bytes:
    """Compact, and in ASCII, so that no text of a user's can break it."""
    try:
        return _ENCODER.encode(value).encode()
    except ValueError:  # a number that JSON cannot express
        return _ENCODER.encode(_finite(value)).encode()


def encode_columns(values: Mapping[str, Any]) -> bytes:
    """An object of columns, long ones in pieces: encoding a long list at once would stop all other threads."""
    parts = []
    for name, value in values.items():
        if isinstance(value, dict):
            encoded = encode_columns(value)
        elif isinstance(value, list) and len(value) > _PIECE:
            pieces = [encode_json(value[start : start + _PIECE]) for start in range(0, len(value), _PIECE)]
            encoded = b"[" + b",".join(piece[1:-1] for piece in pieces) + b"]"
        else:
            encoded = encode_json(value)
        parts.append(encode_json(name) + b":" + encoded)
    return b"{" + b",".join(parts) + b"}"


def _finite(value: Any) -> Any:
    """The same with null for every number that is NaN or infinite."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float | np.floating) and not np.isfinite(value) else value


def _refusal(error: ErrorDetails, kind: type[Request]) -> Refusal:
    """The status and the line for one of pydantic's errors."""
    broken, place, value, rule = error["type"], error["loc"], error["input"], error.get("ctx", {})
    name = _name(place)
    match broken:
        case "missing":
            got = ", ".join(value) or "no fields"
            return Refusal(422, f"{_name(place[:-1])} must have the field `{place[-1]}`, got {_short(got)}")
        case "extra_forbidden":
            fields = ", ".join((Problem if len(place) > 1 else kind).model_fields)
            return _wrong(f"{_name(place[:-1])} must have no other fields than {fields}", place[-1])
        case "too_long":
            return Refusal(413, f"{name} must hold at most {rule['max_length']} entries, got {len(value)}")
        case "too_short":
            return Refusal(422, f"{name} must hold at least {rule['min_length']} entries, got {len(value)}")
        case "greater_than_equal":
            return _wrong(f"{name} must be at least {rule['ge']}", value)
        case "less_than_equal":
            return _wrong(f"{name} must be at most {rule['le']}", value)
        case "string_too_long":
            return _wrong(f"{name} must have at most {rule['max_length']} characters", value)
        case "literal_error" if isinstance(value, str):
            choices = rule["expected"].replace("'", "").replace(" or ", ", ")
            return _wrong(f"{name} must be one of {choices}", value)
        case "literal_error":
            return _wrong(f"{name} must be a string", value)
        case "ends":
            return Refusal(422, f"{name} {error['msg']}")
    return _wrong(f"{name} must be {_TYPES.get(broken, error['msg'])}", value)


def _name(place: tuple[int | str, ...]) -> str:
    """The innermost field of a place in the body, with the indices below it."""
    fields = [depth for depth, part in enumerate(place) if isinstance(part, str)]
    if not fields:
        return "the body"
    return f"`{place[fields[-1]]}`" + "".join(f"[{index}]" for index in place[fields[-1] + 1 :])


def _wrong(rule: str, value: Any) -> Refusal:
    return Refusal(422, f"{rule}, got {_short(json.dumps(value))}")


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> int | float:
    """JSON Schema counts 415.0 among the integers."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _without_lone_surrogates(value: Any) -> Any:
    """Half characters, which JSON can escape and no file can hold, replaced by the character for unreadable ones."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"no JSON for {type(value).__name__}")


# Made once, not at every request.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_number)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)
