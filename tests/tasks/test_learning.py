"""From walks to a run and back: learning, opening, resuming, and every way it can be asked for wrongly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.errors import BadConfig, BadOutput, BadRun, BadWalks, NotOnMap
from cogmap.records import Walks
from cogmap.tasks import TrainingData, places
from cogmap.tasks.places import _half_learned, map_of_codes, map_walks
from cogmap.training.progress import PlainLines, Silent
from cogmap.walks.log import WalkLog, log_of
from cogmap.walks.ragged import walks_from_rows

SMALL = {"width": 48, "head_width": 48, "num_codes": 60, "batch_size": 32, "window": 20, "validate_every": 50}


def tiny_world() -> cogmap.TableWorld:
    """A ring of six places, two of which look alike: which one it is shows only in what came before."""
    forward = (np.arange(6) + 1) % 6
    return cogmap.TableWorld(
        next_position=np.stack([forward, np.argsort(forward)], axis=1),
        observation=np.array([0, 1, 2, 0, 1, 3]),
        num_observations=4,
        observation_labels=("red", "green", "blue", "grey"),
        action_labels=("on", "back"),
    )


def walks_of(world: cogmap.TableWorld, walks: int = 120, steps: int = 40, seed: int = 0) -> Walks:
    return cogmap.sample_walks(world, walks, steps, np.random.default_rng(seed))[0]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> cogmap.Run:
    out = tmp_path_factory.mktemp("runs") / "ring"
    return cogmap.learn(
        walks_of(tiny_world()), out, encoder="gru", steps=400, **SMALL, quiet=True, device="cpu"
    )


def test_a_tiny_world_is_learned_exactly_in_seconds(learned: cogmap.Run) -> None:
    """The agent starts anywhere, so its first predictions are guesses; after ten steps it must never be wrong."""
    test = walks_of(tiny_world(), seed=5)
    codes, predicted = learned.encode(test)
    right = predicted == test.observations[:, 1:]
    assert right[:, 10:].mean() > 0.999
    assert codes.codes.shape == (120, 40, 1)
    assert learned.map.num_nodes == 6
    assert sorted(learned.map.node_observation.tolist()) == [0, 0, 1, 1, 2, 3]
    assert learned.map.warnings == ()
    assert learned.map.to_networkx().number_of_nodes() == 6


def test_a_map_whose_search_had_no_time_says_so_first(
    learned: cogmap.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = walks_of(tiny_world())
    codes, predicted = learned.encode(walks)
    monkeypatch.setattr(places, "NEARLY_ALL", 1.1)  # the ring is known after any time
    in_time = map_of_codes(learned, codes, walks, "minimal", predicted, 600.0)
    late = map_of_codes(learned, codes, walks, "minimal", predicted, 1e-6)
    assert in_time.warnings == ()
    assert late.warnings[0].startswith("the search for places was ended before it was done")


@pytest.mark.parametrize(
    ("learned_share", "explained", "warned"), [(0.77, 0.99, True), (0.77, 0.995, False), (None, 0.98, False)]
)
def test_a_model_that_was_still_learning_is_reported_unless_the_map_knows_more(
    learned: cogmap.Run, learned_share: float | None, explained: float, warned: bool
) -> None:
    found = replace(learned.map, explained=explained, model_accuracy=0.99)
    warnings = _half_learned(found, learned_share).warnings
    assert warnings[: len(warnings) - len(found.warnings)] == warnings[:1] * warned
    assert not warned or "predicts 77% of what is hard" in warnings[0]


@pytest.mark.parametrize(("steps", "still_learning"), [(20, True), (400, False)])
def test_a_training_knows_if_its_steps_ended_it(
    steps: int, still_learning: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float | None] = []
    monkeypatch.setattr(places, "_half_learned", lambda found, learned: told.append(learned) or found)
    options = {**SMALL, "encoder": "gru", "steps": steps, "quiet": True, "device": "cpu"}
    cogmap.learn(walks_of(tiny_world()), tmp_path / "run", **options)
    assert [share is not None for share in told] == [still_learning]


def test_locate_and_plan_in_the_users_own_words(learned: cogmap.Run) -> None:
    here = learned.locate(["grey", "red", "green"], ["on", "on"])  # positions 5, 0, 1
    there = learned.locate(["blue", "red", "green"], ["on", "on"])  # positions 2, 3, 4
    assert here != there
    plan = learned.plan(here, there)
    assert len(plan) == 3
    assert plan.nodes[0] == here
    assert plan.nodes[-1] == there
    assert set(plan.actions.tolist()) in ({0}, {1})
    around_blue = learned.plan(here, there, avoid=["blue"])
    assert 2 not in around_blue.observations[1:-1]


def test_unknown_words_and_impossible_histories_are_reported(learned: cogmap.Run) -> None:
    with pytest.raises(NotOnMap, match="observation must be one of red, green, blue, grey, got 'purple'"):
        learned.locate(["purple"], [])
    with pytest.raises(NotOnMap, match="action must be one of on, back, got 'jump'"):
        learned.locate(["red", "green"], ["jump"])
    with pytest.raises(NotOnMap, match=r"`avoid` must be an observation of the map, .*got 'purple'"):
        learned.plan(0, 1, avoid=["purple"])
    assert learned.plan(0, 1, avoid=["2"]).nodes.tolist() == learned.plan(0, 1, avoid=[2]).nodes.tolist()
    with pytest.raises(BadWalks, match="one action fewer than observations, got 2 and 2"):
        learned.locate(["red", "green"], ["on", "on"])


def test_run_folder_holds_what_the_contract_says(learned: cogmap.Run) -> None:
    names = {path.name for path in learned.folder.iterdir()}
    assert names >= {"config.json", "model.safetensors", "metrics.jsonl", "map.npz", "checkpoint"}
    config = json.loads((learned.folder / "config.json").read_text())
    assert config["name"] == "TDB(S=3, M=1)"
    assert config["model"]["width"] == 48
    again = cogmap.load_run(learned.folder)
    test = walks_of(tiny_world(), seed=5)
    np.testing.assert_array_equal(again.encode(test)[0].codes, learned.encode(test)[0].codes)


def test_resuming_continues_with_the_same_choices(tmp_path: Path) -> None:
    walks, options = (
        walks_of(tiny_world()),
        {"encoder": "gru", **SMALL, "quiet": True, "device": "cpu"},
    )
    first = cogmap.learn(walks, tmp_path / "run", steps=60, **options)
    assert first.training.steps == 60
    second = cogmap.learn(walks, tmp_path / "run", steps=120, resume=True, quiet=True, device="cpu")
    rows = [json.loads(line) for line in (second.folder / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == 120
    assert second.config == first.config


@pytest.mark.parametrize("threads", [1, 2])
def test_a_training_with_a_fixed_number_of_threads_is_resumed_bit_for_bit(
    tmp_path: Path, threads: int
) -> None:
    walks = walks_of(tiny_world())
    sizes = SMALL | {"validate_every": 6, "bottleneck_from": 2, "threads": threads}
    options = {"encoder": "gru", **sizes, "quiet": True, "device": "cpu"}
    cogmap.learn(walks, tmp_path / "whole", steps=12, **options)

    class PulledPlug(Silent):
        def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
            if step == 9:
                raise KeyboardInterrupt  # after the checkpoint of step 6

    cogmap.learn(walks, tmp_path / "cut", steps=12, **options | {"quiet": False, "progress": PulledPlug()})
    again = cogmap.learn(walks, tmp_path / "cut", steps=12, resume=True, quiet=True, device="cpu")
    assert again.training.threads == threads
    weights = [tmp_path / name / "model.safetensors" for name in ("whole", "cut")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_a_training_cut_off_at_its_first_step_can_be_resumed(tmp_path: Path) -> None:
    class PulledPlug(Silent):
        def step(self, *told: object) -> None:
            raise SystemError("the plug was pulled")

    walks = walks_of(tiny_world())
    options = {"encoder": "gru", **SMALL, "steps": 60, "device": "cpu"}
    with pytest.raises(SystemError):
        cogmap.learn(walks, tmp_path / "cut", progress=PulledPlug(), **options)
    cogmap.learn(walks, tmp_path / "cut", resume=True, quiet=True, device="cpu")
    cogmap.learn(walks, tmp_path / "whole", quiet=True, **options)
    cut, whole = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("cut", "whole"))
    assert cut == whole


def test_existing_folder_is_not_overwritten(learned: cogmap.Run) -> None:
    with pytest.raises(BadOutput, match="the run folder must be new or empty"):
        cogmap.learn(walks_of(tiny_world()), learned.folder, quiet=True)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), r"cannot read .*config\.json"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config\.json must be JSON"),
        (lambda folder: (folder / "config.json").write_text('{"format": 99}'), "must be of format 1, got 99"),
        (lambda folder: (folder / "config.json").write_text('{"format": 1}'), "must hold the model options"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"a run must hold model\.safetensors"),
        (
            lambda folder: (folder / "model.safetensors").write_bytes(b"junk"),
            "must be a whole safetensors file",
        ),
        (lambda folder: (folder / "map.npz").unlink(), r"a run must hold map\.npz"),
        (lambda folder: (folder / "map.npz").write_bytes(b"junk"), r"map\.npz"),
    ],
)
def test_damaged_runs_are_reported_in_one_line(
    learned: cogmap.Run, tmp_path: Path, damage, message: str
) -> None:
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(learned.folder, folder)
    damage(folder)
    with pytest.raises(BadRun, match=message):
        cogmap.load_run(folder).locate([0, 1], [0])


def test_no_folder_is_reported() -> None:
    with pytest.raises(BadRun, match="there is no folder nowhere"):
        cogmap.load_run("nowhere")


def test_walks_of_another_vocabulary_are_reported(learned: cogmap.Run) -> None:
    walks = walks_of(cogmap.torus(height=3, width=3, observations=9, seed=0))
    with pytest.raises(BadWalks, match="walks must have"):
        learned.encode(walks)


def test_unknown_changes_are_reported(tmp_path: Path) -> None:
    walks = walks_of(tiny_world())
    with pytest.raises(BadConfig, match="got 'widht', did you mean `width`"):
        cogmap.learn(walks, tmp_path / "run", widht=3)
    with pytest.raises(
        BadConfig, match=r"`prediction_steps` \(=50\) must be below the longest walk's length \(=40\)"
    ):
        cogmap.learn(walks, tmp_path / "run", prediction_steps=50, quiet=True)
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_text_and_targets_of_another_vocabulary(tmp_path: Path) -> None:
    """Sequences without actions have one, and what is predicted need not be what is seen."""
    sequence = np.tile([0, 1, 2, 3], (30, 10)).astype(np.int32)
    walks = Walks(sequence, np.zeros((30, 39), dtype=np.int32), np.full(30, 40), 4, 1)
    data = TrainingData("places", walks, targets=sequence % 2, num_targets=2)
    run = cogmap.learn(data, encoder="gru", steps=150, **SMALL, quiet=True, device="cpu")
    _, predicted = run.encode(walks)
    assert (predicted == sequence[:, 1:] % 2).mean() > 0.99


def test_a_limit_leaves_a_map_or_says_that_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walks = walks_of(tiny_world())
    options = {**SMALL, "bottleneck_from": 1500, "device": "cpu"}
    some = cogmap.learn(walks, tmp_path / "some", steps=30, quiet=True, **options)
    assert some.config.encoder == "gru", "which `auto` chooses on a CPU"
    assert some.has_map
    nothing = cogmap.learn(walks, tmp_path / "none", steps=1, progress=PlainLines(), **options)
    assert not nothing.has_map
    assert "there is no map yet; --resume continues it" in capsys.readouterr().out
    again = cogmap.learn(walks, tmp_path / "none", steps=30, resume=True, quiet=True, device="cpu")
    assert again.has_map


def password_walks(walks: int, seed: int) -> Walks:
    """From state 0, a password of four symbols leads back to it, the only state that looks different.

    Any wrong symbol locks forever, and two in three are right: most steps are of a locked door.
    """
    password = np.array([0, 2, 1, 0, 0])
    rng = np.random.default_rng(seed)
    state, states, typed = np.zeros(walks, dtype=np.int64), [], []
    for _ in range(40):
        knows = rng.random(walks) < 0.5
        typed.append(np.where(knows, password[state], rng.integers(3, size=walks)))
        states.append(state)
        state = np.where((state < 4) & (typed[-1] == password[state]), (state + 1) % 4, 4)
    observations = (np.stack(states, axis=1) == 0).astype(np.int32)
    return Walks(observations, np.stack(typed[:-1], axis=1).astype(np.int32), np.full(walks, 40), 2, 3)


def test_a_log_that_ends_in_an_absorbing_state_is_learned_to_the_end() -> None:
    """Saying "locked" is right in 99 of 100 steps. The training must not end before the password is known."""
    run = cogmap.learn(password_walks(600, 0), encoder="gru", steps=800, **SMALL, quiet=True, device="cpu")
    assert run.training.start_share == 0.5
    test = password_walks(600, 1)
    opens = test.observations[:, 1:] == 1
    assert opens.mean() < 0.02
    right = run.predict(test) == test.observations[:, 1:]
    assert right[opens].mean() > 0.99
    assert right.mean() > 0.999


def test_a_log_that_is_not_padded_is_learned_as_its_padded_walks_are(tmp_path: Path) -> None:
    walks = walks_of(tiny_world())
    cogmap.save_walks(tmp_path / "ring.walks", walks)
    options = {"encoder": "gru", "steps": 60, "bottleneck_from": 10, **SMALL, "quiet": True, "device": "cpu"}
    plain = cogmap.learn(walks, tmp_path / "plain", **options)
    mapped = cogmap.learn(cogmap.load_walks(tmp_path / "ring.walks"), tmp_path / "mapped", **options)
    weights = [run.folder / "model.safetensors" for run in (plain, mapped)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    for name in ("node_support", "edge_support", "code_node"):
        np.testing.assert_array_equal(getattr(plain.map, name), getattr(mapped.map, name))


def test_a_walk_far_longer_than_the_rest_is_learned(learned: cogmap.Run, tmp_path: Path) -> None:
    """The map of 3,000 walks of 2 steps and one of 6,000: padded, they would have 18 million cells."""
    rows = [
        *walks_of(tiny_world(), 3000, 2, 1).observations,
        walks_of(tiny_world(), 1, 6000, 2).observations[0],
    ]
    done = [*walks_of(tiny_world(), 3000, 2, 1).actions, walks_of(tiny_world(), 1, 6000, 2).actions[0]]
    labels = {"observation_labels": ("red", "green", "blue", "grey"), "action_labels": ("on", "back")}
    log = walks_from_rows(rows, done, num_observations=4, num_actions=2, **labels)
    assert isinstance(log, WalkLog)
    found = map_walks(learned, log, "minimal")
    assert (found.num_nodes, found.num_edges) == (6, 12)
    # A piece repeats the last step of the one before.
    assert abs(int(found.node_support.sum()) - 12_000) <= 100


def test_a_map_of_a_sample_has_the_counts_of_the_whole_log(
    learned: cogmap.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(walks_of(tiny_world(), 200, 40, 3))
    whole = map_walks(learned, log, "minimal")
    monkeypatch.setattr("cogmap.tasks.places.MAP_STEPS", 2_000)
    counted = map_walks(learned, log, "minimal")
    assert counted.num_nodes == whole.num_nodes == 6
    assert abs(int(counted.node_support.sum()) - 8_000) <= 6
    assert sorted(counted.edge_support) == pytest.approx(sorted(whole.edge_support), abs=8)
