"""What a model is, as one frozen, saveable choice; and its name as the paper prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cogmap.errors import BadConfig

EncoderKind = Literal["transformer", "gru", "lstm"]
Form = Literal["fast", "paper"]

# Above this many rows an action sequence is no longer one row of a table but a sum of its actions' rows.
LARGEST_ACTION_TABLE = 4096


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of one network. Checked when made: rule first, then the value that broke it."""

    num_observations: int
    num_actions: int
    num_targets: int  # what is predicted; equals num_observations unless trained in base
    encoder: EncoderKind = "transformer"
    form: Form = "fast"  # "paper": alternating tokens, Transformer-XL positions, gradient-trained dictionary
    vanilla: bool = False  # no bottleneck: the rival that predicts x_{n+1} directly
    action_at_head: bool = False  # of a vanilla model: a_n enters at its head, as a TDB's, and not with x_n
    prediction_steps: int = 3  # S
    bottlenecks: int = 1  # M
    num_codes: int = 1000  # K, in each bottleneck
    next_encoding: bool = False  # also predict the teacher's next quantized encoding
    clone_structured: bool = False  # each observation owns its share of the codes
    width: int = 256  # D
    layers: int = 4
    heads: int = 8
    mlp_width: int = 512
    head_width: int = 256  # hidden units of each f^(s), and of g
    code_width: int = 32  # of an entry in the fast form; the paper's are as wide as the encoder
    attention_span: int = 50  # steps a layer looks back in the fast form; the paper's: `context_length`
    code_logits: bool = False  # each code has logits of its own beside what the heads make of its entry
    context_length: int = 400
    dropout: float = 0.0
    in_base: bool = False  # trained on a family of rooms: predicts ranks among the observations seen so far
    seen_so_far: bool = False  # the encoder also gets the set of the observations that the walk has shown
    nameless: bool = False  # the encoder tells observations apart but does not know them by name

    def __post_init__(self) -> None:
        for name in ("num_observations", "num_actions", "num_targets", "prediction_steps", "bottlenecks"):
            _at_least(name, getattr(self, name), 1)
        for name in ("num_codes", "width", "layers", "heads", "mlp_width", "head_width", "code_width"):
            _at_least(name, getattr(self, name), 1)
        _at_least("attention_span", self.attention_span, 1)
        _at_least("context_length", self.context_length, 1)
        if self.encoder not in ("transformer", "gru", "lstm"):
            raise BadConfig(f"`encoder` must be transformer, gru or lstm, got {self.encoder!r}")
        if self.form not in ("fast", "paper"):
            raise BadConfig(f"`form` must be fast or paper, got {self.form!r}")
        if not 0.0 <= self.dropout < 1.0:
            raise BadConfig(f"`dropout` must be in [0, 1), got {self.dropout}")
        if self.encoder == "transformer" and self.width % (2 * self.heads):
            rule = f"`width` (={self.width}) must be divisible by twice the `heads` (={self.heads})"
            raise BadConfig(f"{rule}: each head turns pairs of numbers")
        if self.seen_so_far and self.form == "paper":
            raise BadConfig(
                "`seen_so_far` must be off in the paper's form, whose tokens are what is seen alone"
            )
        if self.nameless and (self.encoder != "gru" or self.form == "paper" or self.seen_so_far):
            raise BadConfig(
                "`nameless` needs the encoder gru in the fast form, and `seen_so_far` off: its slots are that set"
            )
        if self.nameless and not self.in_base:
            raise BadConfig("`nameless` must be off for a model that foretells observations by their names")
        if self.nameless and (self.layers > 1 or self.width % 2):
            raise BadConfig(f"`nameless` needs one layer of an even width, got {self.layers} of {self.width}")
        if self.code_logits and self.form == "paper":
            raise BadConfig("`code_logits` must be off in the paper's form, which has heads alone")
        if self.clone_structured and self.num_codes < self.num_observations:
            rule = f"`num_codes` (={self.num_codes}) must be at least `num_observations` (={self.num_observations})"
            raise BadConfig(f"{rule}: in the clone-structured form each observation owns a code")
        if self.vanilla and (self.next_encoding or self.clone_structured or self.prediction_steps != 1):
            raise BadConfig(
                "a vanilla model has no bottleneck and predicts one step: `prediction_steps` must be 1"
            )

        if self.action_at_head and not self.vanilla:
            raise BadConfig("`action_at_head` must be off unless `vanilla` is on: a TDB has it there always")

    @property
    def name(self) -> str:
        """As the paper prints it: `TDB(S=3, M=1)`, `TDB(S=1, enc, M=4)`, `Vanilla LSTM`; clones say so."""
        if self.vanilla:
            return (
                "Vanilla transformer" if self.encoder == "transformer" else f"Vanilla {self.encoder.upper()}"
            )
        parts = [f"S={self.prediction_steps}"] + ["enc"] * self.next_encoding + [f"M={self.bottlenecks}"]
        # The paper has no clone-structured rows: a name of its own keeps reports from pairing it with a plain model's.
        return f"TDB({', '.join(parts)})" + (", clones" if self.clone_structured else "")

    @property
    def entry_width(self) -> int:
        """Width of one dictionary entry."""
        return self.width if self.form == "paper" else self.code_width


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise BadConfig(f"`{name}` must be at least {least}, got {value}")
