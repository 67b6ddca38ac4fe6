"""Fine-tune a transformer on judged pairs into a folder that `hf:` reads.

Reads top to bottom: data, base, examples, training, test, saving. Everything is decided by the pairs, the base and the
settings, which stand in the folder from the start: a run that was killed goes on, and one of other settings is refused.
"""

from __future__ import annotations

import json
import logging
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset, DatasetDict
from datasets.utils.logging import disable_progress_bar
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments

from assay.encode.hf import HfEncoder, PooledModel
from assay.encode.models import USE, Recipe
from assay.errors import InputError, MissingExtra
from assay.io import files
from assay.measure.compare import interval
from assay.measure.measures import ndcg_of
from assay.protocols import Say
from assay.runs import record
from assay.runs.record import manifest
from assay.train import run
from assay.train.card import about_base, encoder_card
from assay.train.pairs import QueryParts, TrainingPair, code_of, split_by_query, words_of
from assay.train.settings import TuneSettings

try:
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
except ModuleNotFoundError:  # where they stood before version 6
    from sentence_transformers.losses import CachedMultipleNegativesRankingLoss, MultipleNegativesRankingLoss

RECORD, CARD, ONNX = "training.json", "README.md", "onnx"
_POOLING = "1_Pooling"
_DEPTH = 10
_MODES = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "last": "pooling_mode_lasttoken"}

Examples = dict[str, list[dict[str, str]]]
Values = NDArray[np.float64]
Found = Mapping[str, Values]
"""One value a query, by measure."""


@dataclass(frozen=True, slots=True)
class TuneRun(TuneSettings):
    """What decides about a run."""

    base: str = ""
    pairs: str = ""
    """A hash of them."""


def tune_encoder(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    pairs: Sequence[TrainingPair],
    base: str,
    folder: Path,
    settings: TuneSettings,
    say: Say,
    *,
    onnx: bool = False,
    fresh: bool = False,
) -> dict[str, Any]:
    """Fine-tune `base`, a name on the hub or a folder; return the record."""
    if onnx and not all(map(find_spec, ("onnx", "onnxruntime"))):
        raise MissingExtra("ONNX export", "onnx", "onnx")  # before the training, not after it

    def begin() -> None:
        decides = TuneRun(**asdict(settings), base=base, pairs=record.hash_of("\n".join(sorted(map(repr, pairs)))))
        record.begin(run.looks_of(folder), decides, "looks at a training", seed=settings.seed)

    with run.training(folder, RECORD, begin, say, fresh=fresh) as is_to_do:
        if is_to_do:
            _write_about(folder, _tune(pairs, base, folder, settings, say))
        about: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
        run.remove_checkpoints(folder)  # their pickles would be refused where the folder is opened
        if onnx and not (about["onnx"] and (folder / ONNX).is_dir()):
            from assay.encode.hf import export_onnx

            export_onnx(HfEncoder(str(folder)), folder / ONNX, whole_numbers=True)
            say(f"exported to {folder / ONNX}")
            about["onnx"] = True
            _write_about(folder, about)
    return about


def _write_about(folder: Path, about: Mapping[str, Any]) -> None:
    """Write the card, then the record, which ends the training."""
    files.write(folder / CARD, encoder_card(about))
    files.write_json(folder / RECORD, about)


def _tune(pairs: Sequence[TrainingPair], base: str, folder: Path, settings: TuneSettings, say: Say) -> dict[str, Any]:
    torch.manual_seed(settings.seed)

    # --- data
    parts = split_by_query(pairs, settings)
    say(_parts_line(parts))

    # --- base
    encoder = HfEncoder(base, device=str(run.training_device()), dtype="fp32")
    pooled = encoder.runner
    if not isinstance(pooled, PooledModel):
        raise InputError(f"{encoder.name} is run by modules of sentence-transformers; choose a base that is pooled")
    before = retrieval(encoder, pooled, parts.test)

    # --- examples
    examples = examples_of(parts.learned, encoder.recipe, settings)
    right, beside = len(examples["right"]), len(examples["wrong_codes"])
    say(f"examples: {right:,} right pairs alone, {beside:,} with wrong codes")

    # --- training
    looks = _train(encoder, pooled, examples, parts, folder, settings, say)

    # --- test and saving
    after = retrieval(encoder, pooled, parts.test)
    record.rewrite(run.looks_of(folder), looks)
    save_tuned(encoder, pooled, folder)
    about = _facts_of(pairs, parts, settings, before, after)
    return {
        **about_base(base),
        "max_tokens": encoder.recipe.max_tokens,
        **about,
        "examples": {name: len(rows) for name, rows in examples.items()},
        "looks": looks,
        "step": max(looks[1:], key=lambda look: look["mrr"])["step"],
        "steps": looks[-1]["step"],
    }


def _facts_of(
    pairs: Sequence[TrainingPair], parts: QueryParts, settings: TuneSettings, before: Found, after: Found
) -> dict[str, Any]:
    """Return what is recorded of the pairs and of what was found on the test part."""
    return {
        "sources": sorted({pair.source for pair in pairs}),
        "learned": len(parts.learned),
        "valid_queries": len({pair.query for pair in parts.valid if pair.grade}),
        "test_queries": len(after["MRR"]),
        "test_codes": len({pair.code for pair in parts.test}),
        "left_out": parts.left_out,
        "figures": {measure: _figures_of(before[measure], after[measure]) for measure in after},
        "onnx": False,
        **manifest(settings, seed=settings.seed, corpus=map(repr, pairs)),
    }


def _figures_of(before: Values, after: Values) -> dict[str, tuple[float, float, float]]:
    """Return the means before and after, and their difference, each with its interval."""
    found = {"before": before, "after": after, "difference": after - before}
    return {name: (float(values.mean()), *interval(values)) for name, values in found.items()}


def _parts_line(parts: QueryParts) -> str:
    sizes = [
        f"{len(part):,} pairs of {len({pair.query for pair in part}):,} queries {what}"
        for part, what in ((parts.learned, "to learn"), (parts.valid, "to choose by"), (parts.test, "to test on"))
    ]
    return "; ".join(sizes) + (f"; {parts.left_out:,} left out, whose code another part has" if parts.left_out else "")


# --- data: right pairs, which stand against the others of their batch, some with wrong codes beside them


def examples_of(pairs: Sequence[TrainingPair], recipe: Recipe, settings: TuneSettings) -> Examples:
    """Return rows of a query and its code, and in the second part of codes that were judged wrong for the query."""
    random = np.random.default_rng(settings.seed)
    wrong: dict[str, list[str]] = defaultdict(list)
    for pair in pairs if settings.negatives else ():
        if not pair.grade:
            wrong[words_of(pair.query)].append(pair.code)
    found: Examples = {"right": [], "wrong_codes": []}
    for pair in pairs:
        if pair.grade:
            row = {"query": recipe.query + pair.query, "code": recipe.code + pair.code}
            codes = wrong.get(words_of(pair.query), [])
            if codes:  # where there are fewer than wanted, they come again
                chosen = random.choice(len(codes), settings.negatives, replace=len(codes) < settings.negatives)
                row |= {f"wrong_{number}": recipe.code + codes[at] for number, at in enumerate(chosen)}
            found["wrong_codes" if codes else "right"].append(row)
    return found


# --- training, by sentence-transformers' trainer and losses


class TunedModule(torch.nn.Module):
    """The one module of a sentence-transformers model: tokens, transformer and pooling, as the recipe has them."""

    def __init__(self, pooled: PooledModel) -> None:
        super().__init__()
        self.pooled = pooled
        self.network = pooled.model

    def preprocess(self, inputs: Sequence[str], **_: object) -> dict[str, torch.Tensor]:
        """Return the tokens of texts."""
        return self.pooled.tokens_of(inputs)

    tokenize = preprocess
    """As sentence-transformers 5 asks for it."""

    def forward(self, features: dict[str, torch.Tensor], **_: object) -> dict[str, torch.Tensor]:
        """Add one vector a text."""
        mask = features["attention_mask"]
        output = self.network(input_ids=features["input_ids"], attention_mask=mask)
        return {**features, "sentence_embedding": self.pooled.pool(output, mask)}


class _Trainer(run.LookingTrainer, SentenceTransformerTrainer):
    """The library's trainer, which looks at retrieval and keeps nothing but what is trained."""

    def add_model_card_callback(self, *_: object) -> None:
        """Leave out the library's card: there is one of our own."""

    def _save(self, output_dir: str | None = None, state_dict: object = None) -> None:  # noqa: ARG002
        run.write_weights(self.model, Path(output_dir or self.args.output_dir))

    def _load_from_checkpoint(self, checkpoint_path: str, *_: object) -> None:
        run.read_weights(self.model, Path(checkpoint_path))


def _train(  # noqa: PLR0913, PLR0917  the model, what it learns and is looked at by, and who hears of it
    encoder: HfEncoder,
    pooled: PooledModel,
    examples: Examples,
    parts: QueryParts,
    folder: Path,
    settings: TuneSettings,
    say: Say,
) -> list[dict[str, Any]]:
    """Train a model to its best look and return all looks."""
    for library in ("transformers", "sentence_transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    disable_progress_bar()
    device = str(next(pooled.model.parameters()).device)
    model = SentenceTransformer(modules=[TunedModule(pooled)], device=device)
    rows = {name: Dataset.from_list(each) for name, each in examples.items() if each}
    steps = _steps(rows, settings)

    trainer = _Trainer(
        model=model,
        args=_arguments(folder / run.RUN, settings, steps),
        train_dataset=DatasetDict(rows),
        loss=_loss(model, settings),
        evaluator=[lambda *_, **__: {}],
    )

    def look() -> float:
        return float(retrieval(encoder, pooled, parts.valid)["MRR"].mean())

    return run.train_to_the_best_look(trainer, look, folder, say, steps, patience=settings.patience)


def _loss(model: SentenceTransformer, settings: TuneSettings) -> torch.nn.Module:
    """Return softmax over a batch."""
    scale = 1 / settings.temperature
    if settings.batch <= settings.at_once:
        return MultipleNegativesRankingLoss(model, scale=scale)
    return CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.at_once, scale=scale)


def _arguments(folder: Path, settings: TuneSettings, steps: int) -> SentenceTransformerTrainingArguments:
    return SentenceTransformerTrainingArguments(
        **run.look_arguments(folder, settings, steps),
        per_device_train_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        restore_callback_states_from_checkpoint=True,
        batch_sampler="no_duplicates",
        multi_dataset_batch_sampler="proportional",
    )


def _steps(rows: Mapping[str, Sequence[object]], settings: TuneSettings) -> int:
    """Return how many steps all epochs take."""
    batches = sum(math.ceil(len(each) / settings.batch) for each in rows.values())
    return settings.epochs * math.ceil(batches / settings.accumulate)


# --- evaluation


def retrieval(encoder: HfEncoder, pooled: PooledModel, pairs: Sequence[TrainingPair]) -> Found:
    """Return what is found for each query that has a right code, among all codes of the pairs; who ties comes last."""
    codes = {code_of(pair.code): pair.code for pair in pairs}
    at = {code: place for place, code in enumerate(codes)}
    right: dict[str, dict[int, int]] = {}
    for pair in pairs:
        if pair.grade:
            right.setdefault(pair.query, {})[at[code_of(pair.code)]] = pair.grade
    was_training = pooled.model.training
    pooled.model.eval()  # without what is random in a model that is trained
    scores = encoder.encode(list(right), "query") @ encoder.encode(list(codes.values()), "code").T
    pooled.model.train(was_training)
    ranks = [(row >= row[list(grades)][:, None]).sum(1) for row, grades in zip(scores, right.values(), strict=True)]
    gains, ideal = np.zeros((len(right), len(codes))), np.zeros((len(right), len(codes)))
    for row, (each, grades) in enumerate(zip(ranks, right.values(), strict=True)):
        np.add.at(gains[row], each - 1, [*grades.values()])
        ideal[row, : len(grades)] = sorted(grades.values(), reverse=True)
    ndcg = ndcg_of(gains[:, :_DEPTH], ideal[:, :_DEPTH])
    return {"MRR": 1.0 / np.array([each.min() for each in ranks]), "nDCG@10": ndcg}


# --- saving


def save_tuned(encoder: HfEncoder, pooled: PooledModel, folder: Path) -> None:
    """Write model, tokenizer and recipe, and what sentence-transformers reads where it has such a recipe."""
    pooled.model.save_pretrained(str(folder))
    pooled.tokenizer.save_pretrained(str(folder))
    recipe = encoder.recipe
    use = {name: value for name, value in asdict(recipe).items() if name != "tasks"}
    files.write_json(folder / USE, {"model": encoder.name, **use})
    if recipe.pooling not in _MODES or recipe.opening:
        return
    kinds = {"Transformer": "", "Pooling": _POOLING, "Normalize": "2_Normalize"}
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(kinds.items())
    ]
    modes = {mode: pooling == recipe.pooling for pooling, mode in _MODES.items()}
    (folder / _POOLING).mkdir(exist_ok=True)
    for file, value in (
        ("modules.json", modules),
        ("sentence_bert_config.json", {"max_seq_length": recipe.max_tokens, "do_lower_case": False}),
        (
            "config_sentence_transformers.json",
            {"prompts": {"query": recipe.query, "document": recipe.code}, "similarity_fn_name": "cosine"},
        ),
        (f"{_POOLING}/config.json", {"word_embedding_dimension": encoder.dimension, **modes}),
    ):
        files.write_json(folder / file, value)
