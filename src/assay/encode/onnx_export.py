"""Export an `hf:` encoder to a folder that `onnx:` reads, so that searching needs no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from assay.encode.hf import HfEncoder, PooledModel
from assay.errors import InputError, MissingExtra

try:
    import onnx  # noqa: F401  torch writes through it
    import torch
except ModuleNotFoundError as error:
    raise MissingExtra("ONNX export", "onnx and torch", "onnx") from error

_OPSET = 17
_Axes = Mapping[str, Mapping[int, str]]


class _Tokens(torch.nn.Module):
    """A model that takes tokens and mask, and gives one vector a token."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        vectors: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return vectors


def export_onnx(encoder: HfEncoder, folder: Path, *, whole_numbers: bool = False) -> None:
    """Write `model.onnx`, `tokenizer.json` and the recipe; only mean pooling without modes can be exported.

    With `whole_numbers` the weights have 8 bits: a quarter of the size.
    """
    recipe, runner = encoder.recipe, encoder.runner
    if recipe.pooling != "mean" or recipe.opening or not isinstance(runner, PooledModel):
        raise InputError(f"{encoder.name} is pooled by {recipe.pooling}; onnx: folders hold models pooled by mean")
    folder.mkdir(parents=True, exist_ok=True)
    sample = runner.tokenizer(["one text", "another, longer text"], padding=True, return_tensors="pt")
    any_size = {0: "texts", 1: "tokens"}
    inputs = {"input_ids": any_size, "attention_mask": any_size}
    model = _Tokens(runner.model.cpu()).eval()
    write_onnx(model, tuple(sample[name] for name in inputs), folder / "model.onnx", inputs, {"vectors": any_size})
    if whole_numbers:
        from assay.encode.onnx import quantize

        quantize(folder / "model.onnx")
    runner.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    use = {"model": encoder.name, "query": recipe.query, "code": recipe.code, "max_tokens": recipe.max_tokens}
    (folder / "assay.json").write_text(json.dumps(use, indent=1) + "\n", "utf-8")


def write_onnx(
    model: torch.nn.Module, example: tuple[torch.Tensor, ...], file: Path, inputs: _Axes, outputs: _Axes
) -> None:
    """Write a model as ONNX; inputs and outputs go by name, each with its axes of any size."""
    torch.onnx.export(
        model,
        example,
        str(file),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_axes={**inputs, **outputs},
        opset_version=_OPSET,
        dynamo=False,
    )
