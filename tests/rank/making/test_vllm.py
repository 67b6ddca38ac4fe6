"""The sampler of vLLM as far as it goes without: what it is asked, what is read of its answers."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from assay.errors import InputError, MissingExtra
from assay.rank.sampling.model_answers import SamplingOptions
from assay.rank.sampling.sample import sampler
from assay.rank.sampling.vllm_sampler import _completions, _option, _parameters_of
from assay.types import LogProbability


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_without_it_the_extra_is_named():
    with pytest.raises(MissingExtra, match=r"assay\[vllm\]"):
        sampler("vllm:some/model")


def test_its_options_are_checked():
    assert dict(_option(each, "m") for each in ("dtype=bf16", "gpus=2", "length=4096")) == {
        "dtype": "bfloat16",
        "tensor_parallel_size": 2,
        "max_model_len": 4096,
    }
    for wrong in ("gpu=2", "dtype=int4", "gpus=0"):
        with pytest.raises(InputError, match="vllm:m"):
            _option(wrong, "m")
    with pytest.raises(InputError, match="needs its model"):
        sampler("vllm:")


def test_tokens_up_to_the_stop_sequence_count():
    asked = SamplingOptions(n=1, stop=("\nprint",), logprobs=True, seed=7)
    assert _parameters_of(asked)["logprobs"] == 0
    assert (_parameters_of(asked)["seed"], _parameters_of(asked)["stop"]) == (7, ["\nprint"])
    tokens = {1: " return", 2: " 1", 3: "\n", 4: "print"}
    scores = [{at: SimpleNamespace(logprob=-float(at), decoded_token=text)} for at, text in tokens.items()]
    written = SimpleNamespace(text=" return 1", token_ids=[*tokens], logprobs=scores)
    found = _completions(SimpleNamespace(outputs=[written], prompt_token_ids=[5, 6]), asked)
    assert (found.texts, found.prompt_tokens, found.completion_tokens) == ((" return 1",), 2, 4)
    assert found.logprobs == (LogProbability(-3.0, 2),)
