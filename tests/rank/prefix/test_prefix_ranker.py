"""Beginnings of programs are ordered by what they show, and what they have not come to yet is no fault of theirs."""

from __future__ import annotations

import json

import pytest

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.dataset.examples import Example
from assay.rank.logprob_ranker import LogprobRanker
from assay.rank.prefix.early_drop import early_drop, fractions_of, seen_for_half
from assay.rank.prefix.prefix_ranker import PrefixRanker
from assay.rank.prefix.seen_ranker import SeenRanker, beginning_of
from assay.types import LogProbability, Program, Ranked, Task

TASK = Task("t", "Write f(x), which returns the sum of the squares below x.", "f")


def ranked(*sources: str) -> list[Ranked]:
    return PrefixRanker().rank(TASK, [Program("t", source) for source in sources])


@pytest.mark.parametrize(
    ("source", "fault", "line"),
    [
        ("import math\n", None, -1),
        ("def f(x):\n    total = 0\n    for i in ran", None, -1),
        ("def f(x):\n    y = helper(x)\n    ", None, -1),
        ("def f(x):\n    total += x\n    ret", Fault.NAME_ERROR, 2),
        ("def f(x):\n    y = math.sqrt(x)\n    ret", Fault.NAME_ERROR, 2),
        ("def g(x):\n    y = math.sqrt(x)\n    ret", Fault.NAME_ERROR, 2),
        ("def f(x):\n    y = = 1\n    ret", Fault.SYNTAX_ERROR, 2),
        ("def f(x):\n    return mat", None, -1),
    ],
)
def test_faults_are_those_that_nothing_mends(source: str, fault: Fault | None, line: int):
    found = ranked(source)[0]
    assert (found.fault, found.line) == (fault, line)
    assert found.why["gate"] == (fault is None)


def test_what_is_common_comes_before_what_is_odd_and_faults_come_last():
    common = "def f(x):\n    total = 0\n    for i in range(x):\n        tot"
    told = ranked(common, common + "al", "def f(x):\n    return x[0]\n    pri", "def f(x):\n    y = z\n    ")
    scores = [each.score for each in told]
    assert scores[0] == scores[1] > scores[2] > 1 > scores[3]
    assert PrefixRanker().rank(TASK, []) == []


def test_a_fraction_of_the_tokens_is_seen_after_the_prompt():
    source = "def f(x):\n    return x + 1\n"
    assert beginning_of(source, 1) == source
    assert beginning_of(source, 0.1) == "def f"
    assert beginning_of(source, 0.5, "def f(x):\n") == "def f(x):\n    return x +"
    assert beginning_of("", 0.5) == ""
    assert fractions_of("1,0.5,0.5") == (0.5, 1.0)


@pytest.mark.parametrize("text", ["0", "1.1", "half", "0.5,", "nan"])
def test_fractions_that_are_none_are_errors(text: str):
    with pytest.raises(InputError, match="fraction"):
        fractions_of(text)


class Lengths:
    """Prefers what is longer."""

    name = "lengths"

    def rank(self, _: Task, programs: list[Program]) -> list[Ranked]:
        return [Ranked(each, len(each.source)) for each in programs]


def example(task: str, right: object, length: int, n: int = 1) -> Example:
    fault = Fault.CORRECT if right else Fault.TYPE_ERROR
    return Example(task, f"{length}", "p", "a " * length, fault, -1, n)


def dropped(*examples: Example, seen: float = 1.0):
    ranker = SeenRanker(Lengths(), seen)
    groups = {
        task: [each for each in examples if each.task_id == task] for task in sorted({e.task_id for e in examples})
    }
    for task, group in groups.items():
        ranker.rank(Task(task, ""), [each.program for each in group])
    return early_drop(ranker, groups)


def test_as_many_are_dropped_as_lose_few_right_ones():
    right = [example("a", True, 100, 95), example("a", True, 5, 5)]
    wrong = [example("a", False, 3), example("a", False, 6), example("a", False, 99), example("a", False, 200)]
    found = dropped(*right, *wrong)
    assert found.dropped.value == 0.75
    assert (found.ranker, found.seen, found.dropped.tasks) == ("lengths", 1.0, 1)
    assert dropped(example("a", True, 100, 94), example("a", True, 5, 6), *wrong).dropped.value == 0.25
    assert dropped(*right).dropped.tasks == 0


def test_tasks_count_alike_however_many_programs_they_have():
    one = [example("a", True, 50), example("a", False, 10, 1000)]
    other = [example("b", True, 50), example("b", False, 90)]
    found = dropped(*one, *other, example("c", False, 1, 10**6))
    assert found.dropped.value == 0.5
    assert (found.dropped.low, found.dropped.high) == (0.0, 1.0)


def test_the_fraction_for_half_lies_between_those_that_were_measured():
    half = dropped(example("a", True, 50), example("a", False, 10), example("a", False, 90), seen=0.5)
    assert seen_for_half([half]) == pytest.approx(0.5)
    none = dropped(example("a", True, 50), example("a", False, 90), seen=0.25)
    assert seen_for_half([half, none]) == pytest.approx(0.5)
    assert str(seen_for_half([none])) == "nan"


CODES = {"right": "def f(x):\n    return x + 1\n", "wrong": "def f(x):\n    y = z\n    return y\n"}


def test_eval_says_how_early_wrong_programs_are_known(assay, tmp_path):
    rows = [{"task_id": "t", "id": name, "prompt": "Add 1.", "code": code} for name, code in CODES.items()]
    outcomes = [
        {"task_id": "t", "program_id": name, "n": 1, "fault": "correct" if name == "right" else "NameError", "line": -1}
        for name in CODES
    ]
    for name, lines in (("s.jsonl", rows), ("o.jsonl", outcomes)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = ("rank", "eval", tmp_path / "s.jsonl", tmp_path / "o.jsonl", "--seen", "0.5,1", "--k", "1")
    ran = assay(*said)
    assert ran.status == 0, ran.err
    assert "wrong programs dropped at a loss of 5% of the right ones: 1 task with both" in ran.out
    assert "prefix: half of the wrong ones from 0.75 of a program on" in ran.out
    told = json.loads(assay(*said, "--format", "json").out)
    assert [each["dropped"]["value"] for each in told["early"]["dropped"]] == [0.0, 1.0]
    assert told["early"]["seen for 0.5"] == {"prefix": 0.75}
    assert "leave --pool out" in assay(*said, "--pool", "2").err
    for spec in ("prefix+consensus", "chat:openai:m"):
        refused = assay(*said, "--ranker", "prefix", "--ranker", spec)
        assert refused.status == 2
        assert f"the scores of '{spec}' are places in the order of each: name a ranker" in refused.err
        assert len(refused.err.splitlines()) == 1


def test_order_says_which_ranker_is_for_beginnings(assay, tmp_path):
    codes = ("def f(x):\n  y = (x + 1", "def g(x")
    rows = [{"code": code, "prompt": "p"} for code in codes]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = assay("rank", tmp_path / "s.jsonl")
    assert "still being written take --ranker prefix" in ran.err
    assert assay("rank", tmp_path / "s.jsonl", "--ranker", "prefix").err == ""


def test_the_log_probability_of_a_whole_program_is_not_seen_with_its_beginning():
    program = Program("t", "def f(x):\n    return x\n", logprob=LogProbability(-4.0, 8))
    assert SeenRanker(LogprobRanker(), 1).rank(TASK, [program])[0].score == -0.5
    with pytest.raises(InputError, match="no log-probability"):
        SeenRanker(LogprobRanker(), 0.5).rank(TASK, [program])
