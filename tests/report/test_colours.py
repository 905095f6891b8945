"""Colours: stable, distinct, and different from those of walks and paths."""

import colorsys

import pytest

from cogmap.report.colours import observation_colours


def test_a_colour_does_not_depend_on_how_many_there_are():
    assert observation_colours(30)[:4] == observation_colours(4)


def test_thirty_colours_differ():
    colours = [
        tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5)) for colour in observation_colours(30)
    ]
    distances = [
        sum((one - two) ** 2 for one, two in zip(first, second, strict=True)) ** 0.5
        for index, first in enumerate(colours)
        for second in colours[:index]
    ]
    assert min(distances) > 15


@pytest.mark.parametrize("colour", observation_colours(60))
def test_no_observation_looks_like_a_walk_or_a_path(colour):
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
    assert saturation < 0.25 or 0.05 < hue < 0.77
