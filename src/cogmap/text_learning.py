"""From a text to a run: a vocabulary, a model, a latent graph; and the concepts of its nodes where they are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from cogmap.environments.ginc import Documents, read_truth
from cogmap.errors import BadConfig, BadRun
from cogmap.files import read_json, write_json
from cogmap.records import Integers, Labels, Walks
from cogmap.walks.sample import splice
from cogmap.walks.text import Unit, cut, document_walks, load_text

if TYPE_CHECKING:
    from cogmap.run import Run

PIECE = 1024  # units of a walk, as many as the longest prompt of GINC has tokens
LEAST_COUNT = 5  # times a unit must occur in a text of one's own to have a place in the vocabulary
MAP_UNITS = 2_000_000  # of a text that its graph is made from, at the most
TEXT_FILE, CONCEPTS_FILE = "text.json", "concepts.json"


@dataclass(frozen=True)
class Reading:
    """How a text is read."""

    unit: Unit = "words"
    least_count: int = LEAST_COUNT  # of a unit, below which it is a rare one
    splice: float = 0.0  # chance of a cut before a unit


@dataclass(frozen=True, eq=False)
class TextSource:
    """A text ready to be learned from."""

    reading: Reading
    plain: Walks  # pieces of the text as it is
    training: Walks  # the same spliced, if that was asked for
    concept: Integers | None = None  # (B,) of each piece, where there is truth beside the text
    names: Labels = ()  # of the concepts


def read_source(path: str | Path, reading: Reading, seed: int = 0) -> TextSource:
    """A text file, or the documents of a GINC folder's `train.txt` or `val.txt`, cut into pieces."""
    path = Path(path)
    documents = _documents_beside(path)
    names: Labels = ()
    if documents is None:
        whole, concept = load_text(path, reading.unit, least_count=reading.least_count), None
    else:
        labels, truth = documents
        if reading.unit != "words":
            raise BadConfig(f"{path} holds GINC documents, which are `--words`, got --{reading.unit}")
        whole = document_walks(path, truth.hidden.shape[1], labels)
        concept = truth.concept
        names = tuple(f"concept {number}" for number in range(int(concept.max()) + 1))
    plain, origin = cut(whole, PIECE)
    training = plain
    if reading.splice:
        training, _ = cut(splice(whole, reading.splice, np.random.default_rng([seed, 6])), PIECE)
    return TextSource(reading, plain, training, None if concept is None else concept[origin], names)


def _documents_beside(path: Path) -> tuple[Labels, Documents] | None:
    """Vocabulary and truth of a GINC file, None for any other text."""
    if path.name not in ("train.txt", "val.txt") or not (path.parent / "truth.npz").is_file():
        return None
    world, training, validation = read_truth(path.parent)
    return world.vocabulary, training if path.name == "train.txt" else validation


def text_changes(preset: str, encoder: str) -> dict[str, Any]:
    """What a text's model and training have otherwise than a room's."""
    return {"batch_size": 24} if preset == "paper" else dict(_FAST[encoder])


# What comes next in a text is never sure: the bottleneck closes when its share of the training is over, and not when
# predictions are right. A code has a whole distribution to tell and not one observation: a table of what had followed
# each code foretold GINC far better than narrow heads, so heads are wide and codes have such a table. And longer
# stretches of a text are read on from window to window, since what it is about is known only after some units.
_ANY = {
    "bottleneck_from": 1_000_000,
    "head_width": 512,
    "code_logits": True,
    "validate_every": 200,
    "steps": 8000,
}
_RECURRENT = {**_ANY, "fresh_share": 0.3}
_FAST: dict[str, dict[str, Any]] = {"transformer": _ANY, "gru": _RECURRENT, "lstm": _RECURRENT}


def learn_text(source: TextSource, out: str | Path, **choices: Any) -> Run:
    """`learn` with a text's own defaults; `choices` are its keyword arguments."""
    from cogmap.learning import learn

    change = text_changes(choices.get("preset", "fast"), choices.get("encoder", "transformer"))
    if choices.get("steps") is not None:
        change.pop("steps", None)
    change |= choices.pop("change", None) or {}
    run = learn(source.training, out, change=change, map_walks=some_of(source.plain), **choices)
    write_json(run.folder / TEXT_FILE, asdict(source.reading))
    if source.concept is not None and run.has_map:
        write_concepts(run, source)
    return run


def write_concepts(run: Run, source: TextSource) -> None:
    """Into the run folder: the concept of each node of its graph."""
    from cogmap.evaluation.concepts import node_concepts
    from cogmap.planning.localise import nodes_by_code

    if source.concept is None:
        raise BadRun("concepts need a text with its truth beside it, there is none")
    walks = some_of(source.plain)
    nodes = nodes_by_code(run.map, run.encode(walks)[0])
    concept = source.concept[: walks.num_walks]
    node_concepts(run.map, nodes, concept, source.names).save(run.folder / CONCEPTS_FILE)


def some_of(walks: Walks) -> Walks:
    """The first pieces, as many as a graph needs."""
    return walks.rows(slice(0, max(1, MAP_UNITS // walks.num_steps)))


def stored_reading(folder: str | Path) -> Reading | None:
    """How the text was read that a run was learned from, None for a run that was not learned from one."""
    path = Path(folder) / TEXT_FILE
    if not path.is_file():
        return None
    stored = read_json(path, BadRun)
    if not isinstance(stored, dict) or set(stored) != {field.name for field in fields(Reading)}:
        raise BadRun(f"{path} must say how a text is read, by unit, least_count and splice")
    reading = Reading(**stored)
    if reading.unit not in get_args(Unit):
        raise BadRun(f"{path} must name its `unit`, words or characters, got {reading.unit!r}")
    return reading


def chosen_unit(words: bool, characters: bool) -> Unit:
    if words == characters:
        raise BadConfig("a text is learned by `--words` or by `--characters`: exactly one must be given")
    return "words" if words else "characters"
