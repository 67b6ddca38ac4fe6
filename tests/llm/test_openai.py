"""Chats of OpenAI's protocol: where they are, what is asked, what comes back, and what goes wrong."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from endpoint_server import Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import EndpointRefused, InputError, NoAnswer, Notice
from assay.llm.endpoint import FREE, UNKNOWN, endpoint, keys
from assay.llm.openai import OpenAiChat
from assay.llm.schema import LENGTHS
from assay.plugins import make

GOOD = {"grade": 1, "reason": "it adds"}


def chat(argument: str = "gpt-x", provider: str = "openai") -> OpenAiChat:
    return OpenAiChat(endpoint(provider, argument), pause_s=0.001)


def plays(server, *told):
    server.plays = [Play(**each) for each in told]


def test_a_reply_is_what_the_model_said_with_what_it_took_and_a_spec_sets_what_is_asked(server, prompt):
    reply = chat("gpt-x?usd_in=1&usd_out=10").reply(prompt())
    assert reply.value == GOOD
    assert (reply.model, reply.tokens_in, reply.tokens_out) == ("gpt-x-2026", 100, 10)
    assert reply.cost == pytest.approx(100e-6 + 100e-6)
    assert reply.seconds > 0
    assert not reply.cached
    (question,) = server.questions
    assert [message["role"] for message in question["messages"]] == ["system", "user"]
    assert question["response_format"]["json_schema"]["strict"] is True
    assert question["max_tokens"] == 4096
    assert not {"temperature", "seed"} & question.keys()
    assert (server.paths, server.keys) == (["/v1/chat/completions"], ["Bearer sk-very-secret"])
    chat("gpt-x?temperature=0&seed=7&max_tokens=50").reply(prompt("naïve \x00 \ud800 漢字 🎉"))
    question = server.questions[1]
    assert (question["temperature"], question["seed"], question["max_tokens"]) == (0, 7, 50)
    assert question["messages"][1]["content"] == "naïve \x00 ? 漢字 🎉"


def test_tokens_that_the_endpoint_had_read_before_are_counted_and_cheaper(server, prompt):
    for details, cached in (
        ({"prompt_tokens_details": {"cached_tokens": 64}}, 64),
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 64),
        ({"prompt_tokens_details": {"cached_tokens": 9999}}, 100),
        ({"prompt_tokens_details": {"cached_tokens": "many"}}, 0),
        ({"prompt_tokens_details": None}, 0),
        ({}, 0),
    ):
        plays(server, {"value": GOOD, "details": details})
        reply = chat("gpt-x?usd_in=1&usd_out=10&usd_cached=0.1").reply(prompt())
        assert (reply.tokens_in, reply.tokens_cached, reply.attempts) == (100, cached, 1)
        assert reply.cost == pytest.approx((100 - cached + 0.1 * cached + 100) * 1e-6)
    plays(server, {"value": GOOD, "details": {"prompt_cache_hit_tokens": 64}})
    assert chat("gpt-x?usd_in=1&usd_out=10").reply(prompt()).cost == pytest.approx(200e-6), "no price of their own"


def test_each_provider_is_a_plugin_and_told_the_schema(server, prompt):
    for provider in ("deepseek", "openrouter", "ollama", "vllm", "openai"):
        made = make("chat", f"{provider}:some/model:free")
        assert (made.reply(prompt()).value, made.name) == (GOOD, f"{provider}:some/model:free@{server.base}")
        assert "additionalProperties" in json.dumps(server.questions[-1])
        assert server.questions[-1]["model"] == "some/model:free"
    for form, told in (("object", {"type": "json_object"}), ("prompt", None)):
        plays(server, {"text": f"<think>{{0}}</think>Sure:\n```json\n{json.dumps(GOOD)}\n```"})
        assert chat(f"gpt-x?format={form}").reply(prompt()).value == GOOD
        assert server.questions[-1].get("response_format") == told
        assert '"additionalProperties": false' in server.questions[-1]["messages"][0]["content"]


WRONG = [
    '{"grade": 2, "reason": ""}', '{"grade": 1}', "yes", '{"grade": "1", "reason": ""}', "",
    f"{json.dumps(GOOD)} {json.dumps(GOOD)}",
]  # fmt: skip


def test_an_answer_that_does_not_fit_goes_back_with_what_is_wrong(server, prompt):
    for text in WRONG:
        server.questions.clear()
        plays(server, {"text": text})
        reply = chat("gpt-x?usd_in=1&usd_out=1").reply(prompt())
        assert (reply.value, reply.attempts) == (GOOD, 2)
        assert (reply.tokens_in, reply.tokens_out, reply.cost) == (200, 20, pytest.approx(220e-6))
        first, second = server.questions
        assert second["messages"][:2] == first["messages"]
        assert second["messages"][2] == {"role": "assistant", "content": text}
        assert "cannot be used" in second["messages"][3]["content"]
    for body in (b"[]", b'{"choices": 1}', b'{"error": {"message": "upstream is gone"}}'):
        server.questions.clear()
        plays(server, {"body": body})
        reply = chat().reply(prompt())
        assert (reply.value, reply.tokens_in, len(server.questions)) == (GOOD, 270, 2), "it may have been paid"


def test_no_valid_answer_is_an_error_with_the_last_one_and_the_cost(server, prompt):
    plays(server, *[{"text": f"maybe {place}"} for place in range(9)])
    with pytest.raises(NoAnswer, match="no valid answer in 3; the last: it holds no JSON object") as caught:
        chat("gpt-x?usd_in=1&usd_out=1").reply(prompt())
    assert caught.value.raw == "maybe 2"
    assert (caught.value.tokens_in, caught.value.cost) == (300, pytest.approx(330e-6))
    assert len(server.questions) == 3
    plays(server, {"text": "maybe"}, {"status": 401})
    with pytest.raises(EndpointRefused) as refused:
        chat("gpt-x?usd_in=1&usd_out=1").reply(prompt())
    assert (refused.value.tokens_in, refused.value.cost > 0) == (100, True), "what was paid before is told"


DECLINED = (
    ({"refusal": "I will not"}, "declined: I will not"),
    ({"text": "", "finish": "content_filter"}, "declined: its content filter"),
    ({"text": '{"grade"', "finish": "length", "usage": (9, 40)}, "stopped after 40 of 4,096 tokens"),
    ({"status": 403, "body": b"your input was flagged"}, "refused this request with HTTP 403: your input was flagged"),
    ({"status": 400, "body": b"too long"}, "refused this request with HTTP 400: too long"),
    ({"status": 400, "body": b"exceeds the context size"}, "shorten the input, or serve the model"),
    ({"status": 400, "body": b"prompt is longer than the maximum model length of 4096"}, "shorten the input"),
    ({"status": 501, "body": b"no chat here"}, "HTTP 501"),
)
REFUSED = (
    ({"status": 401, "body": b"bad key"}, "check the key in ASSAY_API_KEY"),
    ({"status": 403, "body": b""}, "check the key in ASSAY_API_KEY"),
    ({"status": 402, "body": b""}, "check the account"),
    ({"status": 404, "body": b"no such model"}, "no such model; check the model's name and the address"),
    ({"status": 429, "body": b'{"error": {"code": "insufficient_quota"}}'}, "check the account"),
    ({"status": 302, "body": b""}, "check the address"),
    ({"status": 400, "body": b"unknown response_format"}, r"\?format=prompt"),
)


def test_a_model_that_declines_and_refusals_are_final_and_say_what_to_check(server, prompt):
    for error, cases in ((NoAnswer, DECLINED), (EndpointRefused, REFUSED)):
        for play, said in cases:
            server.questions.clear()
            plays(server, play)
            with pytest.raises(error, match=said):
                chat().reply(prompt())
            assert len(server.questions) == 1, play


def test_missing_usage_is_unknown_and_free_is_free(server, prompt):
    plays(server, *[{"value": GOOD, "usage": None}] * 2)
    unknown = chat("gpt-x?usd_in=1&usd_out=1").reply(prompt())
    assert math.isnan(unknown.cost)
    assert (unknown.tokens_in, unknown.tokens_out) == (0, 0)
    assert chat("llama", "ollama").reply(prompt()).cost == 0
    asked = chat("gpt-x?usd_in=1&usd_out=1")
    plays(server, *[{"text": "maybe", "usage": None}] * 3)
    with pytest.raises(NoAnswer) as caught:
        asked.reply(prompt())
    assert caught.value.tokens_in + caught.value.tokens_out >= 3 * asked.most(prompt()).tokens, "a budget has an end"
    assert math.isnan(caught.value.cost)


def test_a_provider_without_its_key_is_told_before_anything_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="'openai:m' needs a key: set OPENAI_API_KEY, or name an endpoint of your own"):
        OpenAiChat(endpoint("openai", "m"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    OpenAiChat(endpoint("openai", "m"))
    OpenAiChat(endpoint("ollama", "m"))


def test_a_spec_cannot_send_a_key_to_its_own_address(prompt, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("ASSAY_API_KEY", "sk-mine-too")
    with serving(plays=[Play(status=401)]) as stranger:
        with pytest.raises(EndpointRefused, match="none was sent, for the address stands in the spec"):
            chat(f"gpt-x@{stranger.base}").reply(prompt())
        assert stranger.keys == [None]
        monkeypatch.setenv("ASSAY_API_BASE", stranger.base + "/")
        stranger.say = lambda _: Play(GOOD)
        assert chat(f"gpt-x@{stranger.base}").reply(prompt()).value == GOOD
        assert stranger.keys[1] == "Bearer sk-mine-too"


def test_a_schema_with_bounds_decides_how_many_tokens_an_answer_gets(server, bounded):
    asked = chat("gpt-x?usd_in=1&usd_out=2")
    asked.reply(bounded)
    limit = server.questions[0]["max_tokens"]
    assert 50 < limit < 150
    most = asked.most(bounded)
    assert most.tokens - limit < 600
    assert most.usd == pytest.approx((most.tokens - limit + 2 * limit) / 1e6)
    chat("gpt-x?max_tokens=20").reply(bounded)
    assert server.questions[1]["max_tokens"] == 20
    server.questions.clear()
    asked = chat("gpt-x?max_tokens=500")  # a model that thinks gets all the tokens that its spec allows
    plays(server, {"text": "<think>So the", "finish": "length", "usage": (100, asked._limit(bounded))})
    assert asked.reply(bounded).value == GOOD
    assert server.questions[0]["max_tokens"] < server.questions[1]["max_tokens"] == 500


def test_an_answer_that_was_cut_is_asked_for_once_more_and_all_texts_are_kept(server, prompt):
    cut = {"text": '{"grade": 1, "reason": "and and', "finish": "length", "usage": (100, 4096)}
    plays(server, cut)
    reply = chat().reply(prompt())
    assert (reply.value, reply.attempts, reply.wrong) == (GOOD, 2, (cut["text"],))
    assert "it was cut at 4,096 tokens: be brief" in server.questions[1]["messages"][3]["content"]
    plays(server, cut, cut)
    with pytest.raises(NoAnswer, match=r"no valid answer in 2; the last: it was cut .*\?max_tokens=8192") as caught:
        chat().reply(prompt())
    assert (caught.value.wrong, caught.value.raw, caught.value.tokens_out) == ((cut["text"],), cut["text"], 2 * 4096)


def test_an_endpoint_without_bounds_of_lengths_is_asked_without_and_answers_are_checked(server, bounded):
    long = {"grade": 1, "reason": "x" * 101}
    plays(server, {"status": 400, "body": b"'maxLength' is not permitted"}, {"value": long})
    with pytest.warns(Notice, match="takes no maxItems or maxLength"):
        reply = chat().reply(bounded)
    assert (reply.value, reply.attempts) == (GOOD, 2)
    assert ["maxLength" in json.dumps(question) for question in server.questions] == [True, False, False]
    asked = chat()

    def say(question):
        asked._left_out = frozenset(LENGTHS)  # as another thread learns while a question waits
        return Play(status=400, body=b"no maxLength") if "maxLength" in json.dumps(question) else Play(GOOD)

    server.say = say
    assert asked.reply(bounded).value == GOOD


def test_a_parameter_that_a_refusal_names_is_left_out_once_and_that_is_remembered(server, prompt):
    new = b"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    fixed = b"Unsupported value: 'temperature' does not support 0 with this model."
    plays(server, {"status": 400, "body": new}, {"status": 400, "body": fixed})
    asked = chat("gpt-x?temperature=0")
    with pytest.warns(Notice, match="takes no max_tokens: it is asked without"):
        assert asked.reply(prompt()).value == asked.reply(prompt()).value == GOOD
    named = [[*({"max_tokens", "max_completion_tokens", "temperature"} & {*each})] for each in server.questions]
    assert [sorted(each) for each in named] == [
        ["max_tokens", "temperature"],
        ["max_completion_tokens", "temperature"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]
    for body in (b"max_tokens is too large: 4096", new):  # known, but wrong; refused again
        plays(server, *[{"status": 400, "body": body}] * 3)
        with pytest.raises(NoAnswer, match="refused this request"):
            (asked if body == new else chat()).reply(prompt())
        server.plays = []


def test_an_unknown_schema_is_refused_and_an_answer_without_a_message_is_no_answer(server, prompt):
    with pytest.raises(InputError, match="keyword 'pattern'"):
        chat().reply(prompt(schema={"type": "string", "pattern": "a"}))
    assert not server.questions
    for choices in ([], [{}], [{"message": None, "finish_reason": "content_filter"}]):
        plays(server, {"body": json.dumps({"choices": choices}).encode()})
        with pytest.raises(NoAnswer, match="gave no message"):
            chat().reply(prompt())


def test_a_lost_answer_is_counted_at_its_most_and_a_change_of_the_model_is_said_once(server, prompt):
    asked = chat("gpt-x?usd_in=1&usd_out=1")
    most = asked.most(prompt())
    plays(server, {"cut": 9})
    with pytest.warns(Notice, match="asking again"):
        reply = asked.reply(prompt())
    assert reply.tokens_in + reply.tokens_out == most.tokens + 110
    assert reply.cost == pytest.approx(most.usd + 110e-6)
    asked, names = chat(), iter("abcb")
    choices = [{"message": {"content": json.dumps(GOOD)}}]
    server.say = lambda _: Play(body=json.dumps({"model": next(names), "choices": choices}).encode())
    with pytest.warns(Notice, match="from the model b now, from a before") as said:
        assert [asked.reply(prompt()).model for _ in range(4)] == list("abcb")
    assert sum("from the model" in str(each.message) for each in said) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "stop", '{"grade": 1}', "\x1b"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("content refusal finish_reason".split()), inner, max_size=3)
    ),
    max_leaves=5,
)
MESSAGES = st.fixed_dictionaries({"content": JSON}, optional={"refusal": JSON})
CHOICES = st.fixed_dictionaries({"message": MESSAGES | JSON}, optional={"finish_reason": JSON})
BODIES = st.fixed_dictionaries(
    {"choices": st.lists(CHOICES | JSON, max_size=2) | JSON},
    optional={"usage": st.fixed_dictionaries({"prompt_tokens": JSON, "completion_tokens": JSON}) | JSON, "model": JSON},
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES | JSON)
def test_whatever_a_server_sends_is_a_reply_or_a_chat_error(server, prompt, body):
    server.say = lambda _: Play(body=json.dumps(body).encode())
    asked = OpenAiChat(endpoint("openai", "gpt-x"), pause_s=0)
    try:
        assert asked.reply(prompt()).value
    except (EndpointRefused, NoAnswer) as error:
        assert str(error).isprintable()  # noqa: PT017  there may be none
    finally:
        asked.close()


def test_a_model_is_at_its_provider_unless_the_environment_or_the_spec_says_where(monkeypatch):
    made = endpoint("openai", "gpt-4o-mini")
    assert (made.name, made.url) == ("openai:gpt-4o-mini", "https://api.openai.com/v1")
    assert (made.key_variable, made.key(), made.most_key) == ("OPENAI_API_KEY", "", "max_completion_tokens")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-mine\n")
    assert made.key() == "sk-mine"
    assert "sk-mine" not in repr(made)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1/")
    assert endpoint("openai", "m").url == "http://one/v1"
    assert endpoint("deepseek", "m").url == "https://api.deepseek.com/v1"
    monkeypatch.setenv("ASSAY_API_BASE", "http://two/v1")
    assert endpoint("openai", "m").name == "openai:m@http://two/v1"
    assert endpoint("deepseek", "m").key_variable == "DEEPSEEK_API_KEY"
    there = endpoint("deepseek", "m@https://three/v1")
    assert (there.url, there.key_variable) == ("https://three/v1", "")


def test_prices_are_listed_told_free_or_unknown_and_names_hold_what_changes_an_answer(monkeypatch):
    assert endpoint("openai", "gpt-4o").price.of(10**6, 0) == 2.5
    assert endpoint("openai", "gpt-4o-2024-05-13").price == UNKNOWN
    assert endpoint("ollama", "qwen3:8b").price == FREE
    assert endpoint("openai", "gpt-4o?usd_in=1&usd_out=2").price.of(10**6, 10**6) == 3
    assert math.isnan(endpoint("openai", "x?usd_in=1").price.of(1, 1))
    monkeypatch.setenv("ASSAY_API_BASE", "http://proxy/v1")
    assert endpoint("openai", "gpt-4o").price == UNKNOWN
    monkeypatch.delenv("ASSAY_API_BASE")
    told = "m?seed=3&temperature=0.5&timeout_s=9&usd_in=1&max_tokens=4096&format=schema"
    assert endpoint("openai", told).name == "openai:m?temperature=0.5&seed=3"
    again = endpoint("openai", endpoint("openai", told).name.partition(":")[2])
    assert again.name == "openai:m?temperature=0.5&seed=3"
    for place in ("http://one:1/v1", "http://two:2/v1"):
        assert endpoint("openai", f"m@{place}?as=lab&seed=3").name == "openai:m?as=lab&seed=3"
    assert endpoint("openai", "@cf/meta/llama@http://one/v1").model == "@cf/meta/llama"
    assert endpoint("ollama", "qwen3:8b").model == "qwen3:8b"


def test_an_invalid_spec_is_refused():
    for argument, said in (
        ("", "does not name a model; write openai:MODEL"),
        ("@http://x/v1", "does not name a model"),
        ("m?tempreature=1", "unknown option 'tempreature'.*did you mean 'temperature'"),
        ("m?temperature=hot", "'temperature'.*is 'hot'; wanted a number"),
        ("m?temperature=nan", "wanted 0 or more"),
        ("m?max_tokens=0", "wanted 1 or more"),
        ("m?usd_in=-1", "wanted 0 or more"),
        ("m?timeout_s=0", "wanted 0.001 or more"),
        ("m?format=xml", "'xml'; wanted one of schema, object, prompt"),
        ("m@127.0.0.1:8091/v1", "has no http:// or https://; write m@http://127.0.0.1:8091/v1"),
        ("m@localhost/v1", "write m@http://localhost/v1"),
        ("m?as=a/b", "'as'.*wanted a name"),
        ("m@http://", "wanted http://HOST:PORT/v1"),
        ("m@https://[::1/v1", "is not a URL"),
        ("m@http://host:port/v1", "is not a URL"),
    ):
        with pytest.raises(InputError, match=said):
            endpoint("openai", argument)
    with pytest.raises(InputError, match="the chat address of host has a name or password") as caught:
        endpoint("openai", "m@https://me:sesame@host/v1")
    assert "sesame" not in str(caught.value), "a password is not repeated"


def test_which_keys_there_are_is_told_and_no_key(monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-mine")
    monkeypatch.setenv("ASSAY_API_BASE", "http://host/v1")
    assert list(keys()) == [
        ("ASSAY_API_BASE", "ASSAY_API_KEY is not set"),
        ("deepseek", "DEEPSEEK_API_KEY is set"),
        ("openai", "OPENAI_API_KEY is not set"),
        ("openrouter", "OPENROUTER_API_KEY is not set"),
    ]
