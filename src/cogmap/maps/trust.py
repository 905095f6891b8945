"""Warnings about a map; none of them needs the truth."""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Counts
from cogmap.maps.evidence import leaders
from cogmap.maps.minimise import Minimised
from cogmap.maps.refine import never_taken
from cogmap.maps.survey import Survey

_EXPLAINED = 0.9  # of all moves; exact maps explained 0.95 and more
_PLACELESS = 0.25  # of all steps
_DISSOLVED = 0.1  # of all nodes


def minimal_warnings(view: Survey, tracked: float, found: Minimised) -> tuple[str, ...]:
    """The warnings of a minimal map; `tracked` is the share of moves that follow it after tracking."""
    if view.num_nodes == 0:
        return ("no code is frequent enough, with clear transitions, to stand for a place",)
    reasons = []
    if tracked < _EXPLAINED:
        reasons.append(f"only {tracked:.0%} of all moves follow the map, even after tracking")
    placeless = float((found.steps < 0)[found.real].mean())
    if placeless > _PLACELESS:
        reasons.append(f"{placeless:.0%} of all steps have no node")
    unclear = (view.next_node < 0) & ~never_taken(view.tries) & (view.tries > 0)
    if unclear.any():
        nodes = int(unclear.any(axis=1).sum())
        reasons.append(f"{int(unclear.sum())} moves that were tried, at {nodes} nodes, have no clear target")
    untried = (view.tries == 0) & ~never_taken(view.tries)
    if untried.any():
        reasons.append(f"{int(untried.sum())} moves were never tried, although random actions would have")
    seen = leaders(
        view.seen.code, view.seen.observation, view.seen.count, (view.num_nodes, view.seen.num_observations)
    )
    mixed = int((3 * seen.count < 2 * seen.total).sum())
    if mixed:
        reasons.append(f"{mixed} nodes do not look alike from visit to visit")
    if found.dissolved > _DISSOLVED * view.num_nodes:
        reasons.append(f"{found.dissolved} rarely visited nodes were treated as model errors")
    return tuple(reasons)


def paper_warnings(edges: Counts, explained: float) -> tuple[str, ...]:
    """The warnings of the paper's map."""
    if edges.num_codes == 0:
        return ("no code kept two neighbours each way above the threshold",)
    reasons = []
    if explained < _EXPLAINED:
        reasons.append(f"only {explained:.0%} of all moves follow the map")
    row = edges.source.astype(np.int64) * edges.num_actions + edges.action
    several = int((np.bincount(row) > 1).sum())
    if several:
        reasons.append(f"{several} moves lead to several nodes")
    return tuple(reasons)
