"""Cells of a comparison: one method on one log, scored on test walks; each in a process of its own, with a record.

`cogmap compare` and the bench of worlds are tables of such cells. They run on the engine of `cogmap reproduce`: one
process and one thread each, a lock, a log and a record beside the run folder. A cell with a record is not run again.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from cogmap.checks import checked_object, shown
from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.experiments.commits import current_commit
from cogmap.experiments.csv_rows import is_number, lock_of, read_csv, write_csv
from cogmap.experiments.ledger import Claimed, claimed, log_line, trial_file
from cogmap.experiments.runner import Outcome
from cogmap.experiments.trials import Tell, Trial
from cogmap.files import read_json, write_json
from cogmap.records import ChanceWorld, CognitiveMap, Integers, Truth, Walks
from cogmap.runs.writing import held

if TYPE_CHECKING:
    from cogmap.runs.run import Run

# Keyword arguments of `cogmap.learn` by the name that tables print.
METHODS: dict[str, dict[str, Any]] = {
    "tdb": {"encoder": "gru"},
    "tdb-transformer": {"encoder": "transformer"},
    "vanilla": {"vanilla": True, "encoder": "gru"},
    "cscg": {"method": "cscg"},
    "rpni": {"method": "rpni"},
    "edsm": {"method": "edsm"},
    "alergia": {"method": "alergia"},
    "ngram": {},
}
COLUMNS = (
    *(
        "log",
        "steps",
        "seed",
        "method",
        "accuracy",
        "log_loss",
        "predictor",
        "ceiling",
        "ceiling_log_loss",
        "states",
        "places",
    ),
    *("exact", "optimal", "compression_precision", "distinction_precision", "distinction_recall", "detours"),
    *("seconds", "cpu_seconds", "memory_mb", "minutes", "note", "commit", "command"),
)
KEY = ("log", "steps", "seed", "method")
NEAR = (
    0.05  # mean total variation between the moves of a map and of a world with chance that count as the same
)
_WORDS = ("log", "method", "predictor", "exact", "note", "commit", "command")  # the other columns are figures
Row = dict[str, Any]


class Data(Protocol):
    """Where a cell's walks come from; small, so that it can be sent to a process."""

    def load(self) -> tuple[Walks, Walks, Truth | None]:
        """The log, the test walks, and their truth."""


@dataclass(frozen=True)
class Cell:
    """One method on one log."""

    log: str  # its name in tables
    steps: int
    seed: int
    method: str
    minutes: float
    data: Data
    folder: Path  # of the run
    command: str
    keeps_run: bool = True  # the run folder stays after it was scored

    @property
    def title(self) -> str:
        return f"{self.log}, {self.steps} steps, seed {self.seed}: {self.method}"

    @property
    def as_trial(self) -> Trial:
        """For the engine's files, which need no more of a trial than its folder and its title."""
        return cast(Trial, self)


@dataclass(frozen=True)
class CellJob:
    """As the engine's jobs have it."""

    trial: Trial  # a cell

    @property
    def cell(self) -> Cell:
        return cast(Cell, self.trial)


def check_methods(methods: Sequence[str]) -> None:
    from difflib import get_close_matches

    for method in methods:
        if method not in METHODS:
            near = get_close_matches(method, METHODS, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise BadConfig(f"a method must be one of {', '.join(METHODS)}, got {method!r:.60}{hint}")


def read_cell(cell: Cell) -> Row | None:
    """The row of a cell that is done, else None."""
    path = trial_file(cell.as_trial, "json")
    if not path.is_file():
        return None
    row = read_json(path, BadRun, nan=True)
    _check_row(checked_object(row, f"{path} must hold the row of a cell, which", BadRun), path)
    return cast(Row, row)


def run_cells(cells: Sequence[Cell], jobs: int | None, again: bool, tell: Tell) -> Iterator[Row]:
    """The rows of all cells as they come: those that are done first. again: measure them all anew."""
    from cogmap.experiments.local import free_cores, run_locally

    waiting = []
    for cell in cells:
        row = None if again else read_cell(cell)
        if row is None:
            waiting.append(cell)
        else:
            yield row
    if len(waiting) < len(cells):
        tell(f"{len(cells) - len(waiting)} of {len(cells)} cells are measured already")
    done, at_once = 0, max(1, min(len(waiting), jobs or free_cores()))
    for outcome in run_locally([CellJob(cell.as_trial) for cell in waiting], at_once, attempt_cell):
        if outcome is None:
            continue
        done += 1
        if outcome.elsewhere:
            tell(f"another process runs {outcome.trial.title}")
            continue
        row = dict(outcome.rows[0]) if outcome.rows else _failed(cast(Cell, outcome.trial), outcome.failed)
        tell(f"{done} of {len(waiting)}: {outcome.trial.title}: {_sentence(row)}")
        yield row


def _failed(cell: Cell, why: str) -> Row:
    """A row without figures. It has no record, so the next run tries again."""
    return _empty_row(cell) | {"note": f"failed: {why}"}


def _empty_row(cell: Cell) -> Row:
    key = {"log": cell.log, "steps": cell.steps, "seed": cell.seed, "method": cell.method}
    about = {"minutes": cell.minutes, "commit": current_commit(), "command": cell.command}
    return dict.fromkeys(COLUMNS) | key | about


def attempt_cell(job: CellJob) -> Outcome:
    """The cell's outcome, whatever happens."""
    cell = job.cell
    try:
        with claimed(cell.as_trial):
            return Outcome(cell.as_trial, [measure(cell)])
    except Claimed:
        return Outcome(cell.as_trial, elsewhere=True)
    except Exception as problem:
        log_line(cell.as_trial, format_exc())
        return Outcome(cell.as_trial, failed=f"{type(problem).__name__}: {' '.join(str(problem).split())}")


def measure(cell: Cell) -> Row:
    """Learn, score, and keep the record. A method that cannot take the log has a note and no figures."""
    walks, test, truth = cell.data.load()
    row = _empty_row(cell) | _ceilings(test, truth)
    shutil.rmtree(cell.folder, ignore_errors=True)  # of a process that was killed
    learner = _learner(cell)
    before, started, spent = _peak_memory(), time.monotonic(), time.process_time()
    try:
        found = learner(walks, test)
    except (BadConfig, BadWalks) as refusal:
        row["note"] = " ".join(str(refusal).split())
    else:
        row |= {"seconds": round(time.monotonic() - started, 1)}
        row |= {"cpu_seconds": round(time.process_time() - spent, 1)}
        row["memory_mb"] = round(_peak_memory() - before)
        row |= found if isinstance(found, dict) else scores_of(found, walks, test, truth)
    if not cell.keeps_run:
        shutil.rmtree(cell.folder, ignore_errors=True)
    write_json(trial_file(cell.as_trial, "json"), row)
    return row


def _learner(cell: Cell) -> Callable[[Walks, Walks], Run | Row]:
    """What learns a log, and where there is no run scores it on test walks. Its libraries are loaded already."""
    if cell.method == "ngram":
        return _ngram
    from cogmap.tasks.learning import learn

    choices = METHODS[cell.method] | {"minutes": cell.minutes, "seed": cell.seed}
    return lambda walks, test: learn(walks, cell.folder, quiet=True, **choices)


def _ngram(walks: Walks, test: Walks) -> Row:
    from cogmap.models.ngram import ngram_predictions

    predicted, chance, contexts = ngram_predictions(walks, test)
    known = test.step_mask()[:, 1:]
    right = (predicted == test.observations[:, 1:])[known].mean()
    return _rounded({"accuracy": right, "log_loss": -np.log(chance[known]).mean(), "states": contexts})


def scores_of(run: Run, walks: Walks, test: Walks, truth: Truth | None) -> Row:
    """The figures of a run: prediction, and with truth exactness, planning and the world-model metrics."""
    row = _prediction(run, test)
    if run.has_map:
        row |= {"states": run.map.num_nodes}
        row |= {} if truth is None else _map_scores(run, walks, test, truth)
    elif truth is not None and run.config.vanilla:
        row |= _vanilla_scores(run, test, truth)
    return _rounded(row)


def _prediction(run: Run, test: Walks) -> Row:
    """What is predicted of test walks.

    Of a network and its map, by the one that predicted more of the log's held-out walks when the map was made.
    """
    known, following = test.step_mask()[:, 1:], test.observations[:, 1:]
    if not run.has_network:
        from cogmap.maps.hmm import predict

        _, predicted, likelihood = predict(run.states, test)
        by, right, losses = "map", predicted == following, -likelihood
    elif run.has_map and run.map.num_nodes and run.map.explained >= (run.map.model_accuracy or 0.0):
        from cogmap.maps.belief import belief_model, read_walks

        read = read_walks(belief_model(run.map), test.observations, test.actions, test.lengths)
        by, right, losses = "map", read.predicted == following, -read.log_likelihood[:, 1:]
    else:
        from cogmap.models.inference import score_targets

        by = "network"
        right, losses = score_targets(run.model, test.observations, test.actions, following)
    return {"accuracy": right[known].mean(), "log_loss": losses[known].mean(), "predictor": by}


def _map_scores(run: Run, walks: Walks, test: Walks, truth: Truth) -> Row:
    from cogmap.evaluation.places import true_places
    from cogmap.evaluation.planning import fitting_context, map_problems, paper_problems, score_plans
    from cogmap.evaluation.world_model import world_model_scores
    from cogmap.planning.shortest_paths import solve_many

    places = true_places(run.map, test, truth, run.encode(test)[0])
    row: Row = {"exact": exactness(run.map, places.position, walks, truth)}
    if isinstance(truth.world, ChanceWorld):
        return row
    row |= vars(world_model_scores(run.map, test, truth))
    if test.lengths.min() >= 3:
        asked = paper_problems(test, fitting_context(test))
        row["optimal"] = score_plans(
            solve_many(run.map, map_problems(asked, places.nodes)), asked, truth
        ).optimal
    return row


def exactness(found: CognitiveMap, position: Integers, walks: Walks, truth: Truth) -> bool:
    """Whether the map is the world; of a log whose outputs belong to moves, whether the machine is.

    With chance: a node for each place, and moves that are as likely as they should be within `NEAR`.
    """
    from cogmap.environments.machines import machine_of_world, score_machine
    from cogmap.evaluation.chance import probability_distance
    from cogmap.evaluation.places import is_exact
    from cogmap.maps.automata import outputs_on_moves
    from cogmap.maps.machine import machine_of_map

    if isinstance(truth.world, ChanceWorld):
        if sorted(position.tolist()) != list(range(truth.world.num_positions)):
            return False
        distance = probability_distance(found, truth.world, position)
        return distance is not None and distance <= NEAR
    if not outputs_on_moves(walks):
        return is_exact(found, position, truth.world)
    if found.num_nodes == 0:
        return False
    machine = machine_of_map(found)
    true = machine_of_world(truth.world)
    return score_machine(machine.next_state, machine.output - 1, true, machine.initial).exact


def _vanilla_scores(run: Run, test: Walks, truth: Truth) -> Row:
    """The languages of a model without a map. Detours need a planner, and rollouts at every step take hours."""
    from cogmap.evaluation.world_model import language_scores
    from cogmap.models.rollout_predictor import RolloutPredictor

    predictor = RolloutPredictor(run.model)  # type: ignore[arg-type]
    return vars(language_scores(predictor, test, truth, np.random.default_rng(0), pairs=40))


def _ceilings(test: Walks, truth: Truth | None) -> Row:
    from cogmap.evaluation.prediction import ceiling

    if truth is None:
        return {}
    places = {"places": truth.world.num_positions}
    try:
        best = ceiling(test, truth.world)
    except BadWalks:  # noise
        return places
    return _rounded({"ceiling": best.accuracy, "ceiling_log_loss": best.log_loss}) | places


def _rounded(row: Mapping[str, Any]) -> Row:
    floats = {name: round(float(value), 5) for name, value in row.items() if isinstance(value, float)}
    return {name: value for name, value in row.items() if value is not None} | floats


def _peak_memory() -> float:
    """Of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if os.uname().sysname == "Linux" else peak / 1024**2


def _sentence(row: Mapping[str, Any]) -> str:
    if row.get("accuracy") is None:
        return str(row.get("note"))
    exact = {True: ", exact", False: ", not exact", None: ""}[row.get("exact")]
    return (
        f"{row['accuracy']:.2%} predicted, {row.get('states') or '-'} states{exact}, {row['seconds']:.0f} s"
    )


def read_table(path: Path) -> list[Row]:
    """The rows of a table, as text; none where there is no file."""
    rows: list[Row] = [dict(row) for row in read_csv(path, KEY)]
    for row in rows:
        _check_row(row, path)
    return rows


def _check_row(row: Mapping[str, Any], path: Path) -> None:
    """The row of a cell: figures are numbers or empty, and the rest is text."""
    if not set(KEY) <= set(row) <= set(COLUMNS):
        raise BadRun(
            f"{path} must hold rows of cells, these columns differ: {shown(sorted(set(row) ^ set(COLUMNS)))}"
        )
    if row["method"] not in list(METHODS) or row["steps"] in (None, ""):
        raise BadRun(
            f"{path} must hold steps and one of our methods, got {shown([row['steps'], row['method']])}"
        )
    for name, value in row.items():
        number = isinstance(value, float | None) or (isinstance(value, int) and abs(value) < 2**63)
        figure = number or (isinstance(value, str) and is_number(value))
        if not (figure or (name in _WORDS and isinstance(value, str))):
            raise BadRun(
                f"{path}: `{name}` must be {'text' if name in _WORDS else 'a number'}, got {shown(value)}"
            )


def merge_table(path: Path, rows: Iterable[Row]) -> list[Row]:
    """Put rows into a table: each in the place of the one with the same log, steps, seed and method, or at the end."""
    with held(lock_of(path), path):  # several processes may share a table
        kept = {_key(row): row for row in read_table(path)}
        for row in rows:
            kept[_key(row)] = {name: "" if row.get(name) is None else row[name] for name in COLUMNS}
        write_csv(path, COLUMNS, kept.values())
    return list(kept.values())


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in KEY)
