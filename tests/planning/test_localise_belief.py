"""The filter against Bayes' rule written out, and against the true positions of walks."""

from dataclasses import replace

import numpy as np
import pytest
from small_maps import map_from_edges

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadConfig, BadWalks
from cogmap.evaluation.ged import true_map
from cogmap.planning.localise import belief_model, track, whereabouts
from cogmap.walks.sample import sample_walks

# Action 0 leads from 0 to 1 three times in four, else to 2; action 1 is unknown at node 2.
FORKED = map_from_edges(
    [(0, 0, 1, 3), (0, 0, 2, 1), (1, 0, 0), (2, 0, 2), (0, 1, 0), (1, 1, 2)], [0, 1, 1], 3
)


def written_out(action, source, target, slip):
    """p(target | source, action) for FORKED, straight from the definition."""
    anywhere = slip / 3
    follows = {(0, 0): {1: 0.75, 2: 0.25}, (1, 0): {0: 1}, (2, 0): {2: 1}, (0, 1): {0: 1}, (1, 1): {2: 1}}
    if (source, action) in follows:
        return (1 - slip) * follows[source, action].get(target, 0) + anywhere
    near = {2: 1.0}  # node 2 has no successor but itself
    return (1 - slip) * (0.5 * near.get(target, 0) + 0.5 / 3) + anywhere


def test_moving_and_seeing_follow_bayes_rule():
    model = belief_model(FORKED, slip=0.06, noise=0.1)
    belief = np.array([0.5, 0.3, 0.2])
    for action in (0, 1):
        moved = [
            sum(belief[source] * written_out(action, source, target, 0.06) for source in range(3))
            for target in range(3)
        ]
        np.testing.assert_allclose(model.after_action(belief, action), moved, rtol=1e-12)
        np.testing.assert_allclose(model.after_each_action(belief)[action], moved, rtol=1e-12)
        seen = np.array(moved) * [0.05, 0.9, 0.9]
        np.testing.assert_allclose(
            model.after_seeing(model.after_action(belief, action), 1), seen / seen.sum(), rtol=1e-12
        )


@pytest.mark.parametrize("world", [AliasedRoom(6, 8), torus(6, 8, one_way_doors=8)], ids=["room", "torus"])
def test_walks_are_tracked_to_their_true_positions(world):
    walks, truth = sample_walks(world, 40, 120, np.random.default_rng(0))
    nodes, certainty = track(true_map(world), walks.observations, walks.actions)
    assert (nodes[:, 60:] == truth.positions[:, 60:]).mean() > 0.99
    assert certainty[:, 60:].mean() > 0.97
    assert certainty[:, 0].max() < 0.2


def test_the_filter_recovers_from_noise_and_from_being_moved():
    world = AliasedRoom(6, 8)
    rng = np.random.default_rng(1)
    walks, truth = sample_walks(world, 40, 200, rng)
    seen = walks.observations.copy()
    noisy = rng.random(seen.shape) < 0.1
    seen[noisy] = rng.integers(world.num_observations, size=noisy.sum())
    actions = walks.actions.copy()
    actions[:, 80] = (actions[:, 80] + 1) % 4  # one action is reported wrongly
    nodes, _ = track(true_map(world), seen, actions, noise=0.1)
    assert (nodes[:, 130:] == truth.positions[:, 130:]).mean() > 0.95


def test_suggestions_that_are_mostly_right_localise_a_walk_at_once():
    world = AliasedRoom(6, 8)
    rng = np.random.default_rng(2)
    walks, truth = sample_walks(world, 60, 20, rng)
    suggestions = truth.positions.copy()
    wrong = rng.random(suggestions.shape) < 0.2
    suggestions[wrong] = rng.integers(-1, world.num_positions, size=wrong.sum())
    alone, _ = track(true_map(world), walks.observations, walks.actions)
    together, _ = track(true_map(world), walks.observations, walks.actions, suggestions)
    assert (together == truth.positions)[:, 2:].mean() > 0.98
    assert (alone == truth.positions)[:, 2:4].mean() < (together == truth.positions)[:, 2:4].mean() - 0.2


def test_bad_arguments():
    with pytest.raises(BadConfig, match="`slip` must be between 0 and 1, both excluded, got 0"):
        belief_model(FORKED, slip=0)
    with pytest.raises(BadConfig, match="`noise` must be between 0 and 1, both excluded, got 1"):
        belief_model(FORKED, noise=1)
    with pytest.raises(BadWalks, match=r"`actions` must have shape \(B, N - 1\) = \(2, 4\), got \(2, 5\)"):
        track(FORKED, np.zeros((2, 5), dtype=int), np.zeros((2, 5), dtype=int))


def test_without_codes_the_map_alone_says_where_the_agent_is():
    """Unknown at first, then right; on a map with two nodes for every place, each is the answer in turn."""
    world = AliasedRoom(6, 8)
    walks, truth = sample_walks(world, 20, 100, np.random.default_rng(3))
    walks = replace(walks, lengths=np.full(20, 90))
    found = true_map(world)
    nodes = whereabouts(found, walks.observations, walks.actions, walks.lengths)
    known = nodes >= 0
    assert (nodes[:, 0] == -1).all()
    assert (nodes[:, 90:] == -1).all()
    assert known[:, 30:90].all()
    assert np.array_equal(nodes[known], truth.positions[known])
    doubled = doubled_map(found)
    twice = whereabouts(doubled, walks.observations, walks.actions, walks.lengths)
    known = twice >= 0
    assert np.array_equal(twice[known] % 48, truth.positions[known])
    visits = np.bincount(twice[known], minlength=96).reshape(2, 48)
    assert np.abs(visits[0] - visits[1]).max() <= 1


def doubled_map(found):
    """A second copy of every node and edge, without an edge between the copies."""
    twice = {
        name: np.concatenate([getattr(found, name), getattr(found, name) + shift])
        for name, shift in (("edge_source", 48), ("edge_target", 48), ("edge_action", 0), ("edge_support", 0))
    }
    return replace(
        found,
        node_observation=np.tile(found.node_observation, 2),
        node_support=np.tile(found.node_support, 2),
        code_tuples=np.arange(96)[:, None],
        code_node=np.arange(96),
        edge_probability=None,
        edge_imagined=None,
        seen_node=None,
        **twice,
    )
