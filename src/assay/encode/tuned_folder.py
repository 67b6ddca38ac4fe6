"""A fine-tuned encoder to a folder that `hf:` and, where its pooling is a usual one, sentence-transformers read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from assay.encode.hf import HfEncoder
from assay.encode.pooled_model import PooledModel
from assay.encode.recipes import USE, Recipe
from assay.errors import InputError
from assay.io import files

_POOLING = "1_Pooling"
_MODES = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "last": "pooling_mode_lasttoken"}


def save_tuned(encoder: HfEncoder, folder: Path) -> None:
    """Write model, tokenizer and recipe."""
    if not isinstance(encoder.runner, PooledModel):
        raise InputError(f"{encoder.name} is run by sentence-transformers, and is not written here")
    encoder.runner.model.save_pretrained(str(folder))
    encoder.runner.tokenizer.save_pretrained(str(folder))
    recipe = encoder.recipe
    use = {name: value for name, value in asdict(recipe).items() if name != "tasks"}
    files.write_json(folder / USE, {"model": encoder.name, **use})
    if recipe.pooling in _MODES and not recipe.opening:
        _write_modules(folder, recipe, encoder.dimension)


def _write_modules(folder: Path, recipe: Recipe, dimension: int) -> None:
    """Write what sentence-transformers reads of a folder."""
    kinds = {"Transformer": "", "Pooling": _POOLING, "Normalize": "2_Normalize"}
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(kinds.items())
    ]
    modes = {mode: pooling == recipe.pooling for pooling, mode in _MODES.items()}
    prompts = {"query": recipe.query, "document": recipe.code}
    files.write_json(folder / "modules.json", modules)
    files.write_json(
        folder / "sentence_bert_config.json", {"max_seq_length": recipe.max_tokens, "do_lower_case": False}
    )
    files.write_json(folder / "config_sentence_transformers.json", {"prompts": prompts, "similarity_fn_name": "cosine"})
    (folder / _POOLING).mkdir(exist_ok=True)
    files.write_json(folder / _POOLING / "config.json", {"word_embedding_dimension": dimension, **modes})
