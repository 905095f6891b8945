"""The slot encoder: slots, their updates, and that renaming observations changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from cogmap.errors import BadConfig
from cogmap.models.config import ModelConfig
from cogmap.models.inference import StreamingEncoder, encode_and_predict
from cogmap.models.slot_encoder import PRESENT, SEEN, UNSEEN, SlotEncoder, SlotScan, assign_slots
from cogmap.models.tdb import TDB, make_model

SMALL = ModelConfig(
    num_observations=6,
    num_actions=3,
    num_targets=3,
    encoder="gru",
    in_base=True,
    slot_encoder=True,
    width=16,
    layers=1,
    head_width=16,
    code_width=8,
    num_codes=40,
)


def an_encoder() -> SlotEncoder:
    torch.manual_seed(0)
    return SlotEncoder(SMALL)


def a_walk(walks: int = 3, steps: int = 20) -> tuple[Tensor, Tensor]:
    """Observations and the actions that led to each, both (B, N); three of six observations a walk."""
    rng = np.random.default_rng(0)
    colours = np.stack([rng.permutation(6)[:3] for _ in range(walks)])
    seen = np.take_along_axis(colours, rng.integers(3, size=(walks, steps)), axis=1)
    return torch.from_numpy(seen), torch.from_numpy(rng.integers(4, size=(walks, steps)))


def unassigned(slots: int, walks: int, names: int) -> Tensor:
    return torch.zeros(slots, walks, names, dtype=torch.bool)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 11))
def test_slots_are_assigned_in_the_order_of_first_visits(walk: list[int], cut: int) -> None:
    observations = torch.tensor([walk])
    whole = assign_slots(observations, unassigned(6, 1, 6))
    order: list[int] = []
    for step, seen in enumerate(walk):
        if seen not in order:
            order.append(seen)
        assert whole.present[0, step] == order.index(seen)
        assert whole.used[0, step] == len(order)
    assert [whole.assigned[slot, 0].nonzero().flatten().tolist() for slot in range(6)] == [
        [name] for name in order
    ] + [[]] * (6 - len(order))
    if 0 < cut < len(walk):
        first = assign_slots(observations[:, :cut], unassigned(6, 1, 6))
        second = assign_slots(observations[:, cut:], first.assigned)
        assert torch.equal(torch.cat([first.present, second.present], dim=1), whole.present)
        assert torch.equal(second.assigned, whole.assigned)


def test_the_last_slot_stands_for_all_observations_without_a_slot() -> None:
    slots = assign_slots(torch.tensor([[4, 1, 3, 0, 4]]), unassigned(2, 1, 5))
    assert slots.present.tolist() == [[0, 1, 1, 1, 0]]


def test_the_inputs_of_a_slot_and_its_place_in_the_output() -> None:
    slots = assign_slots(torch.tensor([[4, 1, 4]]), unassigned(3, 1, 5))
    assert slots.inputs()[:, :, 0].tolist() == [
        [PRESENT, UNSEEN, UNSEEN],
        [SEEN, PRESENT, UNSEEN],
        [PRESENT, SEEN, UNSEEN],
    ]
    hidden = torch.arange(3.0).expand(1, 3, 3)[..., None]
    assert slots.in_rank_order(hidden)[0, :, :, 0].tolist() == [[0, 1, 2], [1, 0, 2], [1, 0, 2]]


def plain_scan(
    gates: Tensor, hidden: Tensor, present: Tensor, weight: Tensor, bias: Tensor, others_weight: Tensor
) -> Tensor:
    """One slot and one step at a time, as the equations of a GRU are written."""
    found = []
    for step_gates, seen in zip(gates, present, strict=True):
        after = []
        for slot in range(hidden.shape[0]):
            shown = torch.stack([hidden[s, walk] for walk, s in enumerate(seen.tolist())])
            shared = torch.cat([hidden.mean(dim=0), shown], dim=1) @ others_weight
            reset_in, update_in, candidate_in = (step_gates[slot] + shared).chunk(3, dim=1)
            reset_own, update_own, candidate_own = (hidden[slot] @ weight).chunk(3, dim=1)
            reset, update = torch.sigmoid(reset_in + reset_own), torch.sigmoid(update_in + update_own)
            candidate = torch.tanh(candidate_in + reset * (candidate_own + bias))
            after.append((1 - update) * candidate + update * hidden[slot])
        hidden = torch.stack(after)
        found.append(hidden)
    return torch.stack(found)


def scan_arguments() -> tuple[Tensor, ...]:
    """Five steps of two walks in three slots of width four, in double precision."""
    torch.manual_seed(1)
    shapes = {"gates": (5, 3, 2, 12), "first": (3, 2, 4), "weight": (4, 12), "bias": (4,), "others": (8, 12)}
    made = {name: torch.randn(*shape, dtype=torch.float64) for name, shape in shapes.items()}
    for tensor in made.values():
        tensor.requires_grad_()
    present = torch.randint(3, (5, 2))
    return made["gates"], made["first"], present, made["weight"], made["bias"], made["others"]


def test_the_scan_is_a_gru_whose_slots_exchange_information() -> None:
    arguments = scan_arguments()
    hidden, last = SlotScan.apply(*arguments)
    torch.testing.assert_close(hidden, plain_scan(*arguments))
    torch.testing.assert_close(last, hidden[-1])


def test_the_scans_gradients_are_those_of_differences() -> None:
    assert torch.autograd.gradcheck(SlotScan.apply, scan_arguments())


def test_renaming_observations_changes_no_slot() -> None:
    encoder = an_encoder()
    observations, previous = a_walk()
    renamed = torch.tensor([3, 5, 0, 4, 1, 2])[observations]
    _, state = encoder(observations, previous)
    _, other = encoder(renamed, previous)
    torch.testing.assert_close(other.tensors[0], state.tensors[0])


def test_outputs_change_with_the_order_of_the_names_and_not_with_the_names() -> None:
    encoder = an_encoder()
    observations = torch.tensor([[0, 1, 2, 1, 0]])
    previous = torch.ones_like(observations)
    output, _ = encoder(observations, previous)
    raised, _ = encoder(observations * 2 + 1, previous)
    turned, _ = encoder(2 - observations, previous)
    torch.testing.assert_close(raised, output)
    assert not torch.allclose(turned[:, 1:], output[:, 1:])


def test_chunks_give_the_same_result_as_the_whole_and_nothing_later_is_seen() -> None:
    encoder = an_encoder()
    observations, previous = a_walk()
    whole, _ = encoder(observations, previous)
    first, state = encoder(observations[:, :9], previous[:, :9])
    second, _ = encoder(observations[:, 9:], previous[:, 9:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)


def test_a_reset_clears_the_assignment_of_slots() -> None:
    encoder = an_encoder()
    observations, previous = a_walk()
    _, state = encoder(observations, previous)
    cleared = state.reset(torch.tensor([True, False, False]))
    again, _ = encoder(observations, previous, cleared)
    fresh, _ = encoder(observations, previous)
    torch.testing.assert_close(again[0], fresh[0])
    assert not torch.allclose(again[1], fresh[1])


def test_a_stream_gives_the_codes_of_the_whole_walk() -> None:
    torch.manual_seed(0)
    model = make_model(SMALL).eval()
    assert isinstance(model, TDB)
    torch.nn.init.normal_(model.bottlenecks.dictionary, std=0.5)
    seen, previous = a_walk(walks=1)
    observations = seen.numpy().astype(np.int32)
    actions = np.minimum(previous[:, 1:].numpy(), 2).astype(np.int32)
    codes, _ = encode_and_predict(model, observations, actions)
    stream = StreamingEncoder(model)
    steps = [stream.step(int(observations[0, 0]))]
    steps += [stream.step(int(o), int(a)) for o, a in zip(observations[0, 1:], actions[0], strict=True)]
    np.testing.assert_array_equal(np.array(steps), codes[0])


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"encoder": "lstm"}, "needs the encoder gru"),
        ({"seen_so_far": True}, "`seen_so_far` off"),
        ({"in_base": False}, "must be off unless `in_base` is on"),
        ({"layers": 2}, "one layer of an even width, got 2 of 16"),
        ({"width": 15}, "one layer of an even width, got 1 of 15"),
    ],
)
def test_impossible_choices(change: dict[str, object], rule: str) -> None:
    with pytest.raises(BadConfig, match=rule):
        replace(SMALL, **change)


def test_slots_keep_to_their_device() -> None:
    slots = assign_slots(torch.zeros(1, 2, dtype=torch.long, device="meta"), unassigned(2, 1, 3).to("meta"))
    assert slots.inputs().device.type == "meta"
