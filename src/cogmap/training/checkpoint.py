"""Checkpoints: one safetensors file with all tensors, and other numbers as JSON in its header.

The file is written whole or not at all, so that after a crash there is either the last checkpoint or the one before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from cogmap.checks import checked_object
from cogmap.errors import BadConfig, BadRun
from cogmap.files import parse_json, write_whole
from cogmap.models.config import LARGEST_MODEL, ModelConfig
from cogmap.models.tdb import Model, make_model


def save_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any] | None = None
) -> None:
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {"numbers": json.dumps(numbers or {})}
    with write_whole(path) as stream:
        stream.write(save(plain, metadata=metadata))


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and numbers. Raises `BadRun` if the file is missing, incomplete or not a checkpoint."""
    if not Path(path).is_file():
        raise BadRun(f"a run must hold {Path(path).name}, {path} does not exist")
    try:
        with safe_open(str(path), framework="pt") as stored:
            numbers = parse_json((stored.metadata() or {}).get("numbers", "{}"))
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    except Exception as problem:  # of safetensors, and of torch for a kind of numbers that it does not have
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise BadRun(f"{path} must be a whole safetensors file: {reason}") from problem
    return tensors, checked_object(numbers, f"the numbers of {path}", BadRun)


def load_weights(module: torch.nn.Module, tensors: Mapping[str, Tensor], source: str | Path) -> None:
    """Load weights into a module. Raises `BadRun` with the first weight that is missing or has another shape."""
    check_weights(module, tensors, source)
    module.load_state_dict({name: tensors[name] for name in module.state_dict()})


def check_weights(module: torch.nn.Module, tensors: Mapping[str, Tensor], source: str | Path) -> None:
    expected = module.state_dict()
    for name, tensor in expected.items():
        if name not in tensors:
            raise BadRun(f"{source} must hold all weights of the model, {name} is missing")
        if tensors[name].shape != tensor.shape:
            rule = f"{source} must hold {name} of shape {tuple(tensor.shape)}"
            raise BadRun(f"{rule}, got {tuple(tensors[name].shape)}")
        if tensors[name].dtype != tensor.dtype:
            raise BadRun(f"{source} must hold {name} as {tensor.dtype}, got {tensors[name].dtype}")


def load_model(config: ModelConfig, path: str | Path) -> Model:
    """The model in a file. Its weights are compared with the config before any memory is taken for them."""
    stored = load_tensors(path)[0]
    check_weights(described_model(config), stored, path)
    model = make_model(config)
    load_weights(model, stored, path)
    return model


def described_model(config: ModelConfig) -> Model:
    """The shapes of a model, without its numbers; `BadConfig` if it has too many of them."""
    with torch.device("meta"):
        model = make_model(config)
    size = sum(tensor.numel() for tensor in model.state_dict().values())
    if size > LARGEST_MODEL:
        raise BadConfig(f"a model must have at most {LARGEST_MODEL} parameters, got {size}")
    return model


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def under_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}/"
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
