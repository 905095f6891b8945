"""A map as one small SVG, for notebooks: no matplotlib, no script."""

from __future__ import annotations

from html import escape

import numpy as np

from cogmap.records import CognitiveMap, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.layout import layout_map

_STEP, _MARGIN, _RADIUS = 46.0, 24.0, 11.0  # pixels of an edge, around the map, of a node
_MOST = 600  # nodes: a larger sketch would be a blot


def sketch(cognitive_map: CognitiveMap) -> str:
    """The nodes in the colours of their observations, with what is seen there as a tooltip, and lines between them."""
    if not 0 < cognitive_map.num_nodes <= _MOST:
        words = escape(repr(cognitive_map))
        text = f'<text x="8" y="24">{words}</text>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="40">{text}</svg>'
    likely = cognitive_map.deterministic()
    points = layout_map(cognitive_map)
    points = (points - points.min(axis=0)) * _STEP + _MARGIN
    width, height = points.max(axis=0) + _MARGIN
    pairs = {
        tuple(sorted(pair))
        for pair in zip(likely.edge_source.tolist(), likely.edge_target.tolist(), strict=True)
    }
    lines = [
        f'<line x1="{points[a, 0]:.0f}" y1="{points[a, 1]:.0f}" x2="{points[b, 0]:.0f}" y2="{points[b, 1]:.0f}"/>'
        for a, b in sorted(pairs)
        if a != b
    ]
    colours = observation_colours(cognitive_map.num_observations, cognitive_map.observation_labels)
    nodes = []
    for node, seen in enumerate(np.asarray(cognitive_map.node_observation).tolist()):
        x, y = points[node]
        label = escape(str(label_of(cognitive_map.observation_labels, seen)))
        circle = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS:.0f}" fill="{colours[seen]}">'
        nodes.append(f"{circle}<title>node {node}: {label}</title></circle>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img">'
        f'<title>{escape(repr(cognitive_map))}</title><g stroke="#999" stroke-width="1.5">{"".join(lines)}</g>'
        f'<g stroke="#333">{"".join(nodes)}</g></svg>'
    )
