"""Prompts to completions by a causal model on this machine: `hf:FOLDER`, or a name on the hub while online."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from assay.errors import InputError
from assay.rank.sampling.sample import Completions, SamplingOptions

_DEFAULT_WINDOW = 2048


class LocalSampler:
    """A causal language model of transformers."""

    whole = False

    def __init__(self, model: str = "", *, device: str = "") -> None:
        if not model:
            raise InputError("a local sampler needs its model, as in hf:FOLDER")
        self.name = f"hf:{model}"
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model)
            self._model: Any = AutoModelForCausalLM.from_pretrained(model).eval().to(self._device)
        except (OSError, ValueError, KeyError) as error:
            wanted = "give a folder, or a name on the hub while online"
            raise InputError(f"no causal language model {model!r}: {error}; {wanted}") from error
        self._window = int(getattr(self._model.config, "max_position_embeddings", None) or _DEFAULT_WINDOW)

    def sample(self, prompt: str, asked: SamplingOptions) -> Completions:
        """Return what the model goes on with, as often as asked for; of a long prompt it reads the end."""
        if asked.max_tokens >= self._window:
            raise InputError(f"--max-tokens {asked.max_tokens}: {self.name} reads and writes {self._window} in all")
        ids = self._tokenizer(prompt, return_tensors="pt").input_ids[:, -(self._window - asked.max_tokens) :]
        if not ids.shape[1]:
            ids = torch.tensor([[self._start()]])
        ids = ids.to(self._device)
        torch.manual_seed(asked.seed)
        drawn: dict[str, Any] = {"do_sample": False}
        if asked.temperature > 0:
            drawn = {"do_sample": True, "temperature": asked.temperature, "top_p": asked.top_p}
            drawn |= {"num_return_sequences": asked.n, "top_k": 0}
        with torch.inference_mode():
            out = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=asked.max_tokens,
                pad_token_id=self._start(),
                **drawn,
            )
        new = out[:, ids.shape[1] :]
        texts = tuple(self._tokenizer.batch_decode(new, skip_special_tokens=True))
        spent = int(new.numel())
        return Completions(texts if asked.temperature > 0 else texts * asked.n, int(ids.shape[1]), spent)

    def _start(self) -> int:
        """Return a token that ends or begins a text."""
        known = (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, self._tokenizer.bos_token_id)
        return next((token for token in known if token is not None), 0)
