"""Samples become candidates, with what a model thought of them; what is said of pools that have no order."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import datasets
from assay.rank.datasets import Example
from assay.rank.rankers import LogprobRanker, notes, notes_on_order, read
from assay.values import LogProbability, Program, Ranked, Task


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


def test_a_folder_of_folders_is_what_evalplus_wrote_with_tasks_and_without(tmp_path: Path):
    (tmp_path / "HumanEval_0").mkdir()
    (tmp_path / "HumanEval_0" / "0.py").write_text("x = 1\n")
    for tasks in (None, [Task("HumanEval/0", "Set x.")]):
        assert [(each.task_id, each.source) for each in read(tmp_path, tasks).programs] == [("HumanEval/0", "x = 1\n")]


def test_with_tasks_samples_of_others_are_counted(tmp_path: Path):
    file = written(tmp_path / "s.jsonl", {"task_id": "t/1", "completion": "1"}, {"task_id": "u/2", "code": "x"})
    pools = read(file, [Task("t/1", "x = ")])
    assert [each.source for each in pools.programs] == ["x = 1"]
    assert str(pools.problems[-1]) == "s.jsonl: 1 samples are of tasks that are not in TASKS"


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


def test_the_mean_or_the_sum_of_log_probabilities_orders_programs():
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


def test_programs_without_log_probabilities_are_refused_with_what_to_do():
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
