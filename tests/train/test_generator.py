"""A generator of programs, tuned on right ones: what it learns from, what it keeps, and that it writes them after."""
# ruff: noqa: E402  what may be missing is asked for before it is imported

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("accelerate", reason="the train extra is not installed")
torch = pytest.importorskip("torch", reason="the train extra is not installed")
transformers = pytest.importorskip("transformers", reason="the train extra is not installed")

from assay.rank.datasets import Example
from assay.rank.samplers import load_template, render
from assay.runs.record import read_lines
from assay.train.generator import IGNORED, tokens_of
from assay.values import Task
from byte_level import byte_level

QUICK = [f"--set={each}" for each in ("rate=0.01", "epochs=30", "batch=8", "looks=6", "valid=0.2")]


def row(number: int) -> dict[str, object]:
    asked = {"id": f"t{number}", "prompt": f"Return {number}.", "entry_point": "f"}
    return {**asked, "reference": "def f():\n    return 7\n", "tests": [{"script": "assert True"}]}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a Llama of random weights with no token to pad with, in half precision."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder, ends = tmp_path / "base", {"eos_token": "<|end|>", "unk_token": "<|end|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), **ends).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.LlamaConfig(vocab_size=257, num_key_value_heads=1, max_position_embeddings=200, **sizes)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    file = tmp_path / "tasks.jsonl"
    long = {**row(99), "reference": "def f():\n    return 7\n" + "# long\n" * 90}
    file.write_text("".join(f"{json.dumps(each)}\n" for each in [*map(row, range(40)), long]))
    return file


def test_the_prompt_is_read_and_the_program_is_learned() -> None:
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="<|end|>")
    made = tokens_of(Example("t", "", "ab", "cd", None), tokenizer)
    assert tokenizer.decode(made["input_ids"]) == "abcd<|end|>"
    assert made["labels"] == [IGNORED, IGNORED, *made["input_ids"][2:]]


def test_it_writes_what_it_learned_and_never_saw_what_it_is_tested_on(
    assay: Callable, base: Path, tasks: Path, tmp_path: Path
) -> None:
    out, test = tmp_path / "out", tmp_path / "test.jsonl"
    test.write_text("".join(f"{json.dumps({**row(number), 'id': f'other{number}'})}\n" for number in range(5)))
    learn = ("train", "generator", "--base", f"hf:{base}", "--data", tasks, "--out", out, *QUICK)
    ran = assay(*learn, "--leave-out", test)
    assert ran.status == 2, "a right program that every task has makes all of them tasks of the test"
    rows = [{**row(number), "reference": f"def f():\n    return {number}\n"} for number in range(40)]
    tasks.write_text(tasks.read_text().splitlines()[-1] + "\n" + "".join(f"{json.dumps(each)}\n" for each in rows))
    test.write_text("".join(f"{json.dumps({**each, 'id': each['prompt']})}\n" for each in rows[:5]))
    ran = assay(*learn, "--leave-out", test)
    assert ran.status == 0, ran.err
    assert "36 right programs; 5 of tasks to test on are left out" in ran.out + ran.err
    assert "; 1 of over 200 tokens left out" in ran.out + ran.err
    about = json.loads((out / "training.json").read_text())
    looks = [*read_lines(out / "training" / "looks.jsonl")]
    kept = min(looks, key=lambda look: look["valid_loss"])
    assert (about["step"], about["loss"]) == (kept["step"], kept["valid_loss"])
    assert about["loss"] < about["before"] / 4
    card = (out / "README.md").read_text()
    assert re.search(r"on \d+ right programs of tasks.jsonl; 1 were longer", card), card
    assert not list((out / "training").glob("checkpoint-*"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    network = transformers.AutoModelForCausalLM.from_pretrained(out)
    prompt = render(load_template("apps"), Task("t", "Return 9.", entry_point="f"))
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    written = tokenizer.decode(network.generate(ids, max_new_tokens=40, do_sample=False)[0, ids.shape[1] :])
    assert written.startswith("def f():\n    return "), written
    assert assay(*learn, "--leave-out", test).status == 0, "a finished run says so"
    assert "programs, seed (0, now 1) differ; give another --out, or --fresh" in assay(*learn, "--set", "seed=1").err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--data {}/tasks.jsonl --template few-shot", "few-shot shows solved tasks"),
        ("--data {}/set.jsonl", "no task 'none', of which there are programs: give its file with --data, too"),
        ("--data {}/tasks.jsonl --set length=10", "0 programs of at most 10 tokens to learn, and 0 to choose by"),
        ("--data {}/tasks.jsonl --base hf:nowhere", "nowhere"),
        ("--data {}/tasks.jsonl --base hf:{}/bert", "is BertForMaskedLM, wanted a causal language model"),
    ],
)
def test_what_nothing_can_be_learned_from_is_said(
    assay: Callable, base: Path, tasks: Path, options: str, why: str
) -> None:
    there = tasks.parent
    config = transformers.BertConfig(vocab_size=257, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
    transformers.BertForMaskedLM(config).save_pretrained(there / "bert")
    transformers.AutoTokenizer.from_pretrained(base).save_pretrained(there / "bert")
    (there / "set.jsonl").write_text(json.dumps({"task_id": "none", "source": "x = 1\n", "fault": "correct"}) + "\n")
    ran = assay(
        "train", "generator", "--base", f"hf:{base}", "--out", there / "out", *options.replace("{}", str(there)).split()
    )
    assert (ran.status, why in ran.err) == (2, True), ran.err
