"""A causal model on this machine writes: rows of several prompts, stop sequences, and what it thought of each token."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import InputError, ModelUnavailable
from assay.rank.causal.open_causal import open_local_sampler, open_scorer
from assay.rank.sampling.model_answers import Completions, SamplingOptions, SamplingQuestion
from assay.types import Task

ASKED = SamplingOptions(n=3, temperature=1.0, top_p=1.0, max_tokens=24, seed=1, logprobs=True)


def ask(model, options: SamplingOptions, *prompts: str) -> list[Completions]:
    return model.sample([SamplingQuestion(prompt, options) for prompt in prompts])


@pytest.fixture(scope="module")
def model(causal: Path):
    return open_local_sampler(f"{causal}?batch=4&device=cpu")


def test_it_goes_on_where_prompts_end_and_the_same_question_gets_the_same_answer(model):
    first, second = ask(model, ASKED, "def f():\n", "a much longer prompt than the other one\n")
    assert [first, second] == ask(model, ASKED, "def f():\n", "a much longer prompt than the other one\n")
    assert len(set(first.texts)) == len(first.texts) == 3
    assert (first.prompt_tokens, second.prompt_tokens) == (9, 40)
    assert 3 <= first.completion_tokens <= 72


def test_greedy_rows_of_several_prompts_are_those_of_each_alone(model):
    greedy = replace(ASKED, temperature=0.0, n=2)
    prompts = ["x", "def f(a, b):\n", ""]
    together = ask(model, greedy, *prompts)
    assert [each.texts for each in together] == [ask(model, greedy, prompt)[0].texts for prompt in prompts]
    assert all(each.texts[0] == each.texts[1] for each in together)


def test_log_probabilities_are_those_that_scoring_finds(model, causal: Path):
    (found,) = ask(model, ASKED, "def f():\n")
    scorer = open_scorer(str(causal))
    for text, logprob in zip(found.texts, found.logprobs, strict=True):
        if text.isascii():  # other bytes are not one text
            (again,) = scorer.logprobs(Task("t", "def f():\n"), ["def f():\n" + text])
            assert again.total == pytest.approx(logprob.total, abs=1e-3)
            assert again.tokens == logprob.tokens
    (without,) = ask(model, replace(ASKED, logprobs=False), "def f():\n")
    assert (without.texts, without.logprobs) == (found.texts, ())


def test_a_row_ends_at_a_stop_sequence_and_counts_the_tokens_up_to_it(model):
    greedy = replace(ASKED, temperature=0.0, n=1)
    (free,) = ask(model, greedy, "def f():\n")
    text = free.texts[0]
    stop = text[10:12]
    at = text.index(stop)
    (stopped,) = ask(model, replace(greedy, stop=("never in it", stop)), "def f():\n")
    assert stopped.texts == (text[:at],)
    if text.isascii():
        assert (stopped.completion_tokens, stopped.logprobs[0].tokens) == (at + len(stop), at)


def test_prompts_longer_than_the_window_are_read_from_their_end(model):
    (long,) = ask(model, replace(ASKED, n=1), "x" * 900)
    assert long.prompt_tokens == 256 - 24
    with pytest.raises(InputError, match="reads and writes 256 in all"):
        ask(model, replace(ASKED, max_tokens=256), "x")


def test_options_are_checked_and_those_that_change_answers_are_named(causal: Path):
    assert open_local_sampler(f"{causal}?batch=64&dtype=fp32").name == f"hf:{causal}?dtype=fp32"
    with pytest.raises(InputError, match="unknown option 'pooling=mean'"):
        open_local_sampler(f"{causal}?pooling=mean")
    with pytest.raises(InputError, match="needs its model"):
        open_local_sampler("")


def test_a_model_that_is_not_there_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("transformers", reason="the hf extra is not installed")
    with pytest.raises(InputError, match="there is no such folder"):
        open_local_sampler(str(tmp_path / "nowhere"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    began = time.process_time()
    with pytest.raises(ModelUnavailable, match="give a folder"):
        open_scorer("nobody/nothing")
    assert time.process_time() - began < 3


def test_the_command_samples_with_it_and_ranks_by_what_it_thought(assay, causal: Path, tmp_path: Path):
    tasks, out = tmp_path / "tasks.jsonl", tmp_path / "s.jsonl"
    rows = [{"id": f"t{n}", "prompt": f"def f{n}():\n", "entry_point": f"f{n}", "tests": []} for n in range(3)]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sampled = ["rank", "sample", tasks, "--model", f"hf:{causal}", "--n", "2", "--max-tokens", "8", "--out", out]
    ran = assay(*sampled)
    assert ran.status == 0, ran.err
    assert "no log-probability" not in ran.out
    assert "6 samples in 3 requests" in ran.out
    refused = assay(*sampled, "--in-flight", "4")
    assert refused.status == 2
    assert "--in-flight is for endpoints" in refused.err
    for spec in ("logprob", "logprob:sum", f"logprob:hf:{causal}"):
        ranked = assay("rank", out, "--tasks", tasks, "--ranker", spec, "--format", "jsonl")
        assert ranked.status == 0, ranked.err
        rank = [json.loads(line) for line in ranked.out.splitlines()]
        assert len(rank) == 6


def test_a_prompt_that_many_rows_have_is_read_once(causal: Path, monkeypatch: pytest.MonkeyPatch):
    from assay.rank.causal.causal_model import CausalModel

    greedy = replace(ASKED, temperature=0.0)
    task, sources = Task("t", "def f():\n"), ["    return 1\n", "pass", "a longer one that needs more tokens\n"]
    scorer, model = open_scorer(str(causal)), open_local_sampler(f"{causal}?batch=8")
    rows = [[5, 6, 7], [5, 6, 7], [9]]
    if not scorer._causal.network._supports_default_dynamic_cache():
        pytest.skip("this version of transformers keeps what GPT-2 read in another form")
    assert scorer._causal.read_once(rows) is not None
    assert scorer._causal.read_once(rows[1:]) is None
    shared = scorer.logprobs(task, sources), model._write([*rows, *rows], greedy)
    monkeypatch.setattr(CausalModel, "read_once", lambda *_: None)
    alone = scorer.logprobs(task, sources), model._write([*rows, *rows], greedy)
    for one, other in zip(
        shared[0] + [each.logprob for each in shared[1]], alone[0] + [each.logprob for each in alone[1]], strict=True
    ):
        assert one.total == pytest.approx(other.total, abs=1e-3)
        assert one.tokens == other.tokens
    assert [each.text for each in shared[1]] == [each.text for each in alone[1]]


def test_one_row_at_a_time_is_one(causal: Path, monkeypatch: pytest.MonkeyPatch):
    model, sizes = open_local_sampler(f"{causal}?batch=1&device=cpu"), []
    write = model._write
    monkeypatch.setattr(model, "_write", lambda prompts, asked: sizes.append(len(prompts)) or write(prompts, asked))
    ask(model, ASKED, "def f():\n", "x")
    assert sizes == [1] * 6
    assert model.at_once > 1  # or several threads would share it
