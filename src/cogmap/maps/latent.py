"""The latent graph of a text: which codes follow which, in a stochastic sequence.

In a minimal map every move leads from a node to one place. In text the only move is `next`, and it leads to several:
refinement would split codes by their random successors, or dissolve them all. So a text gets the paper's graph, with
the paper's threshold for text, and a node may have many successors.
"""

from __future__ import annotations

from dataclasses import replace

from cogmap.maps.build import build_map
from cogmap.records import Codes, CognitiveMap, Walks
from cogmap.walks.text import ACTION

T_RATIO = 0.001  # the least count of an edge, as a share of the highest count
_EXPLAINED = 0.5  # of all steps; below it the graph has a warning


def is_text(walks: Walks) -> bool:
    """Whether walks are text, whose only action is `next`."""
    return walks.action_labels == (ACTION,)


def latent_graph(codes: Codes, walks: Walks, t_ratio: float = T_RATIO) -> CognitiveMap:
    """The graph of the codes of a text."""
    found = build_map(codes, walks, kind="paper", t_ratio=t_ratio)
    return replace(found, warnings=_warnings(found, t_ratio))


def _warnings(found: CognitiveMap, t_ratio: float) -> tuple[str, ...]:
    """A move with several targets is no reason for a warning here."""
    if found.num_nodes == 0:
        return (f"no code kept two neighbours each way above {t_ratio} of the most frequent step",)
    if found.explained < _EXPLAINED:
        return (f"only {found.explained:.0%} of the steps follow an edge of the graph",)
    return ()
