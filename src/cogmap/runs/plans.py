"""Shortest paths between moments of walks on a run's map, one or many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.checks import shown
from cogmap.errors import BadConfig, NotOnMap
from cogmap.files import read_json
from cogmap.planning.localise import estimated_nodes
from cogmap.planning.shortest_paths import Outcome, Problem, Showing, solve_many
from cogmap.records import CognitiveMap, Walks
from cogmap.runs.names import MapKind
from cogmap.runs.run import Run

_DIGITS = 18  # of a walk or a step: more would not fit 64 bits
Moment = tuple[int, int]  # a walk and a step of it, both from 0


@dataclass(frozen=True)
class Question:
    """One path that is asked for."""

    start: Moment
    goal: Moment | None  # None where `showing` says what to look for
    showing: str | int | None = None
    avoid: tuple[str | int, ...] = ()
    strict: bool = False

    def __str__(self) -> str:
        goal = self.showing if self.goal is None else f"{self.goal[0]}:{self.goal[1]}"
        return f"{self.start[0]}:{self.start[1]} to {goal}"


def answer(run: Run, walks: Walks, questions: Sequence[Question], kind: MapKind = "minimal") -> list[Outcome]:
    """A plan for each question, in order, or the error that says why there is none."""
    cognitive_map = run.map_of(kind)
    outcomes: list[Any] = [_outside(walks, question) for question in questions]
    asked = [index for index, outcome in enumerate(outcomes) if outcome is None]
    moments = [at for index in asked for at in (questions[index].start, questions[index].goal) if at]
    nodes = _nodes_at(run, cognitive_map, walks, moments)
    posed, problems = [], []
    for index in asked:
        question = questions[index]
        lost = [moment for moment in (question.start, question.goal) if moment and nodes[moment] < 0]
        if lost:
            outcomes[index] = _lost(lost[0])
            continue
        goal = Showing(question.showing) if question.goal is None else nodes[question.goal]  # type: ignore[arg-type]
        problems.append(Problem(nodes[question.start], goal, question.avoid, question.strict))
        posed.append(index)
    for index, outcome in zip(posed, solve_many(cognitive_map, problems), strict=True):
        outcomes[index] = outcome
    return outcomes


def read_questions(path: Path, strict: bool = False) -> list[Question]:
    """The questions in a JSON file: a list of {"from": [walk, step], "to": [walk, step], "avoid": [...]}."""
    rows = read_json(path, BadConfig, pipes=True)
    if not isinstance(rows, list):
        raise BadConfig(f"{path} must hold a list of problems, got {type(rows).__name__}")
    return [_question(f"{path}, problem {index}", row, strict) for index, row in enumerate(rows)]


def moment(name: str, text: str) -> Moment:
    """WALK:STEP as two numbers."""
    walk, _, step = text.partition(":")
    if not all(part.isascii() and part.isdecimal() and len(part) <= _DIGITS for part in (walk, step)):
        raise BadConfig(f"`{name}` must be WALK:STEP, two whole numbers, got {text!r:.60}")
    return int(walk), int(step)


def nodes_at(
    run: Run, cognitive_map: CognitiveMap, walks: Walks, asked: Sequence[tuple[str, Moment]]
) -> dict[Moment, int]:
    """The node at each moment, which has a name in errors; NotOnMap where there is none."""
    for name, at in asked:
        problem = _not_in(walks, name, at)
        if problem is not None:
            raise problem
    nodes = _nodes_at(run, cognitive_map, walks, [at for _, at in asked])
    for at, node in nodes.items():
        if node < 0:
            raise _lost(at)
    return nodes


def _nodes_at(
    run: Run, cognitive_map: CognitiveMap, walks: Walks, asked: Sequence[Moment]
) -> dict[Moment, int]:
    """The node at each moment that is asked about; only those walks are read."""
    moments = sorted(set(asked))
    if not moments:
        return {}
    chosen = sorted({walk for walk, _ in moments})
    some = walks.rows(chosen)
    codes, _ = run.encode(some)
    rows = np.searchsorted(chosen, [walk for walk, _ in moments])
    nodes = estimated_nodes(cognitive_map, some.observations, some.actions, some.lengths, codes)[
        rows, [step for _, step in moments]
    ]
    return dict(zip(moments, nodes.tolist(), strict=True))


def _lost(at: Moment) -> NotOnMap:
    rule = "the model must know by then where it is on the map"
    return NotOnMap(f"{rule}, at walk {at[0]}, step {at[1]} it does not")


def _outside(walks: Walks, question: Question) -> NotOnMap | None:
    """What is wrong with a moment that the walks do not have."""
    ends = (("from", question.start), ("to", question.goal))
    problems = (_not_in(walks, name, at) for name, at in ends if at is not None)
    return next((problem for problem in problems if problem is not None), None)


def _not_in(walks: Walks, name: str, at: Moment) -> NotOnMap | None:
    walk, step = at
    if not 0 <= walk < walks.num_walks:
        return NotOnMap(
            f"`{name}` must be in a walk of the file, 0 to {walks.num_walks - 1}, got walk {walk}"
        )
    if not 0 <= step < walks.lengths[walk]:
        last = walks.lengths[walk] - 1
        return NotOnMap(f"`{name}` must be a step of walk {walk}, 0 to {last}, got step {step}")
    return None


def _question(where: str, row: Any, strict: bool) -> Question:
    known = {"from", "to", "showing", "avoid", "strict"}
    if (
        not isinstance(row, dict)
        or "from" not in row
        or ("to" in row) == ("showing" in row)
        or set(row) - known
    ):
        raise BadConfig(
            f'{where} must have "from" and one of "to" and "showing", maybe "avoid" and "strict", got {shown(row)}'
        )
    ends = [row[end] for end in ("from", "to") if end in row]
    if not all(
        isinstance(end, list) and len(end) == 2 and all(type(part) is int for part in end) for end in ends
    ):
        raise BadConfig(f"{where} must give each end as [walk, step], got {shown(ends)}")
    if "showing" in row and type(row["showing"]) not in (str, int):
        raise BadConfig(f"{where} must show an observation, got {shown(row['showing'])}")
    if type(row.get("strict", strict)) is not bool:
        raise BadConfig(f"{where} must be strict or not, true or false, got {shown(row['strict'])}")
    avoid, goal = row.get("avoid", []), row.get("to")
    if not isinstance(avoid, list) or not all(type(seen) in (str, int) for seen in avoid):
        raise BadConfig(f"{where} must avoid a list of observations, got {shown(avoid)}")
    start = (row["from"][0], row["from"][1])
    end = None if goal is None else (goal[0], goal[1])
    return Question(start, end, row.get("showing"), tuple(avoid), bool(row.get("strict", strict)))
