"""Heads depend on exactly their actions; impossible configs are reported; names are the paper's."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from cogmap.errors import BadConfig
from cogmap.models.config import ModelConfig
from cogmap.models.heads import Head, following_actions
from cogmap.models.inference import encode_and_predict
from cogmap.models.tdb import TDB

CONFIG = ModelConfig(
    num_observations=5,
    num_actions=3,
    num_targets=7,
    width=16,
    heads=2,
    layers=1,
    code_width=8,
    num_codes=30,
    prediction_steps=3,
    head_width=16,
)


@pytest.mark.parametrize("form", ["fast", "paper"])
def test_head_s_sees_exactly_the_s_plus_one_actions(form: str) -> None:
    torch.manual_seed(0)
    model = TDB(replace(CONFIG, form=form)).eval()
    observations = torch.randint(5, (2, 6))
    actions = torch.randint(3, (2, 8))
    none = torch.zeros(2, dtype=torch.long)
    step = 4
    base = model(observations, actions, none, strength=0.0).logits
    for offset in range(4):
        if step + offset >= actions.shape[1]:
            continue
        changed = actions.clone()
        changed[:, step + offset] = (actions[:, step + offset] + 1) % 3
        after = model(observations, changed, none, strength=0.0).logits
        moved = [
            not torch.allclose(base[head][:, step], after[head][:, step], atol=1e-6) for head in range(3)
        ]
        assert moved == [head >= offset for head in range(3)], offset


def test_actions_that_follow_each_step() -> None:
    actions = torch.tensor([[0, 1, 2, 0, 1]])
    assert following_actions(actions, 3, 3).tolist() == [[[0, 1, 2], [1, 2, 0], [2, 0, 1]]]


def test_a_table_of_sequences_distinguishes_every_sequence() -> None:
    torch.manual_seed(0)
    head = Head(CONFIG, inputs=8, sequence=2, outputs=4)
    sequences = torch.cartesian_prod(torch.arange(3), torch.arange(3))[None]  # (1, 9, 2)
    outputs = head(torch.zeros(1, 9, 8), sequences)[0]
    assert len({tuple(row.tolist()) for row in outputs}) == 9


def test_many_actions_need_no_table() -> None:
    config = replace(CONFIG, num_actions=40)
    assert sum(parameter.numel() for parameter in Head(config, 8, 3, 4).parameters()) < 40**3


def test_logits_of_codes_are_the_sum_of_their_rows() -> None:
    torch.manual_seed(0)
    model = TDB(replace(CONFIG, bottlenecks=2, code_logits=True, encoder="gru")).eval()
    table = torch.nn.init.normal_(model.code_logits.table.weight.detach())
    observations, actions = torch.randint(5, (2, 6)), torch.randint(3, (2, 8))
    model.bottlenecks.dictionary.data.normal_()
    result = model(observations, actions, torch.zeros(2, dtype=torch.long))
    for head, logits in enumerate(result.logits):
        following = following_actions(actions, head + 1, 6)
        expected = model.heads[head](result.quantized.vectors, following)
        for (walk, step), pair in zip(
            torch.cartesian_prod(torch.arange(2), torch.arange(6)).tolist(),
            result.quantized.codes.flatten(0, 1).tolist(),
            strict=True,
        ):
            rows = table[pair[0]] + table[30 + pair[1]]
            torch.testing.assert_close(
                logits[walk, step], expected[walk, step] + rows[7 * head : 7 * head + 7]
            )
    codes, predicted = encode_and_predict(model, observations.numpy(), actions[:, :5].numpy())
    assert codes.tolist() == result.quantized.codes.tolist()
    assert predicted.tolist() == result.logits[0].argmax(2)[:, :5].tolist()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "TDB(S=3, M=1)"),
        ({"prediction_steps": 1, "next_encoding": True, "bottlenecks": 4}, "TDB(S=1, enc, M=4)"),
        ({"vanilla": True, "prediction_steps": 1}, "Vanilla transformer"),
        ({"vanilla": True, "prediction_steps": 1, "encoder": "lstm"}, "Vanilla LSTM"),
        ({"clone_structured": True}, "TDB(S=3, M=1), clones"),
    ],
)
def test_names_are_the_papers(changes: dict, name: str) -> None:
    assert replace(CONFIG, **changes).name == name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 20, "heads": 8}, r"`width` \(=20\) must be divisible by twice the `heads` \(=8\)"),
        (
            {"clone_structured": True, "num_codes": 4},
            r"`num_codes` \(=4\) must be at least `num_observations` \(=5\)",
        ),
        ({"prediction_steps": 0}, r"`prediction_steps` must be at least 1, got 0"),
        ({"bottlenecks": 0}, r"`bottlenecks` must be at least 1, got 0"),
        ({"dropout": 1.0}, r"`dropout` must be in \[0, 1\), got 1.0"),
        ({"encoder": "mamba"}, r"`encoder` must be transformer, gru or lstm, got 'mamba'"),
        ({"form": "slow"}, r"`form` must be fast or paper, got 'slow'"),
        (
            {"attention": "flash"},
            r"`attention` must be path or relative, or none for the form's, got 'flash'",
        ),
        ({"dictionary_start": "zeros"}, r"`dictionary_start` must be normal or uniform, got 'zeros'"),
        ({"vanilla": True}, r"`prediction_steps` must be 1"),
        ({"action_at_head": True}, r"`action_at_head` must be off unless `vanilla` is on"),
        ({"form": "paper", "code_logits": True}, r"`code_logits` must be off in the paper's form"),
    ],
)
def test_impossible_configs_give_the_rule_then_the_value(changes: dict, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        replace(CONFIG, **changes)
