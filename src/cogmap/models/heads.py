"""The two-layer heads f^(s) and g: from a code and the actions that follow it to logits, or to the next encoding.

The first layer of f(d + E(a_n) + ... ) on a concatenation is a matrix on d plus one row per action sequence. The
fast form keeps those rows in a table: A^(s+1) of them, no matrix product. The paper's form embeds each action.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cogmap.models.config import LARGEST_ACTION_TABLE, ModelConfig


class Head(nn.Module):
    """f^(s): sees the code at n, or a vanilla model's output, and exactly the actions a_n, ..., a_{n+s}."""

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
            raise ValueError(f"head must see {self.sequence} action(s), got {actions.shape[2]}")
        hidden = self.from_code(vectors) + self.from_actions(actions)
        outputs: Tensor = self.to_outputs(nn.functional.gelu(hidden))
        return outputs


class CodeLogits(nn.Module):
    """What follows each code as a table, added to the heads' logits: a row a code, in it the targets of all S heads.

    Entries lie in a narrow space, where what a head learns of one code it says of its neighbours too. That is well
    where a code foretells one observation; a whole distribution is told more sharply by a row of its own.
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
        """Codes (B, N, M) to S times (B, N, targets)."""
        rows: Tensor = self.table(codes + self.first_row).sum(dim=2)
        return rows.split(self.num_targets, dim=2)


class _SequenceTable(nn.Module):
    """One row per action sequence; the sequence is a number in base A."""

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
    """A matrix on the concatenated action embeddings, as the paper writes it."""

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
