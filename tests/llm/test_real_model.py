"""One contract with a real model: what the client promises holds where nobody plays the endpoint.

`ASSAY_TEST_MODEL_URL` names a server of OpenAI's protocol, such as llama.cpp's with any small instruct model.
"""

from __future__ import annotations

import math
import os

import pytest

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import Notice
from assay.judge.records import load
from assay.llm.endpoint import endpoint
from assay.llm.openai import OpenAiChat
from assay.llm.prompts import fill
from assay.rank.requests import SamplingOptions
from assay.rank.samplers import SamplingQuestion, sampler
from assay.values import Prompt

URL = os.environ.get("ASSAY_TEST_MODEL_URL", "")
SPEC = f"openai:model@{URL}?as=real&timeout_s=600"
ANSWER = {"answer": {"type": "string", "enum": ["yes", "no"]}}
YES_NO = {"type": "object", "properties": ANSWER, "required": ["answer"], "additionalProperties": False}

pytestmark = [
    pytest.mark.skipif(not URL, reason="no real model: set ASSAY_TEST_MODEL_URL to a server's http://HOST:PORT/v1"),
    pytest.mark.timeout(1800),
]


def test_a_bounded_reply_is_valid_at_the_first_try_and_counted():
    chat = OpenAiChat(endpoint("openai", SPEC.removeprefix("openai:") + "&temperature=0"))
    pair = {"query": "python add two numbers", "code": "def add(a, b):\n    return a + b"}
    reply = chat.reply(fill(load("single"), pair))
    assert reply.attempts == 1
    assert 0 < len(reply.value["reason"]) <= 300
    assert 0 < reply.tokens_out <= chat._limit(fill(load("single"), pair))
    assert chat.reply(Prompt("Answer yes or no.", "Is 2 an even number?", YES_NO)).value == {"answer": "yes"}
    sure = chat.reply(Prompt("Answer yes or no.", "Is 2 an even number?", {}, choices=("yes", "no"))).value
    assert sure["yes"] > sure["no"]
    chat.close()


def test_completions_stop_are_cut_and_have_probabilities_and_a_chat_writes_a_program():
    model = sampler(SPEC, completes=True)
    asked = SamplingOptions(n=2, temperature=0.8, max_tokens=4, stop=("\n",), logprobs=True)
    found = model.sample(SamplingQuestion("def add(a, b):\n    return", asked))
    assert len(found.texts) in {1, 2}
    assert not any("\n" in text for text in found.texts)
    assert found.prompt_tokens > 0 < found.completion_tokens
    assert all(one and math.isfinite(one.total) and one.total <= 0 for one in found.logprobs)
    (long,) = model.sample(SamplingQuestion("1 2 3 4 5 6", SamplingOptions(n=1, max_tokens=3))).cut
    assert long
    with pytest.warns(Notice, match="at a time"):
        many = model.sample(SamplingQuestion("def", SamplingOptions(n=1000, max_tokens=1)))
    assert 1 <= len(many.texts) < 1000
    question = SamplingQuestion("Write `x = 1` in Python.", SamplingOptions(n=1, max_tokens=30))
    assert "x" in sampler(SPEC).sample(question).texts[0]
