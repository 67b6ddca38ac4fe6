"""Tokens to a class and to the line that breaks: a transformer with two small heads (section 3.3 of the paper).

The class is told by the first token's state; by the last one's where the model cannot look ahead, which is tried out,
since no configuration says it. The line is told by dot products of the newline tokens' states with an error-line
vector: the paper's is one learned vector; here it is a linear map of the state that tells the class, whose bias is
the paper's vector. The products are scaled as those of attention are. In a decoder the newline at the front, which
stands for *no error*, has seen the prompt only, so there that probability comes from the other newlines.
"""

from __future__ import annotations

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

from assay.errors import InputError
from assay.rank.neural.batches import TokenBatch, TokenLayout
from assay.rank.neural.fault_classes import CLASSES, LINES
from assay.rank.neural.model_folder import CONFIG, TOKENIZER, WEIGHTS, ModelCard, required_file, write_about
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.tokens import layout_of

Floats = NDArray[np.float32]
_ROLES = ("cls_token", "bos_token", "sep_token", "eos_token", "pad_token", "unk_token")


class RankerModel(nn.Module):
    """A base model, a head for the class, and one for the line where the task has lines."""

    def __init__(self, body: nn.Module, task: str, reads: str) -> None:
        super().__init__()
        width = body.config.hidden_size
        self.body = body
        self.reads = reads
        self.classify = nn.Linear(width, len(CLASSES[task]))
        self.blame = nn.Linear(width, width) if task == LINES else None
        self._segmented = getattr(body.config, "type_vocab_size", 0) > 1
        self._scale = width**-0.5

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> tuple[Tensor, ...]:
        """Return a logit a class, and with lines one a token, of which those of newlines mean something."""
        kinds = {"token_type_ids": segments} if self._segmented else {}
        states = self.body(input_ids=ids, attention_mask=mask, **kinds).last_hidden_state
        telling = states[:, 0] if self.reads == "first" else _last(states, mask)
        classes = self.classify(telling)
        if self.blame is None:
            return (classes,)
        return classes, (states * self.blame(telling)[:, None, :]).sum(2) * self._scale


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


def open_torch(folder: Path, about: ModelCard) -> TorchRunner:
    """Return a trained ranker, on the GPU where there is one."""
    device = device_of()
    return TorchRunner(load(folder, about).eval().to(device), device)


def device_of() -> str:
    """Return where models run here."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def tensors(batch: TokenBatch, device: str) -> tuple[Tensor, ...]:
    """Return what a model reads of a batch."""
    return tuple(torch.from_numpy(each).to(device) for each in (batch.ids, batch.mask, batch.segments))


def start(settings: NeuralSettings) -> tuple[RankerModel, Tokenizer, TokenLayout, str]:
    """Return a base model with new heads, its tokenizer, how to lay out rows, and which token tells the class."""
    base = settings.base
    try:
        named: Any = AutoTokenizer.from_pretrained(base)
        config = AutoConfig.from_pretrained(base)
        if getattr(config, "is_encoder_decoder", False):
            raise InputError(
                f"{base!r} is an encoder with a decoder; wanted one of the two, like microsoft/codebert-base"
            )
        kept = {"num_hidden_layers": settings.layers} if settings.layers else {}
        body: Any = AutoModel.from_pretrained(base, **kept)
    except (OSError, ValueError) as error:
        raise InputError(f"no model {base!r}: {error}; give a folder, or a name on the hub while online") from error
    if not getattr(named, "is_fast", False):
        raise InputError(f"the tokenizer of {base!r} has no tokenizer.json and none can be made; choose another model")
    tokenizer = Tokenizer.from_str(named.backend_tokenizer.to_str())
    special = {role: getattr(named, role) or "" for role in _ROLES}
    window = min(settings.window, _positions(body))
    layout = layout_of(tokenizer, special, window=window, code_least=settings.code_least)
    if tokenizer.get_vocab_size() > body.get_input_embeddings().num_embeddings:
        body.resize_token_embeddings(tokenizer.get_vocab_size(), mean_resizing=False)
    body.config.use_cache = False
    reads = "first" if _looks_ahead(body) else "last"
    return RankerModel(body, settings.task, reads), tokenizer, layout, reads


def save(folder: Path, model: RankerModel, tokenizer: Tokenizer, about: ModelCard) -> None:
    """Write everything that ranking needs; `ranker.json` last, since it says that the rest is there."""
    model.body.config.save_pretrained(folder)
    tokenizer.save(str(folder / TOKENIZER))
    save_model(model, str(folder / WEIGHTS))
    write_about(folder, about)


def load(folder: Path, about: ModelCard) -> RankerModel:
    """Read a model that was saved."""
    try:
        body = AutoModel.from_config(AutoConfig.from_pretrained(required_file(folder, CONFIG)))
        model = RankerModel(body, about.task, about.reads)
        load_model(model, str(required_file(folder, WEIGHTS)))
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
    """Return how many tokens a model reads at most; models of RoBERTa's kind count from after the padding."""
    most = getattr(body.config, "max_position_embeddings", 0) or 2**31
    for name, module in body.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            most -= module.padding_idx + 1
    return int(most)
