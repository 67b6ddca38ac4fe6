"""Programs by what a model thought of them: stored with samples, kept in data sets, or missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import pools
from assay.rank.dataset import dataset_formats
from assay.rank.dataset.examples import Example
from assay.rank.logprob_ranker import open_logprob
from assay.types import LogProbability, Program, Task

TASK = Task("t", "Add.")
LONG, SHORT = LogProbability(-6.0, 6), LogProbability(-4.0, 2)
PROGRAMS = [Program("t", "long", "t#0", logprob=LONG), Program("t", "short", "t#1", logprob=SHORT)]


def test_the_mean_or_the_sum_orders_programs():
    mean, total = open_logprob("").rank(TASK, PROGRAMS), open_logprob("sum").rank(TASK, PROGRAMS)
    assert [each.score for each in mean] == [-1.0, -2.0]
    assert [each.score for each in total] == [-6.0, -4.0]
    assert mean[0].why == {"mean": -1.0, "sum": -6.0, "tokens": 6.0}
    assert [open_logprob(text).name for text in ("", "mean", "sum")] == ["logprob", "logprob", "logprob:sum"]


@pytest.mark.parametrize("spec", ["", "sum"])
def test_an_answer_without_tokens_comes_last(spec: str):
    none = Program("t", "", "t#2", logprob=LogProbability(0.0, 0))
    *others, last = open_logprob(spec).rank(TASK, [*PROGRAMS, none])
    assert last.score < min(each.score for each in others)
    assert [each.score for each in open_logprob(spec).rank(TASK, [none])] == [-1.0]


def test_programs_without_any_are_refused_with_what_to_do():
    with pytest.raises(InputError, match=r"1 of 3 samples of t have no log-probability, t#2 .* logprob:hf:FOLDER"):
        open_logprob("").rank(TASK, [*PROGRAMS, Program("t", "other", "t#2")])
    for spec in ("median", "hf:", "sum:chat:m"):
        with pytest.raises(InputError, match="wanted nothing, sum, or a model"):
            open_logprob(spec)


@pytest.mark.parametrize("name", ["set.jsonl", "set.parquet"])
def test_data_sets_keep_them(tmp_path: Path, name: str):
    pytest.importorskip("pyarrow", reason="the bench extra is not installed")
    examples = [
        Example("t", "t#0", "Add.", "long", Fault.CORRECT),
        Example("t", "t#1", "Add.", "short", Fault.SYNTAX_ERROR, 1, logprob=LogProbability(-4.0, 2, "answer")),
    ]
    dataset_formats.write(tmp_path / name, examples)
    again = dataset_formats.read(tmp_path / name)
    assert (list(again.examples), again.problems) == (examples, ())
    assert again.examples[1].program.logprob == LogProbability(-4.0, 2, "answer")


def test_samples_say_them_and_wrong_ones_are_told(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    rows = [
        {"code": "a", "logprob_sum": -4.0, "logprob_mean": -2.0, "logprob_tokens": 2},
        {"code": "b", "logprob_sum": "much", "logprob_tokens": 2},
        {"code": "c", "logprob_sum": -1.0},
        {"code": "d"},
    ]
    file.write_text("".join(json.dumps({"task_id": "t", **row}) + "\n" for row in rows))
    read = pools.read(file)
    assert [program.logprob for program in read.programs] == [SHORT, None]
    assert [str(problem) for problem in read.problems] == [
        "s.jsonl:2: field 'logprob_sum' is 'much', wanted a number from -1e+09 to 0",
        "s.jsonl:3: no field 'logprob_tokens'",
    ]
