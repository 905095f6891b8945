"""Learn a map of the place that some walks were taken in: train, encode, build the map."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from cogmap.commands.output import print_json
from cogmap.errors import BadConfig
from cogmap.walks.store import load_walks

if TYPE_CHECKING:
    from cogmap.run import Run


@dataclass(frozen=True)
class Learn:
    walks: tyro.conf.Positional[Path]
    """Walks file: npz, jsonl or csv; or a text, with --words or --characters."""
    out: Path
    """Run folder to write."""
    encoder: Literal["auto", "transformer", "gru", "lstm"] = "auto"
    """What reads the walks. A GRU is the fastest here; the transformer is the paper's. auto: the transformer, for a
    family a GRU."""
    prediction_steps: Annotated[int, tyro.conf.arg(aliases=["-S"])] = 3
    """S: how many steps ahead the heads predict. With 1, places with the same neighbours are merged."""
    bottlenecks: Annotated[int, tyro.conf.arg(aliases=["-M"])] = 1
    """M: how many discrete bottlenecks in parallel."""
    next_encoding: bool = False
    """Also predict a slow teacher's next encoding: the `enc` of TDB(S, enc, M)."""
    clone_structured: bool = False
    """Each observation owns its share of the codes."""
    vanilla: bool = False
    """No bottleneck and no map: the rival that can only predict."""
    preset: Literal["fast", "paper"] = "fast"
    """`fast` is what learns soonest; `paper` follows the paper in every choice, and takes hours."""
    family: bool = False
    """The walks are of many rooms, alike but for their observations; `rooms` in the .npz file says which. The model
    learned maps new rooms: cogmap map RUN --walks NEW."""
    names: Literal["auto", "none", "seen", "plain"] = "auto"
    """Of a family, what the encoder knows an observation by. none: nothing, it only tells them apart, so that few rooms
    will do. seen: its name, and those of all that the walk has shown; where names mean something in every room. plain:
    its name alone, as in the paper. auto: none with a GRU, otherwise seen."""
    words: bool = False
    """The file is a text, to be read word by word."""
    characters: bool = False
    """The file is a text, to be read character by character."""
    least_count: int = 5
    """How often a word or character of a text must occur to be learned as itself and not as a rare one."""
    splice: float = 0.0
    """Chance that a text is cut before a unit, and the pieces shuffled, so that the model learns to bear joints."""
    clusters: int | None = None
    """Of walks of images or vectors: k of k-means, 128 or as many as there are different views unless told."""
    minutes: float | None = None
    """Stop training after this long. The fast preset stops by itself when there is nothing more to learn."""
    steps: int | None = None
    """Stop training after this many steps."""
    change: tuple[str, ...] = ()
    """Any other option of the model or the training, as written to config.json: --change width=64 num_codes=300."""
    seed: int = 0
    """The same seed and walks give the same weights on the same machine."""
    device: str = "auto"
    """auto, cpu, cuda, mps, ..."""
    resume: bool = False
    """Go on with the training in the run folder, with the choices made then; --minutes are then minutes more."""
    serve: bool = False
    """Show the run in a browser while it trains, the map appearing: the explorer, on this machine only."""
    json: bool = False
    """Print the outcome as JSON, and nothing else."""


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
            print(f"the page stays at {page.address} until Ctrl-C", flush=True)
            page.wait()


def _run(args: Learn) -> None:
    started = time.perf_counter()
    run = _learn(args)
    seconds = time.perf_counter() - started
    if not run.has_map:
        outcome = {"run": str(args.out), "model": run.name, "seconds": round(seconds, 1)}
        told = f"wrote {args.out}: {run.name}, {seconds:.0f} s"
        if run.config.in_base:
            told += f"; map a new room with: cogmap map {args.out} --walks NEW.npz"
        elif not run.config.vanilla:
            told += "; no map yet, go on with --resume"
    else:
        found = run.map
        outcome = {
            "run": str(args.out),
            "model": run.name,
            "seconds": round(seconds, 1),
            "nodes": found.num_nodes,
            "edges": found.num_edges,
            "explained": found.explained,
            "warnings": list(found.warnings),
        }
        kind = ("latent graph", "nodes") if args.words or args.characters else ("map", "places")
        places = (
            f"a {kind[0]} of {found.num_nodes} {kind[1]} that explains {found.explained:.2%} of the steps"
        )
        told = f"wrote {args.out}: {run.name}, {places}, {seconds:.0f} s"
        told += "".join(f"\nwarning: {warning}" for warning in found.warnings)
    if run.quantizer is not None:
        outcome["clusters"] = run.quantizer.num_clusters
        told += f"\nviews in {run.quantizer.num_clusters} clusters, kept in {args.out / 'quantizer.npz'}"
    print_json(outcome) if args.json else print(told)


def _learn(args: Learn) -> Run:
    choices: dict[str, Any] = {
        "prediction_steps": args.prediction_steps,
        "bottlenecks": args.bottlenecks,
        "next_encoding": args.next_encoding,
        "clone_structured": args.clone_structured,
        "vanilla": args.vanilla,
        "preset": args.preset,
        "minutes": args.minutes,
        "steps": args.steps,
        "change": _changes(args.change),
        "seed": args.seed,
        "device": args.device,
        "resume": args.resume,
        "quiet": args.json,
        "early_maps": args.serve,
    }
    if args.encoder != "auto":
        choices["encoder"] = args.encoder
    if _is_text(args):
        from cogmap.text_learning import Reading, chosen_unit, learn_text, read_source

        reading = Reading(chosen_unit(args.words, args.characters), args.least_count, args.splice)
        return learn_text(read_source(args.walks, reading, args.seed), args.out, **choices)
    walks = load_walks(args.walks)
    if args.family:
        from cogmap.family_learning import learn_family, rooms_for

        return learn_family(walks, rooms_for(args.walks), args.out, names=args.names, **choices)
    choices["clusters"] = args.clusters
    from cogmap.learning import learn  # brings torch: after the walks were found to be good

    return learn(walks, args.out, **choices)


def _is_text(args: Learn) -> bool:
    return args.words or args.characters or args.walks.suffix == ".txt"


def _changes(given: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE pairs; `learn` knows which names there are."""
    changes = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadConfig(f"--change takes NAME=VALUE pairs, got {pair!r}")
        changes[name.replace("-", "_")] = value
    return changes
