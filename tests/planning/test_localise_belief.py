"""The filter against Bayes' rule written out, and against the true positions of walks."""

from dataclasses import replace

import numpy as np
import pytest
from small_maps import map_from_edges

from cogmap.environments.bayes import filter_walks
from cogmap.environments.chance import moves_of, with_slip
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadConfig, BadWalks
from cogmap.evaluation.ged import true_map
from cogmap.hmm.belief import belief_model, read_walks, with_signs
from cogmap.planning.localise import estimated_nodes, track
from cogmap.walks.sample import Agent, sample_walks

# Action 0 leads from 0 to 1 three times in four, else to 2; action 1 is unknown at node 2.
FORKED = map_from_edges(
    [(0, 0, 1, 3), (0, 0, 2, 1), (1, 0, 0), (2, 0, 2), (0, 1, 0), (1, 1, 2)], [0, 1, 1], 3
)


def written_out(action, source, target, slip):
    """p(target | source, action) for FORKED: n tries leave a surprise of 1 / (n + 1 / slip)."""
    follows = {(0, 0): {1: 0.75, 2: 0.25}, (1, 0): {0: 1}, (2, 0): {2: 1}, (0, 1): {0: 1}, (1, 1): {2: 1}}
    tries = 4 if (source, action) == (0, 0) else 1 if (source, action) in follows else 0
    surprise = 1 / (tries + 1 / slip)
    if (source, action) in follows:
        return (1 - surprise) * follows[source, action].get(target, 0) + surprise / 3
    near = {2: 1.0}  # node 2 has no successor but itself
    return (1 - surprise) * (0.5 * near.get(target, 0) + 0.5 / 3) + surprise / 3


def doable(action, source):
    """Action 1 was never taken at node 2, where one try in 8 x 2 / 8 = 0.25 would have been expected."""
    return 1 / 1.25 if (action, source) == (1, 2) else 1.0


def test_moving_and_seeing_follow_bayes_rule():
    model = belief_model(FORKED, slip=0.06, noise=0.1)
    belief = np.array([0.5, 0.3, 0.2])
    surprise = 1 / 11  # one visit and noise 0.1
    for action in (0, 1):
        chosen = [sum(belief[s] * written_out(action, s, t, 0.06) for s in range(3)) for t in range(3)]
        np.testing.assert_allclose(model.after_each_action(belief)[action], chosen, rtol=1e-12)
        here = belief * [doable(action, source) for source in range(3)]
        here /= here.sum()
        moved = [sum(here[s] * written_out(action, s, t, 0.06) for s in range(3)) for t in range(3)]
        np.testing.assert_allclose(model.after_action(belief, action), moved, rtol=1e-12)
        seen = np.array(moved) * [surprise / 2, 1 - surprise, 1 - surprise]
        np.testing.assert_allclose(
            model.after_seeing(model.after_action(belief, action), 1), seen / seen.sum(), rtol=1e-12
        )
    shown = model.shows(belief)
    assert shown.sum() == pytest.approx(1)
    assert shown[2] == pytest.approx(surprise / 2)


def chance_map(world, visits=5000):
    """The true map of a world with chance, as if every place was visited this often."""
    source, action, target, probability, _ = moves_of(world)
    return replace(
        true_map(world),
        kind="minimal",
        edge_source=source,
        edge_action=action,
        edge_target=target,
        edge_support=np.maximum(1, probability * visits / 4).astype(int),
        edge_probability=probability,
        edge_imagined=None,
        node_support=np.full(world.num_positions, visits),
    )


def test_whole_walks_are_read_as_single_steps_are():
    """With codes and without. Nodes that are dropped have a share of 1 / visits: below the tolerance."""
    world = with_slip(AliasedRoom(4, 5, 3), 0.2)
    walks, truth = sample_walks(world, 6, 30, np.random.default_rng(0))
    found = with_signs(
        chance_map(world), walks, truth.positions, np.ones_like(truth.positions, dtype=bool), truth.positions
    )
    found = replace(found, sign_weight=0.5)
    for codes in (None, truth.positions):
        model = belief_model(found)
        read = read_walks(model, walks.observations, walks.actions, walks.lengths, codes, last=True)
        for walk in range(6):
            belief = model.prior
            for step in range(30):
                if step:
                    belief = model.after_action(belief, walks.actions[walk, step - 1])
                    ahead = model.shows(belief)
                    assert read.predicted[walk, step - 1] == ahead.argmax()
                seen = walks.observations[walk, step]
                likelihood = belief @ model.likelihood(seen)
                assert read.log_likelihood[walk, step] == pytest.approx(np.log(likelihood), abs=1e-3)
                belief = model.after_seeing(belief, seen)
                if codes is not None:
                    belief = model.after_code(belief, codes[walk, step])
                assert read.certainty[walk, step] == pytest.approx(belief.max(), abs=1e-3)
            np.testing.assert_allclose(read.last[walk], belief, atol=1e-3)


@pytest.mark.parametrize("slip", [0.1, 0.3])
def test_the_filter_of_the_true_map_is_as_good_as_the_exact_one(slip):
    walks, truth = sample_walks(AliasedRoom(6, 8), 20, 200, np.random.default_rng(1), Agent(slip=slip))
    read = read_walks(belief_model(chance_map(truth.world)), walks.observations, walks.actions, walks.lengths)
    exact = filter_walks(walks, truth.world).mean_log_loss
    assert exact - 1e-9 < -read.log_likelihood[:, 1:].mean() + 0.002 < exact + 0.007


def test_codes_that_say_nothing_weigh_nothing_and_good_ones_much_beside_a_wrong_map():
    world = AliasedRoom(5, 6)
    rng = np.random.default_rng(3)
    walks, truth = sample_walks(world, 40, 100, rng)
    sure = np.ones(walks.observations.shape, dtype=bool)
    said = rng.integers(world.num_positions, size=truth.positions.shape)  # nothing
    assert with_signs(chance_map(world), walks, truth.positions, sure, said).sign_weight <= 0.0625
    edges = chance_map(world)
    target = edges.edge_target.copy()
    wrong = rng.choice(len(target), len(target) // 4, replace=False)
    target[wrong] = rng.permutation(target[wrong])  # a quarter of the moves leads anywhere
    torn = replace(edges, edge_target=target)
    mended = with_signs(torn, walks, truth.positions, sure, truth.positions)
    assert mended.sign_weight > 0
    model, history = belief_model(mended), (walks.observations, walks.actions, walks.lengths)
    alone, together = read_walks(model, *history), read_walks(model, *history, truth.positions)
    assert (together.nodes == truth.positions).mean() > (alone.nodes == truth.positions).mean() + 0.1


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
    nodes = estimated_nodes(found, walks.observations, walks.actions, walks.lengths)
    known = nodes >= 0
    assert (nodes[:, 0] == -1).all()
    assert (nodes[:, 90:] == -1).all()
    assert known[:, 30:90].all()
    assert np.array_equal(nodes[known], truth.positions[known])
    doubled = doubled_map(found)
    twice = estimated_nodes(doubled, walks.observations, walks.actions, walks.lengths)
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
