"""The published files, written all or none."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.ginc.config import GincConfig
from cogmap.environments.ginc.documents import Documents, sample_training_and_validation
from cogmap.environments.ginc.prompts import Prompts, sample_prompts
from cogmap.environments.ginc.world import DELIMITER, GincWorld, build_world
from cogmap.errors import BadOutput
from cogmap.files import write_arrays
from cogmap.records import Integers, Labels

Report = Callable[[str, float], None]  # the file being written, and the share of all tokens that are done
Row = dict[str, Any]


def write_ginc(out: str | Path, config: GincConfig, report: Report = lambda name, share: None) -> list[Path]:
    """Write the whole set into the folder `out`, which must be absent or empty; the files, in order."""
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
    """A text file with the delimiter after every text and, if asked for, a file of one JSON object a line."""

    def __init__(self, text: Path, lines: Path | None = None) -> None:
        self._text = text.open("w", encoding="ascii", newline="\n")
        self._lines = lines.open("w", encoding="ascii", newline="\n") if lines else None
        self._between = ""  # the last line has no end

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
    """The rows of tokens (B, N), each as words with spaces between."""
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
    """A folder to write into whose files appear in `out` only when the block ends well."""
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
