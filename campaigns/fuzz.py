"""Fuzzed inputs: every reader and the command line get broken files and values, within bounds on time and memory.

A reader must give a record or a CogmapError. An input is made from its number and the seed alone, so that each can be
made again: `python -m campaigns.fuzz TARGET NUMBER [SEED]`.
"""

from __future__ import annotations

import io
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

from campaigns.forked import forked, limit_memory
from campaigns.material import material
from campaigns.mutations import make_bombs, mutated
from campaigns.readers import TARGETS, Target

MOST_SECONDS = 10  # of processor time, so that a busy machine fails no reader
MOST_WAITING = 60  # seconds by the clock
MOST_MEMORY = 1 << 30  # beyond what the process has before
BATCH = 200
HOSTILE_WORDS = [
    "", "-", "--", "x", "-1", "0", "9" * 5000, "1e999", "nan", "inf", "\ud800", "../../..", "/dev/null", "[",
    "[" * 50_000, "{}", "2" * 18, "0:0", "1:99999", "٣:٣", "=", "width=none", "width=1e9", "steps=[[", "seed=-1",
]  # fmt: skip


class TooLong(BaseException):
    """An input took more than its time."""


def _alarm(*_: object) -> None:
    raise TooLong


def attack(work: Callable[[], Any]) -> str | None:
    """What is wrong with how an input was taken; None if there was a record or the one error."""
    from cogmap.errors import CogmapError

    signal.signal(signal.SIGALRM, _alarm)
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_REAL, MOST_WAITING)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    started, spent = time.monotonic(), time.process_time()
    try:
        work()
    except CogmapError as error:
        return f"an error of {len(str(error))} characters" if len(str(error)) > 5000 else None
    except TooLong:
        return f"took {time.process_time() - spent:.1f} s of {time.monotonic() - started:.1f} s: {_where()}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:120]} at {_where()}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None if time.process_time() - spent < MOST_SECONDS else "took too long"


def _where() -> str:
    frames = [frame for frame in traceback.extract_tb(sys.exc_info()[2]) if "cogmap" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def file_input(target: Target, folder: Path, number: int, seed: int) -> str | None:
    """Read the input of this number; the file is left as it was."""
    path = folder / target.file
    content = path.read_bytes()
    rng = random.Random(f"{seed} {target.name} {number}")
    path.write_bytes(mutated(content, path.suffix, rng))
    try:
        return attack(lambda: target.read(path))
    finally:
        path.write_bytes(content)


COMMANDS = {
    "check": (["places/walks.npz", "places/walks.csv"], ["--like", "--json"]),
    "plan": (["places/run"], ["--walks", "--from", "--to", "--showing", "--avoid", "--problems", "--map", "--strict"]),
    "evaluate": (["places/run", "text/run"], ["--walks", "--problems", "--context-length", "--seed", "--map"]),
    "map": (["places/run", "family/run", "states/run"], ["--walks", "--room", "--kind", "--out", "--outputs-on-moves"]),
    "learn": (["places/walks.npz", "text/book.txt"], ["--out", "--encoder", "--steps", "--seed", "--change", "--splice",
              "--least-count", "--clusters", "--minutes", "--names", "--bottlenecks", "--device", "--resume",
              "--method"]),
    "report": (["places/run"], ["--walks", "--beside"]),
    "serve": (["nowhere"], ["--walks", "--host", "--port"]),
    "reproduce": (["small-room", "nothing"], ["--nothing", "--rollouts=0"]),
    "walk": (["room", "gym", "maze", "cube", "torus", "nothing"],
             ["--settings", "--seed", "--observations", "--noise"]),
    "policy": (["places/run", "states/run", "family/run"],
               ["--to", "--from", "--showing", "--walks", "--avoid", "--cost", "--discount", "--map", "--json"]),
    "convert": (["places/walks.npz", "places/walks.csv", "places/log.walks", "rewards/walks.jsonl", "views/views.npz"],
                ["--out", "--json"]),
    "compare": (["places/walks.npz", "views/views.npz"], ["--test", "--out", "--methods", "--sizes", "--minutes",
                "--seed", "--jobs"]),
    "doctor": ([], ["--nothing"]),
    "nothing": ([], []),
}  # fmt: skip


def command_input(folder: Path, number: int, seed: int) -> str | None:
    """Run a command line with hostile words among its options."""
    from cogmap.cli import main

    rng = random.Random(f"{seed} command {number}")
    here = folder / "out" / "here"  # some words are names of files, which a command may write
    here.mkdir(parents=True)
    name = rng.choice(sorted(COMMANDS))
    places, options = COMMANDS[name]
    words = [name]
    if places and rng.random() < 0.9:
        place = rng.choice(places)
        words.append(str(folder / place) if "/" in place else place)
    if name in ("plan", "evaluate"):
        words += ["--walks", str(folder / "places" / "walks.npz")]
    if name == "convert":
        words += ["--out", str(folder / "out" / f"w{rng.choice(['.npz', '.jsonl', '.csv', '.walks'])}")]
    if name == "compare":
        words += ["--test", str(folder / "places" / "walks.npz"), "--out", str(folder / "out" / "compared"),
                  "--methods", "nothing"]  # fmt: skip
    if name == "walk":
        words += ["--walks", "3", "--steps", "5", "--out", str(folder / "out" / "w.npz"), "--force"]
    if name == "learn":
        words += ["--out", str(folder / "out" / "run"), "--steps", "1", "--change", "width=16", "num_codes=8"]
    for option in rng.sample(options, min(len(options), rng.choice([1, 1, 2, 3]))):
        words += [option, rng.choice(HOSTILE_WORDS)] if rng.random() < 0.95 else [option]
    told = io.StringIO()

    def work() -> None:
        with chdir(here), redirect_stdout(io.StringIO()), redirect_stderr(told):
            code = _exit_code(lambda: main(words))
        if code not in (0, 2):
            raise RuntimeError(f"exit code {code}")
        if code == 2 and told.getvalue().count("\n") > 2:
            raise RuntimeError(f"more than one line: {told.getvalue()[:100]}")

    try:
        wrong = attack(work)
    finally:
        shutil.rmtree(folder / "out", ignore_errors=True)
    return None if wrong is None else f"{' '.join(word[:30] for word in words)}: {wrong}"


def _exit_code(work: Callable[[], int]) -> int:
    try:
        return work()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1


def batch(name: str, folder: Path, first: int, count: int, seed: int) -> list[str]:
    """What is wrong with the inputs `first`, ... of a target, read in a process with a limit on its memory."""
    folder = folder.absolute()
    target = next((one for one in TARGETS if one.name == name), None)
    if target is not None:
        _prepare(target, folder)

    def work() -> int:
        import warnings

        warnings.simplefilter("ignore")
        sys.setrecursionlimit(1000)
        limit_memory(MOST_MEMORY)
        for number in range(first, first + count):
            print(f"{number}:", end="", flush=True, file=sys.stderr)
            wrong = (
                command_input(folder, number, seed)
                if target is None
                else file_input(target, folder, number, seed)
            )
            print(f" {wrong}" if wrong else "", flush=True, file=sys.stderr)
        return 0

    backup = folder.with_name("backup")
    if not backup.exists():
        shutil.copytree(folder, backup)
    ended = forked(work, folder.with_name("log"), most_seconds=MOST_WAITING * count)
    lines = [line for line in ended.told.splitlines() if line.partition(":")[0].isdecimal()]
    wrong = [f"{name} {line}" for line in lines if line.partition(":")[2].strip()]
    if ended.code:
        wrong.append(
            f"{name} {lines[-1] if lines else first} the process ended with {ended.code}: {ended.told[-300:]}"
        )
        whole_again(folder)
    return wrong


@cache
def _prepare(target: Target, folder: Path) -> None:
    """Do once, here, what every child would do again: import what a reader needs, make what inputs need."""
    path = folder / target.file
    if path.suffix == ".npz":
        make_bombs(path.read_bytes())
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(Exception):
        target.read(path)


def whole_again(folder: Path) -> bool:
    """Undo what a stopped campaign left broken; False where there is nothing yet."""
    backup = folder.with_name("backup")
    if not backup.exists():
        shutil.rmtree(folder, ignore_errors=True)
        return False
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(backup, folder)
    return True


def names() -> list[str]:
    return [target.name for target in TARGETS] + ["command line"]


def batches(inputs: int) -> Iterator[tuple[str, int]]:
    """(target, first number) of all batches, each target in turn: a twentieth of the inputs are command lines."""
    commands = inputs // 20
    files = (inputs - commands) // len(TARGETS)
    for first in range(0, max(files, commands), BATCH):
        if first < files:
            yield from ((target.name, first) for target in TARGETS)
        if first < commands:
            yield "command line", first


def main() -> int:
    """One input again, in a folder of its own: `python -m campaigns.fuzz TARGET NUMBER [SEED]`."""
    import tempfile

    name, number, *seed = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "files"
        material(folder)
        wrong = batch(name, folder, int(number), 1, int(seed[0]) if seed else 0)
    print("\n".join(wrong) or "a record or the one error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
