"""Text logs of any size to a `.walks` folder: line by line, in memory that does not grow with the file.

What is read goes to the folder at once, words as the numbers of their first appearance. When the vocabulary is known,
the numbers are written again in their final order and in the smallest type.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadOutput, BadWalks
from cogmap.files import map_array, open_file, write_folder
from cogmap.records import Labels
from cogmap.walks.csv_table import is_integer, is_number
from cogmap.walks.header import HEADER
from cogmap.walks.jsonl import parse_line, stated_labels, stated_size
from cogmap.walks.log import WalkLog, small_type
from cogmap.walks.log_store import SUFFIX, LogWriter, open_log
from cogmap.walks.store import check_output, load_walks, prefix_errors, save_walks
from cogmap.walks.vocabulary import MOST_INDICES, check_labels, index_words, vocabulary_size

Tell = Callable[[int, int], None]
_STEPS = 1 << 20  # written at once
_WORDS = 4 * MOST_INDICES  # of a column of integers, which are counted as words until all are seen


def convert_walks(source: str | Path, out: str | Path, tell: Tell = lambda done, of: None) -> None:
    """Write walks in the format that the ending of `out` says. From .jsonl and .csv to .walks it takes little memory.

    The rows of a walk of a large CSV must follow each other. tell: called with the number of bytes read, and of all.
    """
    source, out = Path(source), Path(out)
    check_output(out)
    if _same_file(source, out):
        raise BadOutput(f"walks must be converted to another file, got {out} for both")
    if out.suffix != SUFFIX or source.suffix not in (".jsonl", ".csv"):
        save_walks(out, load_walks(source))
        return
    with prefix_errors(source), write_folder(out) as folder, open_file(source, BadWalks) as stream:
        size = source.stat().st_size
        with closing(_lines(stream, size, tell)) as lines:
            _write(folder, _jsonl_walks(lines) if source.suffix == ".jsonl" else _csv_walks(lines))
    tell(size, size)


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them does not exist, or cannot
        return False


Walk = tuple[list[Any], list[Any], dict[str, Any]]  # observations, actions and what the first line states


def _lines(stream: Any, size: int, tell: Tell) -> Generator[str]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    read = 0
    try:
        for number, line in enumerate(text):
            read += len(line)
            if number % 65_536 == 0:
                tell(min(read, size - 1), size)
            yield line
    except UnicodeDecodeError as problem:
        raise BadWalks(f"must be UTF-8 text: {problem.reason}") from problem
    finally:
        text.detach()


def _jsonl_walks(lines: Iterable[str]) -> Iterator[Walk]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield parse_line(number, line)


def _csv_walks(lines: Iterable[str]) -> Iterator[Walk]:
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    seen: list[str] = []
    taken: list[str] = []
    name, finished = None, set()
    try:
        header = next(reader, [])
        if tuple(cell.strip() for cell in header) != HEADER:
            raise BadWalks(f"the header must be {','.join(HEADER)!r}, got {','.join(header)[:60]!r}")
        for row in reader:
            if not row:
                continue
            if len(row) != len(HEADER):
                raise BadWalks(f"line {reader.line_num}: a row must have 4 cells, got {len(row)}")
            walk, step, observation, action = row
            if walk != name:
                if name is not None:
                    yield seen, taken[:-1], {}
                    finished.add(hash(name))
                if hash(walk) in finished:
                    rule = "the rows of a walk must follow each other in a file of this size"
                    raise BadWalks(f"line {reader.line_num}: {rule}, walk {walk[:40]!r} comes again: sort it")
                name, seen, taken = walk, [], []
            if step.strip() != str(len(seen)):
                rule = "the steps of a walk must be 0, 1, 2, ... in order"
                raise BadWalks(f"line {reader.line_num}: {rule}, got {step[:40]!r} in walk {walk[:40]!r}")
            if not observation or (taken and not taken[-1]):
                what = "observation must not be empty" if not observation else "action must not be empty"
                raise BadWalks(f"line {reader.line_num}: the {what} before a walk's last step")
            seen.append(observation)
            taken.append(action)
    except csv.Error as error:
        raise BadWalks(f"line {reader.line_num}: must be valid CSV: {error}") from None
    if name is not None:
        yield seen, taken[:-1], {}


class _Words:
    """Numbers for words, or integers, in the order of their first appearance."""

    def __init__(self, name: str) -> None:
        self.name, self.index = name, {}  # type: str, dict[Any, int]

    def numbers(self, values: list[Any]) -> list[int]:
        index = self.index
        found = [index.setdefault(value, len(index)) for value in values]
        if len(index) > _WORDS:
            rule = f"`{self.name}` must have at most {MOST_INDICES} different values"
            raise BadWalks(f"{rule}, got more than {_WORDS}")
        return found

    def settled(
        self, size: int | None, labels: Labels | None
    ) -> tuple[NDArray[np.int64], int, Labels | None]:
        """The final number of each word, the size of the vocabulary and its labels."""
        words = list(self.index)
        kinds = {type(word) for word in words}
        if kinds == {int, str}:
            raise BadWalks(f"`{self.name}` must be all integers or all strings, got both")
        if kinds == {str} and labels is None and all(map(is_number, words)):
            wrong = next((word for word in words if not is_integer(word)), None)
            if wrong is not None:
                raise BadWalks(f"`{self.name}` must be integers or labels, got {wrong[:40]!r}")
            words, kinds = [int(word) for word in words], {int}
        if kinds == {str}:
            final, labels = index_words(words, self.name, labels)
        else:
            if words and (min(words) < 0 or max(words) > MOST_INDICES):
                rule = f"`{self.name}` must be in [0, {MOST_INDICES})"
                raise BadWalks(f"{rule}, got {min(words)!s:.40} to {max(words)!s:.40}")
            final = np.array(words, dtype=np.int64)
        if labels is not None:
            check_labels(self.name, labels)
        size = vocabulary_size(size, labels, final)
        if final.size and final.max() >= size:
            raise BadWalks(f"`{self.name}` must be in [0, {size}), got {final.max()}")
        return final, size, labels


def _write(folder: Path, walks: Iterator[Walk]) -> None:
    """Two passes: first appearances as they are read, then their final numbers."""
    draft = folder / "draft"
    draft.mkdir()
    words = _Words("observations"), _Words("actions")
    stated: dict[str, Any] | None = None
    pending: tuple[list[int], list[int], list[int]] = ([], [], [])
    with LogWriter(draft, np.int32, np.int32) as writer:
        for number, (seen, taken, line) in enumerate(walks):
            stated = line if stated is None else stated
            if "rewards" in line:
                raise BadWalks(
                    f"walk {number} has rewards, for which a {SUFFIX} folder has no place: leave them out"
                )
            if len(seen) < 2:
                raise BadWalks(f"a walk must have at least 2 steps, walk {number} has {len(seen)}")
            pending[0].extend(words[0].numbers(seen))
            pending[1].extend([*words[1].numbers(taken), -1])
            pending[2].append(len(seen))
            if len(pending[0]) >= _STEPS:
                _flush(writer, pending)
        _flush(writer, pending)
    if stated is None:
        raise BadWalks("there must be at least one walk, got none")
    _settle(folder, draft, words, stated)


def _flush(writer: LogWriter, pending: tuple[list[int], list[int], list[int]]) -> None:
    if pending[2]:
        writer.add_flat(*(np.array(column) for column in pending))
    for column in pending:
        column.clear()


def _settle(folder: Path, draft: Path, words: tuple[_Words, _Words], stated: dict[str, Any]) -> None:
    seen, num_observations, seen_labels = words[0].settled(
        stated_size(stated, "num_observations"), stated_labels(stated, "observation_labels")
    )
    taken, num_actions, taken_labels = words[1].settled(
        stated_size(stated, "num_actions"), stated_labels(stated, "action_labels")
    )
    taken = np.append(taken, 0)  # -1, after a walk's last step, is the last entry
    drafts = [map_array(draft / f"{name}.npy", BadWalks) for name in ("observations", "actions", "offsets")]
    lengths = np.diff(drafts[2])
    ends = np.cumsum(lengths)
    first = 0
    with LogWriter(folder, small_type(num_observations), small_type(num_actions)) as writer:
        while first < len(lengths):
            begin = int(ends[first] - lengths[first])
            last = max(first + 1, int(np.searchsorted(ends, begin + _STEPS, side="right")))
            steps = slice(begin, int(ends[last - 1]))
            writer.add_flat(seen[drafts[0][steps]], taken[drafts[1][steps]], lengths[first:last])
            first = last
    writer.finish(num_observations, num_actions, seen_labels, taken_labels)
    del drafts
    for path in draft.iterdir():
        path.unlink()
    draft.rmdir()


def converted(source: str | Path, out: str | Path, tell: Tell = lambda done, of: None) -> WalkLog:
    """`convert_walks` to a `.walks` folder, and open it."""
    convert_walks(source, out, tell)
    return open_log(Path(out))
