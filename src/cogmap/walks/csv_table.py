"""Walks as a table with the header `walk,step,observation,action`, one row per step, and maybe a column `reward`.

Steps count 0, 1, 2, ... within a walk. Walks may have names, and their rows may be interleaved. A column of numbers
holds integers; any other column holds labels. CSV cannot state a vocabulary: use npz or jsonl to keep it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Floats, Integers, Labels, Walks
from cogmap.walks.log import each_walk, log_of
from cogmap.walks.ragged import Column, walks_from_columns, with_rewards

HEADER = ("walk", "step", "observation", "action")
REWARD = "reward"  # of the action, a column that may follow
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


def parse_csv(text: str, like: Walks | None = None) -> Walks:
    """The walks. Digits are labels only if some labels of `like` are digits too."""
    lines, walk_names, step_cells, seen_cells, taken_cells, reward_cells = _columns(text)
    walk, lengths = _group(walk_names)
    order = np.argsort(walk, kind="stable")  # sorted by walk, rows of a walk in their order
    steps = _integers("step", step_cells, lines)
    _check_steps(steps[order], np.array(lengths), lines[order], [walk_names[row] for row in order])
    is_last = np.zeros(len(order), dtype=bool)
    is_last[np.cumsum(lengths) - 1] = True
    seen = [seen_cells[row] for row in order]
    taken = [taken_cells[row] for row in order[~is_last]]
    seen_labels, taken_labels = (
        (None, None) if like is None else (like.observation_labels, like.action_labels)
    )
    walks = walks_from_columns(
        _column("observation", seen, lines[order], seen_labels),
        _column("action", taken, lines[order[~is_last]], taken_labels),
        lengths,
    )
    if reward_cells is None:
        return walks
    moves = order[~is_last]
    return with_rewards(walks, _numbers([reward_cells[row] for row in moves], lines[moves]))


def _numbers(cells: Sequence[str], lines: Integers) -> Floats:
    """The rewards of a file; an empty cell is no number."""
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            numbers[row] = float(cell)
        except ValueError:
            numbers[row] = np.nan
        if not np.isfinite(numbers[row]):
            raise BadWalks(f"line {lines[row]}: the reward must be a finite number, got {cell[:40]!r}")
    return numbers


def _columns(
    text: str,
) -> tuple[Integers, Sequence[str], Sequence[str], Sequence[str], Sequence[str], Sequence[str] | None]:
    """Line numbers and the columns of cells, without the header; None where there are no rewards."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    try:
        header = next(reader, [])
        names = tuple(cell.strip() for cell in header)
        if names not in (HEADER, (*HEADER, REWARD)):
            raise BadWalks(f"the header must be {','.join(HEADER)!r}, got {','.join(header)[:60]!r}")
        for row in reader:
            if row and len(row) != len(names):
                raise BadWalks(f"line {reader.line_num}: a row must have {len(names)} cells, got {len(row)}")
            if row:
                rows.append((reader.line_num, *row))
    except csv.Error as error:
        raise BadWalks(f"line {reader.line_num}: must be valid CSV: {error}") from None
    if not rows:
        raise BadWalks("there must be at least one walk, got none")
    lines, walks, steps, seen, taken, *rewards = zip(*rows, strict=True)
    return np.array(lines, dtype=np.int32), walks, steps, seen, taken, rewards[0] if rewards else None


def _group(names: Sequence[str]) -> tuple[NDArray[np.int64], list[int]]:
    """The walk of each row, numbered by first appearance, and the number of rows of each walk."""
    index: dict[str, int] = {}
    walk = np.array([index.setdefault(name, len(index)) for name in names])
    return walk, np.bincount(walk).tolist()


def _check_steps(
    steps: NDArray[np.int64], lengths: NDArray[np.int64], lines: Integers, names: Sequence[str]
) -> None:
    """The steps of each walk must count up from 0. Rows are sorted by walk."""
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)  # the first row of each row's walk
    expected = np.arange(len(steps)) - starts
    wrong = np.flatnonzero(steps != expected)
    if not wrong.size:
        return
    row = wrong[0]
    of_walk = steps[(starts == starts[row])]
    if steps[row] in steps[starts[row] : row]:
        reason = f"step {steps[row]} is repeated"
    elif expected[row] in of_walk:
        reason = f"step {steps[row]} comes before step {expected[row]}"
    else:
        reason = f"step {expected[row]} is missing"
    rule = "the steps of a walk must be 0, 1, 2, ... in order"
    raise BadWalks(f"line {lines[row]}: {rule}, in walk {names[row]!r} {reason}")


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
    values = {cell: int(cell.strip()) if _INTEGER.fullmatch(cell) else None for cell in set(cells)}
    wrong = {cell for cell, value in values.items() if value is None}
    if wrong:
        _refuse(name, next(row for row, cell in enumerate(cells) if cell in wrong), cells, lines)
    return np.array([values[cell] for cell in cells], dtype=np.int64)


def _refuse(name: str, row: int, cells: Sequence[str], lines: Integers) -> NoReturn:
    kind = "an integer" if name == "step" else "an integer of at most 18 digits or a label"
    raise BadWalks(f"line {lines[row]}: the {name} must be {kind}, got {cells[row][:40]!r}")


def is_integer(cell: str) -> bool:
    return _INTEGER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    try:
        float(cell)
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
    return '"' + label.replace('"', '""') + '"' if re.search(r'[,"\r\n]', label) else label
