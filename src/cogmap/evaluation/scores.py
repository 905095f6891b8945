"""The scores of a run: fractions inside, the paper's names when printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cogmap.errors import BadRun
from cogmap.files import read_json, write_json


@dataclass(frozen=True)
class Scores:
    """What one model reached on one world. A field is None where it does not apply or was not asked for."""

    test_accu: float  # share of next observations foretold
    ceiling: float | None = None  # the same of an exact Bayes filter that knows the world
    imp_fallback: float | None = None  # share of problems with a valid path shorter than the walk's own
    ratio_sp: float | None = None  # length of such a path by the optimal length
    norm_ged: float | None = None  # edits between map and world by the most possible: an upper bound ...
    norm_ged_lower: float | None = None  # ... and a lower one; equal where the distance is exact
    norm_ged_networkx: float | None = None  # the same by networkx within its timeout
    nodes: int | None = None
    edges: int | None = None
    positions: int | None = None
    exact: bool | None = None  # the map is the world: one node a place, every move by its action
    purity: float | None = None  # share of steps at the place for which the step's node stands
    places_covered: float | None = None  # share of places for which some node stands
    nodes_per_place: float | None = None  # nodes that stand for a place, by places that have one
    located: float | None = None  # share of steps that have a node
    explained: float | None = None  # share of training steps that follow an edge of the map
    optimal: float | None = None  # share of problems solved with a path of optimal length
    mean_optimal_length: float | None = None
    constrained_imp_fallback: float | None = None  # the same three with an observation to avoid
    constrained_ratio_sp: float | None = None
    constrained_optimal: float | None = None
    constrained_mean_optimal_length: float | None = None
    closed_loop: float | None = None  # share of goals reached by a navigator in the world itself
    valid_share: float | None = None  # of rollout candidates, those at the target
    valid_share_with_tail: float | None = None  # the same of those that the tail confirmed
    problems: int | None = None
    context_length: int | None = None
    map_kind: str | None = None
    warnings: tuple[str, ...] = ()

    def printed(self) -> dict[str, str]:
        """The scores that there are, under the paper's names and in its units."""
        return {
            name: show(getattr(self, field))
            for field, (name, show) in _PRINTED.items()
            if getattr(self, field) is not None
        }

    def save(self, path: str | Path) -> None:
        write_json(path, asdict(self))

    @classmethod
    def load(cls, path: str | Path) -> Scores:
        value = read_json(path, BadRun)
        if not isinstance(value, dict) or "test_accu" not in value:
            raise BadRun(f"{path} must hold scores, with `test_accu` among them")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(value) - known)
        if unknown:
            raise BadRun(f"{path} must hold scores of this version, got the unknown {', '.join(unknown)}")
        return cls(**{**value, "warnings": tuple(value.get("warnings", ()))})


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _ratio(value: float) -> str:
    return f"{value:.3f}"


def _length(value: float) -> str:
    return f"{value:.2f}"


def _yes(value: Any) -> str:
    return "yes" if value else "no"


_PRINTED: dict[str, tuple[str, Callable[[Any], str]]] = {
    "test_accu": ("TestAccu", _percent),
    "ceiling": ("TestAccu ceiling", _percent),
    "imp_fallback": ("ImpFallback", _percent),
    "ratio_sp": ("RatioSP", _ratio),
    "norm_ged": ("NormGED", _ratio),
    "norm_ged_lower": ("NormGED at least", _ratio),
    "norm_ged_networkx": ("NormGED (networkx)", _ratio),
    "nodes": ("nodes", str),
    "edges": ("edges", str),
    "positions": ("places", str),
    "exact": ("map is exact", _yes),
    "purity": ("purity", _percent),
    "places_covered": ("places covered", _percent),
    "nodes_per_place": ("nodes per place", _length),
    "located": ("steps located", _percent),
    "explained": ("steps explained", _percent),
    "optimal": ("optimal plans", _percent),
    "mean_optimal_length": ("optimal length", _length),
    "constrained_imp_fallback": ("ImpFallback, one colour avoided", _percent),
    "constrained_ratio_sp": ("RatioSP, one colour avoided", _ratio),
    "constrained_optimal": ("optimal plans, one colour avoided", _percent),
    "constrained_mean_optimal_length": ("optimal length, one colour avoided", _length),
    "closed_loop": ("goals reached", _percent),
    "valid_share": ("valid candidates", _percent),
    "valid_share_with_tail": ("valid candidates, tail evaluated", _percent),
    "problems": ("problems", str),
}
