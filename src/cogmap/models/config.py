"""The configuration of a model, and its name as printed in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from cogmap.errors import BadConfig
from cogmap.walks.vocabulary import MOST_INDICES

EncoderKind = Literal["transformer", "gru", "lstm"]
Form = Literal["fast", "paper"]
Attention = Literal["path", "relative"]
Dictionary = Literal["averages", "gradient"]
DictionaryStart = Literal["normal", "uniform"]

# With more action sequences than this, heads embed single actions instead of whole sequences.
LARGEST_ACTION_TABLE = 4096
# Fields that had another name in earlier versions: stored configs and `--change` still know the old one.
RENAMED = {"nameless": "slot_encoder"}
# Fields that must be at least 1, and at most this: whatever a stranger's config says, a model is described in moments.
SIZES = {
    "num_observations": MOST_INDICES,
    "num_actions": MOST_INDICES,
    "num_targets": MOST_INDICES,
    "prediction_steps": 64,
    "bottlenecks": 256,
    "num_codes": 1 << 20,
    "width": 1 << 16,
    "layers": 256,
    "heads": 1 << 10,
    "mlp_width": 1 << 16,
    "head_width": 1 << 16,
    "code_width": 1 << 16,
    "attention_span": 1 << 20,
    "context_length": 1 << 20,
}
LARGEST_MODEL = 1 << 30  # parameters; a training keeps four numbers for each


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and options of one network, checked on construction."""

    num_observations: int
    num_actions: int
    num_targets: int  # classes to predict; equals num_observations unless trained in base
    encoder: EncoderKind = "transformer"
    form: Form = "fast"  # "paper": the parts below as in the paper; None is the form's choice
    alternating: bool | None = None  # a transformer's tokens: observations and actions in turn, not steps
    attention: Attention | None = None  # "relative": Transformer-XL's; "path": rotary, half by the path
    dictionary: Dictionary | None = None  # trained by the gradient, or moving averages of the outputs
    projected: bool | None = None  # outputs are projected to `code_width` before they are quantized
    dictionary_start: DictionaryStart = "normal"  # if trained by gradient; "uniform": small, as in Haiku
    output_norm: bool = True  # a LayerNorm on the transformer's output, which is what is quantized
    revival: bool = True  # dead entries of a dictionary by averages start again from an output
    vanilla: bool = False  # the baseline without a bottleneck, which predicts x_{n+1} directly
    action_at_head: bool = False  # for a vanilla model: a_n enters at the head, as in a TDB, and not with x_n
    prediction_steps: int = 3  # S
    bottlenecks: int = 1  # M
    num_codes: int = 1000  # K, in each bottleneck
    next_encoding: bool = False  # also predict the teacher's next quantized encoding
    clone_structured: bool = False  # each observation has its own share of the codes
    width: int = 256  # D
    layers: int = 4
    heads: int = 8
    mlp_width: int = 512
    head_width: int = 256  # hidden units of each f^(s), and of g
    code_width: int = 32  # of an entry if outputs are projected; otherwise it is the encoder's width
    attention_span: int = 50  # steps that a layer attends to by path
    code_logits: bool = False  # each code has its own logits, which are added to those of the heads
    context_length: int = 400  # steps that a layer attends to by relative attention
    dropout: float = 0.0
    in_base: bool = False  # trained on a family of rooms: predicts ranks among the observations seen so far
    seen_so_far: bool = False  # the encoder also gets the set of observations seen in the walk
    slot_encoder: bool = False  # the permutation-equivariant encoder: it does not embed observations

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_form()
        self._check_objectives()
        self._check_slot_encoder()

    def _check_sizes(self) -> None:
        for name, most in SIZES.items():
            if getattr(self, name) < 1:
                raise BadConfig(f"`{name}` must be at least 1, got {getattr(self, name)}")
            if getattr(self, name) > most:
                raise BadConfig(f"`{name}` must be at most {most}, got {getattr(self, name)}")
        if not 0.0 <= self.dropout < 1.0:
            raise BadConfig(f"`dropout` must be in [0, 1), got {self.dropout}")

    def _check_form(self) -> None:
        if self.encoder not in get_args(EncoderKind):
            raise BadConfig(f"`encoder` must be transformer, gru or lstm, got {self.encoder!r}")
        if self.form not in get_args(Form):
            raise BadConfig(f"`form` must be fast or paper, got {self.form!r}")
        for name, kinds in {"attention": Attention, "dictionary": Dictionary}.items():
            if getattr(self, name) not in (None, *get_args(kinds)):
                allowed = " or ".join(get_args(kinds))
                raise BadConfig(
                    f"`{name}` must be {allowed}, or none for the form's, got {getattr(self, name)!r}"
                )
        if self.dictionary_start not in get_args(DictionaryStart):
            raise BadConfig(f"`dictionary_start` must be normal or uniform, got {self.dictionary_start!r}")
        if self.encoder == "transformer" and self.width % (2 * self.heads):
            rule = f"`width` (={self.width}) must be divisible by twice the `heads` (={self.heads})"
            raise BadConfig(f"{rule}: each head rotates pairs of numbers")
        if self.has_alternating_tokens and self.seen_so_far:
            raise BadConfig(
                "`seen_so_far` must be off in the paper's form: its tokens are single observations"
            )
        if self.form == "paper" and self.code_logits:
            raise BadConfig("`code_logits` must be off in the paper's form, which has only heads")

    def _check_objectives(self) -> None:
        if self.clone_structured and self.num_codes < self.num_observations:
            rule = f"`num_codes` (={self.num_codes}) must be at least `num_observations` (={self.num_observations})"
            raise BadConfig(f"{rule}: in the clone-structured form each observation has its own codes")
        if self.vanilla and (self.next_encoding or self.clone_structured or self.prediction_steps != 1):
            rule = "a vanilla model has no bottleneck and predicts one step"
            raise BadConfig(f"{rule}: `prediction_steps` must be 1, got {self.prediction_steps}")
        if self.action_at_head and not self.vanilla:
            raise BadConfig(
                "`action_at_head` must be off unless `vanilla` is on: a TDB always has it at the heads"
            )

    def _check_slot_encoder(self) -> None:
        if not self.slot_encoder:
            return
        if self.encoder != "gru" or self.form == "paper" or self.seen_so_far:
            rule = "`slot_encoder` needs the encoder gru in the fast form and `seen_so_far` off"
            raise BadConfig(f"{rule}: its slots are the set of observations seen")
        if not self.in_base:
            raise BadConfig(
                "`slot_encoder` must be off unless `in_base` is on: it outputs slots in rank order"
            )
        if self.layers > 1 or self.width % 2:
            raise BadConfig(
                f"`slot_encoder` needs one layer of an even width, got {self.layers} of {self.width}"
            )

    @property
    def name(self) -> str:
        """As printed in the paper: `TDB(S=3, M=1)`, `TDB(S=1, enc, M=4)`, `Vanilla LSTM`; with `, clones` if so."""
        if self.vanilla:
            return (
                "Vanilla transformer" if self.encoder == "transformer" else f"Vanilla {self.encoder.upper()}"
            )
        parts = [f"S={self.prediction_steps}"] + ["enc"] * self.next_encoding + [f"M={self.bottlenecks}"]
        # The paper has no clone-structured rows: a name of its own keeps reports from pairing it with a plain model's.
        return f"TDB({', '.join(parts)})" + (", clones" if self.clone_structured else "")

    @property
    def has_alternating_tokens(self) -> bool:
        return self.form == "paper" if self.alternating is None else self.alternating

    @property
    def attention_kind(self) -> Attention:
        return self.attention or ("relative" if self.form == "paper" else "path")

    @property
    def attention_tokens(self) -> int:
        """How many tokens a layer attends to."""
        steps = self.context_length if self.attention_kind == "relative" else self.attention_span
        return 2 * steps if self.has_alternating_tokens else steps

    @property
    def dictionary_kind(self) -> Dictionary:
        return self.dictionary or ("gradient" if self.form == "paper" else "averages")

    @property
    def has_projection(self) -> bool:
        return self.form == "fast" if self.projected is None else self.projected

    @property
    def entry_width(self) -> int:
        """Width of one dictionary entry."""
        return self.code_width if self.has_projection else self.width


def with_current_names(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a config stored by an earlier version, under their current names."""
    return {RENAMED.get(name, name): value for name, value in options.items()}
