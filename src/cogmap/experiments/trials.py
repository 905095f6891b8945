"""A trial: one model of a table, what is asked of it, and the command that makes it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from cogmap.experiments.rows import Found, Row
    from cogmap.runs.run import Run

Tell = Callable[[str], None]  # gets each line of progress

# Keyword arguments of `cogmap.learn` by the name the paper prints.
METHODS: dict[str, dict[str, Any]] = {
    "Vanilla transformer": {"vanilla": True, "encoder": "transformer"},
    "Vanilla LSTM": {"vanilla": True, "encoder": "lstm"},
    "Vanilla GRU": {"vanilla": True, "encoder": "gru"},
    "TDB(S=1, M=1)": {"prediction_steps": 1},
    "TDB(S=1, M=4)": {"prediction_steps": 1, "bottlenecks": 4},
    "TDB(S=1, enc, M=1)": {"prediction_steps": 1, "next_encoding": True},
    "TDB(S=1, enc, M=4)": {"prediction_steps": 1, "next_encoding": True, "bottlenecks": 4},
    "TDB(S=3, M=1)": {"prediction_steps": 3},
    "TDB(S=3, M=4)": {"prediction_steps": 3, "bottlenecks": 4},
    "TDB(S=5, M=1)": {"prediction_steps": 5},
    "TDB(S=5, M=4)": {"prediction_steps": 5, "bottlenecks": 4},
    "TDB(S=3, M=1), clones": {"prediction_steps": 3, "clone_structured": True},
}
# Options that only some kinds of tables have.
OF_SOME_KINDS = frozenset({"rooms", "training_rooms", "rungs", "names", "splice", "rollouts"})


@dataclass(frozen=True, kw_only=True)
class Options:
    """What can be asked of a reproduction, for any table; in the order in which a command has them."""

    rooms: int = 1
    """number of worlds, with seeds from --first-seed on"""
    first_seed: int = 0
    """seed of the first world"""
    only: tuple[str, ...] = ()
    """methods to run, as the paper prints them: "TDB(S=3, M=1)" ...; by default all of the table"""
    training_rooms: tuple[int, ...] = ()
    """of icl: numbers of rooms to train on, one model each; by default 200 1000 10000, in icl-small a tenth"""
    rungs: tuple[int, ...] = ()
    """of ladder: which of its rungs, from 0 on; by default all"""
    encoder: Literal["transformer", "gru", "lstm"] = "transformer"
    """encoder of every TDB"""
    names: Literal["auto", "none", "seen", "plain"] = "auto"
    """of icl: what the encoder knows of an observation, as in `cogmap learn --family`"""
    splice: float = 0.03
    """of GINC: probability of a cut before each token of a document; the pieces are shuffled"""
    preset: Literal["fast", "paper"] = "fast"
    """how to train, as in `cogmap learn`"""
    minutes: float | None = None
    """time limit of each training"""
    steps: int | None = None
    """limit on the steps of each training"""
    rollouts: int = 100
    """sampled rollouts of a model without a map, for each planning problem"""
    out: Path = Path("runs/reproduce")
    """folder for the runs; the same command again resumes, and continues a finished training only for more --steps"""
    results: Path = Path("results")
    """folder for the rows, a CSV for each table"""


@dataclass(frozen=True)
class Trial:
    """One model to train and score. It is data alone, so that another process can run it."""

    table: str
    options: Options  # that name this model only
    label: str  # as rows have it: the paper's name, the encoder, and what else is ours
    title: str  # for people
    folder: Path  # of the run
    command: str

    @property
    def method(self) -> str:
        """The model's name as the paper prints it."""
        return self.options.only[0]

    @property
    def seed(self) -> int:
        return self.options.first_seed

    @property
    def learn(self) -> dict[str, Any]:
        """Keyword arguments of `cogmap.learn` for the model and its budget."""
        asked = self.options
        budget = {"preset": asked.preset, "minutes": asked.minutes, "steps": asked.steps, "seed": self.seed}
        choices = {**METHODS[self.method], "encoder": asked.encoder, **budget}
        return {name: value for name, value in choices.items() if value is not None}


def rollout_counts(options: Options) -> tuple[int, ...]:
    """How many rollouts a model without a map is scored with: as many as asked for first, then 1, 10 and 100."""
    return (options.rollouts, *(count for count in (1, 10, 100) if count < options.rollouts))


class Kind(Protocol):
    """What differs between kinds of tables. A table is an instance, and its data are the fields."""

    own: ClassVar[frozenset[str]]  # of the options that only some kinds have, those of this one
    trains_on: ClassVar[tuple[str, ...]] = ()  # fields that decide what models are trained on
    remaps: ClassVar[bool] = True  # the maps of a finished run are built again before they are scored
    usual_seconds: ClassVar[float | None] = None  # of one core for a training, before any was measured
    map_seconds: ClassVar[float | None] = None  # at most, for the search of a map; None for as long as it may

    def trials(self, table: str, options: Options) -> list[Trial]:
        """Every model of the table, in the order in which they run."""

    def training(self, trial: Trial) -> dict[str, Any]:
        """Keyword arguments of `cogmap.learn` for what to train on: the `source`, and what goes with it."""

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        """Every figure of a finished run."""

    def begin(self, options: Options, path: Path, tell: Tell) -> list[Row]:
        """Before the first trial: make what all of them need. Returns rows that belong to no model."""
        return []

    def end(self, path: Path, tell: Tell) -> None:
        """After the last trial: show the rows in the file."""
        return


def one_model(options: Options, method: str, **changes: Any) -> Options:
    """The options that name one model only."""
    encoder = METHODS[method].get("encoder", options.encoder)
    return replace(options, rooms=1, only=(method,), encoder=encoder, **changes)


def new_trial(
    table: str, kind: Kind, options: Options, what: str, label_end: str = "", folder_end: str = ""
) -> Trial:
    """The trial of the one model that `options` name; `what` it is trained in is for people to read."""
    (method,), encoder, preset = options.only, options.encoder, options.preset
    label = (method if METHODS[method].get("vanilla") else f"{method}, {encoder}") + label_end
    folder = f"{slug(method)}-{encoder}-{preset}{folder_end}-{options.first_seed}"
    return Trial(
        table,
        options,
        label,
        title=f"{what}: {label}, {preset}",
        folder=options.out / table / folder,
        command=_command(table, kind.own, options),
    )


def _command(table: str, own: frozenset[str], options: Options) -> str:
    """The command that makes the one model's rows again."""
    (method,) = options.only
    hidden = OF_SOME_KINDS - own | {"rooms", "out", "results"}
    hidden |= {"encoder" if METHODS[method].get("vanilla") else "rollouts"}
    hidden |= {"rollouts"} if options.rollouts == Options.rollouts else set()
    alone = {name: next(iter(getattr(options, name)), None) for name in ("training_rooms", "rungs")}
    values = vars(options) | {"only": f'"{method}"'} | alone
    shown = {name: value for name, value in values.items() if name not in hidden and value is not None}
    words = [f"--{name.replace('_', '-')} {value}" for name, value in shown.items()]
    return " ".join(["cogmap reproduce", table, *words])


def slug(name: str) -> str:
    """A name as part of a folder's."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")
