"""Learn a map of the place that some walks were taken in: train, encode, build the map."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from cogmap.commands.output import print_json
from cogmap.errors import BadConfig
from cogmap.walks.store import load_walks
from cogmap.walks.text import LEAST_COUNT, TextReading

if TYPE_CHECKING:
    from cogmap.runs.run import Run

SELDOM = 10  # times; a move that was made less often may be one of several that look alike
# Options that are fields of ModelConfig or TrainingConfig under the same name.
_FIELDS = (
    "prediction_steps",
    "bottlenecks",
    "next_encoding",
    "clone_structured",
    "vanilla",
    "minutes",
    "steps",
    "seed",
    "threads",
)


@dataclass(frozen=True)
class Learn:
    walks: tyro.conf.Positional[Path]
    """walks to learn from: .npz, .jsonl, .csv or .walks; or a text, with --words or --characters"""
    out: Path
    """run folder to write"""
    method: Literal["tdb", "cscg", "rpni", "edsm", "alergia"] = "tdb"
    """tdb: a network; cscg: a clone-structured graph, by EM; rpni, edsm, alergia: an automaton (extra `automata`)"""
    encoder: Literal["auto", "transformer", "gru", "lstm"] = "auto"
    """what reads the walks; auto: a GRU, or the transformer on a GPU with 400,000 steps, and in the preset paper"""
    prediction_steps: Annotated[int, tyro.conf.arg(aliases=["-S"])] = 3
    """S: how many steps ahead the heads predict; with 1, places with the same neighbours are merged"""
    bottlenecks: Annotated[int, tyro.conf.arg(aliases=["-M"])] = 1
    """M: how many discrete bottlenecks, in parallel"""
    next_encoding: bool = False
    """also predict the next encoding of a teacher, an average of the model: the `enc` of TDB(S, enc, M)"""
    clone_structured: bool = False
    """give each observation codes of its own"""
    vanilla: bool = False
    """no bottleneck and no map: the baseline, which only predicts"""
    preset: Literal["fast", "paper"] = "fast"
    """fast: what learns in the least time; paper: the choices of the paper (docs/paper_readings.md), for hours"""
    family: bool = False
    """walks in many rooms of one layout (`rooms` in the .npz file); the run then maps new rooms: cogmap map RUN"""
    names: Literal["auto", "none", "seen", "plain"] = "auto"
    """with --family: what the encoder knows of an observation (docs/families.md); auto: none with a GRU, else seen"""
    words: bool = False
    """the file is a text, read word by word"""
    characters: bool = False
    """the file is a text, read character by character"""
    least_count: int | None = None
    """words or characters of a text that occur less often are learned as one rare unit; 5 by default"""
    splice: float = 0.0
    """probability of a cut before each unit of a text; the pieces are shuffled, so that the model learns such cuts"""
    clusters: int | None = None
    """for walks of images or vectors: k of k-means; by default the number that fits the views best"""
    minutes: float | None = None
    """time limit: nine tenths for the training, which may end sooner, and the rest for the map"""
    steps: int | None = None
    """stop the training after this many steps"""
    change: tuple[str, ...] = ()
    """other options of the model, the training or the method, as in config.json: --change width=64 num_codes=300"""
    seed: int = 0
    """the same seed and walks give the same weights on the same machine, to the last bit with --threads"""
    threads: int | None = None
    """number of threads; by default the fastest, measured now and then during the training"""
    device: str = "auto"
    """auto, cpu, cuda, mps, ..."""
    resume: bool = False
    """resume the training in the run folder, with its options; --minutes are then additional minutes"""
    serve: bool = False
    """show the run in the explorer while it trains, in a browser on this machine"""
    json: bool = False
    """print the outcome as JSON, and nothing else"""


Args = Learn


def run(args: Learn) -> None:
    if not args.serve:
        _run(args)
        return
    from cogmap.app.beside import served_beside

    with served_beside(args.out, None if _is_text(args) else args.walks) as page:
        if page is not None:
            print(f"watch it at {page.address}", file=sys.stderr, flush=True)
        _run(args)
        if page is not None and sys.stdout.isatty():
            print(f"the page stays open at {page.address} until Ctrl-C", flush=True)
            page.wait()


def _run(args: Learn) -> None:
    started = time.perf_counter()
    _check_options(args)
    source, rooms = _source(args)
    from cogmap.tasks.learning import learn  # loads torch: after the walks were found to be good

    choices: dict[str, Any] = {name: getattr(args, name) for name in _FIELDS if _asked(args, name)}
    choices |= _changes(args.change)
    if args.encoder != "auto":
        choices["encoder"] = args.encoder
    made = learn(
        source,
        args.out,
        method=args.method,
        rooms=rooms,
        preset=args.preset,
        clusters=args.clusters,
        names=args.names,
        resume=args.resume,
        device=args.device,
        quiet=args.json,
        early_maps=args.serve,
        spent=time.perf_counter() - started,
        **choices,
    )
    outcome, lines = _outcome(made, time.perf_counter() - started)
    print_json(outcome) if args.json else print("\n".join(lines))


def _asked(args: Learn, name: str) -> bool:
    """Whether an option goes to the learner: of other methods than TDB only what was given."""
    return args.method == "tdb" or name == "seed" or getattr(args, name) != getattr(Learn, name)


def _is_text(args: Learn) -> bool:
    return args.words or args.characters or args.walks.suffix == ".txt"


def _check_options(args: Learn) -> None:
    """Refuse an option that the kind of run would ignore."""
    if args.method != "tdb":
        for name in ("family", "words", "characters", "resume", "serve"):
            if getattr(args, name):
                raise BadConfig(
                    f"`--{name}` is for TDB, --method {args.method} does not have it: leave it out"
                )
        if args.preset != "fast":
            raise BadConfig(f"`--preset` is for TDB, --method {args.method} does not have it: leave it out")
    if not _is_text(args):
        for name in ("splice", "least_count"):
            if getattr(args, name):
                option = name.replace("_", "-")
                raise BadConfig(f"`--{option}` is for texts, {args.walks} holds walks: leave it out")
    elif args.family:
        raise BadConfig(f"`--family` is for walks in many rooms, {args.walks} is a text: leave it out")
    if args.names != "auto" and not args.family:
        raise BadConfig(f"`--names` is for families of rooms, got {args.names!r} without --family")


def _source(args: Learn) -> tuple[Any, Any]:
    """What to learn from, and of a family the room of each walk."""
    if _is_text(args):
        from cogmap.tasks.text import chosen_unit, read_text

        unit = chosen_unit(args.words, args.characters)
        count = LEAST_COUNT if args.least_count is None else args.least_count
        return read_text(args.walks, TextReading(unit, count, args.splice), args.seed), None
    walks = load_walks(args.walks)
    if not args.family:
        return walks, None
    from cogmap.tasks.family import rooms_of

    return walks, rooms_of(args.walks)


def _changes(given: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE pairs; `learn` knows which names there are."""
    changes = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadConfig(f"--change takes NAME=VALUE pairs, got {pair!r}")
        changes[name.replace("-", "_")] = value
    return changes


def _outcome(made: Run, seconds: float) -> tuple[dict[str, Any], list[str]]:
    """What was learned, for a script and for a person."""
    outcome: dict[str, Any] = {"run": str(made.folder), "model": made.name, "seconds": round(seconds, 1)}
    line = f"wrote {made.folder}: {made.name}"
    if made.has_map:
        found = made.map
        outcome |= {
            "nodes": found.num_nodes,
            "edges": found.num_edges,
            "explained": found.explained,
            "warnings": list(found.warnings),
        }
        line += _size_of(made)
    lines = [f"{line}, {seconds:.0f} s{_next_command(made)}"]
    lines = [*(f"warning: {warning}" for warning in outcome.get("warnings", ())), *_seldom(made), *lines]
    lines += _as_machine(made)
    if made.quantizer is not None:
        outcome["clusters"] = made.quantizer.num_clusters
        kept = made.folder / "quantizer.npz"
        lines.append(f"views in {made.quantizer.num_clusters} clusters, kept in {kept}")
    return outcome, lines


def _seldom(made: Run) -> list[str]:
    """What the log is too short for: moves of which it has only a few examples."""
    if made.task != "places" or not made.has_map:
        return []
    found = made.map
    move = found.edge_source.astype(int) * found.num_actions + found.edge_action
    tried = [count for count in np.bincount(move, weights=found.edge_support, minlength=1) if count > 0]
    seldom = sum(count < SELDOM for count in tried)
    if seldom <= 0.05 * len(tried):
        return []
    longer = int(np.ceil(SELDOM / max(float(np.quantile(tried, 0.05)), 1.0)))
    rule = f"{seldom} of the map's {len(tried)} moves were made fewer than {SELDOM} times: more places may be hidden"
    return [f"note: {rule} there, walks {longer} times as long would show them"]


def _as_machine(made: Run) -> list[str]:
    """A hint where the log looks like one of inputs and outputs."""
    from cogmap.maps.machine import has_outputs_on_moves, machine_of_map

    if made.task != "places" or not made.has_map or not has_outputs_on_moves(made.map):
        return []
    states = machine_of_map(made.map).num_states
    command = f"cogmap map {made.folder} --outputs-on-moves --out machine.dot"
    return [f"as a machine with outputs on its moves it has {states} states: {command}"]


def _size_of(made: Run) -> str:
    """The map's size, and what it says of walks that it was not made from."""
    found = made.map
    if made.task == "text":
        return f", a latent graph of {found.num_nodes} nodes that explains {found.explained:.2%} of the steps"
    model = "" if found.model_accuracy is None else f" (the model {found.model_accuracy:.2%})"
    size = f", a map of {found.num_nodes} places"
    return f"{size} that predicts {found.explained:.2%} of held-out observations by itself{model}"


def _next_command(made: Run) -> str:
    if made.task == "family":
        return f"; map a new room with: cogmap map {made.folder} --walks NEW.npz"
    return "" if made.has_map or made.config.vanilla else "; no map yet, resume with --resume"
