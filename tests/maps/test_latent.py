"""Latent graphs: a random chain keeps all its frequent transitions."""

from __future__ import annotations

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.maps.latent import is_text, latent_graph
from cogmap.records import Codes, Walks
from cogmap.walks.sample import sample_walks
from cogmap.walks.text import token_walks

# Two cliques of three nodes; every node of a clique leads to both others. Seldom, 2 leads on to 3.
TRANSITIONS = [[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]]


def chain(steps: int, leaks: float, seed: int = 0) -> Walks:
    rng = np.random.default_rng(seed)
    here, visited = 0, []
    for _ in range(steps):
        visited.append(here)
        if here in (2, 5) and rng.random() < leaks:
            here = 5 - here if here == 2 else 0
        else:
            here = TRANSITIONS[here][rng.integers(2)]
    return token_walks(np.array([visited]), tuple("abcdef"))


def codes_of(walks: Walks) -> Codes:
    return Codes(walks.observations[:, :, None], walks.lengths, 6)


def test_every_frequent_transition_is_an_edge() -> None:
    walks = chain(4000, leaks=0.02)
    found = latent_graph(codes_of(walks), walks)
    transitions = {(s, t) for s, targets in enumerate(TRANSITIONS) for t in targets}
    edges = set(zip(found.edge_source.tolist(), found.edge_target.tolist(), strict=True))
    assert edges == transitions | {(2, 3), (5, 0)}
    assert found.explained == 1
    assert found.warnings == ()  # that a step leads to several nodes is no fault in a text


def test_transitions_below_the_ratio_are_no_edges() -> None:
    walks = chain(4000, leaks=0.02)
    found = latent_graph(codes_of(walks), walks, t_ratio=0.2)
    assert (2, 3) not in set(zip(found.edge_source.tolist(), found.edge_target.tolist(), strict=True))
    assert found.num_edges == 12


def test_a_graph_of_nothing_warns() -> None:
    walks = token_walks(np.array([[0, 1] * 20]), tuple("ab"))
    found = latent_graph(codes_of(walks), walks)
    assert found.num_nodes == 0
    assert found.warnings == ("no code kept two neighbours each way above 0.001 of the most frequent step",)


def test_a_text_is_known_by_its_action() -> None:
    room = AliasedRoom(height=3, width=3, observations=2, seed=0)
    assert is_text(chain(10, 0))
    assert not is_text(sample_walks(room, 1, 5, np.random.default_rng(0))[0])
