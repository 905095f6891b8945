"""The causal transformer in two forms of the same interface: one token a step (fast), or observations and actions
as alternating tokens (the paper's)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cogmap.models.attention import PARTS, Memory, PathAttention, RelativeAttention
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState


class TransformerEncoder(nn.Module):
    """Embeddings, blocks, a last normalisation; the memory of every layer is the state that is carried on."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.alternating = config.form == "paper"
        # The paper's vanilla model reads (x_n, a_n), a TDB (a_{n-1}, x_n).
        self.action_last = config.vanilla and not config.action_at_head
        self.observation_embedding = nn.Embedding(config.num_observations, config.width)
        self.action_embedding = nn.Embedding(config.num_actions + 1, config.width)
        for embedding in (self.observation_embedding, self.action_embedding):
            nn.init.normal_(embedding.weight, std=0.5)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.normalise = nn.LayerNorm(config.width)
        self.drop = nn.Dropout(config.dropout)

    def begin(self, walks: int, device: torch.device) -> EncoderState:
        return _state([block.begin(walks, device) for block in self._blocks()])

    def forward(
        self, observations: Tensor, actions: Tensor, state: EncoderState | None = None, remember: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        return self.read(self._embed(observations, actions), state, remember)

    def read(
        self, tokens: Tensor, state: EncoderState | None, remember: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        """As `forward`, of tokens (B, N or 2N, D) made elsewhere."""
        tokens = self.drop(tokens)
        memories = []
        for layer, block in enumerate(self._blocks()):
            memory = None if state is None else _memory(state, layer)
            tokens, kept = block(tokens, memory, remember)
            memories.append(kept)
        outputs = self.normalise(tokens[:, 1::2] if self.alternating else tokens)
        return outputs, _state(memories) if remember else None

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def _embed(self, observations: Tensor, actions: Tensor) -> Tensor:
        seen, done = self.observation_embedding(observations), self.action_embedding(actions)
        if not self.alternating:
            return seen + done
        pair = (seen, done) if self.action_last else (done, seen)
        return torch.stack(pair, dim=2).flatten(1, 2)  # (B, 2N, D); the second of each pair is the one read


class Block(nn.Module):
    """Normalise, attend, add; normalise, transform, add."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.normalise_first = nn.LayerNorm(config.width)
        self.normalise_second = nn.LayerNorm(config.width)
        if config.form == "paper":
            self.attend: PathAttention | RelativeAttention = RelativeAttention(
                config.width, config.heads, span=2 * config.context_length
            )
        else:
            self.attend = PathAttention(config.width, config.heads, span=config.attention_span)
        self.transform = nn.Sequential(
            nn.Linear(config.width, config.mlp_width), nn.GELU(), nn.Linear(config.mlp_width, config.width)
        )
        self.drop = nn.Dropout(config.dropout)

    def begin(self, walks: int, device: torch.device) -> Memory:
        return self.attend.begin(walks, device)

    def forward(self, tokens: Tensor, memory: Memory | None, remember: bool) -> tuple[Tensor, Memory | None]:
        attended, kept = self.attend(self.normalise_first(tokens), memory, remember)
        tokens = tokens + self.drop(attended)
        return tokens + self.drop(self.transform(self.normalise_second(tokens))), kept


# The memories of the layers lie side by side and not in one tensor, which would be copied whole at every step.
def _state(memories: Sequence[Memory]) -> EncoderState:
    return EncoderState(tuple(part[None] for memory in memories for part in memory))


def _memory(state: EncoderState, layer: int) -> Memory:
    keys, values, placed, real = (part[0] for part in state.tensors[layer * PARTS :][:PARTS])
    return keys, values, placed, real
