"""Rows of a data set and pools of samples: made, split, counted, written and read."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import datasets, fault_tables
from assay.rank import datasets as splits
from assay.rank.datasets import Example, examples_of, failing_references, without, without_examples
from assay.rank.rankers import LogprobRanker, notes, notes_on_order, read
from assay.report.plain_text import table_lines
from assay.values import LogProbability, Outcome, Program, Ranked, Task

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


def test_labels_come_from_the_fault_and_tasks_whose_reference_fails_are_dropped():
    assert row("t", Fault.INDEX_ERROR, line=4).labels() == {
        "binary": "wrong",
        "ternary": "execution error",
        "intent": "execution error",
        "execution": "IndexError",
        "error_line": 4,
    }
    assert row("t", Fault.LENGTH_ERROR, line=4).labels()["error_line"] == -1
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
    assert [replace(each, split="") for each in made] == [replace(each, split="") for each in examples]


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


def test_a_small_mix_is_as_large_as_one_set_and_a_large_one_has_all():
    sets = {name: [row(f"{name}{n}") for n in range(40)] for name in ("a", "b", "c", "d")}
    small = splits.mix(sets, "small", seed=3)
    assert len(small) == 40
    assert all(sum(each.task_id.startswith(name) for each in small) == 10 for name in sets)
    assert small == splits.mix(sets, "small", seed=3) != splits.mix(sets, "small", seed=4)
    assert len(splits.mix(sets, "large")) == 160
    with pytest.raises(InputError, match="wanted small or large"):
        splits.mix(sets, "medium")
    rows = [row(f"t{number}", split="train") for number in range(3)] + [row("kept", split="test")]
    assert [len(splits.fewer_tasks(rows, fraction)) - 1 for fraction in (0.1, 0.5, 1.0)] == [1, 2, 3]


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
    bad = [{**good, **wrong} for wrong in ({"fault": "Boom"}, {"n": 0}, {"line": -7}, {"split": "dev"})]
    bad.append({"task_id": "t"})
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
    with pytest.raises(InputError, match=r"give a file that ends in \.jsonl or \.parquet"):
        datasets.check_place(tmp_path / "set")
    pytest.importorskip("pyarrow", reason="the bench extra is not installed")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="cannot read"):
        datasets.read(tmp_path / "bad.parquet")


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


STRIPPED = (
    ('def f(x):\n    """Add one.\n    >>> f(1)\n    2\n    """\n', 'def f(x):\n    """Add one.\n    """\n'),
    ('def f(x):\n    """Add one.\n    >>> f(1)\n    2"""\n', 'def f(x):\n    """Add one.\n    """\n'),
    (
        'def f(x):\n    """Add one.\n\n    For example:\n    f(1) == 2\n    f(2) == 3\n    """\n',
        'def f(x):\n    """Add one.\n\n    """\n',
    ),
    ("Add one.\nassert f(1) == 2\nassert f(2) == 3", "Add one."),
    ("Add.\n\n-----Input-----\nA number.\n\n-----Sample Input-----\n1\n\n-----Note-----\nAll fits.", None),
    ("Add.\n\nExamples:\n```\nf(1) # 2\n\nf(2) # 3\n```\nIt is easy.", "Add.\n\nIt is easy."),
    ("Add.\n\nInput\n\nA number.\n\nExample\n\nInput\n\n1\n\nOutput\n\n2\n\nNote\n\nIt is easy.", None),
    ("f(1) => 2\nf(2); => 3\nDo not forget 0.", "Do not forget 0."),
    ("A task in words: an example of a good name is foo.", "A task in words: an example of a good name is foo."),
    ("", ""),
)


def test_examples_of_a_prompt_go_and_the_rest_stays():
    for prompt, stripped in STRIPPED:
        found = without_examples(prompt)
        if stripped is not None:
            assert found == stripped
        else:
            assert "A number." in found
            assert "\n1\n" not in found
            assert "\n2\n" not in found
            assert found.endswith(("All fits.", "It is easy."))
    prompt = (
        "import math\n\ndef g(x):\n    return math.sqrt(x)\n\n\ndef f(x):\n"
        "    '''Use g.\n    Example:\n    f(4) -> 2\n    '''\n"
    )
    found = without_examples(prompt)
    ast.parse(found)
    assert "return math.sqrt(x)" in found
    assert "f(4)" not in found


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_samples_are_grouped_by_what_they_name_or_are_one_tasks_candidates(tmp_path: Path):
    file = written(
        tmp_path / "s.jsonl",
        {"task_id": "a", "code": "x = 1", "n": 2, "model": "m"},
        {"task_id": "b", "completion": "    return 1\n\nprint(2", "prompt": "def f():\n"},
        {"task_id": "a", "solution": "x = 2", "prompt": "Set x.", "entry_point": "x"},
    )
    pools = dict(iter(read(file)))
    a, b = pools
    assert (a.prompt, a.entry_point, b.prompt) == ("Set x.", "x", "def f():\n")
    assert [(each.source, each.n) for each in pools[a]] == [("x = 1", 2), ("x = 2", 1)]
    assert pools[b][0].source == "def f():\n    return 1\n"
    pools = read(written(tmp_path / "tries.jsonl", {"code": "x"}, {"code": "y"}))
    assert [(task.id, len(programs)) for task, programs in pools] == [("tries", 2)]
    assert [each.id for each in pools.programs] == ["tries#0", "tries#1"]


def test_a_folder_of_python_files_is_one_tasks_candidates(tmp_path: Path):
    (tmp_path / "b.py").write_bytes(b"x = 1\r\n")
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    (tmp_path / "notes.txt").write_text("no program")
    pools = read(tmp_path)
    assert [(each.id, each.source) for each in pools.programs] == [("a.py", "x = '�'\n"), ("b.py", "x = 1\n")]
    assert [problem.what for problem in pools.problems] == ["not UTF-8: what cannot be read of it is replaced"]
    assert len(read(tmp_path / "b.py").programs) == 1
    with pytest.raises(InputError, match="TASKS has 2"):
        read(tmp_path, [Task("a", ""), Task("b", "")])


def test_bad_rows_are_named_and_a_pool_of_nothing_is_an_error(tmp_path: Path):
    rows = ({"code": "x"}, "{", {"task_id": "b"}, {"completion": "  x"}, {"code": 3}, {"code": "y", "n": 0})
    file = written(tmp_path / "s.jsonl", *rows)
    assert [problem.where for problem in read(file).problems] == [f"s.jsonl:{row}" for row in range(2, 7)]
    for empty, why in (("", "is empty"), ("[]", "has no program"), ('{"task_id": "a"}', r"s.jsonl:1: no program")):
        with pytest.raises(InputError, match=why):
            read(written(tmp_path / "s.jsonl", empty))
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"without a \.py file"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere")


def test_with_tasks_samples_of_others_are_counted(tmp_path: Path):
    file = written(tmp_path / "s.jsonl", {"task_id": "t/1", "completion": "1"}, {"task_id": "u/2", "code": "x"})
    pools = read(file, [Task("t/1", "x = ")])
    assert [each.source for each in pools.programs] == ["x = 1"]
    assert str(pools.problems[-1]) == "s.jsonl: 1 samples are of tasks that are not in TASKS"
    (tmp_path / "HumanEval_0").mkdir()
    (tmp_path / "HumanEval_0" / "0.py").write_text("x = 1\n")
    for tasks in (None, [Task("HumanEval/0", "Set x.")]):
        assert [(each.task_id, each.source) for each in read(tmp_path, tasks).programs] == [("HumanEval/0", "x = 1\n")]


def test_pools_without_an_order_are_told():
    def said(*sources: str) -> list[str]:
        return [note.what for note in notes(Task("t", ""), [Program("t", source) for source in sources])]

    assert said("x = 1", "x = 2") == []
    assert said("x = 1") == ["one program: it is scored, there is nothing to order"]
    assert said("x = 1", "x = 1") == ["all 2 programs are the same text: any order is as good"]
    [unread] = said("x =", "int main() {", "\0")
    assert unread.startswith("none of 3 programs parses as Python, so this order means little; ")
    assert unread.endswith("give --ranker 'consensus:?unfinished'")
    assert len(said("(", "(")) == 2


TASK = Task("t", "Add.")
LONG, SHORT = LogProbability(-6.0, 6), LogProbability(-4.0, 2)
PROGRAMS = [Program("t", "long", "t#0", logprob=LONG), Program("t", "short", "t#1", logprob=SHORT)]


def test_log_probabilities_order_programs_and_missing_ones_are_refused():
    mean, total = LogprobRanker("").rank(TASK, PROGRAMS), LogprobRanker("sum").rank(TASK, PROGRAMS)
    assert [each.score for each in mean] == [-1.0, -2.0]
    assert [each.score for each in total] == [-6.0, -4.0]
    assert mean[0].why == {"mean": -1.0, "sum": -6.0, "tokens": 6.0}
    assert [LogprobRanker(text).name for text in ("", "mean", "sum")] == ["logprob", "logprob", "logprob:sum"]
    for spec in ("", "sum"):
        none = Program("t", "", "t#2", logprob=LogProbability(0.0, 0))
        *others, last = LogprobRanker(spec).rank(TASK, [*PROGRAMS, none])
        assert last.score < min(each.score for each in others), "an answer without tokens comes last"
        assert [each.score for each in LogprobRanker(spec).rank(TASK, [none])] == [-1.0]
    with pytest.raises(InputError, match=r"1 of 3 samples of t have no log-probability, t#2 .* 'assay rank sample'"):
        LogprobRanker("").rank(TASK, [*PROGRAMS, Program("t", "other", "t#2")])
    for spec in ("median", "hf:", "sum:chat:m"):
        with pytest.raises(InputError, match="wanted logprob or logprob:sum"):
            LogprobRanker(spec)


def test_samples_and_data_sets_keep_log_probabilities_and_wrong_ones_are_told(tmp_path: Path):
    examples = [
        Example("t", "t#0", "Add.", "long", Fault.CORRECT),
        Example("t", "t#1", "Add.", "short", Fault.SYNTAX_ERROR, 1, logprob=LogProbability(-4.0, 2, "answer")),
    ]
    for name in ("set.jsonl", *(["set.parquet"] if find_spec("pyarrow") else [])):
        datasets.write(tmp_path / name, examples)
        again = datasets.read(tmp_path / name)
        assert (list(again.examples), again.problems) == (examples, ())
        assert again.examples[1].program.logprob == LogProbability(-4.0, 2, "answer")
    rows = [
        {"code": "a", "logprob_sum": -4.0, "logprob_mean": -2.0, "logprob_tokens": 2},
        {"code": "b", "logprob_sum": "much", "logprob_tokens": 2},
        {"code": "c", "logprob_sum": -1.0},
        {"code": "d"},
    ]
    found = read(written(tmp_path / "s.jsonl", *({"task_id": "t", **row} for row in rows)))
    assert [program.logprob for program in found.programs] == [SHORT, None]
    assert [str(problem) for problem in found.problems] == [
        "s.jsonl:2: field 'logprob_sum' is 'much', wanted a number from -1e+09 to 0",
        "s.jsonl:3: no field 'logprob_tokens'",
    ]


def test_what_an_order_does_not_say_is_said():
    programs = [Program("t", source, str(at)) for at, source in enumerate(("x = 1\n", "x = 2\n"))]
    equal = [Ranked(program, 1.0) for program in programs]
    assert [note.what for note in notes_on_order(Task("t", "Do it."), equal, ["examples", "consensus"])] == [
        "its text shows no example that can be run: examples holds all programs equal",
        "2 different programs share the first place: any is as good",
    ]
    shown = Task("t", "Read a number.\n\nInput\n3\n\nOutput\n5\n")
    assert notes_on_order(shown, [equal[0], Ranked(programs[1], 0.5)], ["examples"]) == []
