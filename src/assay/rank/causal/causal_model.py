"""A folder or a hub name to a causal language model with its tokenizer, on the device and in the numbers asked for.

`device=auto` spreads one model over all GPUs (the device map of accelerate); anything else is one device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.utils import logging

from assay.encode.hf import device_of, precision_of
from assay.encode.hub import hub_options, is_local, opening
from assay.encode.models import ModelOptions

_WINDOW = 2048
"""Tokens, of a model that does not say how many it reads."""
AUTO = "auto"


class CausalModel:
    """A causal language model of transformers."""

    def __init__(self, model: str, options: ModelOptions, **forced: Any) -> None:
        """Open a model; options that are forced, for training, do not stand in its name."""
        plain = str(Path(model).expanduser()) if is_local(model) else model
        name_part = options.name_part()
        self.name = f"hf:{model}{'?' if name_part else ''}{name_part}"
        options = replace(options, **forced)
        logging.disable_progress_bar()
        spread = options.device == AUTO
        self.device = ("cuda" if torch.cuda.is_available() else "cpu") if spread else device_of(options, f"hf:{model}")
        given: dict[str, Any] = {**hub_options(plain), **({"device_map": AUTO} if spread else {})}
        with opening(plain):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(plain, **hub_options(plain))
            network: Any = AutoModelForCausalLM.from_pretrained(plain, **given).eval()
            precision = precision_of(options, self.device)
            self.network: Any = network.to(precision) if spread else network.to(device=self.device, dtype=precision)
        known = int(getattr(self.network.config, "max_position_embeddings", None) or _WINDOW)
        self.window = min(known, options.length or known)

    def tokens_of(self, text: str) -> list[int]:
        """Return the tokens of a text, without those that a tokenizer puts around it."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def opening_tokens(self, text: str) -> list[int]:
        """Return the tokens of what a model reads first: at least one, to predict the next from."""
        ids: list[int] = self.tokenizer(text)["input_ids"]
        if ids and ids[-1] == self.tokenizer.eos_token_id and len(ids) > 1:
            ids = ids[:-1]  # some end a text by themselves: nothing goes on behind that
        return ids or [self.padding]

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    @property
    def ends(self) -> frozenset[int]:
        """Return the tokens that end a text."""
        configured = getattr(self.network.generation_config, "eos_token_id", None)
        listed = configured if isinstance(configured, list) else [configured]
        return frozenset(each for each in (*listed, self.tokenizer.eos_token_id) if each is not None)

    @property
    def padding(self) -> int:
        """Return a token that fills a row up."""
        known = (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id, self.tokenizer.bos_token_id)
        return next((token for token in known if token is not None), 0)

    def read_once(self, prompts: Sequence[Sequence[int]]) -> Any:
        """Read each different prompt but its last token, and return the cache for all rows.

        A prompt that many rows have is read once, which is most of the work where it is long and answers are short.
        There is no cache where nothing is shared, nor where the model keeps what it read in another form.
        """
        different = list(dict.fromkeys(map(tuple, prompts)))
        able = getattr(self.network, "_supports_default_dynamic_cache", lambda: False)()
        if not able or len(different) == len(prompts) or max(map(len, different)) < 2:
            return None
        ids, mask = self.padded(different, "left")
        settings = {"config": self.network.config} if "config" in signature(DynamicCache.__init__).parameters else {}
        cache: Any = DynamicCache(**settings)
        with torch.inference_mode():
            self.network(
                input_ids=ids[:, :-1],
                attention_mask=mask[:, :-1],
                position_ids=(mask.cumsum(1) - 1).clamp(min=0)[:, :-1],
                past_key_values=cache,
                use_cache=True,
                **({"logits_to_keep": 1} if "logits_to_keep" in signature(self.network.forward).parameters else {}),
            )
            place = {prompt: at for at, prompt in enumerate(different)}
            cache.batch_select_indices(torch.tensor([place[tuple(prompt)] for prompt in prompts], device=ids.device))
        return cache

    def padded(self, rows: Sequence[Sequence[int]], side: str, device: str = "") -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and mask of rows, filled up on the left or on the right."""
        width = max(map(len, rows))
        ids, mask = torch.full((len(rows), width), self.padding), torch.zeros((len(rows), width), dtype=torch.long)
        for at, row in enumerate(rows):
            place = slice(width - len(row), width) if side == "left" else slice(0, len(row))
            ids[at, place], mask[at, place] = torch.tensor(row), 1
        return ids.to(device or self.device), mask.to(device or self.device)
