"""Generate the GINC text set, byte for byte or in other sizes, and print the accuracy of exact filters."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cogmap.commands.output import print_json
from cogmap.environments.ginc import GincConfig, write_ginc
from cogmap.environments.ginc.files import Report
from cogmap.errors import BadConfig
from cogmap.evaluation.prompts import CeilingRow, sampled_ceiling

_USUAL = GincConfig()


@dataclass(frozen=True, kw_only=True)
class Ginc:
    """Generate the GINC text set: documents to learn from, prompts to test on, and the truth."""

    out: Path | None = None
    """folder to write; it must be empty if it exists"""
    ceiling: bool = False
    """print the in-context accuracy of exact filters for every kind of prompt; works without --out, too"""
    concepts: int = _USUAL.concepts
    """hidden Markov models behind the documents; as many again for prompts out of distribution"""
    symbols: int = _USUAL.symbols
    """words of the vocabulary, the delimiter / included"""
    values: int = _USUAL.values
    """states of the slow chain"""
    slots: int = _USUAL.slots
    """states of the fast chain, one of which emits the delimiter"""
    documents: int = _USUAL.documents
    """number of training documents"""
    document_length: int = _USUAL.document_length
    """tokens of each"""
    validation_documents: int = _USUAL.validation_documents
    """number of validation documents"""
    validation_length: int = _USUAL.validation_length
    """tokens of each"""
    prompts: int = _USUAL.prompts
    """prompts of each kind"""
    prompt_lengths: tuple[int, ...] = _USUAL.prompt_lengths
    """k: tokens of an example; a file of prompts for each"""
    prompt_examples: tuple[int, ...] = _USUAL.prompt_examples
    """n: complete examples of a prompt; prompts of more than 1024 tokens are left out"""
    transition_temperature: float = _USUAL.transition_temperature
    """softmax temperature of transitions"""
    start_temperature: float = _USUAL.start_temperature
    """softmax temperature of the first state of a document"""
    value_stay: float = _USUAL.value_stay
    """weight of staying at a value"""
    seed: int = _USUAL.seed
    """seed of the concepts and documents; that of prompts is 3 more"""
    json: bool = False
    """print what was written, and the ceiling, as JSON"""


Args = Ginc


def run(args: Ginc) -> None:
    if args.out is None and not args.ceiling:
        raise BadConfig("`--out` must name a folder to write, or `--ceiling` be asked for")
    chosen = asdict(args)
    for option in ("out", "ceiling", "json"):
        del chosen[option]
    config = GincConfig(**chosen)
    outcome: dict[str, Any] = {}
    if args.out is not None:
        started = time.perf_counter()
        with _progress("writing", shown=not args.json) as report:
            files = write_ginc(args.out, config, report)
        outcome |= {"folder": str(args.out), "files": [path.name for path in files]}
        if not args.json:
            print(f"wrote {len(files)} files to {args.out} in {time.perf_counter() - started:.0f} s")
    if args.ceiling:
        rows = _ceiling_rows(config, shown=not args.json)
        outcome["ceiling"] = [asdict(row) for row in rows]
        if not args.json:
            print(ceiling_table(rows))
    if args.json:
        print_json(outcome)


def _ceiling_rows(config: GincConfig, shown: bool) -> list[CeilingRow]:
    kinds = sum(len(config.examples_of(length)) for length in config.prompt_lengths)
    rows: list[CeilingRow] = []
    with _progress("filtering", shown) as report:
        for row in sampled_ceiling(config):
            rows.append(row)
            report(f"k={row.length} n={row.examples}", len(rows) / kinds)
    return rows


def ceiling_table(rows: list[CeilingRow]) -> str:
    """Accuracies in %, standard errors in brackets."""
    lines = [
        "in-context accuracy in % (standard error) of exact filters that know the concepts",
        f"{'k':>4}{'n':>6}{'knowing how prompts are made':>32}{'taking them for documents':>29}",
    ]
    for row in rows:
        told = [f"{100 * part:.1f} ({100 * row.standard_error(part):.1f})" for part in row.accuracies()]
        lines.append(f"{row.length:>4}{row.examples:>6}{told[0]:>32}{told[1]:>29}")
    return "\n".join(lines)


@contextmanager
def _progress(doing: str, shown: bool) -> Iterator[Report]:
    """A bar on a terminal, nothing elsewhere."""
    if not (shown and sys.stdout.isatty()):
        yield lambda name, share: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda name, share: bar.update(task, completed=share, description=f"{doing} {name}")
