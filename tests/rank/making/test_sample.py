"""Samplers: an endpoint on this machine over real HTTP, a tiny model made here, and files that go on."""
# ruff: noqa: E402  what may be missing is asked for before it is imported

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

httpx = pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import InputError
from assay.rank.making.endpoint import ChatSampler, CompletionSampler, code_of
from assay.rank.making.sample import Asked, sample, spent
from assay.sandbox.samples import read
from assay.types import Task

TASKS = [Task("t/0", "def f():\n", "f"), Task("t/1", "def g():\n", "g")]
FEW = Asked(n=5, temperature=0.5, seed=3)


class Endpoint(ThreadingHTTPServer):
    """A server that answers with planned statuses first, then with as many choices as asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses: list[int] = []
        self.most = 99
        self.body: bytes | None = None
        self.questions: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if status == 200:
            self.server.questions.append(question)
            self.server.paths.append(self.path)
            self.server.keys.append(self.headers.get("authorization"))
        count = min(question["n"], self.server.most)
        text = f"    return {len(self.server.questions)}\n"
        choices: list[dict[str, Any]] = [{"text": text} for _ in range(count)]
        if self.path.endswith("/chat/completions"):
            content = f"Here:\n```python\ndef f():\n{text}```\nDone."
            choices = [{"message": {"role": "assistant", "content": content}} for _ in range(count)]
        usage = {"prompt_tokens": 7, "completion_tokens": 4 * count}
        body = self.server.body or json.dumps({"choices": choices, "usage": usage}).encode()
        self.send_response(status)
        if status == 429:
            self.send_header("retry-after", "0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("ASSAY_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("ASSAY_API_BASE", server.base)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_completions_are_asked_for_in_batches_and_what_they_took_is_kept(endpoint: Endpoint, tmp_path: Path):
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


def test_a_run_that_was_cut_off_asks_for_what_is_missing(endpoint: Endpoint, tmp_path: Path):
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
    with pytest.raises(InputError, match=r"other settings \(temperature 0\.5\)"):
        sample(TASKS, CompletionSampler("m"), Asked(n=5, temperature=0.9, seed=3), out)


def test_chat_answers_are_the_program_in_their_code_block(endpoint: Endpoint, tmp_path: Path):
    sample(TASKS, ChatSampler("m"), Asked(n=1), tmp_path / "s.jsonl")
    assert set(endpoint.paths) == {"/v1/chat/completions"}
    assert "def f():" in endpoint.questions[0]["messages"][0]["content"]
    assert "stop" not in endpoint.questions[0]
    whole, part = lines(tmp_path / "s.jsonl")
    assert whole["code"] == "def f():\n    return 1\n"
    assert part["completion"].startswith("def f()")
    assert part["model"] == "chat:m"


def test_an_endpoint_that_gives_fewer_than_asked_for_is_asked_again(endpoint: Endpoint, tmp_path: Path):
    endpoint.most = 2
    sample(TASKS[:1], CompletionSampler("m"), FEW, tmp_path / "s.jsonl")
    assert [question["n"] for question in endpoint.questions] == [5, 3, 1]


def test_busy_servers_are_asked_again_and_refusals_shown(endpoint: Endpoint, tmp_path: Path):
    endpoint.statuses = [429, 500]
    sample(TASKS[:1], CompletionSampler("m", pause_s=0.001), Asked(n=1), tmp_path / "s.jsonl")
    assert len(lines(tmp_path / "s.jsonl")) == 1
    endpoint.statuses = [503] * 6
    with pytest.raises(InputError, match="failed 6 times, last with HTTP 503"):
        CompletionSampler("m", pause_s=0.001).sample("p", Asked())
    endpoint.statuses = [401]
    with pytest.raises(InputError, match="HTTP 401"):
        CompletionSampler("m").sample("p", Asked())
    endpoint.body = b"<html>"
    with pytest.raises(InputError, match="did not answer in JSON"):
        CompletionSampler("m").sample("p", Asked())
    endpoint.body = b'{"choices": [{}]}'
    with pytest.raises(InputError, match="without choices"):
        ChatSampler("m").sample("p", Asked())
    endpoint.body = b'{"choices": []}'
    with pytest.raises(InputError, match="no choice at all"):
        ChatSampler("m").sample("p", Asked())


def test_the_key_is_of_the_environment_and_never_written(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    sample(TASKS[:1], CompletionSampler("m"), Asked(n=1), tmp_path / "s.jsonl")
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


@pytest.mark.torch
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
    from assay.rank.making.local import LocalSampler

    model = LocalSampler(str(folder))
    asked = Asked(n=3, temperature=1.0, max_tokens=8, seed=1)
    found = model.sample("def f():\n", asked)
    assert found == model.sample("def f():\n", asked)
    assert len(found.texts) == 3
    assert len(set(found.texts)) > 1
    assert (found.prompt_tokens, 3 <= found.completion_tokens <= 24) == (9, True)
    greedy = model.sample("x" * 500, Asked(n=2, temperature=0.0, max_tokens=8))
    assert greedy.texts[0] == greedy.texts[1]
    assert model.sample("", Asked(n=1, max_tokens=4)).texts
    with pytest.raises(InputError, match="reads and writes 64 in all"):
        model.sample("x", Asked(max_tokens=64))
    with pytest.raises(InputError, match="no causal language model"):
        LocalSampler(str(tmp_path / "nowhere"))
