"""From a text to a run: sources, what they refuse, and a tiny training with all its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.ginc import GincConfig, read_truth, write_ginc
from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.evaluation.concepts import load_concepts
from cogmap.models.config import ModelConfig
from cogmap.planning.localise import nodes_by_code
from cogmap.records import Walks
from cogmap.runs.names import CONCEPTS_FILE
from cogmap.runs.run import load_run
from cogmap.runs.stored import read_text_reading
from cogmap.tasks import TrainingData
from cogmap.tasks.learning import chosen_lines, learn
from cogmap.tasks.text import chosen_unit, read_text, text_defaults
from cogmap.training.config import TrainingConfig
from cogmap.walks.text import RARE, TextReading

TINY = GincConfig(
    concepts=2,
    symbols=8,
    values=2,
    slots=4,
    documents=6,
    document_length=2100,
    validation_documents=2,
    validation_length=60,
    prompts=4,
    prompt_lengths=(3,),
    prompt_examples=(0, 2),
)
SMALL = {"width": 16, "num_codes": 30, "batch_size": 8, "window": 20, "bottleneck_from": 5, "head_width": 16}


@pytest.fixture(scope="module")
def ginc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ginc") / "data"
    write_ginc(folder, TINY, lambda name, share: None)
    return folder


def test_documents_are_cut_into_pieces_that_know_their_concept(ginc: Path) -> None:
    source = read_text(ginc / "train.txt", TextReading())
    world, training, _ = read_truth(ginc)
    tokens = training.tokens(world)
    assert source.plain.lengths.tolist() == [1024, 1024, 52] * 6
    assert source.concept is not None
    assert source.concept.tolist() == np.repeat(training.concept, 3).tolist()
    assert source.plain.observations[4].tolist() == tokens[1, 1024:2048].tolist()
    assert source.plain.observation_labels == world.vocabulary
    assert source.training is source.plain


def test_spliced_documents_are_learned_from_and_whole_ones_mapped(ginc: Path) -> None:
    source = read_text(ginc / "train.txt", TextReading(splice=0.05))
    assert not np.array_equal(source.training.observations, source.plain.observations)
    first = source.training.observations[:3].reshape(-1)[:2100]
    assert sorted(first) == sorted(source.plain.observations[:3].reshape(-1)[:2100])


def test_any_other_text_has_no_concepts(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("to be or not to be " * 10 + "that")
    source = read_text(tmp_path / "book.txt", TextReading())
    assert source.concept is None
    assert source.plain.observation_labels == ("be", "not", "or", "to", RARE)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "must hold text, got an empty file"),
        (b"caf\xe9 au lait", "must be UTF-8 text: invalid continuation byte at byte 3"),
        (b"one", "a text must hold at least 2 words, got 1"),
        (b"one two", "some words of a text must occur at least `least_count`"),
    ],
)
def test_bad_texts_are_reported_in_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "book.txt").write_bytes(content)
    with pytest.raises(BadWalks, match=told):
        read_text(tmp_path / "book.txt", TextReading())


def test_one_unit_must_be_chosen() -> None:
    assert chosen_unit(words=False, characters=True) == "characters"
    for both in (False, True):
        with pytest.raises(BadConfig, match="exactly one must be given"):
            chosen_unit(words=both, characters=both)


def test_the_papers_batch_is_24() -> None:
    assert text_defaults("paper", "transformer")["batch_size"] == 24


def test_a_run_holds_graph_unit_and_concepts(ginc: Path, tmp_path: Path) -> None:
    source = read_text(ginc / "train.txt", TextReading(splice=0.02))
    run = learn(source, tmp_path / "run", encoder="gru", steps=30, quiet=True, **SMALL)
    assert run.text_reading == TextReading(splice=0.02)
    assert run.map.kind == "paper"
    found = load_concepts(run.folder / CONCEPTS_FILE, run.map.num_nodes)
    assert found.names == ("concept 0", "concept 1")
    nodes = nodes_by_code(run.map, run.encode(source.plain)[0])
    shares = np.array(
        [
            [((nodes == node).sum(axis=1) * (source.concept == one)).sum() for one in (0, 1)]
            for node in range(run.map.num_nodes)
        ]
    )
    assert found.purity == pytest.approx(shares.max(axis=1).sum() / shares.sum())
    assert run.map.num_nodes > 0
    assert load_run(run.folder).config.width == 16


def test_a_vanilla_model_has_neither_graph_nor_concepts(ginc: Path, tmp_path: Path) -> None:
    source = read_text(ginc / "val.txt", TextReading())
    change = {"width": 16, "batch_size": 4, "window": 20}
    run = learn(source, tmp_path / "run", encoder="lstm", vanilla=True, steps=2, quiet=True, **change)
    assert not run.has_map
    assert not (run.folder / CONCEPTS_FILE).exists()


def test_an_unknown_unit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text('{"unit": "syllables", "least_count": 5, "splice": 0}')
    with pytest.raises(BadRun, match='`unit` must be one of words, characters, got "syllables"'):
        read_text_reading(tmp_path / "text.json")


def test_documents_are_words(ginc: Path) -> None:
    with pytest.raises(BadConfig, match="holds GINC documents, which are `--words`, got --characters"):
        read_text(ginc / "val.txt", TextReading("characters"))


def test_a_very_large_vocabulary_has_narrow_heads_and_a_line_that_says_it_is_slow() -> None:
    assert text_defaults("fast", "auto", 30_000)["code_logits"]
    narrow = text_defaults("fast", "auto", 100_000)
    assert (narrow["code_logits"], narrow["head_width"]) == (False, 128)
    words = np.arange(2100)[None] % 30_000
    walks = Walks(words.astype(np.int32), np.zeros((1, 2099), dtype=np.int32), np.array([2100]), 30_000, 1)
    data = TrainingData("text", walks)
    models = [ModelConfig(targets, 1, targets) for targets in (30_000, 4)]
    lines = [chosen_lines(data, model, TrainingConfig()) for model in models]
    assert [len(said) for said in lines] == [3, 2]
    assert "each step scores 30,000 observations" in lines[0][2]
    assert "--least-count" in lines[0][2]
