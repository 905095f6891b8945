"""Street networks: planar, of street-like degrees, directions that fit the picture, one-way streets, labels."""

import networkx
import numpy as np
import pytest

from cogmap.environments.oracle import true_edges, unreachable
from cogmap.environments.streets import COMPASS, LONGEST_STREET, MOST_STREETS, street_network
from cogmap.errors import BadWorld

# Row and column of a unit step in each direction, clockwise from north; rows count downwards.
STEPS = np.array([(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)])
SIZES = [(3, 0.0), (4, 0.0), (12, 0.1), (60, 0.3), (400, 0.0), (400, 0.25)]


@pytest.fixture(params=[(size, seed) for size in SIZES for seed in range(3)], ids=str)
def network(request):
    (corners, one_way), seed = request.param
    return street_network(corners, one_way, seed=seed), one_way


def streets_of(world):
    """Every street once, as a pair of corners."""
    source, _, target = true_edges(world)
    return {tuple(sorted(pair)) for pair in zip(source.tolist(), target.tolist(), strict=True)}


def crosses(first, second):
    """Whether two segments (2, 2) without a common end cross, by the signs of four triangles."""

    def side(a, b, c):
        return np.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    (a, b), (c, d) = first, second
    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)


def test_every_corner_reaches_every_other(network):
    world, _ = network
    assert unreachable(world.next_position, world.legal) is None


def test_streets_do_not_cross():
    for seed in range(3):
        world = street_network(80, 0.1, seed=seed)
        streets = sorted(streets_of(world))
        for index, first in enumerate(streets):
            for second in streets[index + 1 :]:
                if not set(first) & set(second):
                    assert not crosses(world.coordinates[list(first)], world.coordinates[list(second)])


def test_corners_have_one_to_five_streets_of_street_like_length(network):
    world, _ = network
    streets = networkx.Graph(streets_of(world))
    degrees = [degree for _, degree in streets.degree()]
    assert streets.number_of_nodes() == world.num_positions
    assert min(degrees) >= 1
    assert max(degrees) <= MOST_STREETS
    if world.num_positions >= 400:
        assert set(degrees) == {1, 2, 3, 4, 5}
        assert 2.7 < np.mean(degrees) < 3.0
        ends = np.array(sorted(streets_of(world)))
        # A spanning tree may need a long street.
        lengths = np.linalg.norm(np.diff(world.coordinates[ends], axis=1), axis=2)
        assert np.mean(lengths > LONGEST_STREET) < 0.01


def test_a_street_leaves_in_its_nearest_direction_and_comes_back_by_the_opposite(network):
    world, _ = network
    source, action, target = true_edges(world)
    along = world.coordinates[target] - world.coordinates[source]  # (E, 2)
    unit = STEPS / np.linalg.norm(STEPS, axis=1, keepdims=True)  # (8, 2)
    assert np.array_equal((along @ unit.T).argmax(axis=1), action)
    back = world.legal[target, (action + 4) % 8]
    assert (world.next_position[target, (action + 4) % 8] == source)[back].all()


def test_the_share_of_one_way_streets(network):
    world, one_way = network
    source, _, target = true_edges(world)
    moves = set(zip(source.tolist(), target.tolist(), strict=True))
    single = sum((second, first) not in moves for first, second in moves)
    assert single == round(one_way * len(streets_of(world)))


def test_what_is_seen_is_which_turns_are_legal(network):
    world, _ = network
    for corner in range(world.num_positions):
        label = world.observation_labels[world.observation[corner]]
        assert label.split("-") == [COMPASS[turn] for turn in np.flatnonzero(world.legal[corner])]
    assert set(world.observation.tolist()) == set(range(world.num_observations))  # no set that never occurs


def test_bump_stay_has_the_same_streets_and_tries_every_turn():
    drawn, tried = street_network(100, 0.2, seed=5), street_network(100, 0.2, bump="stay", seed=5)
    assert tried.legal is None
    assert np.array_equal(drawn.next_position, tried.next_position)
    assert np.array_equal(drawn.observation, tried.observation)
    assert (tried.next_position[~drawn.legal] == np.argwhere(~drawn.legal)[:, 0]).all()


def test_seeds_and_corners_of_thousands():
    first, again, other = (street_network(4500, 0.1, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.next_position, again.next_position)
    assert np.array_equal(first.coordinates, again.coordinates)
    assert not np.array_equal(first.coordinates, other.coordinates)
    assert unreachable(first.next_position, first.legal) is None


def test_as_many_streets_as_possible_are_one_way():
    """All but the bridges: any strongly connected mixed graph can be oriented so (Boesch and Tindell 1980)."""
    world = street_network(60, 0.0, seed=2)
    streets = networkx.Graph(streets_of(world))
    bridges = len(list(networkx.bridges(streets)))
    possible = streets.number_of_edges() - bridges
    assert bridges > 0
    share = (possible - 0.25) / streets.number_of_edges()
    assert unreachable(street_network(60, share, seed=2).next_position) is None
    with pytest.raises(BadWorld, match=f"at most {possible} of {streets.number_of_edges()} streets"):
        street_network(60, (possible + 1) / streets.number_of_edges(), seed=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"corners": 2}, "`corners` must be at least 3, got 2"),
        ({"one_way": 1.5}, r"`one_way` must be a share in \[0, 1\], got 1.5"),
        ({"one_way": float("nan")}, r"`one_way` must be a share in \[0, 1\], got nan"),
        ({"bump": "bounce"}, '`bump` must be "stay" or "resample", got \'bounce\''),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(BadWorld, match=message):
        street_network(**settings)
