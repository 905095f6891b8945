"""Walks as a table with a header that names `walk`, `step`, `observation` and `action`, one row per step.

Columns may be in any order and have the usual names of several languages; others are not read. Without `walk` all
rows are one walk, without `step` they are in order. Steps count 0, 1, 2, ... or 1, 2, 3, ... within a walk, or are
times that do not go back. Walks may have names, and their rows may be interleaved; where steps start again, a new walk
begins. A column of numbers holds integers; any other column holds labels. A space after a comma belongs to no cell. CSV
cannot state a vocabulary: use npz or jsonl to keep it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Floats, Integers, Labels, Walks
from cogmap.walks.header import HEADER, REWARD, roles
from cogmap.walks.log import each_walk, log_of
from cogmap.walks.ragged import Column, walks_from_columns, with_rewards

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}([.,]0*)?\s*")  # 2.0 and 2,0 are what spreadsheets make of 2
_CLOCK = 10**8  # a larger first step is a number of seconds since 1970, or of smaller units
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
_FORMS = (
    *(f"{day}{between}{time}" for day in _DATES for between in (" ", ", ") for time in _CLOCKS),
    *_DATES,
    *_CLOCKS,
)


def parse_csv(text: str, like: Walks | None = None) -> Walks:
    """The walks. Digits are labels only if some labels of `like` are digits too."""
    return _walks(*_columns(text), like)


def walks_from_cells(
    header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int] | None = None
) -> Walks:
    """The walks of a table that is no file; errors give the line of a row, without lines its number from 1."""
    numbers = range(1, len(rows) + 1) if lines is None else lines
    return _walks(np.array(numbers, dtype=np.int32), _by_role(roles(header), rows))


def _walks(lines: Integers, cells: Mapping[str, Sequence[str]], like: Walks | None = None) -> Walks:
    walk = _numbered(cells["walk"])
    order = np.argsort(walk, kind="stable")  # sorted by walk, rows of a walk in their order
    begins = np.append(True, np.diff(walk[order]) > 0)
    begins |= _new_walks([cells["step"][row] for row in order], begins, lines[order], cells["walk"], order)
    lengths = np.diff(np.append(np.flatnonzero(begins), len(order))).tolist()
    is_last = np.append(begins[1:], True)
    seen = [cells["observation"][row] for row in order]
    taken = [cells["action"][row] for row in order[~is_last]]
    seen_labels, taken_labels = (
        (None, None) if like is None else (like.observation_labels, like.action_labels)
    )
    walks = walks_from_columns(
        _column("observation", seen, lines[order], seen_labels),
        _column("action", taken, lines[order[~is_last]], taken_labels),
        lengths,
    )
    if REWARD not in cells:
        return walks
    moves = order[~is_last]
    return with_rewards(walks, _numbers([cells[REWARD][row] for row in moves], lines[moves]))


def _numbers(cells: Sequence[str], lines: Integers) -> Floats:
    """The rewards of a file; an empty cell is no number."""
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        value = _decimal(cell)
        if value is None:
            raise BadWalks(f"line {lines[row]}: the reward must be a finite number, got {cell[:40]!r}")
        numbers[row] = value
    return numbers


def _columns(text: str) -> tuple[Integers, dict[str, Sequence[str]]]:
    """Line numbers, and the cells of each of the four columns, without the header."""
    text = text.removeprefix("\ufeff")  # a byte-order mark
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, strict=True, delimiter=_delimiter(text), skipinitialspace=True)
    rows, numbers = [], []
    try:
        header = next(reader, [])
        column = roles(header)
        for row in reader:
            if row and len(row) != len(header):
                hint = ": a number with a decimal comma must be in quotes" if len(row) > len(header) else ""
                rule = f"a row must have {len(header)} cells, as the header, got {len(row)}"
                raise BadWalks(f"line {reader.line_num}: {rule}{hint}")
            if row:
                rows.append(row)
                numbers.append(reader.line_num)
    except csv.Error as error:
        raise BadWalks(f"line {reader.line_num}: must be valid CSV: {error}") from None
    if not rows:
        raise BadWalks("there must be at least one walk, got none")
    return np.array(numbers, dtype=np.int32), _by_role(column, rows)


def _by_role(column: Mapping[str, int], rows: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    """The cells of each of the four columns; without `walk` and `step` those of one walk in order."""
    cells: dict[str, Sequence[str]] = {role: [row[place] for row in rows] for role, place in column.items()}
    cells.setdefault("walk", ["0"] * len(rows))
    if "step" not in cells:
        cells["step"] = _counted(cells["walk"])
    return cells


def _delimiter(text: str) -> str:
    """What separates the names of the header."""
    header = text[: text.find("\n") + 1] or text
    return max(",;\t|", key=header.count)


def _counted(names: Sequence[str]) -> list[str]:
    """0, 1, 2, ... within each walk."""
    next_step: dict[str, int] = {}
    steps = []
    for name in names:
        steps.append(str(next_step.get(name, 0)))
        next_step[name] = next_step.get(name, 0) + 1
    return steps


def _numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """The walk of each row, numbered by first appearance."""
    index: dict[str, int] = {}
    return np.array([index.setdefault(name, len(index)) for name in names])


def _new_walks(
    cells: Sequence[str],
    begins: NDArray[np.bool_],
    lines: Integers,
    names: Sequence[str],
    order: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Where a new walk begins under a name that was there before. Rows are sorted by walk, `begins` marks new names."""
    if all(_INTEGER.fullmatch(cell) for cell in set(cells)):
        steps = _integers("step", cells, lines)
        if steps[begins].min() < _CLOCK:
            return _check_steps(steps, begins, lines, [names[row] for row in order])
    _check_times(cells, begins, lines)
    return np.zeros(len(cells), dtype=bool)


def _check_steps(
    steps: NDArray[np.int64], begins: NDArray[np.bool_], lines: Integers, names: Sequence[str]
) -> NDArray[np.bool_]:
    """The steps of each walk must count up, all from 0 or all from 1; returns where they start again."""
    first = 1 if (steps[begins] == 1).all() else 0
    again = np.append(False, (steps[1:] == first) & (steps[:-1] > first)) & ~begins
    starts = np.maximum.accumulate(np.where(begins | again, np.arange(len(steps)), 0))
    expected = np.arange(len(steps)) - starts + first
    wrong = np.flatnonzero(steps != expected)
    if not wrong.size:
        return again
    row = wrong[0]
    of_walk = steps[starts == starts[row]]
    if steps[row] in steps[starts[row] : row]:
        reason = f"step {steps[row]} is repeated"
    elif row > starts[row] and steps[row] < steps[row - 1]:
        reason = f"step {steps[row]} comes after step {steps[row - 1]}"
    elif expected[row] in of_walk:
        reason = f"step {steps[row]} comes before step {expected[row]}"
    else:
        reason = f"step {expected[row]} is missing"
    rule = "the steps of a walk must be 0, 1, 2, ... in order, or times"
    raise BadWalks(f"line {lines[row]}: {rule}, in walk {names[row]!r} {reason}")


def _check_times(cells: Sequence[str], begins: NDArray[np.bool_], lines: Integers) -> None:
    """Times must not go back within a walk. Of the ways to read them, any may be meant."""
    wrong = 0
    for read in (_decimal, _iso, *map(_as_date, _FORMS)):
        values = {cell: read(cell.strip()) for cell in set(cells)}
        unread = next((row for row, cell in enumerate(cells) if values[cell] is None), None)
        if unread is not None:
            wrong = max(wrong, unread)
            continue
        times: Floats = np.array([values[cell] for cell in cells], dtype=float)
        back = np.flatnonzero((np.diff(times) < 0) & ~begins[1:])
        if not back.size:
            return
        row = int(back[0]) + 1
        rule = "the times of a walk must not go back"
        raise BadWalks(f"line {lines[row]}: {rule}, got {cells[row]!r:.40} after {cells[row - 1]!r:.40}")
    raise BadWalks(f"line {lines[wrong]}: the step must be an integer or a time, got {cells[wrong]!r:.40}")


def _decimal(cell: str) -> float | None:
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _iso(cell: str) -> float | None:
    try:
        return _seconds(datetime.fromisoformat(cell))
    except (ValueError, OverflowError):
        return None


def _as_date(form: str) -> Callable[[str], float | None]:
    def read(cell: str) -> float | None:
        try:
            return _seconds(datetime.strptime(cell, form))
        except (ValueError, OverflowError):
            return None

    return read


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _column(name: str, cells: Sequence[str], lines: Integers, known: Labels | None) -> Column:
    if "" in cells:
        where = f"line {lines[cells.index('')]}: the {name} must not be empty"
        raise BadWalks(where + (" before a walk's last step" if name == "action" else ""))
    # A test file may contain only those of the known labels that look like numbers.
    are_labels = known is not None and any(map(is_number, known))
    if are_labels or not all(map(is_number, set(cells))):
        return Column(f"{name}s", cells)
    return Column(f"{name}s", _integers(name, cells, lines).tolist())


def _integers(name: str, cells: Sequence[str], lines: Integers) -> NDArray[np.int64]:
    values = {cell: _integer(cell) for cell in set(cells)}
    wrong = {cell for cell, value in values.items() if value is None}
    if wrong:
        _refuse(name, next(row for row, cell in enumerate(cells) if cell in wrong), cells, lines)
    return np.array([values[cell] for cell in cells], dtype=np.int64)


def _integer(cell: str) -> int | None:
    return int(re.split("[.,]", cell.strip())[0]) if _INTEGER.fullmatch(cell) else None


def _refuse(name: str, row: int, cells: Sequence[str], lines: Integers) -> NoReturn:
    rule = f"the {name} must be an integer of at most 18 digits or a label, got {cells[row][:40]!r}"
    raise BadWalks(f"line {lines[row]}: {rule}: measured numbers are `features` of an .npz file")


def is_integer(cell: str) -> bool:
    return _INTEGER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def format_csv(walks: Walks) -> Iterator[str]:
    """The header, then one walk at a time. Labels that would be read back as integers are refused."""
    log = log_of(walks)
    used: tuple[set[int], set[int]] = (set(), set())
    for observed, done in each_walk(log):
        used[0].update(np.unique(observed).tolist())
        used[1].update(np.unique(done).tolist())
    seen = _cells("observation_labels", log.observation_labels, used[0], log.num_observations)
    taken = _cells("action_labels", log.action_labels, used[1], log.num_actions)
    yield ",".join(HEADER if walks.rewards is None else (*HEADER, REWARD)) + "\n"
    for walk, (observed, done) in enumerate(each_walk(log)):
        actions = [taken[action] for action in done.tolist()] + [""]
        if walks.rewards is not None:
            rewards = [*walks.rewards[walk, : len(done)].tolist(), ""]
            actions = [f"{did},{reward}" for did, reward in zip(actions, rewards, strict=True)]
        pairs = zip(observed.tolist(), actions, strict=True)
        yield "".join(f"{walk},{step},{seen[saw]},{did}\n" for step, (saw, did) in enumerate(pairs))


def _cells(name: str, labels: Labels | None, indices: set[int], size: int) -> list[str]:
    """The cell of each index, of which the walks use some."""
    if labels is None:
        return [str(index) for index in range(size)]
    used = [labels[index] for index in sorted(indices)]
    if all(map(is_number, used)):
        rule = f"`{name}` must not all be numbers in CSV, where they would be read as integers"
        raise BadWalks(f"{rule}, got {used[0]!r}, ...; write .npz or .jsonl")
    return [_quoted(label) for label in labels]


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if re.search(r'^ |[,"\r\n]', label) else label
