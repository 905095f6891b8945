"""The latent graph of a text: which codes follow which, where what follows is a matter of chance.

A minimal map asks of every node that a move leads to one place. In text the only move is `next`, and it leads to
several: refinement would go on splitting codes by where they happened to lead, or dissolve them all. So a text gets
the paper's graph, with its threshold for text, and a node may have many ways out.
"""

from __future__ import annotations

from dataclasses import replace

from cogmap.maps.build import build_map
from cogmap.records import Codes, CognitiveMap, Walks
from cogmap.walks.text import ACTION

T_RATIO = 0.001  # an edge was taken at least this share of the times that the most frequent one was
_EXPLAINED = 0.5  # of all steps from unit to unit


def is_text(walks: Walks) -> bool:
    """Whether walks are text, which goes on without being asked to."""
    return walks.action_labels == (ACTION,)


def latent_graph(codes: Codes, walks: Walks, t_ratio: float = T_RATIO) -> CognitiveMap:
    """The graph of the codes of a text."""
    found = build_map(codes, walks, kind="paper", t_ratio=t_ratio)
    return replace(found, warnings=_warnings(found, t_ratio))


def _warnings(found: CognitiveMap, t_ratio: float) -> tuple[str, ...]:
    """That a step leads to several nodes is no fault here."""
    if found.num_nodes == 0:
        return (f"no code kept two neighbours each way above {t_ratio} of the most frequent step",)
    if found.explained < _EXPLAINED:
        return (f"only {found.explained:.0%} of the steps follow an edge of the graph",)
    return ()
