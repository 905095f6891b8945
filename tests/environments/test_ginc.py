"""GINC against plain calls of the legacy generator, against brute force, and against the published checksums."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.ginc import (
    GincConfig,
    GincWorld,
    build_world,
    read_prompts,
    read_truth,
    sample_prompts,
    sample_training_and_validation,
    write_ginc,
)
from cogmap.environments.ginc.draws import CumulativeTable, WordStream, bounded_draw, uniform_draw
from cogmap.environments.ginc.world import next_word
from cogmap.errors import BadConfig, BadOutput, BadWalks

SMALL = GincConfig(
    concepts=2,
    symbols=9,
    values=3,
    slots=4,
    documents=3,
    document_length=30,
    validation_documents=2,
    validation_length=20,
    prompts=7,
    prompt_lengths=(2, 4),
    prompt_examples=(0, 1, 3),
    seed=5,
)
# Sizes of one, whose draws read nothing from the stream.
SMALLEST = replace(SMALL, concepts=1, values=1, slots=2, symbols=2)
PUBLISHED = {
    "train.txt": "cf179a8709cf219f33ea199b2570e22496306832",
    "val.txt": "6e02a9170049e51e771e01fb2c9b1d7359f07d4d",
    "val.json": "414fa9cb67600387a15a6c1222af7f5b96c468f1",
    "id_prompts_randomsample_2.txt": "072b38f56675e6484c2ec477c4f6b899da3860de",
    "id_prompts_randomsample_2.json": "78efba9ace5381d220040275638ead1feef7de44",
    "ood_prompts_randomsample_2.txt": "e09e01390c7c822b9b6fabe09cc18b1ad38602bf",
    "id_prompts_randomsample_3.txt": "9684f1b399bd5703f9f664b68875ebf2ea5fd8e1",
}
# No published checksum exists for these files; these are our own, made when all of the above matched.
OURS = {
    "ood_prompts_randomsample_2.json": "ba97c1ea6f110c240060ea2c72f0c2aa08097b13",
    "id_prompts_randomsample_3.json": "eecf0b770a9593ca8c4900be215e517dcba8dde0",
    "ood_prompts_randomsample_3.txt": "b6640add57859117d0ea4e9a0e61efe38e9974a7",
    "ood_prompts_randomsample_3.json": "7f687ecf79c9d66c8a71416cf80717833f9953c5",
    "id_prompts_randomsample_5.txt": "0f75b5d1c16e72d4296b87f61e8f05a8fe050813",
    "id_prompts_randomsample_5.json": "6c04d7b362354172908fc23e250d826032296f74",
    "ood_prompts_randomsample_5.txt": "161f321500e741ba8c23b890885718f76c1d807f",
    "ood_prompts_randomsample_5.json": "b790b7d5fd1c95b57d115b5023a78fb6ff1f1ad4",
    "id_prompts_randomsample_8.txt": "81dd211138617c942f261f2141dfe11afd74dad3",
    "id_prompts_randomsample_8.json": "1ad480676d025fce48759d207ee299f7da9389ec",
    "ood_prompts_randomsample_8.txt": "1c98366c586e32da3c9bd158e15cadc5463cdcfb",
    "ood_prompts_randomsample_8.json": "cb75cc79826f09502102eb883f6f1f12f20c10df",
    "id_prompts_randomsample_10.txt": "e8d96ce6984cb4a34f17d93f2b4bc59200d4ab86",
    "id_prompts_randomsample_10.json": "ada6ff01c5d5410521eaa355af29e45767faec4b",
    "ood_prompts_randomsample_10.txt": "95fb7933bda580752ea2db2212324e3ba5c84820",
    "ood_prompts_randomsample_10.json": "9d6b16cdc372982076517ea7d5eabb02172e7396",
}


def world_of(config: GincConfig) -> GincWorld:
    return build_world(config, np.random.RandomState(config.seed))


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@pytest.fixture(scope="module")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ginc") / "small"
    write_ginc(folder, SMALL)
    return folder


# The published set.


@pytest.mark.learning
def test_the_whole_published_set(tmp_path: Path) -> None:
    written = write_ginc(tmp_path / "ginc", GincConfig())
    found = {path.name: git_blob(path.read_bytes()) for path in written if path.name != "truth.npz"}
    assert found == PUBLISHED | OURS
    assert (tmp_path / "ginc" / "train.txt").stat().st_size == 24_374_232


def test_the_published_prompts_of_the_first_length(tmp_path: Path) -> None:
    """Prompts have their own seed: neither documents nor later lengths change the first files."""
    few = GincConfig(documents=1, document_length=2, validation_documents=1, prompt_lengths=(2,))
    write_ginc(tmp_path / "ginc", few)
    for name in PUBLISHED:
        if "prompts_randomsample_2" in name:
            assert git_blob((tmp_path / "ginc" / name).read_bytes()) == PUBLISHED[name]


def test_the_first_published_document() -> None:
    config = GincConfig(documents=1, validation_documents=1, validation_length=2)
    random = np.random.RandomState(config.seed)
    world = build_world(config, random)
    training, _ = sample_training_and_validation(world, config, random)
    text = " ".join(world.vocabulary[token] for token in training.tokens(world).reshape(-1))
    assert hashlib.sha1(text.encode()).hexdigest() == "ba3e43aa2a324ad5a889ea86b937a2c84b84e0e7"
    assert world.vocabulary[:3] + world.vocabulary[-2:] == ("/", "a", "b", "aw", "ax")


# The draws.


@pytest.mark.parametrize("bound", [1, 2, 5, 8, 9, 10, 16, 17])
def test_bounded_draws_are_those_of_randint(bound: int) -> None:
    words = WordStream(3).peek(400)
    draw = bounded_draw(words, bound)
    random = np.random.RandomState(3)
    place = 0
    for _ in range(150):
        assert draw.value[place] == random.randint(7, 7 + bound) - 7
        place = draw.after[place]
    assert place < words.size
    assert (WordStream(3).peek(place + 1)[place]) == random.randint(0, 2**32, dtype=np.uint32)


def test_a_bounded_draw_that_runs_out_of_words_says_so() -> None:
    words = np.array([1, 15, 15], dtype=np.uint32)
    assert bounded_draw(words, 10).after.tolist() == [1, 3, 3, 3]


def test_uniform_draws_are_those_of_rand() -> None:
    words = WordStream(4).peek(20)
    assert uniform_draw(words, np.arange(0, 20, 2)).tolist() == np.random.RandomState(4).rand(10).tolist()


def test_a_stream_continues_after_what_was_consumed() -> None:
    stream = WordStream(8)
    whole = WordStream(8).peek(30)
    assert stream.peek(10).tolist() == whole[:10].tolist()
    stream.consume(4)
    assert stream.peek(20).tolist() == whole[4:24].tolist()


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 100])
def test_the_search_in_a_table_is_a_search_from_the_right(columns: int) -> None:
    rng = np.random.default_rng(columns)
    cumulative = np.cumsum(rng.random((3, columns)), axis=1)
    row = rng.integers(0, 3, 200)
    uniform = np.concatenate(
        [rng.random(150) * cumulative.max() * 1.2, rng.choice(cumulative.reshape(-1), 50)]
    )
    expected = [np.searchsorted(cumulative[r], u, side="right") for r, u in zip(row, uniform, strict=True)]
    assert CumulativeTable(cumulative).first_above(row, uniform).tolist() == expected


# Documents and prompts, one call of the generator after another.


@pytest.mark.parametrize("config", [SMALL, SMALLEST])
def test_documents_are_those_of_plain_calls(config: GincConfig) -> None:
    random, plain = (np.random.RandomState(config.seed) for _ in range(2))
    world = build_world(config, random)
    build_world(config, plain)
    for documents in sample_training_and_validation(world, config, random):
        for concept, hidden in zip(documents.concept, documents.hidden, strict=True):
            assert concept == plain.choice(config.concepts)
            probabilities = world.start[concept]
            for state in hidden:
                assert state == int((np.cumsum(probabilities) > plain.rand()).argmax())
                plain.rand()
                probabilities = world.transitions()[concept, state]


def plain_prompt(
    world: GincWorld, random: np.random.RandomState, inside: bool, examples: int, length: int
) -> tuple[int, list[int]]:
    """The concept and the hidden states, delimiters included, of one prompt."""
    concept = random.randint(0, world.num_concepts)
    shared = random.randint(1, world.num_slots) if inside else None
    hidden: list[int] = []
    for _ in range(examples + 1):
        if inside:
            states = [random.randint(0, world.num_values) * world.num_slots + shared]
            for _ in range(length - 1):
                states.append(random.choice(world.emission.size, p=world.transitions()[concept, states[-1]]))
        else:
            slots = random.randint(1, world.num_slots, size=length)
            states = list(random.randint(0, world.num_values) * world.num_slots + slots)
        hidden += [*states, states[-1] // world.num_slots * world.num_slots]
    return concept, hidden


@pytest.mark.parametrize("config", [SMALL, SMALLEST])
def test_prompts_are_those_of_plain_calls(config: GincConfig) -> None:
    world = world_of(config)
    random = np.random.RandomState(config.seed + 3)
    cells = list(sample_prompts(world, config))
    order = [(cell.length, cell.in_distribution, cell.examples) for cell in cells]
    assert order == list(itertools.product(config.prompt_lengths, (True, False), config.prompt_examples))
    for cell in cells:
        for prompt in range(config.prompts):
            inside = cell.in_distribution
            concept, hidden = plain_prompt(world, random, inside, cell.examples, cell.length)
            assert cell.concept[prompt] == concept
            assert cell.tokens[prompt].tolist() == world.emission[hidden[:-2]].tolist()
            assert cell.last_slots[prompt].tolist() == [h % config.slots for h in hidden[-cell.length - 1 :]]
            assert cell.last_value[prompt] == hidden[-2] // config.slots


def test_prompts_too_long_are_left_out() -> None:
    assert GincConfig().examples_of(3)[-1] == 256
    assert GincConfig().examples_of(5)[-1] == 128
    assert GincConfig().examples_of(10)[-1] == 64


# The answers.


def brute_force_next(world: GincWorld, concept: int, slot: int | None, words: list[int]) -> np.ndarray:
    """(O,): joint probabilities of `words` and each next word, summed over all paths of hidden states."""
    transitions = world.transitions()[concept]
    total = np.zeros(len(world.vocabulary))
    states = range(world.emission.size)
    starts = [state for state in states if slot is None or state % world.num_slots == slot]
    for path in itertools.product(starts, *[states] * len(words)):
        if [world.emission[state] for state in path[:-1]] == words:
            steps = [transitions[a, b] for a, b in itertools.pairwise(path)]
            total[world.emission[path[-1]]] += np.prod(steps) / len(starts)
    return total


@pytest.mark.parametrize("in_distribution", [True, False])
def test_answers_are_the_most_likely_words_by_brute_force(in_distribution: bool) -> None:
    world = world_of(replace(SMALL, values=2, slots=3, symbols=6))
    config = replace(SMALL, values=2, slots=3, symbols=6, prompts=12)
    cells = [c for c in sample_prompts(world, config) if c.in_distribution == in_distribution]
    for cell in cells:
        for prompt in range(cell.count):
            concept = cell.concept[prompt] + (0 if in_distribution else config.concepts)
            slot = cell.last_slots[prompt, 0] if in_distribution else None
            words = cell.last_example()[prompt].tolist()
            assert cell.label[prompt] == brute_force_next(world, concept, slot, words).argmax()


def test_words_that_a_concept_cannot_emit_are_followed_by_the_delimiter() -> None:
    world = world_of(SMALL)
    stuck = replace(world, slot_transitions=np.stack([np.eye(4)] * 4), value_transitions=np.eye(3))
    words = np.array([[world.emission[1], world.emission[2]]])
    assert world.emission[1] != world.emission[2]
    assert next_word(stuck, np.array([0]), None, words).tolist() == [0]


# The world.


def test_concepts_share_the_slow_chain_and_differ_in_the_fast_one() -> None:
    world = world_of(GincConfig())
    assert world.num_concepts == 5
    assert world.start.shape == (10, 100)
    assert (world.emission.reshape(10, 10)[:, 0] == 0).all()
    assert (world.emission.reshape(10, 10)[:, 1:] > 0).all()
    np.testing.assert_allclose(world.transitions().sum(axis=2), 1)
    np.testing.assert_allclose(world.start.sum(axis=1), 1)
    assert (world.value_transitions.diagonal() >= 0.9).all()
    assert len({slots.tobytes() for slots in world.slot_transitions}) == 10


def test_hidden_states_move_by_both_chains() -> None:
    """State `value * F + slot`: the fast chain is the inner one. Both are asymmetric, so a swap would show."""
    world = world_of(SMALL)
    slot, value = world.slot_transitions[0], world.value_transitions
    assert world.transitions()[0, 1 * 4 + 2, 2 * 4 + 3] == value[1, 2] * slot[2, 3]


def test_another_seed_is_another_world() -> None:
    assert (world_of(SMALL).emission != world_of(replace(SMALL, seed=6)).emission).any()


# The files.


def test_the_form_of_the_files(small_folder: Path) -> None:
    names = {path.name for path in small_folder.iterdir()}
    prompts = {
        f"{kind}_prompts_randomsample_{k}.{end}"
        for kind in ("id", "ood")
        for k in (2, 4)
        for end in ("txt", "json")
    }
    assert names == {"train.txt", "val.txt", "val.json", "truth.npz"} | prompts
    content = (small_folder / "ood_prompts_randomsample_4.json").read_text()
    first, *others = content.split("\n")
    assert len(others) == 3 * 7 - 1
    assert not content.endswith("\n")
    assert " / " not in content
    assert list(json.loads(first)) == [
        "text",
        "label",
        "x",
        "slot_pattern",
        "test_value",
        "hmm_type",
        "n_examples",
        "hmm_id",
    ]
    assert json.loads(first)["hmm_type"] == "OOD_sample"
    text = (small_folder / "ood_prompts_randomsample_4.txt").read_text()
    assert text == "".join(json.loads(line)["text"] + " / " for line in (first, *others))


def test_truth_is_what_emitted_the_text(small_folder: Path) -> None:
    world, training, validation = read_truth(small_folder)
    words = (small_folder / "train.txt").read_text().split()
    rows = np.array(words).reshape(SMALL.documents, SMALL.document_length + 1)
    assert (rows[:, -1] == "/").all()
    assert np.array(world.vocabulary)[training.tokens(world)].tolist() == rows[:, :-1].tolist()
    lines = [json.loads(line) for line in (small_folder / "val.json").read_text().split("\n")]
    assert [line["hiddens"] for line in lines] == validation.hidden.tolist()
    assert [line["hmm_idx"] for line in lines] == validation.concept.tolist()


def test_prompts_come_back(small_folder: Path) -> None:
    world = world_of(SMALL)
    drawn = [cell for cell in sample_prompts(world, SMALL) if cell.length == 4 and not cell.in_distribution]
    read = read_prompts(small_folder / "ood_prompts_randomsample_4.json", world.vocabulary)
    assert [cell.examples for cell in read] == [0, 1, 3]
    for one, other in zip(drawn, read, strict=True):
        assert (one.length, one.in_distribution) == (other.length, other.in_distribution)
        for name in ("tokens", "label", "concept", "last_slots", "last_value"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def edited(line: str, **fields: object) -> str:
    return json.dumps(json.loads(line) | fields)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda line: edited(line, text="a zz / b"), r"must be in the vocabulary, line 1 of .* has 'zz'"),
        (lambda line: edited(line, text="a"), r"1 examples of 4 tokens must have 8 tokens, .* has 1"),
        (lambda line: line[:-3], r"line 1 of .* must be JSON"),
        (lambda line: edited(line, text=5), r"line 1 of .* must hold `text` as a str"),
        (
            lambda line: edited(line, slot_pattern=[1, "b"]),
            r"line 1 of .* must hold 5 integers as `slot_pattern`",
        ),
        (lambda line: "[]", r"line 1 of .* must hold `text`"),
        (lambda line: " ", r"must hold text, got an empty file"),
    ],
)
def test_damaged_prompts_are_reported(
    small_folder: Path, tmp_path: Path, damage: Callable[[str], str], told: str
) -> None:
    line = (small_folder / "id_prompts_randomsample_4.json").read_text().split("\n")[7]
    (tmp_path / "damaged.json").write_text(damage(line))
    with pytest.raises(BadWalks, match=told):
        read_prompts(tmp_path / "damaged.json", world_of(SMALL).vocabulary)


def test_truth_that_lacks_something_is_reported(tmp_path: Path) -> None:
    np.savez(tmp_path / "truth.npz", train_concept=np.zeros(1))
    with pytest.raises(BadWalks, match="must hold `train_hidden`, got train_concept"):
        read_truth(tmp_path)


def test_an_empty_folder_is_filled_and_a_missing_one_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for out in (tmp_path / "empty", tmp_path / "deep" / "down"):
        written = write_ginc(out, SMALLEST)
        assert sorted(written) == sorted(out.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty"]


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(BadOutput, match=r"must be empty or absent, .* is not empty"):
        write_ginc(tmp_path, SMALL)
    with pytest.raises(BadOutput, match=r"must be empty or absent, .* is a file"):
        write_ginc(tmp_path / "mine.txt", SMALL)
    with pytest.raises(BadOutput, match="cannot write"):
        write_ginc(tmp_path / "mine.txt" / "below", SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("existing", [True, False])
def test_nothing_is_left_of_a_set_that_was_stopped(tmp_path: Path, existing: bool) -> None:
    out = tmp_path / "out"
    if existing:
        out.mkdir()

    def stop(name: str, share: float) -> None:
        if name == "ood_prompts_randomsample_2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_ginc(out, SMALL, stop)
    assert [*tmp_path.rglob("*")] == ([out] if existing else [])


def test_progress_goes_from_nothing_to_all(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    write_ginc(tmp_path / "out", SMALL, lambda name, share: told.append((name, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert told[1][0] == "id_prompts_randomsample_2"
    assert shares[-2] < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"concepts": 0}, r"`concepts` \(=0\) must be at least 1"),
        ({"symbols": 1}, r"`symbols` \(=1\) must be at least 2"),
        ({"slots": 1}, r"`slots` \(=1\) must be at least 2"),
        ({"documents": -3}, r"`documents` \(=-3\) must be at least 1"),
        ({"documents": 10**9}, r"`documents` times `document_length` .* must be at most"),
        ({"values": 10**4}, r"the transitions of all concepts, .* must be at most"),
        ({"prompts": 0}, r"`prompts` \(=0\) must be at least 1"),
        ({"prompts": 10**8}, r"`prompts` of one length .* must hold at most"),
        ({"prompt_lengths": ()}, r"`prompt_lengths` must be one or more different numbers, got none"),
        ({"prompt_lengths": (3, 3)}, r"`prompt_lengths` must be one or more different numbers, got 3, 3"),
        ({"prompt_lengths": (1,)}, r"`prompt_lengths` must be at least 2 each, got 1"),
        ({"prompt_lengths": (5000,)}, r"`prompt_lengths` must be below 1024, got 5000"),
        ({"prompt_examples": (-1,)}, r"`prompt_examples` must be at least 0 each, got -1"),
        ({"prompt_examples": (600,)}, r"must fit into 1024 tokens at 2 \+ 1 tokens each, got 600"),
        ({"transition_temperature": 0.0}, r"`transition_temperature` \(=0.0\) must be above 0"),
        ({"value_stay": 1.5}, r"`value_stay` \(=1.5\) must be between 0 and 1"),
        ({"seed": -1}, r"`seed` \(=-1\) must be in"),
    ],
)
def test_sizes_that_make_no_sense_are_reported(change: dict[str, object], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        replace(SMALL, **change)  # type: ignore[arg-type]


def test_more_words_than_three_letters_make_are_reported() -> None:
    with pytest.raises(BadConfig, match=r"`symbols` \(=20000\) must be at most 16277"):
        world_of(replace(SMALL, symbols=20_000))
