"""Kills: at every write point and at random moments of a command, which is then run again.

What it leaves at last must be what the undisturbed command leaves, byte for byte but for measured seconds.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.forked import Ended, forked, kill_at

TINY = ["width=16", "head_width=16", "num_codes=20", "batch_size=8", "window=10", "bottleneck_from=2"]
LEARN = ["--encoder", "gru", "--steps", "6", "--device", "cpu", "--change", *TINY, "validate_every=3"]


MEASURED = ("seconds", "training_seconds", "scoring_seconds", "cpu_seconds", "memory_mb")
PASSING = (".lock", ".log", ".progress.json")  # files that tell what a process is doing
DRAWN = ("accuracy-by-time.png", "accuracy-by-steps.png")  # from what was measured


@dataclass(frozen=True)
class Story:
    """A command, what it needs, and what is tried in turn after a kill until one succeeds."""

    name: str
    prepare: Callable[[Path], None]
    command: Callable[[Path], list[str]]
    again: Callable[[Path], list[list[str]]]


def _learn(name: str, source: str, prepare: Callable[[Path], None], *more: str) -> Story:
    def command(folder: Path) -> list[str]:
        return ["learn", str(folder / source), "--out", str(folder / "run"), *more, *LEARN]

    return Story(name, prepare, command, lambda folder: [[*command(folder), "--resume"], command(folder)])


def _same(name: str, prepare: Callable[[Path], None], command: Callable[[Path], list[str]]) -> Story:
    return Story(name, prepare, command, lambda folder: [command(folder)])


def _places(folder: Path) -> None:
    cogmap("walk", "room", "--height", "2", "--width", "3", "--observations", "3", "--patch", "0",
           "--walks", "12", "--steps", "30", "--out", str(folder / "walks.npz"))  # fmt: skip


def _family(folder: Path) -> None:
    cogmap("walk", "family", "--height", "3", "--width", "3", "--observations", "3", "--patch", "0", "--colours", "6",
           "--train-rooms", "4", "--test-rooms", "4", "--walks", "12", "--steps", "30",
           "--out", str(folder / "walks.npz"))  # fmt: skip


def _text(folder: Path) -> None:
    words = np.array(["the", "cat", "saw", "a", "dog", "and", "the", "dog", "saw", "a", "cat", "."])
    (folder / "book.txt").write_text(" ".join(np.random.default_rng(0).choice(words, 2500)))


def _views(folder: Path) -> None:
    from cogmap.files import write_arrays
    from cogmap.walks.store import load_walks

    _places(folder)
    walks = load_walks(folder / "walks.npz")
    seen = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    write_arrays(folder / "views.npz", {"features": seen[walks.observations], "actions": walks.actions})


def _learned(folder: Path) -> None:
    _places(folder)
    cogmap("learn", str(folder / "walks.npz"), "--out", str(folder / "run"), *LEARN)


def _text_walks(folder: Path) -> None:
    """Walks as text, and another folder where theirs will be."""
    from cogmap.walks.store import load_walks, save_walks

    _places(folder)
    walks = load_walks(folder / "walks.npz")
    save_walks(folder / "walks.jsonl", walks)
    save_walks(folder / "log.walks", walks.rows(slice(3)))


def _convert(folder: Path) -> list[str]:
    return ["convert", str(folder / "walks.jsonl"), "--out", str(folder / "log.walks"), "--force"]


def _cscg(folder: Path) -> list[str]:
    options = ["--method", "cscg", "--change", "clones=6", "rounds=4"]
    return ["learn", str(folder / "walks.npz"), "--out", str(folder / "run"), *options]


def _policy(folder: Path) -> list[str]:
    """Opens a finished run: one of cscg has nothing to resume."""
    return ["policy", str(folder / "run"), "--showing", "0"]


def _compare(folder: Path) -> list[str]:
    walks, out = str(folder / "walks.npz"), str(folder / "compared")
    methods = ["--methods", "ngram", "--sizes", "360", "--minutes", "1", "--jobs", "1"]
    return ["compare", walks, "--test", walks, "--out", out, *methods]


def _table(folder: Path) -> list[str]:
    """A table of one small model, which the parent process knows under this name, and so its children."""
    from cogmap.environments.room import AliasedRoom
    from cogmap.experiments import TABLES
    from cogmap.experiments.places import Places

    TABLES["tiny"] = Places(
        "3x4 room",
        lambda seed: AliasedRoom(height=3, width=4, observations=4, patch=0, seed=seed),
        ("TDB(S=3, M=1)",),
        walks=20,
        steps=40,
        context_length=10,
        test_walks=8,
    )
    out = ["--out", str(folder / "runs"), "--results", str(folder / "results")]
    return ["reproduce", "tiny", "--encoder", "gru", "--steps", "6", *out]


STORIES = (
    _same(
        "report",
        _learned,
        lambda folder: ["report", str(folder / "run"), "--walks", str(folder / "walks.npz")],
    ),
    _same("reproduce", lambda folder: None, _table),
    _learn("learn places", "walks.npz", _places),
    _learn("learn family", "walks.npz", _family, "--family"),
    _learn("learn text", "book.txt", _text, "--words"),
    _learn("learn views", "views.npz", _views),
    _same("map", _learned, lambda folder: ["map", str(folder / "run"), "--walks", str(folder / "walks.npz")]),
    Story("learn cscg", _places, _cscg, lambda folder: [_cscg(folder), _policy(folder)]),
    _same("convert", _text_walks, _convert),
    _same(
        "map to a file",
        _learned,
        lambda folder: ["map", str(folder / "run"), "--out", str(folder / "map.graphml"), "--force"],
    ),
    _same("compare", _places, _compare),
)


def cogmap(*arguments: str) -> int:
    """A command in this process."""
    from cogmap.cli import main

    code = main(arguments)
    if code:
        print(f"cogmap {' '.join(arguments)} ended with {code}", file=sys.stderr)
    return code


class Killed:
    """One story, told undisturbed once and then again and again with a kill."""

    def __init__(self, story: Story, folder: Path) -> None:
        self.story, self._folder = story, folder
        shutil.rmtree(folder, ignore_errors=True)
        self._base, self._work, self._log = folder / "base", folder / "work", folder / "log"
        self._base.mkdir(parents=True)
        with redirect_stdout(io.StringIO()):  # here: what this loads, the children need not load again
            story.prepare(self._base)
            self._fresh()
            cogmap(*story.command(self._work))
        self._fresh()
        count = folder / "count"
        undisturbed = self._command(None, count)
        _expect(undisturbed)
        self.points = int(count.read_text())
        self.seconds = undisturbed.seconds
        self._expected = snapshot(self._work)

    def at_point(self, point: int) -> str | None:
        """What is wrong after a kill right before the change numbered `point`; None if all is well."""
        self._fresh()
        ended = self._command(point, self._folder / "count")
        return self._recovered() if ended.code == -9 else f"was not killed: {ended.told[-500:]}"

    def at_moment(self, seconds: float) -> str | None:
        """The same after a kill at a moment."""
        self._fresh()
        forked(lambda: cogmap(*self.story.command(self._work)), self._log, kill_after=seconds)
        return self._recovered()

    def _command(self, point: int | None, count: Path) -> Ended:
        def work() -> int:
            kill_at(point, self._work, count)
            return cogmap(*self.story.command(self._work))

        self.story.command(self._work)  # in the parent: a table must be known to its children
        return forked(work, self._log)

    def _recovered(self) -> str | None:
        told = []
        for arguments in self.story.again(self._work):
            ended = forked(lambda arguments=arguments: cogmap(*arguments), self._log)  # type: ignore[misc]
            told.append(ended.told.strip())
            if ended.code == 0:
                return different(self._expected, snapshot(self._work))
            if "Traceback" in ended.told:
                break
        return f"stuck: {' | '.join(told)[-800:]}"

    def _fresh(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._base, self._work)


def _expect(ended: Ended) -> None:
    if ended.code:
        raise RuntimeError(
            f"the undisturbed command must succeed, it ended with {ended.code}: {ended.told[-2000:]}"
        )


def snapshot(folder: Path) -> dict[str, Any]:
    """The content of every file, without the seconds that were measured."""
    return {
        str(path.relative_to(folder)): _content(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(PASSING) and path.name not in DRAWN
    }


def _content(path: Path) -> Any:
    if path.name == "metrics.jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]
    if path.name == "checkpoint.safetensors":
        from cogmap.training.checkpoint import load_tensors

        tensors, numbers = load_tensors(path)
        numbers.pop("seconds")
        return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}, numbers
    if path.parent.name == "trials":
        record = json.loads(path.read_text())
        if "rows" not in record:  # of a cell
            return {k: v for k, v in record.items() if k not in MEASURED}
        rows = [{k: v for k, v in row.items() if k not in MEASURED} for row in record["rows"]]
        return {k: v for k, v in record.items() if k not in MEASURED} | {"rows": rows}
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            return [{k: v for k, v in row.items() if k not in MEASURED} for row in csv.DictReader(stream)]
    return path.read_bytes()


def different(expected: dict[str, Any], found: dict[str, Any]) -> str | None:
    names = sorted(expected.keys() ^ found.keys())
    if names:
        return f"files of only one of both: {', '.join(names)}"
    names = [_where(name, expected[name], found[name]) for name in expected if expected[name] != found[name]]
    return f"differ: {', '.join(names)}" if names else None


def _where(name: str, one: Any, other: Any) -> str:
    """A file that differs; of a record, which of its fields."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return name
    return f"{name} ({', '.join(key for key in one if one[key] != other.get(key))})"


def problems(
    story: Story, folder: Path, moments: int, seed: int, points: Sequence[int] | None = None
) -> Iterator[Any]:
    """(kill, what is wrong or None) for every write point, or some, and for so many random moments."""
    killed = Killed(story, folder)
    for point in range(killed.points) if points is None else [point % killed.points for point in points]:
        yield f"point {point}", killed.at_point(point)
    rng = random.Random(f"{seed} {story.name}")
    for _ in range(moments):
        moment = rng.uniform(0, killed.seconds)
        yield f"{moment:.3f} s", killed.at_moment(moment)
    shutil.rmtree(folder, ignore_errors=True)
