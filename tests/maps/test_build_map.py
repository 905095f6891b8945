"""Both maps as records: what they hold, how sure they say they are, and what they refuse."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from coded_worlds import Coding, encode, grid

from cogmap.errors import BadConfig, BadRun
from cogmap.hmm.counts import unique_codes
from cogmap.maps.build import build_map
from cogmap.maps.paper import hamming_clusters
from cogmap.records import Codes, CognitiveMap, Walks

NO_NEIGHBOURS = (
    "no code kept two neighbours each way above the threshold, so the map is empty and there are no plans; "
    "use the minimal map, or record more walks"
)
GOLDEN = Path(__file__).parents[1] / "golden" / "gru_room_codes.npz"


@pytest.fixture(scope="module")
def coded():
    return encode(grid(6, 8, 4, np.random.default_rng(0), patch=3), 200, 200, np.random.default_rng(0))


@pytest.fixture(scope="module")
def minimal(coded) -> CognitiveMap:
    return build_map(coded.codes, coded.walks)


@pytest.fixture(scope="module")
def golden():
    with np.load(GOLDEN, allow_pickle=False) as stored:
        arrays = dict(stored)
    lengths = np.full(100, 400)
    walks = Walks(arrays["observations"], arrays["actions"], lengths, 4, 4)
    return Codes(arrays["codes"], lengths, 1000), walks, arrays


def node_positions(found: CognitiveMap, codes: Codes, positions: np.ndarray, places: int) -> np.ndarray:
    """(V,): where each node's codes were most often active."""
    _, index = unique_codes(codes)
    node = found.code_node[index]
    at = np.zeros((found.num_nodes, places), dtype=int)
    np.add.at(at, (node[node >= 0], positions[node >= 0]), 1)
    return at.argmax(axis=1)


def test_codes_of_a_trained_model_give_the_room(golden) -> None:
    """Codes of a GRU after half a minute of training: 48 nodes, 192 edges, all of them right."""
    codes, walks, arrays = golden
    found = build_map(codes, walks).deterministic()
    place = node_positions(found, codes, arrays["positions"], 48)
    assert sorted(place) == list(range(48))
    assert found.num_edges == 192
    wanted = arrays["next_position"][place[found.edge_source], found.edge_action]
    assert np.array_equal(place[found.edge_target], wanted)
    assert found.warnings == ()
    assert found.explained > 0.98


def test_the_papers_map_of_the_same_codes(golden) -> None:
    """Integers as they came out once: its nodes are many to a place, and every code has one."""
    codes, walks, arrays = golden
    found = build_map(codes, walks, kind="paper")
    assert (found.num_nodes, found.num_edges) == (511, 1842)
    assert (found.code_node >= 0).all()
    assert set(node_positions(found, codes, arrays["positions"], 48)) == set(range(48))


def test_supports_add_up(minimal, coded) -> None:
    moves = int((coded.walks.lengths - 1).sum())
    rounding = minimal.num_edges / 2  # expected counts are rounded
    assert 0.9 * moves < minimal.edge_support.sum() <= moves + rounding
    assert minimal.node_support.sum() <= coded.walks.lengths.sum() + minimal.num_nodes / 2
    leaving = np.bincount(minimal.edge_source, weights=minimal.edge_support)
    assert (leaving <= minimal.node_support + 2).all()
    assert minimal.edge_support.min() > 0
    assert 0.9 < minimal.explained <= 1


def test_probabilities_of_edges_and_observations_sum_to_one(minimal) -> None:
    move = minimal.edge_source.astype(np.int64) * 4 + minimal.edge_action
    total = np.bincount(move, weights=minimal.edge_probability)
    np.testing.assert_allclose(total[total > 0], 1)
    np.testing.assert_allclose(np.bincount(minimal.seen_node, weights=minimal.seen_probability), 1)
    assert not minimal.edge_imagined.any()


def test_a_minimal_map_is_deterministic_and_a_paper_map_names_every_code(minimal, coded) -> None:
    likeliest = minimal.deterministic()
    pairs = likeliest.edge_source.astype(np.int64) * 4 + likeliest.edge_action
    assert len(np.unique(pairs)) == likeliest.num_edges == 192
    assert set(pairs) == set(minimal.edge_source.astype(np.int64) * 4 + minimal.edge_action)
    paper = build_map(coded.codes, coded.walks, kind="paper")
    assert paper.kind == "paper"
    assert (paper.code_node >= 0).all()
    assert paper.num_nodes > minimal.num_nodes == 48


def test_explained_is_the_share_of_moves_that_follow_an_edge_of_the_papers_map(coded) -> None:
    """Against a plain loop over the steps."""
    for kind in ("paper",):
        found = build_map(coded.codes, coded.walks, kind=kind)
        edges = set(
            zip(
                found.edge_source.tolist(),
                found.edge_action.tolist(),
                found.edge_target.tolist(),
                strict=True,
            )
        )
        _, index = unique_codes(coded.codes)
        node = found.code_node[index]
        follows = [
            (int(node[b, n]), int(coded.walks.actions[b, n]), int(node[b, n + 1])) in edges
            for b in range(200)
            for n in range(199)
        ]
        assert found.explained == pytest.approx(np.mean(follows))


def test_nothing_depends_on_how_walks_are_ordered_or_codes_are_named(minimal, coded) -> None:
    rng = np.random.default_rng(0)
    order, name = rng.permutation(200), rng.permutation(coded.codes.num_codes)
    walks = coded.walks
    shuffled = Walks(walks.observations[order], walks.actions[order], walks.lengths[order], 4, 4)
    codes = Codes(name[coded.codes.codes[order]], coded.codes.lengths[order], coded.codes.num_codes)
    found = build_map(codes, shuffled)
    assert found.num_nodes == minimal.num_nodes
    # Sums in another order round differently.
    for name in ("edge_support", "node_support"):
        one, other = (np.sort(getattr(each.deterministic(), name)) for each in (found, minimal))
        np.testing.assert_allclose(one, other, atol=2)


def test_codes_that_mean_nothing_predict_nothing() -> None:
    """Observations by chance: whatever the map is, it does not claim to know what comes next."""
    rng = np.random.default_rng(0)
    lengths = np.full(100, 100)
    walks = Walks(rng.integers(0, 4, (100, 100)), rng.integers(0, 4, (100, 99)), lengths, 4, 4)
    found = build_map(Codes(rng.integers(0, 50, (100, 100, 1)), lengths, 50), walks)
    assert found.explained < 0.35


def test_a_map_that_predicts_worse_than_its_model_says_so_first() -> None:
    """One code for each observation of a log that is too small, of a model that predicts every next observation."""
    walks = encode(grid(12, 12, 2, np.random.default_rng(0)), 20, 100, np.random.default_rng(0)).walks
    codes = Codes(walks.observations[..., None], walks.lengths, 2)
    found = build_map(codes, walks, predicted=np.array(walks.observations[:, 1:]))
    assert found.model_accuracy == 1.0
    assert found.num_nodes < 144
    assert found.warnings[0].startswith("the map predicts ")
    assert "the model 100.0%" in found.warnings[0]


def test_labels_and_sizes_come_through(coded) -> None:
    walks = Walks(
        coded.walks.observations,
        coded.walks.actions,
        coded.walks.lengths,
        6,
        4,
        observation_labels=tuple("abcdef"),
        action_labels=("up", "down", "left", "right"),
    )
    for kind in ("minimal", "paper"):
        found = build_map(coded.codes, walks, kind=kind)
        assert (found.num_observations, found.num_actions) == (6, 4)
        assert found.observation_labels == tuple("abcdef")
        assert found.action_labels == ("up", "down", "left", "right")


def test_two_steps_are_enough_for_a_map() -> None:
    lengths = np.array([2])
    walks = Walks(np.zeros((1, 2), int), np.zeros((1, 1), int), lengths, 1, 1)
    codes = Codes(np.zeros((1, 2, 1), int), lengths, 3)
    found = build_map(codes, walks)
    assert (found.num_nodes, found.num_edges) == (1, 1)
    paper = build_map(codes, walks, kind="paper")
    assert (paper.num_nodes, paper.num_edges, paper.explained) == (0, 0, 0.0)
    assert paper.warnings == (NO_NEIGHBOURS,)


def test_a_world_of_one_place() -> None:
    lengths = np.full(10, 50)
    walks = Walks(np.zeros((10, 50), int), np.zeros((10, 49), int), lengths, 1, 1)
    found = build_map(Codes(np.zeros((10, 50, 1), int), lengths, 3), walks)
    assert (found.num_nodes, found.num_edges, found.explained) == (1, 1, 1.0)


def test_more_than_one_bottleneck() -> None:
    world = grid(6, 8, 4, np.random.default_rng(0), patch=3)
    coded = encode(world, 256, 200, np.random.default_rng(0), Coding(bottlenecks=4, flips=0.03))
    found = build_map(coded.codes, coded.walks)
    assert found.num_nodes == 48
    assert found.code_tuples.shape[1] == 4
    assert sorted(node_positions(found, coded.codes, coded.positions, 48)) == list(range(48))


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"kind": "tiny"}, "`kind` must be one of minimal, paper, got 'tiny'"),
        ({"t_ratio": 0.0}, r"`t_ratio` \(=0.0\) must be above 0 and at most 1"),
        ({"d_hamming": 1.5}, r"`d_hamming` \(=1.5\) must be from 0 to 1"),
    ],
)
def test_impossible_choices(choice, text, coded) -> None:
    with pytest.raises(BadConfig, match=text):
        build_map(coded.codes, coded.walks, **choice)


def test_codes_of_other_walks(coded) -> None:
    with pytest.raises(BadRun, match="codes must be of the walks' steps"):
        build_map(Codes(coded.codes.codes[:3], coded.codes.lengths[:3], coded.codes.num_codes), coded.walks)


def test_tuples_joined_beforehand_make_a_map_of_few_steps() -> None:
    """With many tuples per place most occur once or twice, and none of them shows where its moves lead."""
    rng = np.random.default_rng(5)
    coded = encode(grid(4, 5, 3, rng), 4, 400, rng)
    variant = rng.integers(1, 10, (4, 400, 4)) * (rng.random((4, 400, 4)) < 0.4)
    codes = Codes(10 * coded.positions[:, :, None] + variant, coded.codes.lengths, 200)
    joined = build_map(codes, coded.walks, cluster=partial(hamming_clusters, d_hamming=0.25))
    assert joined.num_nodes == 20
    assert sorted(node_positions(joined, codes, coded.positions, 20)) == list(range(20))
