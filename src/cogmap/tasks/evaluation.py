"""Scores of any run on test walks, against the truth where it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogmap.files import write_json
from cogmap.records import Integers, Truth, Walks
from cogmap.runs.names import MapKind
from cogmap.runs.writing import writing
from cogmap.walks.family import room_of_each_walk

if TYPE_CHECKING:
    from cogmap.evaluation.scores import Scores
    from cogmap.runs.run import Run
    from cogmap.tasks.family import FamilyScores
    from cogmap.tasks.text import PromptScores


@dataclass(frozen=True)
class EvaluationOptions:
    """How a run is scored."""

    map: MapKind = "minimal"  # which of the run's maps
    context_length: int | None = None  # C, None is 50, or a quarter of the shortest walk where that is less
    problems: int = 200  # planning problems, one from each of the first walks
    rollouts: int = 100  # of a model without a map, for each problem
    networkx_timeout: float | None = None  # seconds for networkx to try NormGED too; None does not try
    world_model: bool = False  # also the metrics of evaluation/world_model.py, where there is truth
    seed: int = 0  # of the observation to avoid in each constrained problem, and of rollouts
    tell: Callable[[str], None] = lambda line: None  # called with a line of progress


@dataclass(frozen=True, eq=False)
class TestWalks:
    """Walks to score a run on, in its vocabulary."""

    walks: Walks
    truth: Truth | None = None
    rooms: Integers | None = None  # (B,) the room of each walk, of a family


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores as a record, as JSON, as lines for a person, and the file that keeps them."""

    scores: Any  # Scores, FamilyScores or PromptScores
    values: Any
    lines: tuple[str, ...]
    file: str | None

    def save(self, folder: Path) -> Path | None:
        """Into the run folder; None where these scores are not kept."""
        if self.file is None:
            return None
        with writing(folder):
            write_json(folder / self.file, self.values)
        return folder / self.file


def evaluate(
    run: Run,
    walks: Walks | str | Path,
    truth: Truth | None = None,
    rooms: Integers | None = None,
    **options: Any,
) -> Scores | FamilyScores | PromptScores:
    """Score a run on walks that it was not trained on.

    walks: a walks file, with its truth beside it if there is any, or a .json file of GINC prompts; or walks in the
        run's vocabulary, with their `truth` and, of a family, `rooms` (B,).
    options: the fields of `EvaluationOptions`.
    """
    if isinstance(walks, str | Path):
        return evaluate_file(run, Path(walks), EvaluationOptions(**options)).scores
    return _evaluate(run, TestWalks(walks, truth, rooms), EvaluationOptions(**options)).scores


def evaluate_file(run: Run, path: Path, options: EvaluationOptions) -> Evaluation:
    """Score a run on the walks, or prompts, in a file."""
    if path.suffix == ".json":
        from cogmap.tasks.text import evaluate_prompts

        return evaluate_prompts(run, path, options)
    walks = run.load_walks(path)
    rooms = room_of_each_walk(path) if run.task == "family" else None
    return _evaluate(run, TestWalks(walks, run.load_truth(path, walks), rooms), options)


def _evaluate(run: Run, test: TestWalks, options: EvaluationOptions) -> Evaluation:
    from cogmap.tasks import task_of

    return task_of(run.task).evaluate(run, test, options)


def context_of(options: EvaluationOptions, walks: Walks) -> int:
    """The context length that was asked for, or the one that fits the walks."""
    from cogmap.evaluation.planning import fitting_context

    return fitting_context(walks) if options.context_length is None else options.context_length


def aligned(printed: dict[str, str]) -> tuple[str, ...]:
    """Names and values in two columns."""
    width = max(map(len, printed))
    return tuple(f"  {name:<{width}}  {value}" for name, value in printed.items())
