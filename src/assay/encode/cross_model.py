"""A base model to a small classifier of pairs, and that to a file that runs without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from assay.encode.cross_network import CrossNetwork
from assay.encode.model_hub import hub_options, opening
from assay.encode.onnx_export import write_onnx
from assay.encode.onnx_session import quantize
from assay.encode.pair_tokens import INPUTS, TOKENIZER, PairReader
from assay.encode.reranker_folder import MODEL
from assay.encode.reranker_settings import RerankerSettings
from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class CrossModel:
    """A network with what makes tokens of pairs."""

    network: CrossNetwork
    reader: PairReader

    def scores(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return one score a pair."""
        inputs = self.reader.read(pairs)
        scores: torch.Tensor = self.network(*(torch.from_numpy(inputs[name]) for name in INPUTS))
        return scores


def start(base: str, folder: Path, settings: RerankerSettings) -> CrossModel:
    """Return the lowest layers of a base model with what is to be trained; its tokenizer goes into the folder."""
    logging.set_verbosity_error()  # it lists every weight of the layers that are left out
    with opening(base):
        online = hub_options(base)
        config = AutoConfig.from_pretrained(base, **online)
        config.num_hidden_layers = min(settings.layers, config.num_hidden_layers)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        model = AutoModel.from_pretrained(base, config=config, **online)
        tokenizer = AutoTokenizer.from_pretrained(base, **online)
    if config.model_type != "bert" or settings.together > config.num_hidden_layers:
        found = f"a {config.model_type} of {config.num_hidden_layers} layers"
        raise InputError(f"{base!r} is {found}; wanted a bert of {settings.together} or more")
    if settings.half:
        model.to(torch.bfloat16)
    network = CrossNetwork(model, settings.together)
    network.together.float()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.backend_tokenizer.save(str(folder / TOKENIZER))
    return CrossModel(network, PairReader(folder, settings.tokens))


def export(model: CrossModel, folder: Path) -> None:
    """Write `model.onnx` with weights of 8 bits."""
    sample = model.reader.read([("a question", "a text"), ("another question", "another, longer text")])
    pairs = {0: "pairs"}
    inputs = {name: {**pairs, 1: "tokens"} for name in INPUTS}
    example = tuple(torch.from_numpy(sample[name]) for name in INPUTS)
    with TemporaryDirectory(dir=folder) as beside:
        file = Path(beside) / MODEL
        write_onnx(model.network.float().eval(), example, file, inputs, {"scores": pairs})
        quantize(file)
        file.replace(folder / MODEL)
