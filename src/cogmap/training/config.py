"""The configuration of a training, and the two presets: `fast` and `paper`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from cogmap.checks import checked
from cogmap.errors import BadConfig
from cogmap.models.config import EncoderKind, ModelConfig, with_current_names

Preset = Literal["fast", "paper"]
Config = TypeVar("Config", ModelConfig, "TrainingConfig")

SMALL_LOG = 400_000  # steps in all walks; with fewer, the fast preset uses half the width and three layers
VERY_SMALL_LOG = 100_000  # with fewer, a transformer gets dropout: it would overfit
TRAINING_SHARE = 0.9  # of the minutes allowed
START_SHARE = 0.5  # of the fresh lanes, where walks start at a known state
LONGEST = 1 << 31  # steps, and whatever is counted in steps or walks
RANGES = {
    "seed": (0, 2**63 - 1),
    "second_moment": (0.0, 0.9999999),
    "muon_rate": (0.0, 1.0),
    "clip": (0.0, 1e30),
    "bottleneck_from": (0, LONGEST),
    "warm_up": (0, LONGEST),
    "commitment_weight": (0.0, 1e30),
    "teacher_decay": (0.0, 1.0),
    "present_weight": (0.0, 1e30),
}
MOST_THREADS = 1024
MOST_LOGITS, FEWEST_LANES = 1 << 26, 4  # of a training step
FEWEST_CODES, MOST_CODES = 64, 1000
CODES_OF_A_PLACE = 4  # a dictionary never uses its codes evenly
TRIES = 10  # of each action that a code should have; the futures of rarer codes are not known
CLONES = 16  # minimum of codes for each observation, in the clone-structured form


@dataclass(frozen=True)
class TrainingConfig:
    """All options of a training. With the walks they determine the weights, to the last bit if `threads` is fixed."""

    seed: int = 0
    steps: int = 6000  # at most; the fast preset stops earlier when accuracy no longer rises
    minutes: float | None = None  # at most, with a margin for the map: training gets nine tenths
    batch_size: int = 80
    window: int = 40  # steps encoded at once
    fresh_share: float = 0.6  # of the lanes that start afresh at each window instead of continuing
    start_share: float = 0.0  # of the fresh lanes that start with their walk; the others start anywhere
    carry_state: bool = True  # lanes that continue keep the encoder's state
    learning_rate: float = 3e-3
    second_moment: float = 0.99  # Adam's beta_2
    muon_rate: float | None = None  # for the transformer's matrices; None trains all parameters with Adam
    decays: bool = True  # the learning rate decays to zero at the end
    clip: float | None = 1.0  # maximum norm of the gradient
    bottleneck_from: int = 1500  # annealing starts at this step, or earlier if the model is accurate
    commitment_weight: float = 0.25  # beta
    bottleneck_mean: bool = False  # the bottleneck loss is a mean over the width of an entry, not a sum
    warm_up: int = 50  # steps over which the learning rate rises at the start; 0 for none
    hold_out: bool = True  # validation walks are not trained on
    teacher_decay: float = 0.99  # alpha
    present_weight: float = 0.0  # of the auxiliary loss on the present observation's target
    validate_every: int = 50
    threads: int | None = None  # to compute with; None chooses by the speed of steps
    bfloat16: bool | None = None  # products of a step in bfloat16; None: where the device has units for it

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "window", "validate_every"):
            if getattr(self, name) < 1:
                raise BadConfig(f"`{name}` must be at least 1, got {getattr(self, name)}")
            if getattr(self, name) > LONGEST:
                raise BadConfig(f"`{name}` must be at most {LONGEST}, got {getattr(self, name)}")
        if self.threads is not None and not 1 <= self.threads <= MOST_THREADS:
            raise BadConfig(f"`threads` must be from 1 to {MOST_THREADS}, got {self.threads}")
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise BadConfig(f"`{name}` must be from {least} to {most}, got {value}")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise BadConfig(f"`minutes` must be above 0, got {self.minutes}")
        for name in ("fresh_share", "start_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadConfig(f"`{name}` must be in [0, 1], got {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            raise BadConfig(f"`learning_rate` must be in (0, 1), got {self.learning_rate}")

    @property
    def training_seconds(self) -> float | None:
        """Of the minutes allowed, those for the training: the rest is for the map."""
        return None if self.minutes is None else 60 * self.minutes * TRAINING_SHARE


def preset_configs(
    preset: Preset, base: ModelConfig, steps_seen: int = SMALL_LOG, known_start: bool = False
) -> tuple[ModelConfig, TrainingConfig]:
    """The sizes and the schedule of a preset, for a model whose vocabulary, encoder and objectives are given.

    steps_seen: steps in all walks, from which the fast preset chooses its width.
    known_start: whether walks start at a known state. The fast preset then often reads them from there.
    """
    if preset == "paper":
        return _paper(base)
    if preset == "fast":
        if base.clone_structured:
            base = replace(base, num_codes=max(base.num_codes, CLONES * base.num_observations))
        base = replace(base, action_at_head=base.vanilla)
        choose = _fast_transformer if base.encoder == "transformer" else _fast_recurrent
        model, training = choose(base, steps_seen)
        return model, replace(training, start_share=START_SHARE if known_start else 0.0)
    raise BadConfig(f"`preset` must be fast or paper, got {preset!r}")


def chosen_encoder(preset: Preset, device_type: str, steps_seen: int) -> EncoderKind:
    """What `encoder="auto"` is, for a device by torch's name and a log of so many steps in all walks.

    A GRU learns a room in the same number of steps as the transformer or fewer, does not overfit a small log so
    soon, and a step of it takes a fraction of the time on a CPU. A GPU computes the transformer's steps in parallel.
    """
    parallel = device_type != "cpu" and steps_seen >= SMALL_LOG
    return "transformer" if preset == "paper" or parallel else "gru"


def fitting_codes(steps_seen: int, num_actions: int, num_observations: int, places: int = 0) -> int:
    """K for walks in one place: as many codes as the log can distinguish, and more than there are observations.

    places: that there are at the least. A usual number of codes is enough, unless there are very many places.
    """
    enough = max(MOST_CODES, CODES_OF_A_PLACE * places)
    told_apart = min(max(steps_seen // (TRIES * num_actions), FEWEST_CODES), enough)
    return min(max(told_apart, 2 * num_observations), 20 * MOST_CODES)


def _paper(base: ModelConfig) -> tuple[ModelConfig, TrainingConfig]:
    layers = 4 if base.encoder == "transformer" else 1
    model = replace(
        base,
        form="paper",
        width=256,
        layers=layers,
        heads=8,
        mlp_width=512,
        head_width=256,
        num_codes=1000,
        dropout=0.1,
        dictionary_start="uniform",
        output_norm=base.vanilla,
    )
    training = TrainingConfig(
        steps=25_000,
        batch_size=32,
        window=base.context_length,
        fresh_share=1.0,
        carry_state=False,
        learning_rate=1e-3,
        second_moment=0.999,
        decays=False,
        clip=None,
        bottleneck_from=0,
        bottleneck_mean=True,
        warm_up=0,
        hold_out=False,
        bfloat16=False,
    )
    return model, training


def _fast_transformer(base: ModelConfig, steps_seen: int) -> tuple[ModelConfig, TrainingConfig]:
    width, heads, layers = (64, 4, 3) if steps_seen < SMALL_LOG else (128, 8, 4)
    dropout = 0.1 if steps_seen < VERY_SMALL_LOG else 0.0
    model = replace(
        base, form="fast", width=width, layers=layers, heads=heads, mlp_width=2 * width, dropout=dropout
    )
    training = TrainingConfig(
        batch_size=32, window=100, fresh_share=1.0, carry_state=False, learning_rate=2e-3, muon_rate=0.02
    )
    return model, training


def _fast_recurrent(base: ModelConfig, steps_seen: int) -> tuple[ModelConfig, TrainingConfig]:
    width = 128 if steps_seen < SMALL_LOG else 256
    usual = TrainingConfig()
    # A step computes a logit for each target: with a vocabulary of words, fewer lanes at a time.
    lanes = MOST_LOGITS // (usual.window * base.prediction_steps * base.num_targets)
    batch_size = min(usual.batch_size, max(FEWEST_LANES, lanes))
    return replace(base, form="fast", width=width, layers=1), replace(usual, batch_size=batch_size)


def changed(
    model: ModelConfig, training: TrainingConfig, changes: Mapping[str, Any]
) -> tuple[ModelConfig, TrainingConfig]:
    """Both configs with some fields changed. Values may be strings from a command line."""
    model_changes: dict[str, Any] = {}
    training_changes: dict[str, Any] = {}
    for name, value in with_current_names(changes).items():
        if name in _names(model):
            model_changes[name] = _parsed(name, value, getattr(model, name))
        elif name in _names(training):
            training_changes[name] = _parsed(name, value, getattr(training, name))
        else:
            known = sorted(_names(model) | _names(training))
            near = get_close_matches(name, known, n=1)
            hint = f", did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"
            raise BadConfig(f"a change must name an option of the model or the training, got {name!r}{hint}")
    return _replaced(model, model_changes), _replaced(training, training_changes)


def _replaced(config: Config, changes: Mapping[str, Any]) -> Config:
    """A config with some fields changed, all of them of their declared types."""
    plain = {name: value.item() if hasattr(value, "item") else value for name, value in changes.items()}
    return checked(type(config), asdict(config) | plain, "the options", BadConfig)


def _names(config: ModelConfig | TrainingConfig) -> set[str]:
    return {field.name for field in fields(config)}


def _parsed(name: str, value: Any, before: Any) -> Any:
    """Parse a string as the type of the option's present value."""
    if not isinstance(value, str) or isinstance(before, str):
        return value
    word = value.lower()
    try:
        parsed = json.loads("null" if word == "none" else word)
    except (ValueError, RecursionError):
        parsed = value
    if before is None and isinstance(parsed, bool | str):
        return parsed  # of a choice that is left to the form; its type is checked with the others
    if type(parsed) not in _types_like(before):
        raise BadConfig(f"`{name}` must be like {before!r}, got {value!r}")
    return parsed


def _types_like(value: bool | int | float | None) -> tuple[type, ...]:
    """The types allowed for an option whose present value is `value`. `none` removes a limit."""
    if isinstance(value, bool):
        return (bool,)
    if isinstance(value, int):
        return (int,)
    return (int, float, type(None))
