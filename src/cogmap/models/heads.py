"""The two-layer heads f^(s) and g: from a code and the following actions to logits, or to the next encoding.

The first layer on the concatenation (d, E(a_n), ..., E(a_{n+s})) is a matrix times d plus one vector per action
sequence. The fast form stores these A^(s+1) vectors in a table, without a matrix product. The paper's form embeds each
action.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cogmap.models.config import LARGEST_ACTION_TABLE, ModelConfig


class Head(nn.Module):
    """f^(s): its inputs are the code at n, or a vanilla model's output, and exactly the actions a_n, ..., a_{n+s}."""

    def __init__(self, config: ModelConfig, inputs: int, sequence: int, outputs: int) -> None:
        super().__init__()
        self.sequence = sequence
        self.from_code = nn.Linear(inputs, config.head_width)
        rows = config.num_actions**sequence
        if config.form == "fast" and rows <= LARGEST_ACTION_TABLE:
            self.from_actions: nn.Module = _SequenceTable(config, rows)
        else:
            self.from_actions = _SumOfActions(config, sequence)
        self.to_outputs = nn.Linear(config.head_width, outputs)

    def forward(self, vectors: Tensor, actions: Tensor) -> Tensor:
        """Vectors (B, N, inputs) and the actions after each (B, N, s + 1) to (B, N, outputs)."""
        if actions.shape[2] != self.sequence:
            raise ValueError(f"a head must get {self.sequence} action(s), got {actions.shape[2]}")
        hidden = self.from_code(vectors) + self.from_actions(actions)
        outputs: Tensor = self.to_outputs(nn.functional.gelu(hidden))
        return outputs


class CodeLogits(nn.Module):
    """A table of logits per code, added to the heads' logits: one row per code, with the targets of all S heads.

    Entries are narrow, so a head predicts similar logits for neighbouring entries. That is fine if each code predicts
    one observation. A row per code fits a whole distribution more sharply.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.num_targets = config.num_targets
        rows = config.bottlenecks * config.num_codes
        self.table = nn.Embedding(rows, config.prediction_steps * config.num_targets)
        nn.init.zeros_(self.table.weight)
        first_row = torch.arange(config.bottlenecks) * config.num_codes
        self.register_buffer("first_row", first_row, persistent=False)
        self.first_row: Tensor

    def forward(self, codes: Tensor) -> tuple[Tensor, ...]:
        """Codes (B, N, M) to S tensors (B, N, targets)."""
        rows: Tensor = self.table(codes + self.first_row).sum(dim=2)
        return rows.split(self.num_targets, dim=2)


class _SequenceTable(nn.Module):
    """One row per action sequence, which is read as a number in base A."""

    def __init__(self, config: ModelConfig, rows: int) -> None:
        super().__init__()
        self.num_actions = config.num_actions
        self.table = nn.Embedding(rows, config.head_width)
        nn.init.normal_(self.table.weight, std=0.3)

    def forward(self, actions: Tensor) -> Tensor:
        row = actions[..., 0]
        for index in range(1, actions.shape[-1]):
            row = row * self.num_actions + actions[..., index]
        rows: Tensor = self.table(row)
        return rows


class _SumOfActions(nn.Module):
    """A matrix times the concatenated action embeddings, as in the paper."""

    def __init__(self, config: ModelConfig, sequence: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.num_actions, config.width)
        self.from_embeddings = nn.Linear(sequence * config.width, config.head_width, bias=False)

    def forward(self, actions: Tensor) -> Tensor:
        hidden: Tensor = self.from_embeddings(self.embedding(actions).flatten(-2))
        return hidden


def following_actions(actions: Tensor, sequence: int, steps: int) -> Tensor:
    """(B, steps, sequence): the actions a_n, ..., a_{n + sequence - 1} after each of the first `steps` steps."""
    return torch.stack([actions[:, offset : offset + steps] for offset in range(sequence)], dim=2)
