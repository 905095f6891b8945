"""What is written is read back equal; what is damaged gives `BadWalks`, never another exception."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from walk_strategies import unlike, with_or_without_labels

from cogmap.errors import BadWalks
from cogmap.walks.csv_table import parse_csv
from cogmap.walks.jsonl import parse_jsonl
from cogmap.walks.store import load_walks, save_walks


def written(walks, suffix, change=lambda content: content, like=None):
    """The walks after a trip to a file whose bytes were changed on the way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"walks{suffix}"
        save_walks(path, walks)
        path.write_bytes(change(path.read_bytes()))
        return load_walks(path, like)


@pytest.mark.parametrize("suffix", [".npz", ".jsonl"])
@given(walks=with_or_without_labels())
def test_round_trip(suffix, walks):
    assert unlike(walks, written(walks, suffix)) == []


def is_number(label):
    try:
        float(label)
    except ValueError:
        return False
    return True


@given(walks=with_or_without_labels())
def test_csv_round_trip_in_the_vocabulary_of_the_walks_themselves(walks):
    # Labels that are all numbers cannot be distinguished from integers; another test covers their refusal.
    for labels in (walks.observation_labels, walks.action_labels):
        assume(labels is None or not any(map(is_number, labels)))
    assert unlike(walks, written(walks, ".csv", like=walks)) == []


@given(walks=with_or_without_labels())
def test_csv_alone_gives_back_the_words_of_every_step(walks):
    assume(walks.observation_labels is not None)
    for labels in (walks.observation_labels, walks.action_labels or ()):
        assume(not any(map(is_number, labels)))
    back = written(walks, ".csv")
    words = [walks.observation_labels[index] for index in walks.observations[walks.step_mask()]]
    assert words == [back.observation_labels[index] for index in back.observations[back.step_mask()]]
    assert back.lengths.tolist() == walks.lengths.tolist()


@given(walks=with_or_without_labels(), data=st.data())
@settings(max_examples=200)
def test_a_damaged_npz_is_refused_or_harmless(walks, data):
    """The archive's checksums cover every array: damage outside them changes nothing that is read."""
    place, flip = data.draw(st.integers(0, 10_000)), data.draw(st.integers(1, 255))

    def damage(content):
        place_inside = place % len(content)
        return content[:place_inside] + bytes([content[place_inside] ^ flip]) + content[place_inside + 1 :]

    with suppress(BadWalks):
        assert unlike(walks, written(walks, ".npz", damage)) == []


@given(walks=with_or_without_labels(), share=st.floats(0, 0.999))
def test_a_truncated_npz_is_refused(walks, share):
    with pytest.raises(BadWalks):
        written(walks, ".npz", lambda content: content[: int(share * len(content))])


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@given(walks=with_or_without_labels(), data=st.data())
def test_damaged_text_gives_walks_or_bad_walks(suffix, walks, data):
    """Text has no checksum: damage may read as other walks, but never as another exception."""
    place, byte, keep = data.draw(
        st.tuples(st.integers(0, 10_000), st.integers(0, 255), st.integers(0, 10_000))
    )

    def damage(content):
        place_inside = place % len(content)
        changed = content[:place_inside] + bytes([byte]) + content[place_inside + 1 :]
        return changed[: keep % (len(content) + 1)] if keep < 5_000 else changed

    with suppress(BadWalks):
        written(walks, suffix, damage)


@pytest.mark.parametrize("parse", [parse_jsonl, parse_csv], ids=["jsonl", "csv"])
@given(text=st.text())
@example(text="[" * 100_000)
@example(text='{"observations": [1, 2], "actions": [1' + "0" * 5000 + "]}")
def test_any_text_gives_walks_or_bad_walks(parse, text):
    with suppress(BadWalks):
        parse("walk,step,observation,action\n" + text if parse is parse_csv else text)
