"""Plan a shortest path between two moments of walks, or many paths at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from cogmap.commands.output import print_json
from cogmap.errors import BadConfig, CogmapError
from cogmap.planning.policies import LIKELY, chance_on
from cogmap.planning.shortest_paths import Outcome
from cogmap.records import CognitiveMap, Plan, label_of
from cogmap.runs.names import MapKind
from cogmap.runs.plans import Question, answer, moment, read_questions
from cogmap.runs.run import load_run


@dataclass(frozen=True)
class Args:
    """Plan a shortest path between two moments of walks, or many paths at once."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path
    """walks that --from and --to refer to"""
    from_: Annotated[str | None, tyro.conf.arg(name="from")] = None
    """where to start: WALK:STEP, both counted from 0"""
    to: str | None = None
    """where to go: WALK:STEP"""
    showing: str | None = None
    """instead of --to: the nearest place that shows this observation"""
    avoid: tuple[str, ...] = ()
    """observations to avoid if there is another path"""
    strict: bool = False
    """fail if every path passes an observation to avoid"""
    problems: Path | None = None
    """plan many at once: a JSON list of {"from": [walk, step], "to": [walk, step], "avoid": []}"""
    map: MapKind = "minimal"
    """which of the run's maps to plan on"""
    json: bool = False
    """print actions, observations and nodes as JSON; with --problems a list, with errors in place"""


def run(args: Args) -> None:
    questions = _questions(args)
    opened = load_run(args.run)
    if opened.task == "text":
        raise BadConfig(f"a plan needs actions to choose from, {args.run} learned a text, which has none")
    for warning in opened.map_of(args.map).warnings:
        print(f"warning: {warning}", file=sys.stderr)
    outcomes = answer(opened, opened.load_walks(args.walks), questions, args.map)
    found = opened.map_of(args.map)
    if args.problems is not None:
        if args.json:
            print_json([_as_json(outcome, found) for outcome in outcomes])
        else:
            print(
                "\n".join(
                    f"{question}: {_line(outcome)}"
                    for question, outcome in zip(questions, outcomes, strict=True)
                )
            )
        return
    (outcome,) = outcomes
    if not isinstance(outcome, Plan):
        raise outcome
    if args.json:
        print_json(_as_json(outcome, found))
        return
    print(_line(outcome))
    goes = chance_on(found, outcome)
    if goes < LIKELY:
        what_then = "`cogmap policy` says what to do when it does not"
        print(f"with chance, it goes as planned only {goes:.0%} of the time: {what_then}")


def _questions(args: Args) -> list[Question]:
    if args.problems is not None:
        if args.from_ or args.to or args.showing or args.avoid:
            raise BadConfig(
                "--problems holds its own --from, --to, --showing and --avoid: give one or the other"
            )
        return read_questions(args.problems, args.strict)
    if args.from_ is None or (args.to is None) == (args.showing is None):
        raise BadConfig("a path needs --from and one of --to and --showing, or --problems")
    goal = None if args.to is None else moment("--to", args.to)
    return [Question(moment("--from", args.from_), goal, args.showing, args.avoid, args.strict)]


def _as_json(outcome: Outcome, found: CognitiveMap) -> dict[str, Any]:
    """Labels where there are any; the indices are there for scripts in either case."""
    if isinstance(outcome, CogmapError):
        return {"error": str(outcome)}
    return {
        "actions": [label_of(outcome.action_labels, action) for action in outcome.actions],
        "observations": [label_of(outcome.observation_labels, seen) for seen in outcome.observations],
        "nodes": outcome.nodes.tolist(),
        "action_indices": outcome.actions.tolist(),
        "observation_indices": outcome.observations.tolist(),
        "probability": chance_on(found, outcome),
    }


def _line(outcome: Outcome) -> str:
    if isinstance(outcome, CogmapError):
        return str(outcome)
    actions = " ".join(str(label_of(outcome.action_labels, action)) for action in outcome.actions)
    if not len(outcome):
        return "no action: already at the goal"
    return f"{len(outcome)} action{'s' if len(outcome) > 1 else ''}: {actions}"
