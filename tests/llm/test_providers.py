from __future__ import annotations

import math

import pytest

from assay.errors import InputError
from assay.llm.endpoint import FREE, UNKNOWN, endpoint, keys


def test_a_model_is_at_its_provider_by_default(monkeypatch):
    made = endpoint("openai", "gpt-4o-mini")
    assert (made.name, made.url) == ("openai:gpt-4o-mini", "https://api.openai.com/v1")
    assert (made.key_variable, made.key(), made.most_key) == ("OPENAI_API_KEY", "", "max_completion_tokens")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-mine\n")
    assert made.key() == "sk-mine"
    assert "sk-mine" not in repr(made)


def test_the_environment_and_then_the_spec_say_where(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1/")
    assert endpoint("openai", "m").url == "http://one/v1"
    assert endpoint("deepseek", "m").url == "https://api.deepseek.com/v1"
    monkeypatch.setenv("ASSAY_API_BASE", "http://two/v1")
    assert endpoint("openai", "m").name == "openai:m@http://two/v1"
    assert endpoint("deepseek", "m").key_variable == "DEEPSEEK_API_KEY"
    there = endpoint("deepseek", "m@https://three/v1")
    assert (there.url, there.key_variable) == ("https://three/v1", "")


def test_what_changes_an_answer_is_in_the_name_and_a_name_of_the_place_stands_for_its_address():
    told = "m?seed=3&temperature=0.5&timeout_s=9&usd_in=1&max_tokens=4096&format=schema"
    assert endpoint("openai", told).name == "openai:m?temperature=0.5&seed=3"
    again = endpoint("openai", endpoint("openai", told).name.partition(":")[2])
    assert again.name == "openai:m?temperature=0.5&seed=3"
    for place in ("http://one:1/v1", "http://two:2/v1"):
        assert endpoint("openai", f"m@{place}?as=lab&seed=3").name == "openai:m?as=lab&seed=3"
    assert endpoint("openai", "@cf/meta/llama@http://one/v1").model == "@cf/meta/llama"
    assert endpoint("ollama", "qwen3:8b").model == "qwen3:8b"


def test_prices_are_listed_told_free_or_unknown(monkeypatch):
    assert endpoint("openai", "gpt-4o").price.of(10**6, 0) == 2.5
    assert endpoint("openai", "gpt-4o-2024-05-13").price == UNKNOWN
    assert endpoint("ollama", "qwen3:8b").price == FREE
    assert endpoint("openai", "gpt-4o?usd_in=1&usd_out=2").price.of(10**6, 10**6) == 3
    assert math.isnan(endpoint("openai", "x?usd_in=1").price.of(1, 1))
    monkeypatch.setenv("ASSAY_API_BASE", "http://proxy/v1")
    assert endpoint("openai", "gpt-4o").price == UNKNOWN


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
