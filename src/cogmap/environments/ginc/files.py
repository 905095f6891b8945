"""A GINC folder: write all published files or none, and read them back with their truth."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.ginc.config import GincConfig
from cogmap.environments.ginc.prompts import Prompts, sample_prompts
from cogmap.environments.ginc.world import (
    DELIMITER,
    Documents,
    GincWorld,
    build_world,
    sample_training_and_validation,
)
from cogmap.errors import BadOutput, BadWalks
from cogmap.files import parse_json, read_arrays, read_text, write_arrays
from cogmap.records import Integers, Labels

Report = Callable[[str, float], None]  # the file being written, and the share of all tokens done
Row = dict[str, Any]
TRUTH = ("train_concept", "train_hidden", "validation_concept", "validation_hidden")
# The kind of numbers and the dimensions of each array of truth.npz.
_ARRAYS = {
    "train_concept": ("iu", 1),
    "train_hidden": ("iu", 2),
    "validation_concept": ("iu", 1),
    "validation_hidden": ("iu", 2),
    "start": ("f", 2),
    "slot_transitions": ("f", 3),
    "value_transitions": ("f", 2),
    "emission": ("iu", 1),
    "vocabulary": ("U", 1),
}
PARAMETERS = ("start", "slot_transitions", "value_transitions", "emission", "vocabulary")
FIELDS = {
    "text": str,
    "label": str,
    "x": list,
    "slot_pattern": list,
    "test_value": int,
    "hmm_type": str,
    "n_examples": int,
    "hmm_id": int,
}


def write_ginc(out: str | Path, config: GincConfig, report: Report = lambda name, share: None) -> list[Path]:
    """Write the whole set into the folder `out`, which must be absent or empty. Returns the files in order."""
    random = np.random.RandomState(config.seed)
    world = build_world(config, random)
    with whole_folder(Path(out)) as folder:
        report("train.txt", 0.0)
        training, validation = sample_training_and_validation(world, config, random)
        names = _write_documents(folder, world, training, validation)
        done = training.hidden.size + validation.hidden.size
        total = done + _prompt_tokens(config)
        kinds = itertools.groupby(sample_prompts(world, config), key=_prompt_file)
        for name, cells in kinds:
            with _Writer(folder / f"{name}.txt", folder / f"{name}.json") as writer:
                for cell in cells:
                    report(name, done / total)
                    writer.write(_prompt_rows(cell, world.vocabulary))
                    done += cell.tokens.size
            names += [f"{name}.txt", f"{name}.json"]
        report("", 1.0)
    return [Path(out) / name for name in names]


def read_truth(folder: str | Path) -> tuple[GincWorld, Documents, Documents]:
    """The concepts, and the hidden states of the training and the validation documents."""
    path = Path(folder) / "truth.npz"
    arrays = read_arrays(path, BadWalks)
    for name in (*TRUTH, *PARAMETERS):
        if name not in arrays:
            raise BadWalks(f"{path} must hold `{name}`, got {', '.join(sorted(arrays)) or 'no arrays':.300}")
    try:
        _check_truth(arrays)
    except BadWalks as error:
        raise BadWalks(f"{path}: {error}") from error
    training, validation = (
        Documents(arrays[f"{kind}_concept"].astype(np.int32), arrays[f"{kind}_hidden"].astype(np.int32))
        for kind in ("train", "validation")
    )
    world = GincWorld(
        start=arrays["start"],
        slot_transitions=arrays["slot_transitions"],
        value_transitions=arrays["value_transitions"],
        emission=arrays["emission"].astype(np.int32),
        vocabulary=tuple(arrays["vocabulary"].tolist()),
    )
    return world, training, validation


def _check_truth(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Shapes that agree: C concepts in both halves, V values, F slots, H = V F states, O words; B documents of N."""
    for name, (kinds, ndim) in _ARRAYS.items():
        array = arrays[name]
        if array.dtype.kind not in kinds or array.ndim != ndim or 0 in array.shape:
            rule = f"`{name}` must be an array of {ndim} dimension(s) with entries"
            raise BadWalks(f"{rule}, got {array.dtype} of shape {array.shape}")
    (concepts, states), slots = arrays["start"].shape, arrays["slot_transitions"].shape[1]
    values, words = len(arrays["value_transitions"]), len(arrays["vocabulary"])
    if concepts % 2 or states != values * slots:
        rule = f"`start` must have shape (C, H) with an even C and H = V F (={values * slots})"
        raise BadWalks(f"{rule}, got {arrays['start'].shape}")
    expected: dict[str, tuple[int, ...]] = {
        "slot_transitions": (concepts, slots, slots),
        "value_transitions": (values, values),
        "emission": (states,),
    }
    bounds = {"emission": words}
    for kind in ("train", "validation"):
        expected[f"{kind}_concept"] = arrays[f"{kind}_hidden"].shape[:1]
        bounds |= {f"{kind}_concept": concepts, f"{kind}_hidden": states}
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            raise BadWalks(f"`{name}` must have shape {shape}, got {arrays[name].shape}")
    for name, bound in bounds.items():
        if arrays[name].min() < 0 or arrays[name].max() >= bound:
            rule = f"`{name}` must be in [0, {bound})"
            raise BadWalks(f"{rule}, got {arrays[name].min()} to {arrays[name].max()}")
    for name in ("start", "slot_transitions", "value_transitions"):
        if not ((arrays[name] >= 0) & (arrays[name] <= 1 + 1e-6)).all():
            raise BadWalks(f"`{name}` must hold probabilities")
    if len(set(arrays["vocabulary"].tolist())) != words:
        raise BadWalks(f"`vocabulary` must be {words} different words")


def read_prompts(path: str | Path, vocabulary: Labels) -> list[Prompts]:
    """The prompts in a file `..._prompts_randomsample_K.json`, one record per number of examples, in order."""
    index = {word: place for place, word in enumerate(vocabulary)}
    groups: dict[tuple[int, int, bool], list[dict[str, Any]]] = {}
    for number, line in enumerate(read_text(path, BadWalks).splitlines(), start=1):
        row = _row(line, index, f"line {number} of {path}")
        kind = (len(row["x"]) + 1, row["n_examples"], row["hmm_type"] == "ID_sample")
        groups.setdefault(kind, []).append(row)
    return [_record(kind, rows, path) for kind, rows in groups.items()]


def _write_documents(folder: Path, world: GincWorld, training: Documents, validation: Documents) -> list[str]:
    truth = {
        "train_concept": training.concept,
        "train_hidden": training.hidden,
        "validation_concept": validation.concept,
        "validation_hidden": validation.hidden,
    }
    small = {name: array.astype(np.min_scalar_type(world.emission.size)) for name, array in truth.items()}
    parameters: dict[str, NDArray[Any]] = {
        "start": world.start,
        "slot_transitions": world.slot_transitions,
        "value_transitions": world.value_transitions,
        "emission": world.emission,
        "vocabulary": np.array(world.vocabulary),
    }
    write_arrays(folder / "truth.npz", small | parameters)
    with _Writer(folder / "train.txt") as writer:
        writer.write({"text": text} for text in _texts(training.tokens(world), world.vocabulary))
    with _Writer(folder / "val.txt", folder / "val.json") as writer:
        writer.write(_document_rows(validation, world))
    return ["train.txt", "val.txt", "val.json", "truth.npz"]


class _Writer:
    """Writes a text file with a delimiter after every text and, if given, a file with one JSON object per line."""

    def __init__(self, text: Path, lines: Path | None = None) -> None:
        self._text = text.open("w", encoding="ascii", newline="\n")
        self._lines = lines.open("w", encoding="ascii", newline="\n") if lines else None
        self._between = ""  # the last line has no line break

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()
        if self._lines:
            self._lines.close()

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._text.write(f"{row['text']} {DELIMITER} ")
            if self._lines:
                line = json.dumps(row, separators=(",", ":")).replace("/", "\\/")
                self._lines.write(self._between + line)
                self._between = "\n"


def _document_rows(documents: Documents, world: GincWorld) -> Iterator[Row]:
    texts = _texts(documents.tokens(world), world.vocabulary)
    for text, concept, hidden in zip(texts, documents.concept.tolist(), documents.hidden, strict=True):
        yield {"text": text, "hmm_idx": concept, "hmm_type": "ID", "hiddens": hidden.tolist()}


def _prompt_rows(prompts: Prompts, vocabulary: Labels) -> Iterator[Row]:
    words = np.array(vocabulary, dtype=object)
    columns = zip(
        _texts(prompts.tokens, vocabulary),
        words[prompts.label],
        words[prompts.last_example()].tolist(),
        prompts.last_slots.tolist(),
        prompts.last_value.tolist(),
        prompts.concept.tolist(),
        strict=True,
    )
    for text, label, last_example, slots, value, concept in columns:
        yield {
            "text": text,
            "label": label,
            "x": last_example,
            "slot_pattern": slots,
            "test_value": value,
            "hmm_type": "ID_sample" if prompts.in_distribution else "OOD_sample",
            "n_examples": prompts.examples,
            "hmm_id": concept,
        }


def _texts(tokens: Integers, vocabulary: Labels) -> Iterator[str]:
    """The rows of tokens (B, N), each as words joined by spaces."""
    words = np.array(vocabulary, dtype=object)
    for row in tokens:
        yield " ".join(words[row].tolist())


def _prompt_file(prompts: Prompts) -> str:
    return f"{'id' if prompts.in_distribution else 'ood'}_prompts_randomsample_{prompts.length}"


def _prompt_tokens(config: GincConfig) -> int:
    cells = ((length, count) for length in config.prompt_lengths for count in config.examples_of(length))
    return 2 * config.prompts * sum((count + 1) * (length + 1) - 2 for length, count in cells)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to write into. Its files appear in `out` only if the block succeeds."""
    temporary: Path | None = None
    try:
        filled = out.is_dir()
        if out.exists() and not filled:
            raise BadOutput(f"the output folder must be empty or absent, {out} is a file")
        if filled and any(out.iterdir()):
            raise BadOutput(f"the output folder must be empty or absent, {out} is not empty")
        parent = out if filled else out.parent
        parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=parent, prefix=".cogmap-", suffix=".part"))
        (temporary / "files").mkdir()
        yield temporary / "files"
        if filled:
            for path in (temporary / "files").iterdir():
                path.replace(out / path.name)
        else:
            (temporary / "files").rename(out)
    except OSError as error:
        raise BadOutput(f"cannot write {out}: {error.strerror or error}") from error
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def _row(line: str, index: dict[str, int], where: str) -> dict[str, Any]:
    """The fields of one line, with words as indices into the vocabulary."""
    try:
        row = parse_json(line)
    except ValueError as error:
        raise BadWalks(f"{where} must be JSON: {error}") from error
    for name, kind in FIELDS.items():
        if not isinstance(row, dict) or type(row.get(name)) is not kind:
            raise BadWalks(f"{where} must hold `{name}` as a{'n' * (kind is int)} {kind.__name__}")
    slots = row["slot_pattern"]
    if len(slots) != len(row["x"]) + 2 or not all(type(slot) is int for slot in slots):
        raise BadWalks(f"{where} must hold {len(row['x']) + 2} integers as `slot_pattern`, got {slots!s:.60}")
    for name in ("n_examples", "hmm_id", "test_value", "slot_pattern"):
        numbers = slots if name == "slot_pattern" else [row[name]]
        if not all(0 <= number < 2**31 for number in numbers):
            raise BadWalks(f"{where} must hold `{name}` from 0 to 2^31 - 1, got {numbers!s:.60}")
    try:
        tokens = [index[word] for word in row["text"].split()]
        return row | {
            "tokens": tokens,
            "label": index[row["label"]],
            "x": [index[str(word)] for word in row["x"]],
        }
    except KeyError as error:
        rule = "every token of a prompt must be in the vocabulary"
        raise BadWalks(f"{rule}, {where} has {error!s:.60}") from error


def _record(kind: tuple[int, int, bool], rows: list[dict[str, Any]], path: str | Path) -> Prompts:
    length, examples, in_distribution = kind
    expected = (examples + 1) * (length + 1) - 2
    for row in rows:
        if len(row["tokens"]) != expected:
            rule = f"a prompt of {examples} examples of {length} tokens must have {expected} tokens"
            raise BadWalks(f"{rule}, one in {path} has {len(row['tokens'])}")

    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=np.int32)

    return Prompts(
        length=length,
        examples=examples,
        in_distribution=in_distribution,
        concept=column("hmm_id"),
        tokens=column("tokens"),
        label=column("label"),
        last_slots=column("slot_pattern"),
        last_value=column("test_value"),
    )
