"""The causal transformer in two forms with one interface: one token per step (fast), or observations and actions as
alternating tokens (the paper's)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cogmap.models.attention import Memory, PathAttention, RelativeAttention
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState


class TransformerEncoder(nn.Module):
    """Embeddings, blocks and a final layer norm. The state is the memory of every layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.alternating = config.has_alternating_tokens
        # The paper's vanilla model reads (x_n, a_n), a TDB (a_{n-1}, x_n).
        self.action_last = config.vanilla and not config.action_at_head
        self.observation_embedding = nn.Embedding(config.num_observations, config.width)
        self.action_embedding = nn.Embedding(config.num_actions + 1, config.width)
        for embedding in (self.observation_embedding, self.action_embedding):
            nn.init.normal_(embedding.weight, std=0.5)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.normalise = nn.LayerNorm(config.width) if config.output_norm else nn.Identity()
        self.drop = nn.Dropout(config.dropout)

    def initial_state(self, walks: int, device: torch.device) -> EncoderState:
        return _state([block.attend.initial_memory(walks, device) for block in self._blocks()])

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        state: EncoderState | None = None,
        return_state: bool = True,
    ) -> tuple[Tensor, EncoderState | None]:
        return self.encode_tokens(self._embed(observations, actions), state, return_state)

    def encode_tokens(
        self, tokens: Tensor, state: EncoderState | None, return_state: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        """As `forward`, for embedded tokens (B, N or 2N, D)."""
        tokens = self.drop(tokens)
        memories = []
        for layer, block in enumerate(self._blocks()):
            memory = None if state is None else _memory(state, layer)
            tokens, new = block(tokens, memory, return_state)
            memories.append(new)
        outputs = self.normalise(tokens[:, 1::2] if self.alternating else tokens)
        return outputs, _state(memories) if return_state else None

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def _embed(self, observations: Tensor, actions: Tensor) -> Tensor:
        seen, done = self.observation_embedding(observations), self.action_embedding(actions)
        if not self.alternating:
            return seen + done
        pair = (seen, done) if self.action_last else (done, seen)
        # The output is read at the second token of each pair.
        return torch.stack(pair, dim=2).flatten(1, 2)  # (B, 2N, D)


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.normalise_first = nn.LayerNorm(config.width)
        self.normalise_second = nn.LayerNorm(config.width)
        if config.attention_kind == "relative":
            self.attend: PathAttention | RelativeAttention = RelativeAttention(
                config.width, config.heads, span=config.attention_tokens
            )
        else:
            self.attend = PathAttention(config.width, config.heads, span=config.attention_tokens)
        self.transform = nn.Sequential(
            nn.Linear(config.width, config.mlp_width), nn.GELU(), nn.Linear(config.mlp_width, config.width)
        )
        self.drop = nn.Dropout(config.dropout)

    def forward(
        self, tokens: Tensor, memory: Memory | None, return_memory: bool
    ) -> tuple[Tensor, Memory | None]:
        attended, new = self.attend(self.normalise_first(tokens), memory, return_memory)
        tokens = tokens + self.drop(attended)
        return tokens + self.drop(self.transform(self.normalise_second(tokens))), new


# The layers' memories are separate tensors: one stacked tensor would be copied at every step.
def _state(memories: Sequence[Memory]) -> EncoderState:
    return EncoderState(tuple(part[None] for memory in memories for part in memory))


def _memory(state: EncoderState, layer: int) -> Memory:
    count = len(Memory._fields)
    return Memory(*(part[0] for part in state.tensors[layer * count : (layer + 1) * count]))
