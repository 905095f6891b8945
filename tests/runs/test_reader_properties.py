"""Every reader of a run's files: what is written is read back; each cut and each flipped byte is a record or `BadRun`.

An npz has checksums, so that a record which is read is the one that was written. JSON has none: a digit may change.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogmap.errors import BadRun
from cogmap.evaluation.concepts import NodeConcepts, load_concepts
from cogmap.evaluation.scores import Scores
from cogmap.files import write_arrays, write_json
from cogmap.models.config import ModelConfig
from cogmap.records import Walks
from cogmap.runs.folder import RunFolder
from cogmap.runs.stored import read_text_reading, save_config
from cogmap.training.config import TrainingConfig
from cogmap.walks.quantize import ViewQuantizer, load_quantizer
from cogmap.walks.text import TextReading

MODEL = ModelConfig(2, 1, 2, encoder="gru")
TRAINING = TrainingConfig(minutes=2.5)
WALKS = Walks(np.zeros((1, 2), int), np.zeros((1, 1), int), np.array([2]), 2, 1, ("red", "blue"), ("go",))
SCORES = Scores(test_accu=0.5, nodes=7, exact=True, map_kind="minimal", warnings=("thin",))
CONCEPTS = NodeConcepts(("a", "b"), np.array([0, -1, 1], np.int32), 0.5, 0.25, 0.125, 1.0)
QUANTIZER = ViewQuantizer(
    np.array([3]),
    np.arange(3, dtype=np.float32),
    np.ones((3, 2), np.float32),
    np.eye(2, dtype=np.float32),
    np.ones((2, 3), np.float32),
)
ROWS = [{"step": 1, "loss": 0.5, "codes_in_use": [2]}, {"step": 2, "loss": 0.25, "codes_in_use": []}]


@dataclass(frozen=True)
class Reader:
    file: str
    write: Callable[[Path], None]
    read: Callable[[Path], Any]  # something that can be compared
    expected: Any


def _plain(record: Any) -> Any:
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(record).items()
    }


def _config(path: Path) -> Any:
    run = RunFolder(path.parent)
    return run.config, run.training, run.observation_labels, run.action_labels, run.task


def _rows(path: Path) -> Any:
    save_config(path.parent, "places", MODEL, TRAINING, WALKS)
    return RunFolder(path.parent).metrics()


def _views(path: Path) -> Any:
    save_config(path.parent, "places", MODEL, TRAINING, WALKS)
    found = RunFolder(path.parent).node_views()
    return None if found is None else [array.tolist() for array in found]


READERS = [
    Reader(
        "config.json",
        lambda path: save_config(path.parent, "places", MODEL, TRAINING, WALKS),
        _config,
        (MODEL, TRAINING, ("red", "blue"), ("go",), "places"),
    ),
    Reader("scores.json", SCORES.save, Scores.load, SCORES),
    Reader("concepts.json", CONCEPTS.save, lambda path: _plain(load_concepts(path, 3)), _plain(CONCEPTS)),
    Reader(
        "text.json",
        lambda path: write_json(path, asdict(TextReading("characters", 3, 0.5))),
        read_text_reading,
        TextReading("characters", 3, 0.5),
    ),
    Reader(
        "metrics.jsonl",
        lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in ROWS)) and None,
        _rows,
        ROWS,
    ),
    Reader("quantizer.npz", QUANTIZER.save, lambda path: _plain(load_quantizer(path)), _plain(QUANTIZER)),
    Reader(
        "views.npz",
        lambda path: write_arrays(
            path, {"views": np.ones((1, 2, 2, 3), np.uint8), "view_of_node": np.array([0, -1])}
        ),
        _views,
        [np.ones((1, 2, 2, 3), int).tolist(), [0, -1]],
    ),
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.file)
def test_what_is_written_is_read_back(reader: Reader, tmp_path: Path) -> None:
    reader.write(tmp_path / reader.file)
    assert reader.read(tmp_path / reader.file) == reader.expected


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.file)
def test_each_cut_and_each_flipped_byte_is_a_record_or_the_one_error(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / reader.file
    reader.write(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    broken = [whole[:place] for place in range(len(whole))]
    for place, flip in enumerate(rng.integers(1, 256, len(whole)).tolist()):
        broken.append(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
    read = 0
    for content in broken:
        path.write_bytes(content)
        try:
            found = reader.read(path)
        except BadRun as error:
            if "\n" in str(error):
                raise
            continue
        read += 1
        assert path.suffix != ".npz" or found == reader.expected
    assert read < len(broken) / 2
