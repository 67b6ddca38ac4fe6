"""Prompts to completions by vLLM in this process: `vllm:NAME`, where it is installed; it needs a GPU.

vLLM plans its own batches: it gets many questions at once, and each has its own seed, so that an answer does not depend
on its neighbors. `gpus=N` splits the model over N of them. Written from its documentation; not run by the tests beyond
what a stand-in for its two classes can show, since no GPU is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.errors import InputError, MissingExtra, nearest
from assay.programs.samples import cut, logprob_sum
from assay.rank.sampling.model_answers import Completions, SamplingOptions, SamplingQuestion
from assay.types import LogProbability

_AT_ONCE = 2048
_OPTIONS = {"dtype": "dtype", "gpus": "tensor_parallel_size", "length": "max_model_len"}
_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


class VllmSampler:
    """A model that vLLM runs."""

    whole = False
    at_once = _AT_ONCE

    def __init__(self, spec: str = "") -> None:
        model, _, asked = spec.partition("?")
        if not model:
            raise InputError("the sampler 'vllm' needs its model, as in vllm:NAME or vllm:FOLDER")
        options = dict(_option(one, spec) for one in asked.split("&") if one)
        try:
            from vllm import LLM, SamplingParams
        except ModuleNotFoundError as error:
            raise MissingExtra("sampler 'vllm'", str(error.name), "vllm") from error
        self.name = f"vllm:{spec}"
        self._parameters: Any = SamplingParams
        self._model: Any = LLM(model=model, **options)

    def sample(self, questions: Sequence[SamplingQuestion]) -> list[Completions]:
        """Return what the model goes on with, as often as asked for."""
        parameters = [self._parameters(**_parameters_of(each.options)) for each in questions]
        found = self._model.generate([each.prompt for each in questions], parameters, use_tqdm=False)
        return [_completions(each, question.options) for each, question in zip(found, questions, strict=True)]


def _parameters_of(asked: SamplingOptions) -> dict[str, Any]:
    """Return how vLLM is asked: `logprobs=0` is those of the chosen tokens alone."""
    told = {"n": asked.n, "temperature": asked.temperature, "top_p": asked.top_p, "max_tokens": asked.max_tokens}
    scored = {"logprobs": 0} if asked.logprobs else {}
    return {**told, **scored, "seed": asked.seed, "stop": list(asked.stop) or None}


def _completions(found: Any, asked: SamplingOptions) -> Completions:
    texts = tuple(cut(each.text, asked.stop) for each in found.outputs)
    logprobs = tuple(_logprob(each) for each in found.outputs) if asked.logprobs else ()
    spent = sum(len(each.token_ids) for each in found.outputs)
    return Completions(texts, len(found.prompt_token_ids), spent, logprobs)


def _logprob(written: Any) -> LogProbability | None:
    """Return the log-probability of a text: vLLM ends it before the stop sequence, whose tokens do not count."""
    counted, letters = list[float](), 0
    for token, at in zip(written.token_ids, written.logprobs, strict=True):
        if letters >= len(written.text):
            break
        counted.append(float(at[token].logprob))
        letters += len(at[token].decoded_token or "")
    return logprob_sum(counted)


def _option(one: str, spec: str) -> tuple[str, Any]:
    key, _, value = one.partition("=")
    if key not in _OPTIONS:
        raise InputError(f"unknown option '{one}' of vllm:{spec}; {nearest(key, list(_OPTIONS))}")
    if key == "dtype":
        if value not in _DTYPES:
            raise InputError(f"option 'dtype' of vllm:{spec} is '{value}'; wanted {', '.join(_DTYPES)}")
        return _OPTIONS[key], _DTYPES[value]
    if not value.isdecimal() or not int(value):
        raise InputError(f"option '{key}' of vllm:{spec} is '{value}'; wanted a whole number from 1")
    return _OPTIONS[key], int(value)
