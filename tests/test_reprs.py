"""Runs, maps and plans in words, and the picture that a notebook shows."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from cogmap.records import CognitiveMap, Plan, Walks
from cogmap.report.colours import observation_colours
from cogmap.report.layout import layout_map


def grid_map(height=3, width=4, labels=("red", "blue", "wood"), actions=("north", "south", "west", "east")):
    """A grid whose nodes are numbered row by row."""
    edges = []
    for row in range(height):
        for column in range(width):
            for action, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
                r, c = row + down, column + right
                if 0 <= r < height and 0 <= c < width:
                    edges.append((row * width + column, action, r * width + c))
    source, action, target = np.array(edges).T
    nodes = height * width
    ones = np.ones(len(edges), dtype=int)
    return CognitiveMap(
        "minimal", np.arange(nodes) % 3, np.full(nodes, 9), source, action, target, ones,
        np.arange(nodes)[:, None], np.arange(nodes), 3, 4, 1.0,
        observation_labels=labels, action_labels=actions,
    )  # fmt: skip


def test_words():
    plan = Plan(np.array([1, 0]), np.array([0, 1, 2]), np.array([4, 5, 6]), ("a", "b", "c"), ("left", "up"))
    assert repr(plan) == "Plan of 2 actions from node 4 to node 6: up left"
    assert plan.action_words == ["up", "left"]
    assert plan.observation_words == ["a", "b", "c"]
    assert (
        repr(Plan(np.zeros(0, int), np.array([0]), np.array([4])))
        == "Plan: no action, it is at node 4 already"
    )
    assert repr(grid_map()) == "CognitiveMap: a map of 12 places and 34 moves, 100.0% explained"
    walks = Walks(np.zeros((2, 5), int), np.zeros((2, 4), int), np.array([3, 5]), 1, 1)
    assert repr(walks) == "Walks: 2 of 3 to 5 steps, 1 observations, 1 actions"


def test_the_picture_of_a_map_is_one_svg_with_a_node_a_place():
    root = ElementTree.fromstring(grid_map()._repr_svg_())
    circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 12
    assert circles[0].get("fill") == "#c0392b"
    assert circles[0][0].text == "node 0: red"


def test_observations_named_by_colours_have_them():
    red, blue, wood = observation_colours(3, ("red", "Dark blue", "wood"))
    assert (red, blue) == ("#c0392b", "#2f6fb7")
    assert wood not in (red, blue)
    assert observation_colours(2, ("red or blue", "x")) == observation_colours(2)


@pytest.mark.parametrize("actions", [("north", "south", "west", "east"), ("up", "down", "left", "right")])
def test_actions_named_by_directions_orient_the_layout(actions):
    found = grid_map(actions=actions)
    moved = layout_map(found)[found.edge_target] - layout_map(found)[found.edge_source]
    ways = np.array([(0, -1), (0, 1), (-1, 0), (1, 0)])[found.edge_action]
    assert ((moved * ways).sum(axis=1) > 0.8).all()
