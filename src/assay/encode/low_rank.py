"""A network to the matrices of a low rank that are trained beside it, and back; what is trained, to a file and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

_WEIGHTS = "weights.pt"


def with_low_rank(network: Any, rank: int, kind: str | None = None) -> Any:
    """Return a network of which only matrices of a low rank are trained (LoRA); rank 0 trains all of it."""
    if not rank:
        return network
    from peft import LoraConfig, get_peft_model

    shape: dict[str, Any] = {"r": rank, "lora_alpha": 2 * rank, "lora_dropout": 0.05, "target_modules": "all-linear"}
    return get_peft_model(network, LoraConfig(**shape, task_type=kind))


def merged(network: Any) -> Any:
    """Return a network with the matrices of a low rank added to the weights that they stand beside."""
    return network.merge_and_unload() if hasattr(network, "merge_and_unload") else network


def write_weights(model: torch.nn.Module, folder: Path) -> None:
    """Write the weights that are trained."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(_trained(model), folder / _WEIGHTS)


def read_weights(model: torch.nn.Module, folder: Path) -> None:
    """Set the weights that are trained to those of a folder."""
    stored: dict[str, Any] = torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True)
    with torch.no_grad():
        for name, weight in _trained(model).items():
            weight.copy_(stored[name])


def _trained(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.data for name, weight in model.named_parameters() if weight.requires_grad}
