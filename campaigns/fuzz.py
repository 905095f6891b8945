"""Fuzzed inputs: every reader and the command line get broken files and values, within bounds on time and memory.

A reader must give a record or a CogmapError. An input is made from its number and the seed alone, so that each can be
made again: `python -m campaigns.fuzz TARGET NUMBER`.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.forked import forked, limit_memory

MOST_SECONDS = 10
MOST_MEMORY = 1 << 30  # beyond what the process has before
BATCH = 200
HOSTILE_JSON = [
    None, True, [], {}, "", "x", "\ud800", -1, 0, 1, 3.5, 1e308, float("nan"), float("inf"), 2**31, 2**62, 10**30,
    [[]], [None], ["a", "a"], {"a": {}}, "9" * 5000, [0] * 1000, "nan",
]  # fmt: skip
HOSTILE_TEXT = ["[" * 100_000, "9" * 5000, '{"a":' * 5000, "\x00", "NaN", "", "null", "\ufeff{}", '"\\ud800"']
HOSTILE_ARRAYS: list[Callable[[], np.ndarray]] = [
    lambda: np.array(3),
    lambda: np.array(-(2**62)),
    lambda: np.array("x"),
    lambda: np.array(2.5),
    lambda: np.array([]),
    lambda: np.zeros((0, 0), np.int32),
    lambda: np.full((3, 4), np.nan),
    lambda: np.full((3, 4), 2**31 - 1),
    lambda: np.full(3, -1),
    lambda: np.array(["a", "a"]),
    lambda: np.zeros((2, 3, 4, 5, 1), np.uint8),
    lambda: np.array([True]),
    lambda: np.array([2**63], dtype=np.uint64),
    lambda: np.arange(7, dtype=">i2"),
]
HOSTILE_WORDS = [
    "", "-", "--", "x", "-1", "0", "9" * 5000, "1e999", "nan", "inf", "\ud800", "../../..", "/dev/null", "[",
    "[" * 50_000, "{}", "2" * 18, "0:0", "1:99999", "٣:٣", "=", "width=none", "width=1e9", "steps=[[", "seed=-1",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A file that is mutated, and what reads it; `of` is the folder that is copied with it, or only the file."""

    name: str
    file: str
    read: Callable[[Path], Any]


def material(folder: Path) -> None:
    """One small file of each kind."""
    from campaigns.kills import LEARN, _family, _learned, _text, _views, cogmap

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for name, prepare, source, more in (
            ("places", _learned, "", ()),
            ("family", _family, "walks.npz", ("--family",)),
            ("text", _text, "book.txt", ("--words",)),
            ("views", _views, "views.npz", ()),
        ):
            (folder / name).mkdir(parents=True)
            prepare(folder / name)
            if source:
                cogmap(
                    "learn", str(folder / name / source), "--out", str(folder / name / "run"), *more, *LEARN
                )
        walks, run = folder / "places" / "walks.npz", folder / "places" / "run"
        cogmap("evaluate", str(run), "--walks", str(walks), "--problems", "3")
        _other_files(folder, walks)


def _other_files(folder: Path, walks: Path) -> None:
    from cogmap.environments.ginc import GincConfig, write_ginc
    from cogmap.evaluation.concepts import NodeConcepts
    from cogmap.evaluation.text_baselines import TextBaselines
    from cogmap.files import write_arrays, write_json
    from cogmap.walks.store import load_walks, save_walks

    read = load_walks(walks)
    save_walks(folder / "places" / "walks.jsonl", read)
    save_walks(folder / "places" / "walks.csv", read)
    save_walks(folder / "places" / "log.walks", read)
    sizes = {"concepts": 2, "symbols": 8, "values": 2, "slots": 3, "documents": 3, "document_length": 20}
    more = {"validation_documents": 2, "validation_length": 10, "prompts": 2}
    few = {"prompt_lengths": (2,), "prompt_examples": (1, 2)}
    write_ginc(folder / "ginc", GincConfig(**sizes, **more, **few))
    problems = [{"from": [0, 1], "to": [0, 20], "avoid": [2]}, {"from": [0, 1], "showing": 1, "strict": True}]
    write_json(folder / "places" / "problems.json", problems)
    _chance_and_machines(folder)
    names = NodeConcepts(("a", "b"), np.array([0, 1, -1]), 0.5, 0.5, 0.5, 0.5)
    names.save(folder / "places" / "run" / "concepts.json")
    TextBaselines(0.1, 0.2, 0.3).save(folder / "places" / "run" / "baselines.json")
    write_arrays(
        folder / "views" / "run" / "views.npz",
        {"views": np.zeros((2, 4, 4, 3), np.uint8), "view_of_node": np.array([0, 1, -1])},
    )


def _chance_and_machines(folder: Path) -> None:
    """A world with chance, a machine in both of its formats, and the record of a trial."""
    from dataclasses import asdict

    from campaigns.kills import cogmap
    from cogmap.environments.machines import load_machine, save_machine
    from cogmap.experiments.ledger import Record, Step
    from cogmap.files import write_json

    (folder / "chance").mkdir()
    cogmap("walk", "room", "--height", "3", "--width", "3", "--observations", "3", "--walks", "5", "--steps", "9",
           "--slip", "0.1", "--start", "0", "--out", str(folder / "chance" / "walks.npz"))  # fmt: skip
    (folder / "machines" / "trials").mkdir(parents=True)
    save_machine(folder / "machines" / "one.json", load_machine("coffee_mealy"))
    edges = '__start0 -> s0; s0 -> s1 [label="a/x"]; s1 -> s0 [label="a/y"]'
    (folder / "machines" / "one.dot").write_text(f"digraph g {{\n{edges}\n}}\n")
    record = Record(
        "c", "cogmap reproduce", 0, trained_at=("a", "b"), rows=({"metric": "nodes", "value": 1},)
    )
    write_json(folder / "machines" / "trials" / "run.json", asdict(record))
    write_json(folder / "machines" / "trials" / "run.progress.json", asdict(Step("training", 1, 2, 0.5)))


def _machine(path: Path) -> None:
    from cogmap.environments.machines import MachineWorld, load_machine

    MachineWorld(load_machine(path))


def _trial(path: Path) -> None:
    from dataclasses import replace

    from cogmap.experiments import Options, trials_of
    from cogmap.experiments.ledger import read_record, read_step

    trial = replace(trials_of("small-room", Options())[0], folder=path.parents[1] / "run")
    read_record(trial)
    read_step(trial)


def _walks(path: Path) -> None:
    from cogmap.walks.family import room_of_each_walk
    from cogmap.walks.store import load_walks
    from cogmap.walks.summary import summarise

    walks = load_walks(path)
    summary = summarise(walks)
    json.dumps(summary.described(walks), ensure_ascii=False).encode()
    room_of_each_walk(path)


def _log(path: Path) -> None:
    _walks(path.parent)


def _converted(path: Path) -> None:
    from cogmap.walks.convert import converted
    from cogmap.walks.summary import summarise

    summarise(converted(path, path.with_suffix(".walks")))


def _truth(path: Path) -> None:
    from cogmap.walks.store import load_walks
    from cogmap.walks.truth_store import load_truth

    load_truth(path.with_name("walks.npz"), load_walks(path.with_name("walks.npz")))


def _run(path: Path) -> None:
    """Everything that a run folder holds, each part by itself; the first error is raised at last."""
    from cogmap.errors import CogmapError
    from cogmap.runs.folder import RunFolder

    folder = path.parent
    run = RunFolder(folder)
    error = None
    for part in (
        run.metrics,
        run.scores,
        lambda: run.concepts(3),
        run.text_baselines,
        lambda: run.text_reading if run.task == "text" else None,
        lambda: run.quantizer,
        run.node_views,
        run.state,
        lambda: run.name,
    ):
        try:
            part()
        except CogmapError as problem:
            error = problem
    if error is not None:
        raise error


def _map(path: Path) -> None:
    from cogmap.maps.store import load_map

    load_map(path)


def _model(path: Path) -> None:
    from cogmap.runs.run import load_run

    assert load_run(path.parent).model is not None


def _checkpoint(path: Path) -> None:
    import torch

    from cogmap.runs.run import load_run
    from cogmap.training.devices import Processes
    from cogmap.training.loop import Trainer
    from cogmap.training.split import split_walks
    from cogmap.walks.store import load_walks

    run = load_run(path.parents[1])
    walks = load_walks(path.parents[2] / "walks.npz")
    data = split_walks(walks, walks.observations, run.training.seed)
    trainer = Trainer(run.config, run.training, data, torch.device("cpu"), Processes())
    trainer.restore(run.folder)
    trainer.step()
    trainer.validate()


def _ginc(path: Path) -> None:
    from cogmap.environments.ginc import read_truth

    world, training, _ = read_truth(path.parent)
    training.tokens(world)


def _prompts(path: Path) -> None:
    from cogmap.environments.ginc import read_prompts, read_truth

    read_prompts(path, read_truth(path.parent)[0].vocabulary)


def _problems(path: Path) -> None:
    from cogmap.runs.plans import read_questions

    [str(question).encode() for question in read_questions(path)]


def _book(path: Path) -> None:
    from cogmap.walks.text import load_text

    load_text(path, "words", 64, least_count=2)


def _page(path: Path) -> None:
    """What the explorer makes of a run folder."""
    from cogmap.app.bodies import encode_json
    from cogmap.app.handlers import Call, Handlers
    from cogmap.app.security import Limits
    from cogmap.app.watcher import RunWatcher

    watcher = RunWatcher(path.parent)
    watcher.refresh()
    handlers = Handlers(watcher, Limits())
    for name in ("run", "live", "metrics"):
        encode_json(getattr(handlers, name)(Call({}, {}, None)))


def _commands(path: Path) -> None:
    """Commands on a folder in which one file is broken."""
    from cogmap.cli import main

    folder = next(parent for parent in path.parents if (parent / "walks.npz").exists())
    run, walks = str(folder / "run"), str(folder / "walks.npz")
    asked = random.Random(path.read_bytes()).choice(
        [
            ["plan", run, "--walks", walks, "--from", "0:5", "--to", "0:20"],
            ["evaluate", run, "--walks", walks, "--problems", "3", "--json"],
            ["map", run, "--walks", walks, "--out", str(folder / "out.json"), "--force"],
            ["check", walks, "--json"],
        ]
    )
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = main(asked)
    if code not in (0, 2):
        raise RuntimeError(f"{asked[0]}: exit code {code}")


TARGETS = (
    Target("commands, config", "places/run/config.json", _commands),
    Target("commands, model", "places/run/model.safetensors", _commands),
    Target("commands, walks", "places/walks.npz", _commands),
    Target("commands, truth", "places/walks.truth.npz", _commands),
    Target("commands, rooms", "family/walks.npz", _commands),
    Target("commands, quantizer", "views/run/quantizer.npz", _commands),
    Target("walks npz", "places/walks.npz", _walks),
    Target("walks jsonl", "places/walks.jsonl", _walks),
    Target("walks csv", "places/walks.csv", _walks),
    Target("log sizes", "places/log.walks/walks.json", _log),
    Target("log observations", "places/log.walks/observations.npy", _log),
    Target("log actions", "places/log.walks/actions.npy", _log),
    Target("log offsets", "places/log.walks/offsets.npy", _log),
    Target("converted jsonl", "places/walks.jsonl", _converted),
    Target("converted csv", "places/walks.csv", _converted),
    Target("walks views", "views/views.npz", _walks),
    Target("walks rooms", "family/walks.npz", _walks),
    Target("truth", "places/walks.truth.npz", _truth),
    Target("truth of chance", "chance/walks.truth.npz", _truth),
    Target("machine json", "machines/one.json", _machine),
    Target("machine dot", "machines/one.dot", _machine),
    Target("trial", "machines/trials/run.json", _trial),
    Target("trial progress", "machines/trials/run.progress.json", _trial),
    Target("config", "places/run/config.json", _run),
    Target("metrics", "places/run/metrics.jsonl", _run),
    Target("scores", "places/run/scores.json", _run),
    Target("concepts", "places/run/concepts.json", _run),
    Target("baselines", "places/run/baselines.json", _run),
    Target("reading", "text/run/text.json", _run),
    Target("quantizer", "views/run/quantizer.npz", _run),
    Target("views", "views/run/views.npz", _run),
    Target("map", "places/run/map.npz", _map),
    Target("atlas", "family/run/atlas.npz", _map),
    Target("model", "places/run/model.safetensors", _model),
    Target("model config", "places/run/config.json", _model),
    Target("checkpoint", "places/run/checkpoint/checkpoint.safetensors", _checkpoint),
    Target("ginc truth", "ginc/truth.npz", _ginc),
    Target("ginc prompts", "ginc/id_prompts_randomsample_2.json", _prompts),
    Target("problems", "places/problems.json", _problems),
    Target("text", "text/book.txt", _book),
    Target("explorer config", "places/run/config.json", _page),
    Target("explorer metrics", "places/run/metrics.jsonl", _page),
    Target("explorer map", "places/run/map.npz", _page),
)


def mutated(content: bytes, suffix: str, rng: random.Random) -> bytes:
    """A broken copy: bytes cut, flipped, doubled, or in the file's own terms."""
    kind = rng.random()
    if kind < 0.5 and suffix in (".json", ".jsonl"):
        return _mutated_json(content, suffix, rng)
    if kind < 0.6 and suffix == ".npz":
        return _mutated_arrays(content, rng)
    if kind < 0.6 and suffix == ".safetensors":
        return _mutated_tensors(content, rng)
    place = rng.randrange(len(content))
    match rng.randrange(5):
        case 0:
            return content[:place]
        case 1:
            flipped = bytearray(content)
            for _ in range(rng.choice([1, 1, 1, 4, 32])):
                flipped[rng.randrange(len(flipped))] ^= rng.randrange(1, 256)
            return bytes(flipped)
        case 2:
            return content[:place] + content[place // 2 : place] + content[place:]
        case 3:
            return content[:place] + rng.randbytes(rng.randrange(1, 64)) + content[place:]
    return content[:place] + content[place + rng.randrange(1, 64) :]


def _mutated_json(content: bytes, suffix: str, rng: random.Random) -> bytes:
    if rng.random() < 0.15:
        return rng.choice(HOSTILE_TEXT).encode("utf-8", "surrogatepass")
    try:
        lines = suffix == ".jsonl" or content.count(b"\n{") > 1
        value = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    except ValueError:
        value, lines = {}, False
    for _ in range(rng.choice([1, 1, 2])):
        _change(value, rng)
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    return text.encode()


def _change(value: Any, rng: random.Random) -> None:
    """Replace, remove or add something somewhere inside."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        if not isinstance(value[key], dict | list) or not value[key] or rng.random() < 0.3:
            break
        value = value[key]
    kind = rng.random()
    if kind < 0.75:
        value[key] = rng.choice(HOSTILE_JSON)
    elif kind < 0.9:
        del value[key]
    elif isinstance(value, dict):
        value["more"] = rng.choice(HOSTILE_JSON)
    else:
        value.append(rng.choice(HOSTILE_JSON))


def _mutated_arrays(content: bytes, rng: random.Random) -> bytes:
    with np.load(io.BytesIO(content)) as stored:
        arrays = dict(stored)
    name = rng.choice(sorted(arrays))
    match rng.randrange(6):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = arrays[name].reshape(-1)[:-1]
        case 2:
            arrays[name] = arrays[name][None]
        case 3 if arrays[name].dtype.kind in "iuf":
            wide = arrays[name].astype(np.float64 if arrays[name].dtype.kind == "f" else np.int64)
            arrays[name] = wide * rng.choice([-1, 2, 10**6]) + rng.choice([0, 1, 10**9])
        case 4:
            return _bomb(name, rng)
        case _:
            arrays[name] = rng.choice(HOSTILE_ARRAYS)()
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _bomb(name: str, rng: random.Random) -> bytes:
    """An array that is much larger than its file, or says that it is."""
    shape, kind = rng.choice(
        [((1 << 27,), "|u1"), ((10**8,), "<U0"), ((10**12,), "<i4"), ((10**9, 0), "<i4")]
    )
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": shape, "fortran_order": False, "descr": kind})
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w") as member,
    ):
        member.write(header.getvalue())
        for _ in range(128 if kind == "|u1" else 0):
            member.write(bytes(1 << 20))
    return stream.getvalue()


def _mutated_tensors(content: bytes, rng: random.Random) -> bytes:
    from safetensors.torch import load, save

    tensors = load(content)
    size = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
    name = rng.choice(sorted(tensors))
    match rng.randrange(5):
        case 0:
            del tensors[name]
        case 1:
            tensors[name] = tensors[name].reshape(-1)[:-1].clone()
        case 2:
            tensors[name] = tensors[name].double() * float("nan")
        case 3:
            numbers = json.loads(metadata.get("numbers", "{}"))
            if numbers:
                _change(numbers, rng)
            metadata["numbers"] = json.dumps(numbers)
        case _:
            metadata["numbers"] = rng.choice([text for text in HOSTILE_TEXT if text.isascii()])
    return bytes(save(tensors, metadata=metadata or None))


class TooLong(BaseException):
    """An input took more than its time."""


def _alarm(*_: object) -> None:
    raise TooLong


def attack(work: Callable[[], Any]) -> str | None:
    """What is wrong with how an input was taken; None if there was a record or the one error."""
    from cogmap.errors import CogmapError

    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(MOST_SECONDS)
    started = time.monotonic()
    try:
        work()
    except CogmapError as error:
        return f"an error of {len(str(error))} characters" if len(str(error)) > 5000 else None
    except TooLong:
        return f"took more than {MOST_SECONDS} s: {_where()}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:120]} at {_where()}"
    finally:
        signal.alarm(0)
    return None if time.monotonic() - started < MOST_SECONDS else "took too long"


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
    "map": (["places/run", "family/run"], ["--walks", "--room", "--kind", "--out"]),
    "learn": (["places/walks.npz", "text/book.txt"], ["--out", "--encoder", "--steps", "--seed", "--change", "--splice",
              "--least-count", "--clusters", "--minutes", "--names", "--bottlenecks", "--device", "--resume"]),
    "report": (["places/run"], ["--walks", "--beside"]),
    "serve": (["nowhere"], ["--walks", "--host", "--port"]),
    "reproduce": (["small-room", "nothing"], ["--nothing", "--rollouts=0"]),
    "walk": (["room", "gym", "maze", "cube", "torus", "nothing"],
             ["--settings", "--seed", "--observations", "--noise"]),
    "doctor": ([], ["--nothing"]),
    "nothing": ([], []),
}  # fmt: skip


def command_input(folder: Path, number: int, seed: int) -> str | None:
    """Run a command line with hostile words among its options."""
    from cogmap.cli import main

    rng = random.Random(f"{seed} command {number}")
    name = rng.choice(sorted(COMMANDS))
    places, options = COMMANDS[name]
    words = [name]
    if places and rng.random() < 0.9:
        place = rng.choice(places)
        words.append(str(folder / place) if "/" in place else place)
    if name in ("plan", "evaluate"):
        words += ["--walks", str(folder / "places" / "walks.npz")]
    if name == "walk":
        words += ["--walks", "3", "--steps", "5", "--out", str(folder / "out" / "w.npz"), "--force"]
    if name == "learn":
        words += ["--out", str(folder / "out" / "run"), "--steps", "1", "--change", "width=16", "num_codes=8"]
    for option in rng.sample(options, min(len(options), rng.choice([1, 1, 2, 3]))):
        words += [option, rng.choice(HOSTILE_WORDS)] if rng.random() < 0.95 else [option]
    told = io.StringIO()

    def work() -> None:
        with redirect_stdout(io.StringIO()), redirect_stderr(told):
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
    target = next((one for one in TARGETS if one.name == name), None)

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
    ended = forked(work, folder.with_name("log"), most_seconds=(MOST_SECONDS + 2) * count)
    lines = [line for line in ended.told.splitlines() if line.partition(":")[0].isdecimal()]
    wrong = [f"{name} {line}" for line in lines if line.partition(":")[2].strip()]
    if ended.code:
        wrong.append(
            f"{name} {lines[-1] if lines else first} the process ended with {ended.code}: {ended.told[-300:]}"
        )
        shutil.rmtree(folder)
        shutil.copytree(backup, folder)
    return wrong


def names() -> list[str]:
    return [target.name for target in TARGETS] + ["command line"]


def batches(inputs: int) -> Iterator[tuple[str, int]]:
    """(target, first number) of all batches: a twentieth of the inputs are command lines, the rest files."""
    commands = inputs // 20
    files = (inputs - commands) // len(TARGETS)
    for target in TARGETS:
        yield from ((target.name, first) for first in range(0, files, BATCH))
    yield from (("command line", first) for first in range(0, commands, BATCH))
