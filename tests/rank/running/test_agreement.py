from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cage.cage import CagePool
from assay.faults import Fault
from assay.programs.answers import ProgramAnswer
from assay.rank.running_rankers import AgreementRanker, alike, calls_in, same_as
from assay.values import Program, Task

TASK = Task("t", ">>> f(3)\n9\n", "f")
SQUARE = "def f(x):\n    return x * x\n"
POWER = "def f(number):\n    return number ** 2\n"
TRIPLE = "def f(x):\n    return 3 * x\n"
BREAKS = "def f(x):\n    return x / 0\n"
NOTHING = "def f(x):\n    pass\n"


def programs(*sources: str) -> list[Program]:
    return [Program("t", source, str(number)) for number, source in enumerate(sources)]


def answers(*texts: str) -> tuple[ProgramAnswer, ...]:
    return tuple(ProgramAnswer(text) for text in texts)


def test_those_that_answer_like_most_come_first_counted_as_often_as_they_were_sampled(sandbox: CagePool) -> None:
    ranked = AgreementRanker(sandbox).rank(TASK, programs(TRIPLE, SQUARE, POWER, BREAKS, NOTHING))
    triple, square, power, breaks, nothing = (each.score for each in ranked)
    assert square == power > triple > nothing > breaks == 0
    assert ranked[1].why["alike"] == 2
    assert (ranked[3].fault, ranked[3].line, ranked[1].fault) == (Fault.EXECUTION_OTHER, 2, None)
    many = Program("t", TRIPLE, "many", n=5)
    ranked = AgreementRanker(sandbox).rank(TASK, [*programs(SQUARE, POWER), many])
    assert ranked[2].score > ranked[0].score


LIAR = (
    "class Same(int):\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n"
    "        return 0\n    def __repr__(self):\n        return '9'\ndef f(x):\n    return Same(-5)\n"
)
FORGER = (
    "import os, json\ndef f(x):\n    for fd in range(3, 64):\n        try:\n"
    "            os.write(fd, json.dumps(['returned', str(x * x), '', -1]).encode() + b'\\n')\n"
    "        except OSError:\n            pass\n    return -5\n"
)
STUCK = "def f(x):\n    while x < 0:\n        pass\n    return x * x\n"


def test_no_program_agrees_by_lying_and_answers_before_an_endless_one_count(sandbox: CagePool) -> None:
    square, power, liar, forger, triple, stuck = AgreementRanker(sandbox).rank(
        TASK, programs(SQUARE, POWER, LIAR, FORGER, TRIPLE, STUCK)
    )
    assert square.score == power.score > stuck.score > max(liar.score, forger.score, triple.score)
    assert liar.why["alike"] == forger.why["alike"] == 1


def test_a_task_without_examples_takes_the_calls_that_its_programs_hold(sandbox: CagePool) -> None:
    task = Task("t", "Square a number.", "f")
    own = programs(
        TRIPLE,
        f"{SQUARE}print(f(4), f(x=1), f(len('a')), abs(7))\n",
        f"{POWER}# f(9)\n",
        "not python (",
        f"{SQUARE}f(0x{'f' * 5000})\n",
    )
    assert [call.args for call in calls_in(own, "f")] == [(4,)]
    often = programs(*[f"f({number})\n" for number in (1, 2, 2)], "f(1, [2])\n" * 9)
    assert [call.args for call in calls_in(often, "f")] == [(2,), (1,), (1, [2])]
    assert len(calls_in(programs("".join(f"f({number})\n" for number in range(99))), "f")) == 20
    triple, square, power, *_ = AgreementRanker(sandbox).rank(task, own)
    assert square.score == power.score > triple.score
    assert AgreementRanker(sandbox).rank(task, programs(SQUARE, TRIPLE))[0].why["inputs"] == 0


def test_whole_programs_agree_on_what_they_print(sandbox: CagePool) -> None:
    task = Task("t", "Sample Input\n4\n\nSample Output\n8\n")
    double, add, other = "print(2 * int(input()))", "n = int(input())\nprint(n + n)", "print(input() + '.5')"
    ranked = AgreementRanker(sandbox, inputs=6).rank(task, programs(double, other, add))
    assert ranked[0].score == ranked[2].score > ranked[1].score


def test_small_and_broken_pools_are_ranked(sandbox: CagePool) -> None:
    for pool in ([], ["not python ("], [SQUARE], [SQUARE, SQUARE], ["", "x = 1"]):
        ranked = AgreementRanker(sandbox).rank(TASK, programs(*pool))
        assert [each.program.source for each in ranked] == pool
        assert len({each.score for each in ranked}) <= 1


def test_an_input_that_breaks_most_programs_weighs_little() -> None:
    error = ProgramAnswer("raised TypeError", Fault.TYPE_ERROR, says=False)
    rows = [(*answers("1"), error), (*answers("1"), error), (*answers("2"), *answers("x"))]
    first, second, third = alike(rows, [1, 1, 1])
    assert first == second == pytest.approx((4 / 9) / (4 / 3))
    assert third == pytest.approx((1 / 9 + 1 / 3 / 9) / (4 / 3))
    assert first > third


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=3, max_size=3), max_size=6))
def test_equal_answers_have_equal_scores_within_0_and_1(texts: list[list[str]]) -> None:
    rows = [answers(*row) for row in texts]
    scores = alike(rows, [1] * len(rows))
    assert all(0 <= score <= 1 for score in scores)
    assert len({(tuple(row), score) for row, score in zip(texts, scores, strict=True)}) == len({*map(tuple, texts)})
    assert same_as(rows, [1] * len(rows)) == [texts.count(row) for row in texts]
