"""Rows of a data set: made, split, mixed, counted, written and read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import datasets, fault_tables
from assay.rank import datasets as splits
from assay.rank.datasets import Example, examples_of, failing_references, without
from assay.report.plain_text import table_lines
from assay.values import Outcome, Program, Task

EXAMPLES = st.builds(
    Example,
    task_id=st.sampled_from(["t1", "t2", "t3"]),
    program_id=st.text("ab#1", max_size=4),
    prompt=st.text('ab\n"é', max_size=8),
    source=st.text('ab\n\t"é\0', max_size=12),
    fault=st.sampled_from(list(Fault)),
    n=st.integers(1, 3),
    model=st.sampled_from(["", "m"]),
    config=st.sampled_from(["", "temperature 0.8"]),
    split=st.sampled_from(["", "train", "valid", "test"]),
).map(lambda each: replace(each, line=2 if each.fault.is_execution else -1))


def row(task: str, fault: Fault = Fault.CORRECT, **more: object) -> Example:
    return Example(task, f"{task}#0", f"prompt of {task}", f"x = {task!r}", fault, **more)  # type: ignore[arg-type]


def test_programs_are_joined_with_their_outcomes_and_undecided_ones_told():
    tasks = [Task("t", "do it")]
    tags = {"model": "m", "temperature": "0.8"}
    programs = [Program("t", "a", "1", 3, tags), Program("t", "b", "2"), Program("t", "c", "3")]
    outcomes = [Outcome("t", "1", Fault.NAME_ERROR, 2), Outcome("t", "2", None, missing="numpy")]
    made = examples_of(tasks, programs, outcomes)
    assert made.examples == (Example("t", "1", "do it", "a", Fault.NAME_ERROR, 2, 3, "m", "temperature 0.8"),)
    assert [str(problem) for problem in made.problems] == [
        "2: undecided, left out: missing module numpy",
        "3: it has no outcome: run assay exec on these samples",
    ]
    twins = [Program("t", "a", "1"), Program("t", "b", "1")]
    outcomes = [Outcome("t", "1", Fault.CORRECT), Outcome("t", "1", Fault.KEY_ERROR, 1)]
    assert [each.fault for each in examples_of(tasks, twins, outcomes).examples] == [Fault.CORRECT, Fault.KEY_ERROR]
    made = examples_of(tasks, twins[:1], outcomes)
    assert made.examples == ()
    assert "several outcomes of this id differ" in made.problems[0].what


def test_labels_are_derived_from_the_fault():
    assert row("t", Fault.INDEX_ERROR, line=4).labels() == {
        "binary": "wrong",
        "ternary": "execution error",
        "intent": "execution error",
        "execution": "IndexError",
        "error_line": 4,
    }
    assert row("t", Fault.LENGTH_ERROR, line=4).labels()["error_line"] == -1


def test_tasks_whose_reference_fails_are_dropped_with_the_reason():
    failing = failing_references(
        [Outcome("a", "", Fault.CORRECT), Outcome("b", "", Fault.TIMEOUT), Outcome("c", "", None, detail="no tests")]
    )
    assert failing == {"b": "timeout", "c": "undecided: no tests"}
    assert [task.id for task in without([Task("a", ""), Task("b", "")], failing)] == ["a"]


@settings(max_examples=60)
@given(st.lists(EXAMPLES, min_size=1, max_size=12), st.integers(0, 50))
def test_no_task_is_ever_on_two_sides(examples: list[Example], seed: int):
    made = splits.split(examples, valid=0.4, test=0.3, seed=seed)
    assert not splits.leaks(made)
    sides = {}
    for each in made:
        prompt = " ".join(each.prompt.split())
        if prompt:
            assert sides.setdefault(prompt, each.split) == each.split
    valid = {each.task_id for each in made if each.split == "valid"}
    solved = {" ".join(e.prompt.split()) for e in made if e.fault is Fault.CORRECT} | {
        e.task_id for e in made if e.fault is Fault.CORRECT
    }
    assert [replace(each, split="") for each in made] == [replace(each, split="") for each in examples]
    if len({each.task_id for each in examples}) == 1:
        assert not valid or solved


def test_the_side_of_a_task_does_not_depend_on_what_else_is_there_and_validation_has_correct_programs():
    examples = [row(f"t{n}") for n in range(40)]
    sides = {each.task_id: each.split for each in splits.split(examples, valid=0.3)}
    fewer = splits.split(examples[::-3], valid=0.3)
    assert all(each.split == sides[each.task_id] for each in fewer)
    assert 3 < sum(side == "valid" for side in sides.values()) < 25
    with pytest.raises(InputError, match="fractions"):
        splits.split(examples, valid=0.7, test=0.5)
    mixed = [row(f"t{n}", Fault.CORRECT if n % 2 else Fault.TYPE_ERROR) for n in range(60)]
    valid = {each.fault for each in splits.split(mixed, valid=0.5, seed=1) if each.split == "valid"}
    assert valid == {Fault.CORRECT}


def test_a_fraction_of_the_training_tasks_is_rounded_up():
    rows = [row(f"t{number}", split="train") for number in range(3)] + [row("kept", split="test")]
    assert [len(splits.fewer_tasks(rows, fraction)) - 1 for fraction in (0.1, 0.5, 1.0)] == [1, 2, 3]


def test_a_small_mix_is_as_large_as_one_set_and_a_large_one_has_all():
    sets = {name: [row(f"{name}{n}") for n in range(40)] for name in ("a", "b", "c", "d")}
    small = splits.mix(sets, "small", seed=3)
    assert len(small) == 40
    assert all(sum(each.task_id.startswith(name) for each in small) == 10 for name in sets)
    assert small == splits.mix(sets, "small", seed=3) != splits.mix(sets, "small", seed=4)
    assert len(splits.mix(sets, "large")) == 160
    with pytest.raises(InputError, match="wanted small or large"):
        splits.mix(sets, "medium")


def test_classes_are_counted_as_often_as_programs_were_sampled():
    examples = [
        row("a", split="train", n=3),
        row("a", Fault.KEY_ERROR, split="train", n=2),
        row("b", Fault.INT_SMALL_ERROR, split="valid"),
    ]
    train, valid = fault_tables.sides(examples)
    assert (train.tasks, train.solved, train.samples, train.kinds()) == (1, 1, 5, (3, 0, 2))
    assert (valid.name, valid.solved, valid.kinds()) == ("valid", 0, (0, 1, 0))
    text = "\n".join(line for table in fault_tables.tables((train, valid)) for line in table_lines(table))
    assert "KeyError" in text
    assert "40.0%" in text
    assert fault_tables.tables_as_json((train,))[0]["classes"]["KeyError"] == 2


@settings(max_examples=30)
@given(st.lists(EXAMPLES, min_size=1, max_size=8))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, examples: list[Example]):
    path = tmp_path_factory.mktemp("sets") / "set.jsonl"
    datasets.write(path, examples)
    read = datasets.read(path)
    assert list(read.examples) == examples
    assert not read.problems


def test_bad_rows_are_named_and_the_rest_counts(tmp_path: Path):
    good = row("t").record()
    bad = [
        {**good, "fault": "Boom"},
        {**good, "n": 0},
        {**good, "line": -7},
        {**good, "split": "dev"},
        {"task_id": "t"},
    ]
    lines = [json.dumps(each) for each in (good, *bad)] + ["{", "3"]
    (tmp_path / "set.jsonl").write_text("\n".join(lines))
    read = datasets.read(tmp_path / "set.jsonl")
    assert read.examples == (row("t"),)
    assert {problem.where for problem in read.problems} == {f"set.jsonl:{number}" for number in range(2, 9)}
    (tmp_path / "none.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"none.jsonl' has no usable row: none.jsonl:1"):
        datasets.read(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="no such file"):
        datasets.read(tmp_path / "nowhere")
    pytest.importorskip("pyarrow", reason="the bench extra is not installed")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="cannot read"):
        datasets.read(tmp_path / "bad.parquet")


def test_a_dataset_is_written_to_a_file_alone(tmp_path: Path):
    with pytest.raises(InputError, match=r"give a file that ends in \.jsonl or \.parquet"):
        datasets.check_place(tmp_path / "set")


def test_rows_of_coderanker_need_no_task_and_may_say_less(tmp_path: Path):
    rows = [
        {"prompt": "p", "completion": "x", "binary_label": "Correct"},
        {"prompt": "p", "completion": "y", "ternary_label": "intent error"},
        {"prompt": "q", "completion": "z", "ternary_label": "Execution error", "execution_error_label": "Misc"},
        {"prompt": "q", "completion": "z", "binary_label": "Wrong"},
        {"prompt": "r", "completion": "w", "ternary_label": "Execution error", "execution_error_label": "Oddness"},
    ]
    (tmp_path / "val.json").write_text("\n".join(map(json.dumps, rows)))
    read = datasets.read(tmp_path)
    assert [each.fault for each in read.examples] == [Fault.CORRECT, Fault.INTENT_OTHER, *[Fault.EXECUTION_OTHER] * 2]
    assert [each.split for each in read.examples] == ["valid"] * 4
    assert read.examples[0].task_id == read.examples[1].task_id != read.examples[2].task_id
    assert str(read.problems[0]).startswith("val.json:4: its labels")
    assert str(read.problems[1]).startswith("val.json:5: execution_error_label 'oddness' is unknown, read as ")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without"):
        datasets.read(tmp_path / "empty")
