"""The node of a code tuple: exact match, nearest tuple, or none."""

import dataclasses

import numpy as np
import pytest
from small_maps import map_from_edges

from cogmap.errors import BadRun
from cogmap.planning import localise as locate_module
from cogmap.planning.localise import locate, nodes_by_code_and_move
from cogmap.records import Codes


def map_of(code_tuples, code_node, node_support):
    base = map_from_edges([(0, 0, 1)], [0] * len(node_support))
    return dataclasses.replace(
        base,
        code_tuples=np.array(code_tuples),
        code_node=np.array(code_node),
        node_support=np.array(node_support),
    )


FOUR = map_of([[0, 0, 0], [0, 0, 1], [1, 1, 1], [7, 7, 7]], [0, 1, 2, -1], [5, 9, 3])


def test_tuples_of_the_map_give_their_own_node():
    assert locate(FOUR, [[0, 0, 1], [1, 1, 1], [0, 0, 0]]).tolist() == [1, 2, 0]


def test_others_take_the_nearest_and_among_equals_the_most_visited():
    assert locate(FOUR, [[1, 1, 5]]).tolist() == [2]
    assert locate(FOUR, [[0, 0, 8]]).tolist() == [1]  # as near to node 0, but node 1 was visited more


def test_a_tuple_that_stands_for_no_node_is_not_located_even_by_an_exact_match():
    assert locate(FOUR, [[7, 7, 7], [7, 1, 1]]).tolist() == [-1, 2]


def test_a_tuple_without_a_common_code_has_no_node():
    assert locate(FOUR, [[9, 9, 9]]).tolist() == [-1]
    single = map_of([[0], [1], [2]], [0, -1, 1], [1, 1])
    assert locate(single, [[1], [2], [5]]).tolist() == [-1, 1, -1]


def test_agrees_with_a_plain_loop_in_every_chunk_size(monkeypatch):
    rng = np.random.default_rng(0)
    tuples = np.unique(rng.integers(4, size=(60, 4)), axis=0)
    node = rng.integers(-1, 12, size=len(tuples))
    support = rng.permutation(12)
    many = map_of(tuples, node, support)
    asked = rng.integers(5, size=(200, 4))

    def plain(row):
        best = (0, -1, -1)  # codes that agree, support, node
        for known, place in zip(tuples, node, strict=True):
            agreeing = int((known == row).sum())
            if place >= 0 and agreeing and (agreeing, support[place]) > best[:2]:
                best = (agreeing, int(support[place]), int(place))
        return best[2]

    expected = [plain(row) for row in asked]
    for chunk in (1, 100, 10**6):
        monkeypatch.setattr(locate_module, "_COMPARISONS_AT_ONCE", chunk)
        assert locate(many, asked).tolist() == expected


def test_wrong_number_of_bottlenecks():
    with pytest.raises(BadRun, match=r"must have shape \(R, M\) with M = 3, got \(1, 2\)"):
        locate(FOUR, [[0, 0]])


def test_a_code_of_several_nodes_is_the_one_to_which_the_move_leads():
    """Code 9 stands for nodes 2 and 3, more often for 2; action 1 leads from node 1 to node 3, from itself nowhere."""
    found = dataclasses.replace(
        map_from_edges([(0, 0, 2), (1, 1, 3), (1, 0, 0)], [0, 1, 0, 0]),
        kind="paper",
        code_tuples=np.array([[0], [1], [9]]),
        code_node=np.array([0, 1, 2]),
        node_support=np.ones(4, dtype=int),
        sign_code=np.array([2, 2]),
        sign_node=np.array([2, 3]),
        sign_count=np.array([8, 5]),
    )
    seen = np.array([[1, 9, 9, 0], [0, 9, 1, 9], [9, 9, 9, 0], [1, 9, 0, 0]])
    done = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0]])
    lengths = np.array([4, 4, 4, 2])
    nodes = nodes_by_code_and_move(found, Codes(seen[..., None], lengths, 10), done)
    # The second stays where a move has no edge; the last one's move leads to none of the code's nodes.
    assert nodes.tolist() == [[1, 3, 3, 0], [0, 2, 1, 2], [2, 2, 2, 0], [1, 2, -1, -1]]
    without = dataclasses.replace(found, sign_code=None, sign_node=None, sign_count=None)
    assert nodes_by_code_and_move(without, Codes(seen[..., None], lengths, 10), done)[0].tolist() == [
        1,
        2,
        2,
        0,
    ]
