from fractions import Fraction

import numpy as np
import pytest

from cogmap.environments import AliasedCube, AliasedRoom, from_tables, maze_from_text, torus
from cogmap.errors import BadWalks
from cogmap.evaluation.prediction import ceiling
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks

TINY = [
    AliasedRoom(2, 3, 2, seed=0),
    AliasedRoom(2, 3, 2, bump="resample", seed=0),
    AliasedRoom(3, 3, 2, bump="resample", seed=4),
    maze_from_text("aab\nb#v\naba"),
    torus(2, 3, 2, one_way_doors=3, seed=1),
]


def by_enumeration(world, observations, actions):
    """For each step, the observations that are likeliest over all starts, each path's probability exact."""
    legal = world.legal_actions()
    likeliest = []
    for step in range(len(actions)):
        mass = dict.fromkeys(range(world.num_observations), Fraction(0))
        for start in range(world.num_positions):
            position, chance = start, Fraction(1)
            for n in range(step + 1):
                if world.observation[position] != observations[n] or not legal[position, actions[n]]:
                    chance = Fraction(0)
                    break
                chance /= int(legal[position].sum())
                position = world.next_position[position, actions[n]]
            mass[int(world.observation[position])] += chance
        best = max(mass.values())
        likeliest.append([seen for seen, weight in mass.items() if weight == best])
    return likeliest


@pytest.mark.parametrize("world", TINY, ids=lambda world: world.name)
def test_against_all_starts_of_tiny_worlds(world):
    walks, _ = sample_walks(world, 30, 8, np.random.default_rng(0))
    for walk in range(30):
        observations, actions = walks.observations[walk], walks.actions[walk]
        one = Walks(observations[None], actions[None], [8], world.num_observations, world.num_actions)
        correct = ceiling(one, world).by_step
        for step, likeliest in enumerate(by_enumeration(world, observations, actions)):
            seen = observations[step + 1]
            if len(likeliest) == 1 or seen not in likeliest:  # a tie may be broken either way
                assert correct[step] == (seen in likeliest)


def test_the_drawn_action_tells_where_one_is():
    """Where fewer actions are legal each of them is likelier, so an action speaks for such a place."""
    # 0 and 1 are one corridor, 2 and 3 the other; 0 and 2 look alike.
    tables = [[1, 0, 0], [0, 1, 1], [3, 2, 2], [2, 3, 3]]
    legal = np.array([[1, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]], dtype=bool)
    world = from_tables(tables, [0, 1, 0, 2], legal=legal)
    walks = Walks([[0, 1], [0, 2]], [[0], [0]], [2, 2], 3, 3)
    # At 0 the action 0 is certain, at 2 it is one of three: the filter bets on 0's neighbour, which shows 1.
    assert ceiling(walks, world).by_step.tolist() == [0.5]
    only_first = Walks([[0, 1]], [[0]], [2], 3, 3)
    assert ceiling(only_first, world).accuracy == 1.0


def test_lengths_count_only_what_is_there():
    world = AliasedRoom(6, 8)
    walks, _ = sample_walks(world, 50, 40, np.random.default_rng(0))
    lengths = np.where(np.arange(50) % 2, 40, 11)
    mask = np.arange(40) < lengths[:, None]
    ragged = Walks(
        np.where(mask, walks.observations, 0), np.where(mask[:, 1:], walks.actions, 0), lengths, 4, 4
    )
    whole, cut = ceiling(walks, world), ceiling(ragged, world)
    assert np.allclose(cut.by_step[:10], whole.by_step[:10])
    odd = Walks(walks.observations[1::2], walks.actions[1::2], walks.lengths[1::2], 4, 4)
    assert np.allclose(cut.by_step[10:], ceiling(odd, world).by_step[10:])
    weights = mask[:, 1:].sum(axis=0)
    assert cut.accuracy == pytest.approx((cut.by_step * weights).sum() / weights.sum())


def test_an_unaliased_world_is_predicted_perfectly():
    world = AliasedRoom(4, 4, 16, patch=0)
    walks, _ = sample_walks(world, 20, 30, np.random.default_rng(0))
    assert ceiling(walks, world).accuracy == 1.0


def test_long_walks_do_not_underflow():
    world = AliasedRoom(6, 8, bump="resample")
    walks, _ = sample_walks(world, 4, 3000, np.random.default_rng(0))
    assert ceiling(walks, world).by_step[200:].min() == 1.0


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda seed: AliasedRoom(seed=seed), 0.9943),
        (lambda seed: AliasedRoom(bump="resample", seed=seed), 0.9947),
        (lambda seed: AliasedRoom(observations=12, seed=seed), 0.9965),
        (lambda seed: AliasedCube(seed=seed), 0.9969),
    ],
    ids=["room", "room, resample", "room, 12 observations", "cube"],
)
def test_the_known_ceilings(make, expected):
    """Measured before this package was built; each within 0.05 percentage points."""
    found = []
    for seed in range(6):
        world = make(seed)
        walks, _ = sample_walks(world, 256, 400, np.random.default_rng(seed))
        found.append(ceiling(walks, world))
    assert np.mean([each.accuracy for each in found]) == pytest.approx(expected, abs=0.0005)
    by_step = np.mean([each.by_step for each in found], axis=0)
    assert by_step[0] < 0.6 < 0.99 < by_step[30:].min()  # lost at first, then never again


def test_walks_that_cannot_be_from_the_world():
    ring = from_tables([[1], [2], [0]], [0, 1, 2])
    with pytest.raises(BadWalks, match="walk 1 becomes impossible at step 2"):
        ceiling(Walks([[0, 1, 2], [0, 1, 0]], [[0, 0], [0, 0]], [3, 3], 3, 1), ring)
    with pytest.raises(BadWalks, match="walk 0 becomes impossible at step 0"):
        ceiling(Walks([[3, 0]], [[0]], [2], 4, 1), from_tables([[1], [0]], [0, 1], num_observations=4))
    with pytest.raises(BadWalks, match="walks and world must agree on `num_actions`, got 2 and 1"):
        ceiling(Walks([[0, 1]], [[1]], [2], 3, 2), ring)
    with pytest.raises(BadWalks, match="walks and world must agree on `num_observations`, got 5 and 3"):
        ceiling(Walks([[0, 1]], [[0]], [2], 5, 1), ring)
