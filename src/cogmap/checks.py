"""JSON values checked against the types that a record declares, for files that strangers may have written."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from cogmap.errors import CogmapError

if TYPE_CHECKING:
    from pydantic import BaseModel

Record = TypeVar("Record")
_RULES = {
    "missing": "be there",
    "extra_forbidden": "not be there, this version does not know it",
    "int_type": "be an integer",
    "int_from_float": "be an integer",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "string_type": "be a string",
    "tuple_type": "be a list",
    "list_type": "be a list",
    "dict_type": "be an object",
}
_SHOWN = 60  # characters of a wrong value


def checked(
    kind: type[Record], values: Any, where: str, error: type[CogmapError], nan: bool = False
) -> Record:
    """A record of a dataclass `kind` from the JSON values of its fields, none converted but lists to tuples.

    Raises `error` with the first field that is missing, unknown or not of its declared type. Numbers must be finite
    without `nan`. What the record itself refuses when it is made is raised as `error`, too.
    """
    checked_object(values, where, error)
    from pydantic import ValidationError

    try:
        _model(kind, nan).model_validate_json(json.dumps(values))  # type: ignore[arg-type]
    except ValidationError as problem:
        raise error(f"{where}: {_line(problem)}") from None
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    try:
        return kind(**given)
    except CogmapError as problem:
        raise error(f"{where}: {problem}") from problem


def checked_object(values: Any, where: str, error: type[CogmapError]) -> dict[str, Any]:
    """A JSON object, or `error`."""
    if not isinstance(values, dict):
        raise error(f"{where} must be an object, got {shown(values)}")
    return values


def checked_labels(labels: Any, count: int, where: str, error: type[CogmapError]) -> tuple[str, ...] | None:
    """None, or as many different words as there are things to name."""
    if labels is None:
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise error(f"{where} must be a list of strings, got {shown(labels)}")
    if len(labels) != count or len(set(labels)) != count:
        got = f"{len(labels)}, {len(set(labels))} of them different"
        raise error(f"{where} must be {count} different labels, got {got}")
    return tuple(labels)


def shown(value: Any) -> str:
    """A value in an error message: JSON, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


@cache
def _model(kind: type, nan: bool) -> type[BaseModel]:
    from pydantic import ConfigDict, create_model

    hints = get_type_hints(kind)
    declared: dict[str, Any] = {
        field.name: (
            hints[field.name],
            ... if field.default is MISSING and field.default_factory is MISSING else None,
        )
        for field in fields(kind)
    }
    rules = ConfigDict(strict=True, extra="forbid", allow_inf_nan=nan, protected_namespaces=())
    return create_model(kind.__name__, __config__=rules, **declared)


def _line(problem: Any) -> str:
    first = problem.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "literal_error":
        rule = "be one of " + first["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    else:
        rule = _RULES.get(first["type"], f"be right ({first['msg']})")
    got = "" if first["type"] in ("missing", "extra_forbidden") else f", got {shown(first['input'])}"
    return f"`{name}` must {rule}{got}"
