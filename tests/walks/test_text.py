"""Text as walks: what a unit is, how texts are cut, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.ginc import GincConfig, read_truth, write_ginc
from cogmap.errors import BadConfig, BadWalks
from cogmap.records import Walks
from cogmap.walks.text import document_walks, load_text, text_walks, token_walks


def units(walks: Walks, walk: int = 0) -> list[str]:
    assert walks.observation_labels is not None
    return [walks.observation_labels[i] for i in walks.observations[walk, : walks.lengths[walk]]]


def test_words_keep_their_inner_marks_and_lose_the_outer() -> None:
    walks = text_walks("The well-known cat's here.\n\nThe  end!")
    assert units(walks) == ["The", "well-known", "cat's", "here", ".", "The", "end", "!"]
    assert walks.num_walks == 1
    assert walks.num_actions == 1
    assert walks.action_labels == ("next",)
    assert walks.observation_labels == ("!", ".", "The", "cat's", "end", "here", "well-known")


def test_characters_have_one_blank_for_any_white_space() -> None:
    assert units(text_walks(" ab\r\n\tä—c ", "characters")) == list("ab ä—c")


def test_a_text_is_cut_and_its_rest_is_shorter() -> None:
    walks = text_walks("a b c d e f g", length=4)
    assert [units(walks, 0), units(walks, 1)] == [list("abcd"), list("efg")]
    assert walks.lengths.tolist() == [4, 3]
    assert walks.observations[1, 3] == 0


def test_a_single_unit_left_over_is_dropped() -> None:
    walks = text_walks("a b c d e", length=2)
    assert walks.lengths.tolist() == [2, 2]
    assert walks.num_observations == 5


def test_a_length_beyond_the_text_changes_nothing() -> None:
    assert text_walks("a b c", length=100).observations.tolist() == [[0, 1, 2]]


def test_a_second_text_is_read_in_the_vocabulary_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text("b c a")
    (tmp_path / "second.txt").write_text("c c")
    (tmp_path / "strange.txt").write_text("c z")
    first = load_text(tmp_path / "first.txt")
    assert load_text(tmp_path / "second.txt", like=first).observations.tolist() == [[2, 2]]
    with pytest.raises(
        BadWalks, match=r"strange.txt: label 'z' in `text` is not known, the labels are 'a', 'b'"
    ):
        load_text(tmp_path / "strange.txt", like=first)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "text.txt must hold text, got an empty file"),
        (b" \n\t", "text.txt must hold text, got an empty file"),
        (b"caf\xe9 au lait", "text.txt must be UTF-8 text: invalid continuation byte at byte 3"),
        (b"alone", "text.txt: a text must hold at least 2 words, got 1"),
        (b"a \0 b", "text.txt: `text` must be non-empty words without NUL"),
    ],
)
def test_texts_that_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "text.txt").write_bytes(content)
    with pytest.raises(BadWalks, match=message):
        load_text(tmp_path / "text.txt")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadWalks, match=r"cannot read .*none.txt: No such file"):
        load_text(tmp_path / "none.txt")


def test_a_byte_order_mark_is_no_letter(tmp_path: Path) -> None:
    (tmp_path / "marked.txt").write_bytes("a b".encode("utf-8-sig"))
    assert load_text(tmp_path / "marked.txt").observation_labels == ("a", "b")


def test_options_that_make_no_sense_are_reported() -> None:
    with pytest.raises(BadConfig, match="`unit` must be 'words' or 'characters', got 'lines'"):
        text_walks("a b", "lines")  # type: ignore[arg-type]
    with pytest.raises(BadConfig, match=r"`length` \(=1\) must be at least 2"):
        text_walks("a b", length=1)


def test_tokens_as_walks() -> None:
    walks = token_walks(np.array([[0, 1, 1], [1, 0, 0]]), ("x", "y"), np.array([3, 2]))
    assert walks.actions.tolist() == [[0, 0], [0, 0]]
    assert units(walks, 1) == ["y", "x"]


def test_ginc_documents_as_walks(tmp_path: Path) -> None:
    config = GincConfig(
        concepts=2, documents=3, document_length=40, prompts=1, prompt_lengths=(2,), prompt_examples=(0,)
    )
    write_ginc(tmp_path / "ginc", config)
    world, training, _ = read_truth(tmp_path / "ginc")
    walks = document_walks(tmp_path / "ginc" / "train.txt", 40, world.vocabulary)
    assert walks.observations.tolist() == training.tokens(world).tolist()
    assert walks.num_observations == 50
    with pytest.raises(BadWalks, match="must hold documents of 50 words and a delimiter each, got 123 words"):
        document_walks(tmp_path / "ginc" / "train.txt", 50)
