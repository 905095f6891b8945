"""Maps that are made without a part of the method."""

from __future__ import annotations

import numpy as np
import torch

from cogmap.environments.room import AliasedRoom
from cogmap.experiments.maps_beside import of_bottlenecks, without_bottlenecks
from cogmap.maps.build import build_map
from cogmap.models.config import ModelConfig
from cogmap.models.tdb import VanillaModel
from cogmap.records import Codes, Truth, Walks
from cogmap.walks.sample import sample_walks

ROOM = AliasedRoom(height=4, width=5, observations=3, patch=2, seed=0)


def some_walks(seed: int, walks: int = 60) -> tuple[Walks, Truth]:
    return sample_walks(ROOM, walks, 60, np.random.default_rng(seed))


def perfect_codes(truth: Truth, walks: Walks, wrong: float = 0.0) -> Codes:
    """The position as the only code, but for some steps, which have that of another place."""
    rng = np.random.default_rng(0)
    elsewhere = rng.random(truth.positions.shape) < wrong
    codes = np.where(elsewhere, rng.integers(20, size=truth.positions.shape), truth.positions)
    return Codes(codes[..., None], walks.lengths, 20)


def test_codes_alone_localise_worse_than_the_filter_where_codes_are_wrong_now_and_then() -> None:
    (training, known), (test, asked) = some_walks(1), some_walks(2)
    codes, seen = (perfect_codes(of, walks, wrong=0.2) for of, walks in ((known, training), (asked, test)))
    own = {kind: build_map(codes, training, kind) for kind in ("minimal", "paper")}
    found = of_bottlenecks(own, (training, codes), (test, seen))
    assert set(found) == {"minimal", "minimal, by codes", "paper", "paper, as printed"}
    place = {
        node: position
        for position, node in zip(own["minimal"].code_tuples[:, 0], own["minimal"].code_node, strict=True)
    }
    right = {
        kind: np.mean(
            [place.get(node, -1) for node in found[kind].nodes[:, 20:].ravel()]
            == asked.positions[:, 20:].ravel()
        )
        for kind in ("minimal", "minimal, by codes")
    }
    assert right["minimal"] > 0.95 > 0.9 > right["minimal, by codes"] > 0.7


def test_a_models_states_are_clustered_alike_in_both_sets_of_walks() -> None:
    torch.manual_seed(0)
    sizes = {"num_observations": 3, "num_actions": 4, "num_targets": 3, "width": 16, "layers": 1}
    model = VanillaModel(
        ModelConfig(**sizes, encoder="gru", vanilla=True, prediction_steps=1, action_at_head=True)
    )
    training = some_walks(1)[0]
    first, second = (
        without_bottlenecks(model, training, training.rows(some)) for some in (slice(10), slice(5, 15))
    )
    kind = "minimal, k-means of states"
    np.testing.assert_array_equal(first[kind].codes.codes[5:], second[kind].codes.codes[:5])
    np.testing.assert_array_equal(first[kind].codes.codes, first["paper, k-means of states"].codes.codes)
    assert len(np.unique(first[kind].codes.codes)) > 3
    assert first["minimal, observations alone"].cognitive_map.code_tuples.tolist() == [[0], [1], [2]]
