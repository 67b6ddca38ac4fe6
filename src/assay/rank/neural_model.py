"""Define a transformer with two small heads, for the fault of a program and its line (Inala et al. 2022, 3.3).

The class is told by the first token's state; by the last one's where the model cannot look ahead, which is tried out,
since no configuration says it. The line is told by dot products of the newline tokens' states with an error-line
vector: the paper's is one learned vector (`vector`); by default (`mapped`) it is a linear map of the state that tells
the class, whose bias is the paper's vector, and products are scaled as those of attention are. In a decoder the newline
at the front, which stands for *no error*, has seen the prompt only, so there that probability comes from the other
newlines. The heads compute in float32, whatever the base does: near certainties would be ties.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from assay.encode.hf import PRECISIONS, device_of
from assay.encode.hub import hub_options, opening
from assay.encode.models import ModelOptions
from assay.errors import InputError
from assay.io import files
from assay.rank import neural_data
from assay.rank.neural_data import ModelCard, NeuralSettings, TokenBatch, TokenLayout, layout_of

Floats = NDArray[np.float32]
_ROLES = ("cls_token", "bos_token", "sep_token", "eos_token", "pad_token", "unk_token")


class RankerModel(nn.Module):
    """A base model with a head for the class, and one for the line if the task has lines."""

    def __init__(self, body: nn.Module, classes: int, reads: str, line_head: str) -> None:
        super().__init__()
        width = body.config.hidden_size
        self.body = body
        self.reads = reads
        self.classify = nn.Linear(width, classes)
        self.blame = _HEADS[line_head](width) if line_head else None
        self._segmented = getattr(body.config, "type_vocab_size", 0) > 1

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> tuple[Tensor, ...]:
        """Return one logit per class, and with lines one per token, of which only those of newlines are used."""
        kinds = {"token_type_ids": segments} if self._segmented else {}
        states = self.body(input_ids=ids, attention_mask=mask, **kinds).last_hidden_state
        device = states.device.type
        with torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext():
            return self._logits(states.float(), mask)

    def _logits(self, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Return the logits of the heads for some states."""
        telling = states[:, 0] if self.reads == "first" else _last(states, mask)
        classes = self.classify(telling)
        if self.blame is None:
            return (classes,)
        return classes, (states * self.blame(telling)).sum(2)


class _Mapped(nn.Linear):
    """The error-line vector of each row, computed from the state that gives its class."""

    def __init__(self, width: int) -> None:
        super().__init__(width, width)
        self._scale = width**-0.5

    def forward(self, telling: Tensor) -> Tensor:
        """Return one vector per row."""
        vectors: Tensor = super().forward(telling)[:, None, :] * self._scale
        return vectors


class _Vector(nn.Module):
    """One error-line vector for all rows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))

    def forward(self, telling: Tensor) -> Tensor:  # noqa: ARG002  it is the same for each
        """Return the vector."""
        return self.vector


_HEADS: dict[str, Callable[[int], nn.Module]] = {"mapped": _Mapped, "vector": _Vector}


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A base model to train, with its tokenizer and layout."""

    body: Any
    tokenizer: Tokenizer
    layout: TokenLayout
    reads: str
    """Whose state tells the class."""


class TorchRunner:
    """A ranker in torch."""

    def __init__(self, model: RankerModel, device: str, *, half: bool = False) -> None:
        self._model = model
        self._device = device
        self._half = half

    def run(self, batch: TokenBatch) -> tuple[Floats, ...]:
        """Return the logits of the classes, and with lines those of the tokens."""
        with torch.inference_mode(), torch.autocast(self._device, torch.bfloat16, enabled=self._half):
            said = self._model(*tensors(batch, self._device))
        return tuple(each.float().cpu().numpy() for each in said)


def open_torch(folder: Path, about: ModelCard, options: ModelOptions) -> TorchRunner:
    """Return a trained ranker, on a GPU if there is one, in float32 by default."""
    device = device_of(options, f"neural:{folder}")
    model = load(folder, about).eval().to(device)
    model.body.to(PRECISIONS[options.dtype or "fp32"])
    return TorchRunner(model, device)


def tensors(batch: TokenBatch, device: str) -> tuple[Tensor, ...]:
    """Return the tensors of a batch that a model reads."""
    return tuple(torch.from_numpy(each).to(device) for each in (batch.ids, batch.mask, batch.segments))


def open_base(settings: NeuralSettings) -> BaseModel:
    """Return a base model with its tokenizer, the layout of its rows, and the token that gives the class."""
    base = settings.base
    options = hub_options(base)
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # heads that a base brings and a ranker has no use for are reported at length
    with opening(base):
        named: Any = AutoTokenizer.from_pretrained(base, **options)
        config = AutoConfig.from_pretrained(base, **options)
    if getattr(config, "is_encoder_decoder", False):
        raise InputError(f"{base!r} is an encoder with a decoder; wanted one of the two, like microsoft/codebert-base")
    if not getattr(named, "is_fast", False):
        raise InputError(f"the tokenizer of {base!r} cannot be saved as a tokenizer.json; choose another model")
    if settings.layers > (every := getattr(config, "num_hidden_layers", settings.layers)):
        raise InputError(f"layers = {settings.layers}: {base!r} has {every}")
    config = _lowest(config, settings.layers)
    with opening(base):
        body: Any = AutoModel.from_pretrained(base, config=config, **options).float()
    tokenizer = Tokenizer.from_str(named.backend_tokenizer.to_str())
    special = {role: getattr(named, role) or "" for role in _ROLES}
    window = min(settings.window, _positions(body))
    layout = layout_of(tokenizer, special, window=window, code_least=settings.code_least)
    if tokenizer.get_vocab_size() > body.get_input_embeddings().num_embeddings:
        body.resize_token_embeddings(tokenizer.get_vocab_size(), mean_resizing=False)
    body.config.use_cache = False
    return BaseModel(body, tokenizer, layout, "first" if _looks_ahead(body) else "last")


def _lowest(config: Any, layers: int) -> Any:
    """Return a configuration with only the lowest layers (0: all), with lists of layers cut accordingly."""
    every = getattr(config, "num_hidden_layers", 0)
    if not 0 < layers < every:
        return config
    for name, value in config.to_dict().items():
        if isinstance(value, list) and len(value) == every:
            setattr(config, name, value[:layers])
    config.num_hidden_layers = layers
    if hasattr(config, "attention_types"):  # GPT-Neo writes runs of kinds, and makes the list of these
        config.attention_types = [[[kind], 1] for kind in config.attention_layers[:layers]]
    return config


def save(folder: Path, model: RankerModel, tokenizer: Tokenizer, about: ModelCard) -> None:
    """Write all files of a ranker atomically, `ranker.json` last: it shows that the others are complete."""
    with files.replacing_folder(folder) as beside:
        model.body.config.save_pretrained(beside)
        tokenizer.save(str(beside / neural_data.TOKENIZER))
        save_model(model, str(beside / neural_data.WEIGHTS))
    neural_data.write_about(folder, about)


def load(folder: Path, about: ModelCard) -> RankerModel:
    """Read a model that was saved."""
    try:
        body = AutoModel.from_config(
            AutoConfig.from_pretrained(neural_data.required_file(folder, neural_data.CONFIG))
        ).float()
        model = RankerModel(body, len(about.classes), about.reads, about.line_head)
        load_model(model, str(neural_data.required_file(folder, neural_data.WEIGHTS)))
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(f"{folder} cannot be read as a ranker of task {about.task}: {error}; train again") from error
    return model


def _last(states: Tensor, mask: Tensor) -> Tensor:
    """Return the state of the last token of each row."""
    at = (mask.sum(1) - 1)[:, None, None].expand(-1, -1, states.shape[2])
    return states.gather(1, at)[:, 0]


def _looks_ahead(body: Any) -> bool:
    """Say whether a later token changes the state of the first one."""
    body.eval()
    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 5]]) % body.get_input_embeddings().num_embeddings
    with torch.inference_mode():
        first = body(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[:, 0]
    return not torch.allclose(first[0], first[1], atol=1e-6)


def _positions(body: Any) -> int:
    """Return the most tokens that a model reads; RoBERTa's kind counts positions after the padding token."""
    most = getattr(body.config, "max_position_embeddings", 0) or 2**31
    for name, module in body.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            most -= module.padding_idx + 1
    return int(most)
