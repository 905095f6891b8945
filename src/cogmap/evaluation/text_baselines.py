"""What simple counting predicts of a text: the figures that stand beside a model's accuracy on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.files import read_json, write_json
from cogmap.models.ngram import longest_match
from cogmap.records import Walks

LONGEST = 4  # units of context; longer ones are hardly ever met again in a text


@dataclass(frozen=True)
class TextBaselines:
    """Shares of the next units of held-out text that were predicted by what followed most often in training."""

    most_frequent: float  # always the same unit
    one_before: float  # by the unit before alone: a bigram
    longest: float  # by the longest context of at most LONGEST units that was met

    def save(self, path: str | Path) -> None:
        write_json(path, asdict(self))


def load_baselines(path: str | Path) -> TextBaselines:
    where = f"{path} must hold what counting predicts of a text"
    return checked(TextBaselines, read_json(path, BadRun), where, BadRun)


def text_baselines(train: Walks, test: Walks) -> TextBaselines:
    """Accuracies on the walks `test` of counts over the walks `train`."""
    moved = test.step_mask()[:, 1:]
    true = test.observations[:, 1:][moved]
    right = [
        float((longest_match(train, test, order)[moved] == true).mean()) if len(true) else 0.0
        for order in (0, 1, LONGEST)
    ]
    return TextBaselines(*right)
