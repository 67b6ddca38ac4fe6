"""Encode texts with a transformer from Hugging Face or a folder, and score pairs with a cross-encoder.

`assay.encode.models` says how a model wants to be used. Texts are sorted by length before they are batched, since
padding is paid for like text. Models with modules beyond pooling go through sentence-transformers, which takes seconds
to import. `cross:MODEL` is a sequence classifier: with one output that is the score, with two, as models of matching or
not have, it is the second less the first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging

from assay.encode.hub import find_file, hub_options, is_local, opening
from assay.encode.models import ModelOptions, Recipe, recipe_of, spec_of, split_model
from assay.encode.vectors import shortest_first, unit
from assay.encode.view import source
from assay.errors import InputError, MissingExtra
from assay.protocols import Role, Vectors
from assay.values import Chunk, Query

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def device_of(options: ModelOptions, model: str) -> str:
    """Return the device of a model: the requested one, or else a GPU if there is one."""
    try:
        device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if options.device:
            torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        has = f"{torch.cuda.device_count()} GPUs" if torch.cuda.is_available() else "no GPU"
        raise InputError(
            f"option 'device' of {model} is '{options.device}', and torch {torch.__version__} finds {has} here; "
            "wanted cpu, cuda or cuda:N"
        ) from error
    return str(device)


def precision_of(options: ModelOptions, device: str) -> torch.dtype:
    """Return the number type of a model: the requested one, or else bfloat16 on a GPU that has it."""
    on_gpu = device.startswith("cuda") and torch.cuda.is_bf16_supported()
    return PRECISIONS[options.dtype or ("bf16" if on_gpu else "fp32")]


_FORMER_DEFAULTS = {"is_decoder": False, "add_cross_attention": False, "use_cache": False, "tie_word_embeddings": True}
"""What transformers 4 gave each configuration and 5 leaves to its class: code beside a model still reads it."""


class PooledModel:
    """A model run by transformers."""

    def __init__(self, model: str, recipe: Recipe, device: str, precision: torch.dtype = torch.float32) -> None:
        self.recipe = recipe
        logging.disable_progress_bar()  # it draws one even for what takes no time
        trust: dict[str, Any] = {"trust_remote_code": recipe.remote_code, **hub_options(model)}
        config = AutoConfig.from_pretrained(model, **trust)
        for name, value in _FORMER_DEFAULTS.items() if recipe.remote_code else ():
            if not hasattr(config, name):
                setattr(config, name, value)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(model, **trust)
        network = AutoModel.from_pretrained(model, config=config, **trust)
        self.model: Any = network.eval().to(device=device, dtype=precision)
        self._device = device
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:  # noqa: ARG002  the prefix is all of it
        """Return one vector a text."""
        inputs = {key: value.to(self._device) for key, value in self.tokens_of(texts).items()}
        with torch.inference_mode():
            vectors: Vectors = self.pool(self.model(**inputs), inputs["attention_mask"]).float().cpu().numpy()
        return vectors

    def tokens_of(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Tokenize and pad; the tokens of a mode stand right after the opening one."""
        opening = list(self.recipe.opening)
        cut = {"truncation": True, "max_length": self.recipe.max_tokens - len(opening)}
        encoded = self.tokenizer(list(texts), **cut)["input_ids"]
        if opening:
            mode = self.tokenizer.convert_tokens_to_ids(opening)
            encoded = [[ids[0], *mode, *ids[1:]] for ids in encoded]
        padded = self.tokenizer.pad({"input_ids": encoded}, return_tensors="pt", padding_side="right")
        return {key: padded[key] for key in ("input_ids", "attention_mask")}

    def pool(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """Return one vector a text from a model's output."""
        pooling = self.recipe.pooling
        if pooling == "output":
            return output if isinstance(output, torch.Tensor) else output[0]
        if pooling == "pooler":
            return output.pooler_output
        tokens: torch.Tensor = output.last_hidden_state
        if pooling == "cls":
            return tokens[:, 0]
        if pooling == "last":
            return tokens[torch.arange(len(tokens)), mask.sum(1) - 1]
        weights = mask[:, :, None].to(tokens.dtype)
        return (tokens * weights).sum(1) / weights.sum(1)


_BATCH, _BATCH_ON_GPU = 64, 256


class _Runner(Protocol):
    """A library's model that turns one batch of texts into vectors."""

    dimension: int

    def run(self, texts: list[str], role: Role) -> Vectors: ...


class HfEncoder:
    """A transformer with its recipe; `spec` is a folder or a hub name, with options after a question mark.

    Options that are forced, for training, do not stand in its name.
    """

    def __init__(self, spec: str, **forced: Any) -> None:
        given, options = split_model(spec)
        plain = str(Path(given).expanduser()) if is_local(given) else given
        find = partial(find_file, plain)
        self.recipe = recipe_of(plain, options, find)
        self.name = spec_of(plain, self.recipe, options, find)
        options = replace(options, **forced)
        device = device_of(options, f"hf:{given}")
        self._batch = options.batch or (_BATCH if device == "cpu" else _BATCH_ON_GPU)
        runner = _Library if self.recipe.pooling == "library" else PooledModel
        with opening(plain):
            self.runner: _Runner = runner(plain, self.recipe, device, precision_of(options, device))

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self.runner.dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text, with the prefix of the role."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        prefix = self.recipe.query if role == "query" else self.recipe.code
        for places in shortest_first(texts, self._batch):
            vectors[places] = self.runner.run([prefix + texts[place] for place in places], role)
        return unit(vectors)


class _Library:
    """A model run by sentence-transformers, for modules and adapters that are its own."""

    def __init__(self, model: str, recipe: Recipe, device: str, precision: torch.dtype) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise MissingExtra(f"hf:{model}", "sentence-transformers", "hf") from error
        self._recipe = recipe
        trust: dict[str, Any] = {"trust_remote_code": recipe.remote_code, **hub_options(model)}
        self._model: Any = SentenceTransformer(model, device=device, **trust).to(precision)
        self._model.max_seq_length = recipe.max_tokens
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:
        """Return one vector a text; prefixes are already written, so the library must add none."""
        tasks = self._recipe.tasks
        task = {"task": tasks[role == "code"], "prompt_name": tasks[role == "code"]} if tasks else {"prompt": ""}
        vectors = self._model.encode(
            texts, batch_size=len(texts), show_progress_bar=False, convert_to_tensor=True, **task
        )
        found: Vectors = vectors.float().cpu().numpy()
        return found


_PAIRS = 32
_MAX_TOKENS = 512


class CrossEncoder:
    """A classifier of pairs of texts."""

    def __init__(self, model: str, *, batch: int = _PAIRS, device: str = "") -> None:
        self.name = f"cross:{model}"
        self._batch = batch
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        with opening(model):
            online = hub_options(model)
            architectures = AutoConfig.from_pretrained(model, **online).architectures or ()
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model, **online)
            classifier = AutoModelForSequenceClassification.from_pretrained(model, **online)
            self._model: Any = classifier.eval().to(self._device)
        outputs = self._model.config.num_labels
        if not any("SequenceClassification" in name for name in architectures) or outputs not in (1, 2):
            trained = ", ".join(architectures) or "nothing that it says"
            raise InputError(f"{model!r} is {trained} with {outputs} outputs; wanted a classifier with 1 or 2")
        limits = (self._tokenizer.model_max_length, getattr(self._model.config, "max_position_embeddings", _MAX_TOKENS))
        self._max_tokens = min(_MAX_TOKENS, *limits)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        scores = np.zeros(len(chunks), dtype=np.float32)
        texts = [source(chunk) for chunk in chunks]
        for places in shortest_first(texts, self._batch):
            scores[places] = self._run(query.text, [texts[place] for place in places])
        return [float(score) for score in scores]

    def _run(self, question: str, texts: Sequence[str]) -> Any:
        cut = {"truncation": True, "max_length": self._max_tokens, "padding": True}
        inputs = self._tokenizer([question] * len(texts), list(texts), return_tensors="pt", **cut).to(self._device)
        with torch.inference_mode():
            outputs = self._model(**inputs).logits.float().cpu().numpy()
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]


_OPSET = 17


class _Tokens(torch.nn.Module):
    """A model that takes tokens and mask, and gives one vector a token."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def export_onnx(encoder: HfEncoder, folder: Path, *, whole_numbers: bool = False) -> None:
    """Write `model.onnx`, `tokenizer.json` and the recipe, which `onnx:` reads without torch.

    Only mean pooling without modes can be exported. With `whole_numbers` weights have 8 bits: a quarter of the size.
    """
    if find_spec("onnx") is None:  # torch writes through it
        raise MissingExtra("ONNX export", "onnx", "onnx")
    recipe, runner = encoder.recipe, encoder.runner
    if recipe.pooling != "mean" or recipe.opening or not isinstance(runner, PooledModel):
        raise InputError(f"{encoder.name} is pooled by {recipe.pooling}; onnx: folders hold models pooled by mean")
    folder.mkdir(parents=True, exist_ok=True)
    sample = runner.tokenizer(["one text", "another, longer text"], padding=True, return_tensors="pt")
    any_size = {0: "texts", 1: "tokens"}
    inputs = {"input_ids": any_size, "attention_mask": any_size}
    torch.onnx.export(
        _Tokens(runner.model.cpu()).eval(),
        tuple(sample[name] for name in inputs),
        str(folder / "model.onnx"),
        input_names=list(inputs),
        output_names=["vectors"],
        dynamic_axes={**inputs, "vectors": any_size},
        opset_version=_OPSET,
        dynamo=False,
    )
    if whole_numbers:
        from assay.encode.onnx import quantize

        quantize(folder / "model.onnx")
    runner.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    use = {"model": encoder.name, "query": recipe.query, "code": recipe.code, "max_tokens": recipe.max_tokens}
    (folder / "assay.json").write_text(json.dumps(use, indent=1) + "\n", "utf-8")
