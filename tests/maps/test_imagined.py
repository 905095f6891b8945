"""Moves that were never tried, asked of the model."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.maps.imagined import with_imagined_moves
from cogmap.records import CognitiveMap, ImaginedMoves


def ring(**more) -> CognitiveMap:
    """Three places that show 0, 1 and 0; action 0 goes round. Action 1 goes back, and was never tried at node 2."""
    return CognitiveMap(
        kind="minimal",
        node_observation=np.array([0, 1, 0]),
        node_support=np.array([9, 9, 9]),
        edge_source=np.array([0, 0, 1, 1, 2]),
        edge_action=np.array([0, 1, 0, 1, 0]),
        edge_target=np.array([1, 2, 2, 0, 0]),
        edge_support=np.array([5, 4, 5, 4, 9]),
        code_tuples=np.arange(4)[:, None],
        code_node=np.array([0, 1, 2, 2]),
        num_observations=2,
        num_actions=2,
        explained=1.0,
        **more,
    )


def imagined(votes: list[tuple[int, int, int]]) -> ImaginedMoves:
    """Histories at a code that imagine an observation and a code after action 1, and nothing after action 0."""
    code, seen, after = zip(*votes, strict=True)
    nothing = [-1] * len(votes)
    return ImaginedMoves(
        np.array(code), np.stack([nothing, seen], axis=1), np.stack([nothing, after], axis=1)
    )


def test_a_move_never_made_leads_where_most_histories_imagine_it() -> None:
    found = with_imagined_moves(ring(), imagined([(2, 1, 1), (3, 1, 1), (3, 0, 0), (0, 0, 2)]))
    assert found.num_edges == 6
    last = (found.edge_source[5], found.edge_action[5], found.edge_target[5], found.edge_support[5])
    assert last == (2, 1, 1, 0)
    assert found.edge_imagined.tolist() == found.edge_guessed.tolist() == [False] * 5 + [True]
    assert found.known().num_edges == 5  # no plan counts on it


@pytest.mark.parametrize(
    "votes",
    [
        [(2, 1, 1)],  # one history
        [(2, 1, 1), (2, 1, 1), (3, -1, -1), (3, -1, -1)],  # half of them
        [(2, 0, 1), (3, 0, 1)],  # the code's node does not show what is imagined
        [(0, 1, 1), (0, 1, 1)],  # the move was made
        [(2, 1, -1), (3, 1, -1)],  # a code that was never met
    ],
)
def test_doubtful_moves_are_left_out(votes: list[tuple[int, int, int]]) -> None:
    assert with_imagined_moves(ring(), imagined(votes)).num_edges == 5


def test_an_action_that_is_never_taken_at_a_sight_may_not_be_offered_there() -> None:
    found = ring()
    only = found._with_edges(found.edge_action == 0)
    assert with_imagined_moves(only, imagined([(2, 1, 1), (3, 1, 1)])).num_edges == 3


def test_rewards_and_earlier_guesses_stay_with_their_edges() -> None:
    rewarded = ring(edge_reward=np.arange(5.0), edge_guessed=np.arange(5) == 2)
    found = with_imagined_moves(rewarded, imagined([(2, 1, 1), (3, 1, 1)]))
    assert found.edge_reward is not None
    assert found.edge_reward.tolist() == [0, 1, 2, 3, 4, 0]
    assert found.edge_guessed.tolist() == [False, False, True, False, False, True]
