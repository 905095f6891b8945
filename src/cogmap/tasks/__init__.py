"""What differs between kinds of runs, behind one protocol: `places`, `family` and `text`, a module each.

Views are places with a quantizer in front. `learning.learn` trains every kind, `evaluation.evaluate` scores every kind,
`reporting.write_report` reports on every kind; each asks the run's task for what is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from cogmap.records import Codes, CognitiveMap, Integers, Labels, Walks
from cogmap.runs.folder import RunFolder
from cogmap.runs.names import MapKind, TaskName
from cogmap.walks.quantize import ViewQuantizer
from cogmap.walks.text import TextReading

if TYPE_CHECKING:
    from cogmap.runs.run import Run
    from cogmap.tasks import family, places, text
    from cogmap.tasks.evaluation import Evaluation, EvaluationOptions, TestWalks
    from cogmap.training.progress import Progress


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a model is trained on, and what its maps are built from."""

    task: TaskName
    walks: Walks  # with observations, not views
    targets: Integers | None = None  # (B, N) what to predict; None is the observations themselves
    num_targets: int | None = None  # needed with `targets`
    rooms: Integers | None = None  # (B,) the room of each walk; whole rooms are then held out
    map_walks: Walks | None = None  # to build the map from, if not from `walks`
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of both configs, in place of the preset's
    quantizer: ViewQuantizer | None = None  # that made observations of views
    reading: TextReading | None = None  # of a text
    concept: Integers | None = None  # (B,) of each walk of `map_walks`, where a text has its truth beside it
    concept_names: Labels = ()
    map_seconds: float | None = None  # that are left for the maps; None for no limit
    learned: float | None = None  # share of what there is to learn, if the training ended before it was done
    progress: Progress | None = None  # is told how the search for the map goes


@dataclass(frozen=True)
class Choices:
    """What decides how data is prepared, beside the data."""

    preset: str
    encoder: str
    seed: int
    resumed: RunFolder | None = None  # the run whose training is resumed


class Task(Protocol):
    """One kind of runs. Each is a module of this package."""

    def prepare(self, source: Any, choices: Choices) -> TrainingData:
        """What to train on, from what a user gave."""
        ...

    def build_maps(self, run: Run, data: TrainingData) -> None:
        """Write the maps of a trained run into its folder. Called only for a model that has codes."""
        ...

    def early_map(self, codes: Codes, walks: Walks) -> CognitiveMap | None:
        """The map of a training in progress, None for a kind that has none."""
        ...

    def map_walks(
        self, run: Run, walks: Walks, kind: MapKind, progress: Progress | None = None
    ) -> CognitiveMap:
        """The map of walks by a trained model. progress: is told how a search goes, if there is one."""
        ...

    def evaluate(self, run: Run, test: TestWalks, options: EvaluationOptions) -> Evaluation:
        """Scores on walks that the model was not trained on."""
        ...

    def write_report(self, run: Run, walks: Path | None, beside: Run | None) -> Path:
        """Write report.html and figures/ into the run folder. Returns the page."""
        ...


def task_of(name: TaskName) -> Task:
    """The module of a task, loaded when first used: what it scores and draws with is not needed to train."""
    return cast(Task, import_module(f"cogmap.tasks.{name}"))


if TYPE_CHECKING:  # mypy holds that each module keeps the protocol
    _TASKS: dict[TaskName, Task] = {"places": places, "family": family, "text": text}
