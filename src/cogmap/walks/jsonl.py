"""Walks as JSON lines: one walk per line, `{"observations": [...], "actions": [...]}`, integers or strings.

`"rewards": [...]` may say what each action was worth.

A line may also be a step, `{"walk": 0, "step": 0, "observation": "red", "action": "left"}`, with the names of a table.

The first line may also state `num_observations`, `num_actions`, `observation_labels` and `action_labels`. We
write them, because walks may show only a part of their vocabulary.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.checks import shown as _shown
from cogmap.errors import BadWalks
from cogmap.records import Floats, Labels, Walks
from cogmap.walks.csv_table import walks_from_cells
from cogmap.walks.header import names_steps
from cogmap.walks.log import each_walk
from cogmap.walks.ragged import Column, walks_from_columns, with_rewards

Lines = list[tuple[int, dict[str, Any]]]  # line number, counted from 1, and content
_LARGEST = sys.float_info.max  # an integer of JSON may be larger
_FORM = 'must be an object {"observations": [...], "actions": [...]}'


def parse_jsonl(text: str) -> Walks:
    lines = [
        (number, _object(number, line))
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1)
        if line.strip()
    ]
    if not lines:
        raise BadWalks("there must be at least one walk, got none")
    if not {"observations", "actions"} & lines[0][1].keys() and names_steps(list(lines[0][1])):
        return _from_steps(lines)
    rows = [_row(number, line) for number, line in lines]
    observations, actions = [seen for seen, _ in rows], [taken for _, taken in rows]
    lengths = [len(seen) for seen in observations]
    numbers = [number for number, _ in lines]
    walks = walks_from_columns(
        _column("observations", observations, numbers, lines[0][1]),
        _column("actions", actions, numbers, lines[0][1]),
        lengths,
    )
    if not any("rewards" in line for _, line in lines):
        return walks
    moves = zip(lines, actions, strict=True)
    return with_rewards(walks, np.concatenate([_rewards(*line, len(taken)) for line, taken in moves]))


def _from_steps(lines: Lines) -> Walks:
    """The walks of lines that are a step each: a table, of which the first line names the columns."""
    header = list(lines[0][1])
    rows = []
    for number, line in lines:
        cells = [line.get(name) for name in header]
        wrong = next((cell for cell in cells if isinstance(cell, dict | list)), None)
        if wrong is not None:
            raise BadWalks(f"line {number}: a step must hold numbers and strings, got {_shown(wrong)}")
        rows.append(["" if cell is None else str(cell) for cell in cells])
    return walks_from_cells(header, rows, [number for number, _ in lines])


def _rewards(number: int, line: dict[str, Any], moves: int) -> Floats:
    """(L,) the rewards of a walk's actions; with one more, the last belongs to an action that leads nowhere."""
    values = line.get("rewards")
    if not isinstance(values, list) or len(values) not in (moves, moves + 1):
        got = f"{len(values)}" if isinstance(values, list) else _shown(values)
        raise BadWalks(
            f"line {number}: `rewards` must be a list of {moves} or {moves + 1} numbers, got {got}"
        )
    for value in values:
        if type(value) not in (int, float) or not -_LARGEST <= value <= _LARGEST:  # nor is NaN
            raise BadWalks(f"line {number}: `rewards` must hold finite numbers, got {_shown(value)}")
    return np.array(values[:moves], dtype=np.float64)


def parse_line(number: int, line: str) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Observations and actions of one line, and the whole of it."""
    value = _object(number, line)
    return *_row(number, value), value


def _row(number: int, line: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """All observations and one action less."""
    seen, taken = _values(number, line, "observations"), _values(number, line, "actions")
    if len(taken) not in (len(seen), len(seen) - 1):
        rule = f"{len(seen)} observations must have {len(seen) - 1} or {len(seen)} actions"
        raise BadWalks(f"line {number}: a walk of {rule}, got {len(taken)}")
    return seen, taken[: len(seen) - 1] if seen else []


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadWalks(f"line {number}: {_FORM}, got invalid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadWalks(f"line {number}: {_FORM}, got {_shown(value)}")
    return value


def _values(number: int, line: dict[str, Any], name: str) -> list[Any]:
    """The list under `name`, all integers or all strings."""
    if name not in line:
        raise BadWalks(f"line {number}: {_FORM}, `{name}` is missing")
    values = line[name]
    if not isinstance(values, list):
        raise BadWalks(f"line {number}: `{name}` must be a list, got {_shown(values)}")
    if name == "actions" and values[-1:] == [None]:  # no action at a walk's last step
        values = values[:-1]
    if set(map(type, values)) - {int, str}:
        wrong = next(value for value in values if type(value) not in (int, str))
        raise BadWalks(f"line {number}: `{name}` must hold integers or strings, got {_shown(wrong)}")
    return values


def _column(name: str, rows: list[list[Any]], lines: list[int], first: dict[str, Any]) -> Column:
    values = list(chain.from_iterable(rows))
    if len(set(map(type, values))) == 2:
        integer = next(value for value in values if isinstance(value, int))
        word = next(value for value in values if isinstance(value, str))
        line = next(
            line for row, line in zip(rows, lines, strict=True) if set(map(type, row)) - {type(values[0])}
        )
        rule = f"`{name}` must be all integers or all strings"
        raise BadWalks(f"line {line}: {rule}, got {integer!s:.60} and {word!r:.60}")
    singular = name.removesuffix("s")
    return Column(name, values, stated_size(first, f"num_{name}"), stated_labels(first, f"{singular}_labels"))


def stated_size(first: dict[str, Any], name: str) -> int | None:
    size = first.get(name)
    if size is not None and (type(size) is not int or size < 1):
        raise BadWalks(f"`{name}` must be an integer of at least 1, got {_shown(size)}")
    return size


def stated_labels(first: dict[str, Any], name: str) -> Labels | None:
    labels = first.get(name)
    if labels is None:
        return None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise BadWalks(f"`{name}` must be a list of strings, got {_shown(labels)}")
    return tuple(labels)


def format_jsonl(walks: Walks) -> Iterator[str]:
    """One line per walk; the first also states the vocabulary."""
    stated = _vocabulary(walks)
    for walk, (observations, actions) in enumerate(each_walk(walks)):
        line = {
            "observations": _words(observations, walks.observation_labels),
            "actions": _words(actions, walks.action_labels),
        }
        if walks.rewards is not None:
            line["rewards"] = walks.rewards[walk, : len(actions)].tolist()
        yield json.dumps(line | stated, ensure_ascii=False) + "\n"
        stated = {}


def _vocabulary(walks: Walks) -> dict[str, Any]:
    stated: dict[str, Any] = {"num_observations": walks.num_observations, "num_actions": walks.num_actions}
    if walks.observation_labels is not None:
        stated["observation_labels"] = list(walks.observation_labels)
    if walks.action_labels is not None:
        stated["action_labels"] = list(walks.action_labels)
    return stated


def _words(values: NDArray[Any], labels: Labels | None) -> list[Any]:
    return values.tolist() if labels is None else np.array(labels, dtype=object)[values].tolist()
