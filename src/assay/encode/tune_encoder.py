"""Judged pairs and a base to a fine-tuned transformer in a folder that `hf:` reads, and how well it does.

Reads top to bottom: data, base, training, test, saving. Everything is decided by the pairs, the base and the settings,
which stand in the folder from the start: a run that was killed goes on, and one of other settings is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from assay.encode.hf import HfEncoder
from assay.encode.low_rank import merged, with_low_rank
from assay.encode.pooled_model import PooledModel
from assay.encode.process_group import is_main_process, training_device
from assay.encode.recipes import USE, Recipe
from assay.encode.split_queries import QueryParts, code_of, split_by_query
from assay.encode.training_folder import RUN, looks_of, say_of_main
from assay.encode.training_pairs import TrainingPair
from assay.encode.tune_examples import examples_of
from assay.encode.tune_settings import TuneSettings
from assay.encode.tune_trainer import LookOut, TuneLook, train
from assay.errors import InputError
from assay.io import files
from assay.protocols import Say
from assay.runs import record

_KINDS = {
    "right": "right pairs alone",
    "wrong_codes": "right pairs with wrong codes",
    "wrong_queries": "codes with wrong queries",
    "graded": "pairs by their grade",
}

Values = NDArray[np.float64]


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


class TunedModule(torch.nn.Module):
    """The one module of a sentence-transformers model: tokens, transformer and pooling, as the recipe has them."""

    def __init__(self, pooled: PooledModel, network: torch.nn.Module) -> None:
        super().__init__()
        self.pooled = pooled
        self.network = network

    def preprocess(self, inputs: Sequence[str], **_: object) -> dict[str, torch.Tensor]:
        """Return the tokens of texts."""
        return self.pooled.tokens_of(inputs)

    def tokenize(self, texts: Sequence[str], **_: object) -> dict[str, torch.Tensor]:
        """Return the same, as sentence-transformers 5 asks for it."""
        return self.pooled.tokens_of(texts)

    def forward(self, features: dict[str, torch.Tensor], **_: object) -> dict[str, torch.Tensor]:
        """Add one vector a text."""
        mask = features["attention_mask"]
        output = self.network(input_ids=features["input_ids"], attention_mask=mask)
        return {**features, "sentence_embedding": self.pooled.pool(output, mask)}


def trainable(encoder: HfEncoder, lora: int) -> SentenceTransformer:
    """Return what is trained of an encoder: all of its transformer, or matrices of a low rank beside it."""
    pooled = encoder.runner
    if not isinstance(pooled, PooledModel):
        raise InputError(f"{encoder.name} is run by modules of sentence-transformers; choose a base that is pooled")
    pooled.model = with_low_rank(pooled.model, lora)
    device = str(next(pooled.model.parameters()).device)
    return SentenceTransformer(modules=[TunedModule(pooled, pooled.model)], device=device)


def merge(encoder: HfEncoder) -> None:
    """Add matrices of a low rank to the weights that they stand beside."""
    pooled = encoder.runner
    if isinstance(pooled, PooledModel):
        pooled.model = merged(pooled.model)


@dataclass(frozen=True, slots=True)
class TuneRun(TuneSettings):
    """What decides about a run."""

    base: str = ""
    pairs: str = ""
    """A hash of them."""


@dataclass(frozen=True, slots=True)
class TunedEncoder:
    """What came of a run."""

    encoder: HfEncoder
    parts: QueryParts
    examples: dict[str, int]
    """How many there are of each kind."""
    looks: list[TuneLook]
    before: Values
    """The reciprocal rank of each query of the test part, by the base."""
    after: Values

    @property
    def best(self) -> TuneLook:
        """The look whose model is kept."""
        return max(self.looks[1:], key=lambda look: look.mrr)


def begin_run(pairs: Sequence[TrainingPair], base: str, folder: Path, settings: TuneSettings) -> None:
    """Write what decides about a run into its folder, or refuse a folder in which a run of something else began."""
    run = TuneRun(**asdict(settings), base=base, pairs=record.hash_of("\n".join(sorted(map(repr, pairs)))))
    record.begin(looks_of(folder), run, "looks at a training", seed=settings.seed)


def tune(pairs: Sequence[TrainingPair], base: str, folder: Path, settings: TuneSettings, say: Say) -> TunedEncoder:
    """Fine-tune a base on pairs into a folder; `base` is a spec without `hf:`."""
    say = say_of_main(say)
    torch.manual_seed(settings.seed)

    # --- data
    parts = split_by_query(pairs, settings)
    say(_parts_line(parts))

    # --- base
    encoder = HfEncoder(base, device=str(training_device()), dtype="fp32")
    examples = examples_of(parts.learned, encoder.recipe, settings)
    counts = {name: len(rows) for name, rows in examples.named().items()}
    say(f"examples: {', '.join(f'{count:,} {_KINDS[name]}' for name, count in counts.items())}")
    before = reciprocal_ranks(encoder, parts.test)

    # --- training
    model = trainable(encoder, settings.lora)
    out = LookOut(lambda: float(reciprocal_ranks(encoder, parts.valid).mean()), partial(_keep, folder), say)
    looks = train(model, examples, folder / RUN, settings, out)

    # --- test and saving
    merge(encoder)
    after = reciprocal_ranks(encoder, parts.test)
    if is_main_process():
        record.rewrite(looks_of(folder), map(asdict, looks))
        save_tuned(encoder, folder)
    return TunedEncoder(encoder, parts, counts, looks, before, after)


def reciprocal_ranks(encoder: HfEncoder, pairs: Sequence[TrainingPair]) -> Values:
    """Return one over the rank of the first right code of each query that has one, among all codes of the pairs."""
    codes = {code_of(pair.code): pair.code for pair in pairs}
    at = {code: place for place, code in enumerate(codes)}
    right: dict[str, list[int]] = {}
    for pair in pairs:
        if pair.grade:
            right.setdefault(pair.query, []).append(at[code_of(pair.code)])
    with _at_rest(encoder):
        scores = encoder.encode(list(right), "query") @ encoder.encode(list(codes.values()), "code").T
    ranks = [float((row >= row[places].max()).sum()) for row, places in zip(scores, right.values(), strict=True)]
    return 1.0 / np.array(ranks)


@contextmanager
def _at_rest(encoder: HfEncoder) -> Iterator[None]:
    """Switch off what is random in a model that is trained."""
    network: torch.nn.Module = encoder.runner.model  # type: ignore[attr-defined]  # trainable() refuses others
    training = network.training
    network.eval()
    yield
    network.train(training)


def _keep(folder: Path, look: TuneLook) -> None:
    if is_main_process():
        record.append_lines(looks_of(folder), [asdict(look)])


def _parts_line(parts: QueryParts) -> str:
    sizes = [
        f"{len(part):,} pairs of {len({pair.query for pair in part}):,} queries {what}"
        for part, what in ((parts.learned, "to learn"), (parts.valid, "to choose by"), (parts.test, "to test on"))
    ]
    return "; ".join(sizes) + (f"; {parts.left_out:,} left out, whose code another part has" if parts.left_out else "")
