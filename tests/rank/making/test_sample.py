"""Samplers: an endpoint on this machine over real HTTP, a tiny model made here, and files that go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import InputError
from assay.programs.samples import read
from assay.rank.sampling.endpoint_sampler import ChatSampler, CompletionSampler, code_of
from assay.rank.sampling.sample import SamplingOptions, sample, spent
from assay.types import Task

TASKS = [Task("t/0", "def f():\n", "f"), Task("t/1", "def g():\n", "g")]
FEW = SamplingOptions(n=5, temperature=0.5, seed=3)


def say(question: dict[str, Any]) -> Play:
    """Answer a prompt as a model for programs does, or a chat with a block of code."""
    if "messages" in question:
        return Play(text="Here:\n```python\ndef f():\n    return 1\n```\nDone.")
    return Play()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(say) as running:
        monkeypatch.setenv("ASSAY_API_BASE", running.base)
        yield running


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_completions_are_asked_for_in_batches_and_what_they_took_is_kept(endpoint: EndpointServer, tmp_path: Path):
    took = sample(TASKS, CompletionSampler("m"), FEW, tmp_path / "s.jsonl", batch=3)
    assert [question["n"] for question in endpoint.questions] == [3, 2, 3, 2]
    assert set(endpoint.paths) == {"/v1/completions"}
    first = endpoint.questions[0]
    assert (first["model"], first["prompt"], first["temperature"], first["max_tokens"]) == ("m", "def f():\n", 0.5, 512)
    assert first["stop"] == ["\nclass", "\ndef", "\n#", "\nif"]
    assert len({question["seed"] for question in endpoint.questions}) == 4
    assert (took.samples, took.requests, took.prompt_tokens, took.completion_tokens) == (10, 4, 28, 40)
    assert took.cost((1e6, 2e6)) == 28 + 80
    samples = read(tmp_path / "s.jsonl", TASKS)
    assert not samples.problems
    assert samples.programs[0].source == "def f():\n    return 1\n"
    assert samples.programs[0].tags["temperature"] == "0.5"
    assert len({each.id for each in samples.programs}) == 10


def test_a_run_that_was_cut_off_asks_for_what_is_missing(endpoint: EndpointServer, tmp_path: Path):
    out = tmp_path / "s.jsonl"
    sample(TASKS[:1], CompletionSampler("m"), FEW, out)
    half = out.read_bytes()
    out.write_bytes(half[: len(half) // 2])
    kept = half[: len(half) // 2].count(b"\n")
    endpoint.questions.clear()
    sample(TASKS, CompletionSampler("m"), FEW, out)
    assert [question["n"] for question in endpoint.questions] == [5 - kept, 5]
    assert len(lines(out)) == 10
    endpoint.questions.clear()
    sample(TASKS, CompletionSampler("m"), FEW, out)
    assert endpoint.questions == []
    with pytest.raises(InputError, match=r"another run: temperature differ"):
        sample(TASKS, CompletionSampler("m"), SamplingOptions(n=5, temperature=0.9, seed=3), out)


def test_chat_answers_are_the_program_in_their_code_block(endpoint: EndpointServer, tmp_path: Path):
    sample(TASKS, ChatSampler("m"), SamplingOptions(n=1), tmp_path / "s.jsonl")
    assert set(endpoint.paths) == {"/v1/chat/completions"}
    assert "def f():" in endpoint.questions[0]["messages"][0]["content"]
    assert "stop" not in endpoint.questions[0]
    whole, part = lines(tmp_path / "s.jsonl")
    assert whole["code"] == "def f():\n    return 1\n"
    assert part["completion"].startswith("def f()")
    assert part["model"] == "chat:m"


def test_an_endpoint_that_gives_fewer_than_asked_for_is_asked_again(endpoint: EndpointServer, tmp_path: Path):
    few = json.dumps({"choices": [{"text": "    return 1\n"}] * 2}).encode()
    endpoint.say = lambda question: Play(body=few if question["n"] > 2 else None)
    sample(TASKS[:1], CompletionSampler("m"), FEW, tmp_path / "s.jsonl")
    assert [question["n"] for question in endpoint.questions] == [5, 3, 1]


@pytest.mark.usefixtures("endpoint")
def test_refusals_and_answers_without_a_choice_are_shown(endpoint: EndpointServer):
    for play, said in (
        (Play(status=401), "HTTP 401"),
        (Play(body=b'{"choices": [{}]}'), "without choices"),
        (Play(body=b'{"choices": []}'), "no choice at all"),
    ):
        endpoint.plays = [play]
        with pytest.raises(InputError, match=said):
            ChatSampler("m").sample("p", SamplingOptions())


def test_the_key_is_of_the_environment_and_never_written(
    endpoint: EndpointServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    sample(TASKS[:1], CompletionSampler("m"), SamplingOptions(n=1), tmp_path / "s.jsonl")
    assert endpoint.keys == ["Bearer sesame"]
    assert "sesame" not in (tmp_path / "s.jsonl").read_text()


def test_answers_without_a_block_are_code_and_the_longest_block_is_the_program():
    assert code_of("x = 1") == "x = 1"
    assert code_of("```\na\n```\nor\n```py\nlonger = 1\n```") == "longer = 1\n"
    assert code_of("```python\ncut off") == "cut off\n"


@pytest.mark.usefixtures("endpoint")
def test_the_command_says_what_it_took(assay, tmp_path: Path):
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    out = tmp_path / "s.jsonl"
    ran = assay("rank", "sample", tasks, "--model", "completions:m", "--n", "3", "--out", out, "--price", "1", "2")
    assert ran.status == 0, ran.err
    assert ran.out == "3 samples in 1 request: 7 tokens in, 12 out, 0.0000 in the unit of --price\n"
    assert spent(out).samples == 3
    assert assay("rank", "sample", tasks, "--model", "completions", "--out", out).status == 2
    assert "did you mean 'chat'" in assay("rank", "sample", tasks, "--model", "chats:m", "--out", out).err


def test_a_local_model_goes_on_where_the_prompt_ends(tmp_path: Path):
    pytest.importorskip("torch", reason="the hf extra is not installed")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    letters = {chr(code): place for place, code in enumerate(range(32, 127))} | {"\n": 95, "[END]": 96}
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token="[END]"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    plain.decoder = tokenizers.decoders.Fuse()
    folder = tmp_path / "model"
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="[END]").save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=97, n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=96, eos_token_id=96
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    from assay.rank.sampling.local_sampler import LocalSampler

    model = LocalSampler(str(folder))
    asked = SamplingOptions(n=3, temperature=1.0, max_tokens=8, seed=1)
    found = model.sample("def f():\n", asked)
    assert found == model.sample("def f():\n", asked)
    assert len(found.texts) == 3
    assert len(set(found.texts)) > 1
    assert (found.prompt_tokens, 3 <= found.completion_tokens <= 24) == (9, True)
    greedy = model.sample("x" * 500, SamplingOptions(n=2, temperature=0.0, max_tokens=8))
    assert greedy.texts[0] == greedy.texts[1]
    assert model.sample("", SamplingOptions(n=1, max_tokens=4)).texts
    with pytest.raises(InputError, match="reads and writes 64 in all"):
        model.sample("x", SamplingOptions(max_tokens=64))
    with pytest.raises(InputError, match="no causal language model"):
        LocalSampler(str(tmp_path / "nowhere"))
