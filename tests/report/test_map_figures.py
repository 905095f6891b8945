"""Pictures of maps: every node once, in its colour, at its place; one-way edges, merged nodes and plans marked."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from edgeless_maps import edgeless_map
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.quiver import Quiver
from report_material import ROOM, TRUTH, merged_map

from cogmap.environments.oracle import optimal_route
from cogmap.environments.table import torus
from cogmap.errors import BadWorld
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.places import node_places
from cogmap.records import TableWorld, Truth
from cogmap.report.colours import PATH_COLOUR, WALK_COLOUR, observation_colours
from cogmap.report.map_figures import map_figure, points_at_places
from cogmap.report.room_figures import plan_figure
from cogmap.report.style import svg_text

MAP = true_map(ROOM)
PLACES = np.arange(ROOM.num_positions, dtype=np.int32)
POINTS = points_at_places(ROOM, PLACES)


def artists(figure, kind):
    return [artist for artist in figure.axes[0].get_children() if type(artist) is kind]


def test_every_node_is_drawn_at_its_place_in_the_colour_of_what_is_seen_there():
    (nodes,) = artists(map_figure(MAP, POINTS), PathCollection)
    assert np.allclose(np.asarray(nodes.get_offsets())[:, ::-1], ROOM.coordinates)
    colours = observation_colours(4)
    assert [to_hex(colour) for colour in nodes.get_facecolor()] == [
        colours[seen] for seen in ROOM.observation
    ]


def test_each_pair_of_neighbours_has_one_line():
    figure = map_figure(MAP, POINTS)
    (lines,) = artists(figure, LineCollection)
    assert len(lines.get_segments()) == 6 * 7 + 5 * 8
    assert artists(figure, Quiver) == []


def test_a_one_way_edge_is_an_arrow_from_its_source():
    back = (MAP.edge_source == 1) & (MAP.edge_target == 0)
    edges = {
        name: getattr(MAP, name)[~back]
        for name in ("edge_source", "edge_action", "edge_target", "edge_support")
    }
    (arrows,) = artists(
        map_figure(replace(MAP, edge_probability=None, edge_imagined=None, **edges), POINTS), Quiver
    )
    assert arrows.get_offsets().tolist() == [[0, 0]]
    (across,), (down,) = arrows.U.tolist(), arrows.V.tolist()
    assert 0 < across < 1 - 0.25  # its head ends before the node that it leads to
    assert down == 0


def test_a_guess_is_a_dashed_line_of_its_own():
    guesses = (MAP.edge_source == 0) & (MAP.edge_target == 1)
    lines, dashed = artists(map_figure(replace(MAP, edge_guessed=guesses), POINTS), LineCollection)
    assert lines.get_linestyle()[0][1] is None
    assert dashed.get_linestyle()[0][1] is not None
    assert dashed.get_segments()[0].tolist() == POINTS[[0, 1]].tolist()


def test_nodes_of_one_place_stand_side_by_side_within_it_and_nodes_of_none_are_left_out():
    places = PLACES.copy()
    places[:7], places[7] = 20, -1
    points = points_at_places(ROOM, places)
    bunch = points[[0, 1, 2, 3, 4, 5, 6, 20]]
    assert len(np.unique(bunch.round(3), axis=0)) == 8
    assert np.abs(bunch - ROOM.coordinates[20, ::-1]).max() < 0.5
    assert np.isnan(points[7]).all()
    (nodes,) = artists(map_figure(MAP, points), PathCollection)
    assert len(nodes.get_offsets()) == ROOM.num_positions - 1


def test_merged_nodes_are_ringed_in_fuchsia():
    merged = np.zeros(MAP.num_nodes, dtype=bool)
    merged[[3, 10]] = True
    (nodes,) = artists(map_figure(MAP, POINTS, merged), PathCollection)
    fuchsia = [to_hex(colour) == WALK_COLOUR for colour in nodes.get_edgecolor()]
    assert np.flatnonzero(fuchsia).tolist() == [3, 10]


def merged_nodes(nodes, truth, num_nodes):
    return node_places(nodes, nodes >= 0, num_nodes, truth).merged


def test_merged_nodes_are_those_that_stand_for_several_places():
    found, node = merged_map(ROOM)
    merged = merged_nodes(node[TRUTH.positions], TRUTH, found.num_nodes)
    assert merged.tolist() == (np.bincount(node) > 1).tolist()
    assert merged.any()
    assert not merged_nodes(TRUTH.positions, TRUTH, ROOM.num_positions).any()


def test_a_node_that_is_seldom_elsewhere_or_never_active_is_not_merged():
    truth = Truth(np.array([[0] * 19 + [1], [0] * 17 + [1] * 3]), ROOM)
    nodes = np.array([[0] * 20, [1] * 20])
    assert merged_nodes(nodes, truth, 3).tolist() == [False, True, False]


def test_a_plan_runs_in_red_from_a_to_b():
    context, goal = TRUTH.positions[0, :20], 0
    visited = optimal_route(ROOM, int(context[-1]), goal).positions
    figure = plan_figure(ROOM, context, visited, goal)
    path = artists(figure, LineCollection)[-1]
    assert to_hex(path.get_colors()[0]) == PATH_COLOUR
    assert np.array(path.get_segments())[:, 1, ::-1].tolist() == ROOM.coordinates[visited[1:]].tolist()
    ends = {text.get_text(): text.get_position()[::-1] for text in figure.axes[0].texts}
    assert ends == {"A": tuple(ROOM.coordinates[visited[0]]), "B": tuple(ROOM.coordinates[goal])}
    assert crosses(figure) == []


def test_a_plan_that_leads_elsewhere_ends_in_a_cross():
    context, goal = TRUTH.positions[0, :20], 0
    visited = optimal_route(ROOM, int(context[-1]), goal).positions[:-1]
    assert crosses(plan_figure(ROOM, context, visited, goal)) == [tuple(ROOM.coordinates[visited[-1]][::-1])]


def crosses(figure):
    return [tuple(line.get_xydata()[0]) for line in figure.axes[0].lines if line.get_marker() == "X"]


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros((1, 2))])
def test_a_map_of_no_node_or_one_is_drawn_too(points):
    small = edgeless_map(MAP.node_observation[: len(points)])
    assert "<svg " in svg_text(map_figure(small, points))


def test_a_world_without_coordinates_has_no_places_to_draw():
    with pytest.raises(BadWorld, match="a world must have coordinates to be drawn"):
        points_at_places(TableWorld(ROOM.next_position, ROOM.observation, 4), PLACES)


def test_ink_turns_light_on_a_dark_screen_and_settings_stay_as_they_were():
    before = dict(matplotlib.rcParams)
    svg = svg_text(map_figure(MAP, POINTS))
    assert dict(matplotlib.rcParams) == before
    assert svg.startswith("<svg ")
    assert "stroke: currentColor" in svg
    assert "prefers-color-scheme: dark" in svg
    assert "<!DOCTYPE" not in svg


def test_labels_are_shown_as_they_are_unless_they_are_too_long():
    labels = ("$x$ and $y$", "_hidden", "a very long label indeed", "色")
    figure = map_figure(replace(MAP, observation_labels=labels), POINTS)
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown == [r"\$x\$ and \$y\$", " _hidden", "a very long lab…", "色"]
    assert ">$x$ and $y$<" in svg_text(figure)


def test_a_large_map_is_a_light_file():
    world = torus(50, 60)
    svg = svg_text(map_figure(true_map(world), points_at_places(world, np.arange(3000, dtype=np.int32))))
    assert "data:image/png;base64," in svg
    assert len(svg) < 1_000_000
