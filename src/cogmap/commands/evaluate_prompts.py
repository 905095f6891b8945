"""Score a run on a file of GINC prompts: how often it names the most likely last word."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cogmap.commands.output import print_json
from cogmap.environments.ginc import read_prompts
from cogmap.errors import BadRun
from cogmap.evaluation.prompts import InContextRow, in_context_rows
from cogmap.models.inference import complete, reads_all_of

if TYPE_CHECKING:
    from cogmap.run import Run


def evaluate_prompts(opened: Run, path: Path, json: bool) -> None:
    """Print a line for each number of examples, prompts of one length read together."""
    labels = opened.observation_labels
    if labels is None:
        raise BadRun(f"prompts need a run on a text, {opened.folder} is none")
    cells, rows = read_prompts(path, labels), []
    if not json:
        print(f"{opened.name} on {path}: in-context accuracy in % (standard error)")
    for row in in_context_rows(lambda tokens: complete(opened.model, tokens, labels), cells):
        rows.append(row)
        if not json:
            print(_line(row, reads_all_of(opened.config, row.tokens)), flush=True)
    if json:
        print_json([asdict(row) for row in rows])


def _line(row: InContextRow, all_read: bool) -> str:
    told = f"  k={row.length} n={row.examples}: {100 * row.accuracy:.1f} ({100 * row.standard_error:.1f})"
    return told if all_read else f"{told}, the beginning of its {row.tokens} tokens not read"
