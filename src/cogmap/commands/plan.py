"""Plan a shortest path between two moments of walks, or many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro

from cogmap.commands.output import print_json
from cogmap.commands.run_walks import MapKind, map_of, walks_for
from cogmap.errors import BadConfig, CogmapError, NotOnMap
from cogmap.files import read_json
from cogmap.records import Plan, Walks, label_of

if TYPE_CHECKING:
    from cogmap.planning.shortest_paths import Outcome
    from cogmap.run import Run

Moment = tuple[int, int]  # a walk and a step of it, both from 0


@dataclass(frozen=True)
class Args:
    """Plan a shortest path between two moments of walks, or many of them at once."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path
    """walks file in which the moments lie"""
    from_: Annotated[str | None, tyro.conf.arg(name="from")] = None
    """where to start: WALK:STEP, both from 0"""
    to: str | None = None
    """where to go: WALK:STEP"""
    showing: str | None = None
    """instead of --to: the nearest place that shows this observation"""
    avoid: tuple[str, ...] = ()
    """observations to keep away from where possible"""
    strict: bool = False
    """no path rather than one past an observation to avoid"""
    problems: Path | None = None
    """many at once: a JSON list of {"from": [walk, step], "to": [walk, step], "avoid": []}"""
    map: MapKind = "minimal"
    """which of the run's maps to plan on"""
    json: bool = False
    """print actions, observations and nodes as JSON; with --problems a list, errors in their places"""


@dataclass(frozen=True)
class Question:
    """One path that is asked for."""

    start: Moment
    goal: Moment | None  # None where `showing` says what to look for
    showing: str | int | None = None
    avoid: tuple[str | int, ...] = ()
    strict: bool = False


def run(args: Args) -> None:
    questions = _questions(args)
    from cogmap.run import load_run  # brings torch: after the questions were found to be good

    opened = load_run(args.run)
    outcomes = answer(opened, walks_for(opened, args.walks), questions, args.map)
    if args.problems is not None:
        if args.json:
            print_json([_as_json(outcome) for outcome in outcomes])
        else:
            for question, outcome in zip(questions, outcomes, strict=True):
                print(f"{_place(question)}: {_told(outcome)}")
        return
    (outcome,) = outcomes
    if not isinstance(outcome, Plan):
        raise outcome
    print_json(_as_json(outcome)) if args.json else print(_told(outcome))


def answer(
    opened: Run, walks: Walks, questions: Sequence[Question], kind: MapKind = "minimal"
) -> list[Outcome]:
    """A plan for each question, in order, or the error that says why there is none."""
    from cogmap.planning.shortest_paths import Problem, Showing, solve_many

    cognitive_map = map_of(opened, kind)
    outcomes: list[Any] = [_outside(walks, question) for question in questions]
    asked = [index for index, problem in enumerate(outcomes) if problem is None]
    nodes = _nodes_at(opened, cognitive_map, walks, [questions[index] for index in asked])
    problems, posed = [], []
    for index in asked:
        question = questions[index]
        lost = [moment for moment in (question.start, question.goal) if moment and nodes[moment] < 0]
        if lost:
            rule = "the model must know by then where it is on the map"
            outcomes[index] = NotOnMap(f"{rule}, at walk {lost[0][0]}, step {lost[0][1]} it does not")
            continue
        goal = Showing(question.showing) if question.showing is not None else nodes[question.goal]  # type: ignore[index]
        problems.append(Problem(nodes[question.start], goal, question.avoid, question.strict))
        posed.append(index)
    for index, outcome in zip(posed, solve_many(cognitive_map, problems), strict=True):
        outcomes[index] = outcome
    return outcomes


def _nodes_at(
    opened: Run, cognitive_map: Any, walks: Walks, questions: Sequence[Question]
) -> dict[Moment, int]:
    """The node at each moment that is asked about; only those walks are read."""
    from cogmap.planning.localise import whereabouts

    moments = sorted(
        {moment for question in questions for moment in (question.start, question.goal) if moment}
    )
    if not moments:
        return {}
    chosen = sorted({walk for walk, _ in moments})
    some = walks.rows(chosen)
    codes, _ = opened.encode(some)
    rows = np.searchsorted(chosen, [walk for walk, _ in moments])
    nodes = whereabouts(cognitive_map, some.observations, some.actions, some.lengths, codes)[
        rows, [step for _, step in moments]
    ]
    return dict(zip(moments, nodes.tolist(), strict=True))


def _outside(walks: Walks, question: Question) -> NotOnMap | None:
    """What is wrong with a moment that the walks do not have."""
    for name, moment in (("from", question.start), ("to", question.goal)):
        if moment is None:
            continue
        walk, step = moment
        if not 0 <= walk < walks.num_walks:
            return NotOnMap(
                f"`{name}` must be in a walk of the file, 0 to {walks.num_walks - 1}, got walk {walk}"
            )
        if not 0 <= step < walks.lengths[walk]:
            last = walks.lengths[walk] - 1
            return NotOnMap(f"`{name}` must be a step of walk {walk}, 0 to {last}, got step {step}")
    return None


def _questions(args: Args) -> list[Question]:
    if args.problems is not None:
        if args.from_ or args.to or args.showing or args.avoid:
            raise BadConfig(
                "--problems holds its own --from, --to, --showing and --avoid: give one or the other"
            )
        return _read_questions(args.problems, args.strict)
    if args.from_ is None or (args.to is None) == (args.showing is None):
        raise BadConfig("a path needs --from and one of --to and --showing, or --problems")
    goal = None if args.to is None else _moment("--to", args.to)
    return [Question(_moment("--from", args.from_), goal, args.showing, args.avoid, args.strict)]


def _moment(name: str, text: str) -> Moment:
    walk, _, step = text.partition(":")
    if not (walk.isdecimal() and step.isdecimal()):
        raise BadConfig(f"`{name}` must be WALK:STEP, two whole numbers, got {text!r}")
    return int(walk), int(step)


def _read_questions(path: Path, strict: bool) -> list[Question]:
    rows = read_json(path, BadConfig)
    if not isinstance(rows, list):
        raise BadConfig(f"{path} must hold a list of problems, got {type(rows).__name__}")
    return [_question(f"{path}, problem {index}", row, strict) for index, row in enumerate(rows)]


def _question(where: str, row: Any, strict: bool) -> Question:
    known = {"from", "to", "showing", "avoid", "strict"}
    if (
        not isinstance(row, dict)
        or "from" not in row
        or ("to" in row) == ("showing" in row)
        or set(row) - known
    ):
        raise BadConfig(
            f'{where} must have "from" and one of "to" and "showing", maybe "avoid" and "strict", got {row}'
        )
    ends = [row[end] for end in ("from", "to") if end in row]
    if not all(
        isinstance(end, list) and len(end) == 2 and all(type(part) is int for part in end) for end in ends
    ):
        raise BadConfig(f"{where} must give each end as [walk, step], got {ends}")
    avoid, goal = row.get("avoid", []), row.get("to")
    if not isinstance(avoid, list) or not all(isinstance(seen, str | int) for seen in avoid):
        raise BadConfig(f"{where} must avoid a list of observations, got {avoid}")
    start = (row["from"][0], row["from"][1])
    end = None if goal is None else (goal[0], goal[1])
    return Question(start, end, row.get("showing"), tuple(avoid), bool(row.get("strict", strict)))


def _as_json(outcome: Outcome) -> dict[str, Any]:
    """Labels where there are any; the indices are there for scripts in either case."""
    if isinstance(outcome, CogmapError):
        return {"error": str(outcome)}
    return {
        "actions": [label_of(outcome.action_labels, action) for action in outcome.actions],
        "observations": [label_of(outcome.observation_labels, seen) for seen in outcome.observations],
        "nodes": outcome.nodes.tolist(),
        "action_indices": outcome.actions.tolist(),
        "observation_indices": outcome.observations.tolist(),
    }


def _told(outcome: Outcome) -> str:
    if isinstance(outcome, CogmapError):
        return str(outcome)
    actions = " ".join(str(label_of(outcome.action_labels, action)) for action in outcome.actions)
    return f"{len(outcome)} actions: {actions}" if len(outcome) else "no action: it is there already"


def _place(question: Question) -> str:
    goal = question.showing if question.goal is None else f"{question.goal[0]}:{question.goal[1]}"
    return f"{question.start[0]}:{question.start[1]} to {goal}"
