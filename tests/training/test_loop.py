"""Training: repeatable, resumable bit for bit, and the same over several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig, BadRun
from cogmap.models.config import EncoderKind, ModelConfig
from cogmap.records import Walks
from cogmap.training.checkpoint import load_tensors
from cogmap.training.config import TrainingConfig, preset_configs
from cogmap.training.devices import Processes, choose_device
from cogmap.training.loop import CHECKPOINT_FILE, METRICS_FILE, Trainer, train
from cogmap.training.progress import Silent
from cogmap.training.split import split_walks
from cogmap.training.step import make_teacher, update_teacher
from cogmap.walks.sample import sample_walks

TINY = ModelConfig(
    num_observations=4,
    num_actions=4,
    num_targets=4,
    width=16,
    layers=1,
    heads=2,
    mlp_width=16,
    head_width=16,
    code_width=4,
    num_codes=20,
    attention_span=8,
    dropout=0.1,
)
SHORT = TrainingConfig(
    steps=12,
    batch_size=4,
    window=8,
    bottleneck_from=4,
    validate_every=3,
    muon_rate=0.02,
    learning_rate=1e-2,
    threads=1,
    bfloat16=False,  # on every processor alike
)
KINDS = {
    "transformer": (TINY, replace(SHORT, carry_state=False, fresh_share=1.0)),
    "gru": (replace(TINY, encoder="gru"), replace(SHORT, muon_rate=None)),
    "lstm": (replace(TINY, encoder="lstm"), replace(SHORT, muon_rate=None)),
    "gru in bfloat16": (
        replace(TINY, encoder="gru"),
        replace(SHORT, muon_rate=None, bfloat16=True),
    ),
    "transformer in bfloat16": (TINY, replace(SHORT, carry_state=False, bfloat16=True)),
    "teacher": (
        replace(TINY, encoder="gru", next_encoding=True, bottlenecks=2),
        replace(SHORT, muon_rate=None),
    ),
    "clones": (replace(TINY, encoder="gru", clone_structured=True), replace(SHORT, muon_rate=None)),
    "vanilla": (replace(TINY, vanilla=True, prediction_steps=1), replace(SHORT, carry_state=False)),
    "vanilla, action at head": (
        replace(TINY, encoder="lstm", vanilla=True, prediction_steps=1, action_at_head=True),
        replace(SHORT, muon_rate=None),
    ),
    "seen set": (
        replace(TINY, encoder="gru", in_base=True, seen_so_far=True),
        replace(SHORT, muon_rate=None, present_weight=1.0),
    ),
    "slots": (
        replace(TINY, encoder="gru", in_base=True, slot_encoder=True),
        replace(SHORT, muon_rate=None),
    ),
    "paper": (replace(TINY, form="paper"), replace(SHORT, muon_rate=None, decays=False, bottleneck_from=0)),
}


def some_walks() -> Walks:
    room = AliasedRoom(height=4, width=4, observations=4, patch=0, seed=0)
    return sample_walks(room, 20, 40, np.random.default_rng(0))[0]


def a_trainer(kind: str) -> Trainer:
    model, config = KINDS[kind]
    walks = some_walks()
    data = split_walks(walks, walks.observations, config.seed)
    return Trainer(model, config, data, torch.device("cpu"), Processes())


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


@pytest.mark.parametrize("kind", KINDS)
def test_resumed_equals_uninterrupted_bit_for_bit(kind: str, tmp_path: Path) -> None:
    whole = a_trainer(kind)
    train(whole, tmp_path / "whole", Silent())
    halves = a_trainer(kind)
    for _ in range(6):
        halves.step()
        if halves.done_steps % 3 == 0:
            halves.validate()
    halves.save(tmp_path / "halves")
    torch.rand(17)  # another process would have its generator elsewhere
    again = a_trainer(kind)
    again.restore(tmp_path / "halves")
    train(again, tmp_path / "halves", Silent())
    assert again.done_steps == whole.done_steps == 12
    assert_same(weights(again), weights(whole))
    untimed = [[{k: v for k, v in row.items() if k != "seconds"} for row in t.rows] for t in (again, whole)]
    assert untimed[0] == untimed[1]
    assert len((tmp_path / "halves" / METRICS_FILE).read_text().splitlines()) == len(again.rows) == 4


def test_same_seed_same_weights_another_seed_others() -> None:
    found = []
    # One after the other: dropout draws from torch's own generator, which a new trainer seeds.
    for _ in range(2):
        trainer = a_trainer("gru")
        for _ in range(6):
            trainer.step()
        found.append(weights(trainer))
    assert_same(*found)
    KINDS["other"] = (KINDS["gru"][0], replace(KINDS["gru"][1], seed=1))
    other = a_trainer("other")
    assert not torch.equal(
        other.model.encoder.cell.weight_hh_l0, a_trainer("gru").model.encoder.cell.weight_hh_l0
    )


def test_losses_go_where_they_should_once_the_bottleneck_is_on() -> None:
    trainer = a_trainer("teacher")
    names = [set(trainer.step().losses) for _ in range(6)]
    assert names[:4] == [{"observation"}] * 4
    assert names[4:] == [{"observation", "bottleneck", "encoding"}] * 2
    row = trainer.validate()
    assert len(row["codes_in_use"]) == len(row["perplexity"]) == 2
    assert all(
        1 <= perplexity <= used <= 20
        for perplexity, used in zip(row["perplexity"], row["codes_in_use"], strict=True)
    )


def test_teacher_gets_no_gradient_and_moves_by_a_hundredth_of_the_difference() -> None:
    student = torch.nn.Linear(3, 2)
    teacher = make_teacher(student, 0.99)
    update_teacher(teacher, student)
    before = teacher.module.weight.clone()
    with torch.no_grad():
        student.weight += 1.0
    update_teacher(teacher, student)
    assert torch.allclose(teacher.module.weight - before, torch.full_like(before, 0.01), atol=1e-6)
    assert not any(parameter.requires_grad for parameter in teacher.parameters())


def test_what_is_spent_beside_the_training_is_taken_from_its_minutes() -> None:
    trainer = a_trainer("gru")
    trainer.config = replace(trainer.config, minutes=10.0)
    trainer.spent_before = 120.0
    allowed = trainer.limits.training_seconds
    assert allowed == pytest.approx(540 - 120, abs=1)
    trainer.seconds = 400.0
    assert trainer.seconds_left == pytest.approx(600 - 120 - 400, abs=1)
    trainer.seconds = 500.0
    assert trainer.seconds_left == pytest.approx(60)  # a tenth at the least


def test_interrupted_training_leaves_a_checkpoint_and_says_so(tmp_path: Path) -> None:
    trainer = a_trainer("gru")
    real_step, calls = trainer.step, iter(range(100))

    def step() -> object:
        if next(calls) == 7:
            raise KeyboardInterrupt
        return real_step()

    trainer.step = step  # type: ignore[method-assign]
    assert train(trainer, tmp_path, Silent()) == "interrupted"
    numbers = load_tensors(tmp_path / "checkpoint" / CHECKPOINT_FILE)[1]
    assert numbers["done_steps"] == 6


def test_an_incomplete_checkpoint_is_reported_in_one_line(tmp_path: Path) -> None:
    trainer = a_trainer("gru")
    trainer.step()
    trainer.validate()
    trainer.save(tmp_path)
    path = tmp_path / "checkpoint" / CHECKPOINT_FILE
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"\x00" * 100, b"not a checkpoint"):
        path.write_bytes(damaged)
        with pytest.raises(BadRun, match="must be a whole safetensors file"):
            a_trainer("gru").restore(tmp_path)
    path.unlink()
    with pytest.raises(BadRun, match=r"a run must hold checkpoint\.safetensors"):
        a_trainer("gru").restore(tmp_path)


def test_checkpoint_of_another_model_is_reported(tmp_path: Path) -> None:
    trainer = a_trainer("gru")
    trainer.step()
    trainer.validate()
    trainer.save(tmp_path)
    with pytest.raises(BadRun, match=r"must hold"):
        a_trainer("transformer").restore(tmp_path)


def test_prediction_steps_longer_than_the_walks_are_reported() -> None:
    walks = some_walks()
    model, config = replace(TINY, prediction_steps=40), SHORT
    data = split_walks(walks, walks.observations, 0)
    with pytest.raises(
        BadConfig, match=r"`prediction_steps` \(=40\) must be below the longest walk's length \(=40\)"
    ):
        Trainer(model, config, data, torch.device("cpu"), Processes())


def test_unknown_device_is_reported() -> None:
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    with pytest.raises(
        BadConfig, match=r"`device` must be auto or a device that torch has here, got 'toaster'"
    ):
        choose_device("toaster")


def test_paper_preset_is_the_papers() -> None:
    base = ModelConfig(num_observations=4, num_actions=4, num_targets=4)
    model, training = preset_configs("paper", base)
    sizes = (model.layers, model.heads, model.width, model.mlp_width, model.num_codes, model.context_length)
    assert sizes == (4, 8, 256, 512, 1000, 400)
    assert (training.steps, training.batch_size, training.learning_rate) == (25_000, 32, 1e-3)
    assert (model.dropout, training.commitment_weight, training.teacher_decay) == (0.1, 0.25, 0.99)
    assert training.window == 400
    assert training.muon_rate is None
    assert training.bottleneck_from == 0


@pytest.mark.parametrize("encoder", ["transformer", "gru"])
def test_fast_preset_halves_its_width_for_a_small_log(encoder: EncoderKind) -> None:
    base = ModelConfig(num_observations=4, num_actions=4, num_targets=4, encoder=encoder)
    small, large = (preset_configs("fast", base, steps)[0] for steps in (399_999, 400_000))
    assert 2 * small.width == large.width
    assert small.width % small.heads == 0


def test_fast_preset_has_clones_for_all_places_that_may_share_an_observation() -> None:
    base = ModelConfig(num_observations=128, num_actions=3, num_targets=128, clone_structured=True)
    assert preset_configs("fast", base)[0].num_codes == 16 * 128
    assert preset_configs("paper", base)[0].num_codes == 1000


def test_only_the_fast_preset_gives_a_vanilla_model_the_action_at_its_head() -> None:
    base = ModelConfig(num_observations=4, num_actions=4, num_targets=4, vanilla=True, prediction_steps=1)
    assert preset_configs("fast", base)[0].action_at_head
    assert not preset_configs("paper", base)[0].action_at_head


@pytest.mark.parametrize("name", ["steps", "batch_size", "window"])
def test_impossible_training_configs_are_reported(name: str) -> None:
    with pytest.raises(BadConfig, match=f"`{name}` must be at least 1, got 0"):
        TrainingConfig(**{name: 0})


_TWO_PROCESSES = """
import os, sys, torch
sys.path.insert(0, sys.argv[2])
from test_loop import KINDS, some_walks
from cogmap.training.loop import Trainer
from cogmap.training.split import split_walks
from cogmap.training.devices import joined_processes
from safetensors.torch import save_file
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
model, config = KINDS[sys.argv[3]]
from dataclasses import replace
model = replace(model, dropout=0.0)
walks = some_walks()
with joined_processes(torch.device("cpu")) as processes:
    trainer = Trainer(model, config, split_walks(walks, walks.observations, 0), torch.device("cpu"), processes)
    for _ in range(4):
        trainer.step()
    if processes.is_main:
        save_file({n: t.contiguous() for n, t in trainer.model.state_dict().items()}, sys.argv[1])
"""


@pytest.fixture
def _double_precision() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double_precision")
@pytest.mark.parametrize("kind", ["gru", "transformer"])
def test_two_processes_learn_the_same_as_one_on_the_whole_batch(tmp_path: Path, kind: str) -> None:
    """In double precision: Adam moves a weight whose gradient is nothing but rounding as far as any other.

    Float32 rounds gradients to 1e-8 or so, which is Adam's epsilon; float64 rounds them far below it.
    """
    out = tmp_path / "weights.safetensors"
    base = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    command = [sys.executable, "-c", _TWO_PROCESSES, str(out), str(Path(__file__).parent), kind]
    started = [subprocess.Popen(command, env={**base, "RANK": str(rank)}) for rank in range(2)]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    model, config = KINDS[kind]
    walks = some_walks()
    alone = Trainer(
        replace(model, dropout=0.0),
        config,
        split_walks(walks, walks.observations, 0),
        torch.device("cpu"),
        Processes(),
    )
    for _ in range(4):
        alone.step()
    together = load_tensors(out)[0]
    for name, tensor in alone.model.state_dict().items():
        torch.testing.assert_close(tensor, together[name], rtol=0, atol=1e-9, msg=name)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
