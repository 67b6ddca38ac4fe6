"""A tiny causal model learns programs: what is masked, what is kept, and a run that was killed and went on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("accelerate", reason="the train extra is not installed")

from assay.assemble.generator_files import GeneratorPlan, train_generator
from assay.errors import InputError
from assay.faults import Fault
from assay.rank.causal.generator_settings import GeneratorSettings
from assay.rank.causal.solved_tasks import read_solved
from assay.rank.dataset import dataset_formats
from assay.rank.dataset.examples import Example
from assay.rank.sampling.prompt_templates import load_template

SMALL = GeneratorSettings(epochs=4, batch=4, at_once=2, rate=3e-3, length=200, looks=4, valid=0.3)


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


def test_it_learns_keeps_the_lowest_loss_and_a_killed_run_goes_on_to_the_same_weights(
    assay, causal: Path, tasks: Path, tmp_path: Path
):
    plan = GeneratorPlan((tasks,), f"hf:{causal}", tmp_path / "whole")
    record = train_generator(plan, SMALL, lambda _: None)
    assert record["loss"] < record["before"]
    assert record["loss"] == min(look["valid_loss"] for look in record["looks"])
    said: list[str] = []

    def killing(line: str) -> None:
        said.append(line)
        if line.startswith("step 6"):
            raise KeyboardInterrupt

    other = GeneratorPlan((tasks,), f"hf:{causal}", tmp_path / "killed")
    with pytest.raises(KeyboardInterrupt):
        train_generator(other, SMALL, killing)
    with pytest.raises(InputError, match=": rate differ"):
        train_generator(other, replace(SMALL, rate=1e-2), lambda _: None)
    again = train_generator(other, SMALL, said.append)
    assert any(line.startswith("going on after step") for line in said)
    assert same(tmp_path / "whole", tmp_path / "killed")
    assert [look["valid_loss"] for look in again["looks"]] == [look["valid_loss"] for look in record["looks"]]
    assert not list((tmp_path / "killed" / "training").glob("checkpoint-*"))
    assert train_generator(other, SMALL, said.append) == again
    ran = assay("rank", "sample", tasks, "--model", f"hf:{tmp_path / 'whole'}", "--template", "apps", "--n", "1",
                "--max-tokens", "16", "--limit-tasks", "2", "--out", tmp_path / "s.jsonl")  # fmt: skip
    assert ran.status == 0, ran.err


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
    from assay.encode.model_options import ModelOptions
    from assay.rank.causal.causal_model import CausalModel
    from assay.rank.causal.generator_trainer import IGNORED, collated
    from assay.rank.causal.tune_generator import rows_of

    solved = read_solved([tasks], None, load_template("apps"), valid=0.3, most=1, seed=0)
    model = CausalModel(str(causal), ModelOptions(device="cpu"))
    rows, first = rows_of(model, solved.learned, SMALL), solved.learned[0]
    learned = [label for label in rows[0]["labels"] if label != IGNORED]
    assert model.text_of(learned) == first.program
    assert learned[-1] == model.tokenizer.eos_token_id
    assert model.text_of(rows[0]["input_ids"]) == first.prompt + first.program
    batch = collated(model, rows[:3])
    assert (batch["labels"] == IGNORED).sum() > batch["attention_mask"].logical_not().sum()
    assert rows_of(model, solved.learned, GeneratorSettings(length=20)) == []


def test_rows_of_a_data_set_count_where_they_are_correct(tmp_path: Path):
    examples = [
        Example(f"t{n}", f"t{n}#{k}", f"Task {n}.", f"def f():\n    return {n + k % 2}\n", fault, split=split)
        for n, split in enumerate(["train", "train", "valid"])
        for k, fault in enumerate([Fault.CORRECT, Fault.CORRECT, Fault.CORRECT, Fault.SYNTAX_ERROR])
    ]
    dataset_formats.write(tmp_path / "set.jsonl", examples)
    solved = read_solved([tmp_path / "set.jsonl"], None, load_template("apps"), valid=0.5, most=4, seed=0)
    assert [each.task_id for each in solved.learned] == ["t0", "t0", "t1", "t1"]
    assert [each.task_id for each in solved.valid] == ["t2", "t2"]
    assert solved.learned[0].program == "def f():\n    return 0\n---"
    assert "define `f`" in solved.learned[0].prompt
    with pytest.raises(InputError, match="which no program begins with: --set template=apps"):
        read_solved([tmp_path / "set.jsonl"], None, load_template("plain"), valid=0.5, most=4, seed=0)


def test_rows_to_test_on_are_never_learned(tmp_path: Path):
    examples = [
        Example(f"t{n}", f"t{n}#0", f"Task {n}.", f"def f():\n    return {n}\n", Fault.CORRECT, split=split)
        for n, split in enumerate(["train"] * 12 + [""] * 12 + ["test"] * 12)
    ]
    dataset_formats.write(tmp_path / "set.jsonl", examples)
    solved = read_solved([tmp_path / "set.jsonl"], None, load_template("apps"), valid=0.5, most=4, seed=0)
    assert {each.task_id for each in (*solved.learned, *solved.valid)} == {f"t{n}" for n in range(24)}
    references = tmp_path / "tasks.jsonl"
    row = {"id": "t30", "prompt": "Task 30.", "entry_point": "f", "reference": "def f():\n    pass\n", "tests": []}
    references.write_text(json.dumps(row) + "\n")
    files = [tmp_path / "set.jsonl", references]
    more = read_solved(files, None, load_template("apps"), valid=0.5, most=4, seed=0)
    assert (more.learned, more.valid) == (solved.learned, solved.valid)


def test_settings_and_bases_that_cannot_be_used_are_told(causal: Path, tasks: Path, tmp_path: Path):
    for wrong in ({"batch": 0}, {"rate": 0.0}, {"valid": 1.0}, {"bf16": "maybe"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            GeneratorSettings(**wrong)
    with pytest.raises(InputError, match="wanted hf:"):
        train_generator(GeneratorPlan((tasks,), str(causal), tmp_path / "g"), SMALL, lambda _: None)
    with pytest.raises(InputError, match="unknown option 'dtype=bf16'"):
        train_generator(GeneratorPlan((tasks,), f"hf:{causal}?dtype=bf16", tmp_path / "g"), SMALL, lambda _: None)
    with pytest.raises(InputError, match="no such folder"):
        train_generator(GeneratorPlan((tasks,), f"hf:{tmp_path}/no", tmp_path / "g"), SMALL, lambda _: None)


def test_a_step_has_as_many_programs_as_the_settings_say():
    from assay.rank.causal.generator_trainer import fitting

    assert fitting(GeneratorSettings(batch=4)).at_once == 4
    assert fitting(SMALL) == SMALL
    with pytest.raises(InputError, match="'batch' is 12, which 8 at once do not make up: set at_once=6"):
        fitting(GeneratorSettings(batch=12))


def test_gradients_are_computed_again_without_reentering(tmp_path: Path):
    from assay.rank.causal.generator_trainer import _arguments

    given = _arguments(tmp_path, replace(SMALL, checkpointing=True), 4)
    assert (given.gradient_checkpointing, given.gradient_checkpointing_kwargs) == (True, {"use_reentrant": False})
