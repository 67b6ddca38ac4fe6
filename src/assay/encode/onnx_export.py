"""An `hf:` encoder to a folder that `onnx:` reads, so that searching needs no torch."""

from __future__ import annotations

import json
from pathlib import Path

from assay.encode.hf import HfEncoder, Pooled
from assay.errors import InputError, MissingExtra

try:
    import onnx  # noqa: F401  torch writes through it
    import torch
except ModuleNotFoundError as error:
    raise MissingExtra("ONNX export", "onnx and torch", "onnx") from error

_OPSET = 17


class _Tokens(torch.nn.Module):
    """A model that takes tokens and mask, and gives one vector a token."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        vectors: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return vectors


def export_onnx(encoder: HfEncoder, folder: Path) -> None:
    """Write `model.onnx`, `tokenizer.json` and the recipe; only mean pooling without modes can be exported."""
    recipe, runner = encoder.recipe, encoder.runner
    if recipe.pooling != "mean" or recipe.opening or not isinstance(runner, Pooled):
        raise InputError(f"{encoder.name} is pooled by {recipe.pooling}; onnx: folders hold models pooled by mean")
    folder.mkdir(parents=True, exist_ok=True)
    sample = runner.tokenizer(["one text", "another, longer text"], padding=True, return_tensors="pt")
    any_size = {0: "texts", 1: "tokens"}
    torch.onnx.export(
        _Tokens(runner.model.cpu()).eval(),
        (sample["input_ids"], sample["attention_mask"]),
        str(folder / "model.onnx"),
        input_names=["input_ids", "attention_mask"],
        output_names=["vectors"],
        dynamic_axes={"input_ids": any_size, "attention_mask": any_size, "vectors": any_size},
        opset_version=_OPSET,
        dynamo=False,
    )
    runner.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    use = {"model": encoder.name, "query": recipe.query, "code": recipe.code, "max_tokens": recipe.max_tokens}
    (folder / "assay.json").write_text(json.dumps(use, indent=1) + "\n", "utf-8")
