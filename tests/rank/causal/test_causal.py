"""A tiny causal model learns programs, and writes some: what is masked, what is kept, what is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("accelerate", reason="the train extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import datasets
from assay.rank.datasets import Example
from assay.rank.samplers import load_template
from assay.train.generator import GeneratorSettings, read_solved, train_generator

SMALL = GeneratorSettings(epochs=2, batch=4, at_once=2, rate=3e-3, length=200, looks=2, valid=0.3)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    rows = [
        {"id": f"t{n}", "prompt": f"Return {n}.", "entry_point": f"f{n}", "reference": f"def f{n}():\n    return {n}\n"}
        for n in range(14)
    ]
    file.write_text("".join(json.dumps({**row, "tests": []}) + "\n" for row in rows))
    return file


def weights(folder: Path):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def same(one: Path, other: Path) -> bool:
    import torch

    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_it_learns_keeps_the_lowest_loss_and_a_run_that_ended_goes_on_to_the_same_weights(causal, tasks, tmp_path):
    record = train_generator((tasks,), f"hf:{causal}", tmp_path / "whole", SMALL, lambda _: None)
    assert record["loss"] == min(look["valid_loss"] for look in record["looks"]) < record["before"]
    said: list[str] = []

    def ending(line: str) -> None:
        said.append(line)
        if line.startswith("step 4"):
            raise KeyboardInterrupt

    other = (tasks,), f"hf:{causal}", tmp_path / "ended"
    with pytest.raises(KeyboardInterrupt):
        train_generator(*other, SMALL, ending)
    with pytest.raises(InputError, match=": rate differ"):
        train_generator(*other, replace(SMALL, rate=1e-2), lambda _: None)
    again = train_generator(*other, SMALL, said.append)
    assert any(line.startswith("going on after step") for line in said)
    assert same(tmp_path / "whole", tmp_path / "ended")
    assert [look["valid_loss"] for look in again["looks"]] == [look["valid_loss"] for look in record["looks"]]
    assert not list((tmp_path / "ended" / "training").glob("checkpoint-*"))
    assert train_generator(*other, SMALL, said.append) == again


def test_matrices_of_a_low_rank_are_trained_and_merged(assay, causal: Path, tasks: Path, tmp_path: Path):
    pytest.importorskip("peft", reason="the train extra is not installed")
    out = tmp_path / "lora"
    small = [f"--set={name}" for name in ("epochs=1", "batch=4", "at_once=2", "rate=1e-2", "length=200", "lora=2")]
    ran = assay("train", "generator", tasks, "--base", f"hf:{causal}", "--out", out, *small, "--set", "valid=0.3")
    assert ran.status == 0, ran.err
    assert "which is kept" in ran.out
    assert weights(out).keys() == weights(causal).keys()
    assert not same(out, causal)
    assert "apps" in (out / "README.md").read_text()


def test_the_tokens_of_the_task_are_not_learned(causal: Path, tasks: Path):
    from assay.train.generator import IGNORED, open_causal, rows_of

    solved = read_solved([tasks], None, load_template("apps"), valid=0.3, most=1, seed=0)
    network, tokenizer = open_causal(str(causal))
    rows, first = rows_of(network, tokenizer, solved.learned, 200), solved.learned[0]
    *learned, end = [label for label in rows[0]["labels"] if label != IGNORED]
    assert tokenizer.decode(learned) == first.program
    assert end == tokenizer.eos_token_id
    assert tokenizer.decode(rows[0]["input_ids"][:-1]) == first.prompt + first.program
    assert rows_of(network, tokenizer, solved.learned, 20) == []


def test_of_a_data_set_rows_to_learn_from_count_where_they_are_correct(tmp_path: Path):
    faults = [Fault.CORRECT, Fault.CORRECT, Fault.CORRECT, Fault.SYNTAX_ERROR]
    examples = [
        Example(f"t{n}", f"t{n}#{k}", f"Task {n}.", f"def f():\n    return {n + k % 2}\n", fault, split=split)
        for n, split in enumerate(["train", "train", "valid", "test"])
        for k, fault in enumerate(faults)
    ]
    datasets.write(tmp_path / "set.jsonl", examples)
    row = {"id": "t3", "prompt": "Task 3.", "entry_point": "f", "reference": "def f():\n    pass\n", "tests": []}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
    files = [tmp_path / "set.jsonl", tmp_path / "tasks.jsonl"]
    solved = read_solved(files, None, load_template("apps"), valid=0.5, most=4, seed=0)
    assert [each.task_id for each in solved.learned] == ["t0", "t0", "t1", "t1"]
    assert [each.task_id for each in solved.valid] == ["t2", "t2"], "those to test on are never learned"
    assert solved.learned[0].program == "def f():\n    return 0\n---"
    assert "define `f`" in solved.learned[0].prompt
    with pytest.raises(InputError, match="which no program begins with: --set template=apps"):
        read_solved(files[:1], None, load_template("plain"), valid=0.5, most=4, seed=0)


def test_settings_and_bases_that_cannot_be_used_are_told(causal: Path, tasks: Path, tmp_path: Path):
    from assay.train.generator import _arguments, fitting

    for wrong in ({"batch": 0}, {"rate": 0.0}, {"valid": 1.0}, {"bf16": "maybe"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            GeneratorSettings(**wrong)
    for base, said in (
        (str(causal), "wanted hf:"),
        (f"hf:{causal}?dtype=bf16", "unknown option 'dtype=bf16'"),
        (f"hf:{tmp_path}/no", "no such folder"),
    ):
        with pytest.raises(InputError, match=said):
            train_generator((tasks,), base, tmp_path / "g", SMALL, lambda _: None)
    assert fitting(GeneratorSettings(batch=4)).at_once == 4
    assert fitting(SMALL) == SMALL
    with pytest.raises(InputError, match="'batch' is 12, which 8 at once do not make up: set at_once=6"):
        fitting(GeneratorSettings(batch=12))
    given = _arguments(tmp_path, replace(SMALL, checkpointing=True), 4)
    assert (given.gradient_checkpointing, given.gradient_checkpointing_kwargs) == (True, {"use_reentrant": False})
