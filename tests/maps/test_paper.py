"""The paper's three steps against dense arithmetic on tiny cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cogmap.hmm.counts import Counts
from cogmap.maps.paper import (
    hamming_clusters,
    merge_same_neighbours,
    nearest_retained,
    threshold_edges,
    well_connected,
)


def sparse(dense: np.ndarray) -> Counts:
    """Counts of a dense [source, action, target] tensor."""
    source, action, target = np.nonzero(dense)
    return Counts(source, action, target, dense[source, action, target], len(dense), dense.shape[1])


def random_tensor(seed: int, codes: int = 7, actions: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 30, (codes, actions, codes)) * (rng.random((codes, actions, codes)) < 0.35)


def dense_components(joined: np.ndarray) -> np.ndarray:
    reach = joined | np.eye(len(joined), dtype=bool)
    for _ in range(len(joined)):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    return reach


@pytest.mark.parametrize("d_hamming", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("bottlenecks", [2, 3, 4])
def test_hamming_clusters_are_the_components_of_close_pairs(bottlenecks: int, d_hamming: float) -> None:
    rng = np.random.default_rng(bottlenecks)
    tuples = np.unique(rng.integers(0, 6, (40, bottlenecks)), axis=0)
    distance = (tuples[:, None] != tuples[None]).mean(axis=2)
    cluster = hamming_clusters(tuples, d_hamming)
    assert np.array_equal(cluster[:, None] == cluster[None], dense_components(distance <= d_hamming + 1e-9))


def test_a_single_bottleneck_is_not_clustered() -> None:
    assert hamming_clusters(np.arange(5)[:, None], 1.0).tolist() == [0, 1, 2, 3, 4]


def test_clusters_join_transitively_and_only_so() -> None:
    tuples = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [5, 5, 1, 1]])
    assert hamming_clusters(tuples, 0.25).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("seed", range(6))
def test_threshold_keeps_the_best_action_of_each_pair_that_is_frequent_enough(seed: int) -> None:
    dense = random_tensor(seed)
    edges = threshold_edges(sparse(dense), 0.4)
    wanted = set()
    for i, k in itertools.product(range(7), repeat=2):
        action = int(dense[i, :, k].argmax())
        if dense[i, action, k] and dense[i, action, k] >= 0.4 * dense.max():
            wanted.add((i, action, k, int(dense[i, action, k])))
    columns = (edges.source, edges.action, edges.target, edges.count)
    assert {tuple(map(int, row)) for row in zip(*columns, strict=True)} == wanted
    assert len(edges.source) == len(wanted)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_need_two_others_on_either_side(seed: int) -> None:
    dense = random_tensor(seed)
    linked = dense.sum(axis=1) > 0
    np.fill_diagonal(linked, False)
    wanted = (linked.sum(axis=0) >= 2) & (linked.sum(axis=1) >= 2)
    assert np.array_equal(well_connected(sparse(dense)), wanted)


@pytest.mark.parametrize("seed", range(6))
def test_same_neighbours_make_one_node(seed: int) -> None:
    """Half of the codes are copies of others, as seen by all; a neighbour by another action is another one."""
    rng = np.random.default_rng(seed)
    linked = (rng.random((5, 5)) < 0.5) * rng.integers(1, 3, (5, 5))  # by action 1 or 2
    np.fill_diagonal(linked, 0)
    name = rng.integers(0, 5, 9)
    by_pair = linked[np.ix_(name, name)]
    dense = np.stack([by_pair == 1, by_pair == 2], axis=1).astype(int)
    retained = rng.random(9) < 0.8
    kept = by_pair * (retained[:, None] & retained[None])
    node = merge_same_neighbours(sparse(dense), retained)
    for i, j in itertools.combinations(np.flatnonzero(retained), 2):
        same = (kept[i] == kept[j]).all() and (kept[:, i] == kept[:, j]).all()
        assert (node[i] == node[j]) == same
    assert (node[~retained] == -1).all()
    assert set(node[retained]) == set(range(node.max() + 1))


def test_opposite_views_along_a_corridor_are_two_nodes() -> None:
    """Codes 0 to 3 are the four directions of one cell; action 0 turns left and 1 right."""
    dense = np.zeros((4, 2, 4), int)
    for code in range(4):
        dense[code, 0, (code - 1) % 4] = dense[code, 1, (code + 1) % 4] = 1
    assert merge_same_neighbours(sparse(dense), np.ones(4, bool)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("chunk", [4_000_000, 3])
def test_discarded_codes_go_to_the_nearest_retained(
    seed: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogmap.maps.paper._CHUNK", chunk)
    dense = random_tensor(seed, codes=12)
    retained = np.random.default_rng(seed).random(12) < 0.5
    totals = dense.sum(axis=2, keepdims=True)
    chance = np.where(totals > 0, dense / np.maximum(totals, 1), 0)
    nearest = nearest_retained(sparse(dense), retained)
    keepers = np.flatnonzero(retained)
    for code in range(12):
        if retained[code]:
            assert nearest[code] == code
        else:
            distance = np.abs(chance[keepers] - chance[code]).sum(axis=(1, 2))
            assert nearest[code] == keepers[np.round(distance, 9).argmin()]


def test_axis_order_matters_in_step_three() -> None:
    """Code 3 goes where code 0 goes, and comes from where code 1 comes from: it belongs to code 0."""
    dense = np.zeros((5, 1, 5), dtype=int)
    dense[0, 0, 2] = dense[3, 0, 2] = 5
    dense[4, 0, 1] = dense[4, 0, 3] = 5
    dense[1, 0, 4] = 5
    nearest = nearest_retained(sparse(dense), np.array([True, True, False, False, False]))
    assert nearest[3] == 0


def test_nothing_retained_leaves_nothing_to_go_to() -> None:
    assert (nearest_retained(sparse(random_tensor(0)), np.zeros(7, dtype=bool)) == -1).all()
