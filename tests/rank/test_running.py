"""Rankers that run programs: inputs made from examples, agreement on the answers to them, and examples passed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cage.cage import CagePool
from assay.cage.job import Ended, Job
from assay.faults import Fault
from assay.programs.answers import ProgramAnswer, is_askable
from assay.rank import running_rankers
from assay.rank.running_rankers import AgreementRanker, ExamplesRanker, alike, calls_in, changed, made_inputs
from assay.values import Call, Program, Stdin, Task

SQUARES = Task("t", ">>> f(3)\n9\n", "f")
ADD_ONE = Task("t", "Add one.\n>>> f(1)\n2\n>>> f(2)\n3\n>>> f(-1)\n0\n", "f")


def programs(*sources: str) -> list[Program]:
    return [Program("t", source, str(number)) for number, source in enumerate(sources)]


SQUARE = "def f(x):\n    return x * x\n"
POWER = "def f(number):\n    return number ** 2\n"
TRIPLE = "def f(x):\n    return 3 * x\n"
BREAKS = "def f(x):\n    return x / 0\n"
NOTHING = "def f(x):\n    pass\n"


def answers(*texts: str) -> tuple[ProgramAnswer, ...]:
    return tuple(ProgramAnswer(text) for text in texts)


def test_those_that_answer_like_most_come_first_and_none_agrees_by_lying(sandbox: CagePool) -> None:
    ranked = AgreementRanker(sandbox).rank(SQUARES, programs(TRIPLE, SQUARE, POWER, BREAKS, NOTHING))
    triple, square, power, breaks, nothing = (each.score for each in ranked)
    assert square == power > triple > nothing > breaks == 0
    assert ranked[1].why["alike"] == 2
    assert (ranked[3].fault, ranked[3].line, ranked[1].fault) == (Fault.EXECUTION_OTHER, 2, None)
    many = Program("t", TRIPLE, "many", n=5)
    ranked = AgreementRanker(sandbox).rank(SQUARES, [*programs(SQUARE, POWER), many])
    assert ranked[2].score > ranked[0].score
    square, power, liar, forger, triple, stuck = AgreementRanker(sandbox).rank(
        SQUARES, programs(SQUARE, POWER, LIAR, FORGER, TRIPLE, STUCK)
    )
    assert square.score == power.score > stuck.score > max(liar.score, forger.score, triple.score)
    assert liar.why["alike"] == forger.why["alike"] == 1


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


def test_whole_programs_agree_on_what_they_print_and_any_pool_is_ranked(sandbox: CagePool) -> None:
    task = Task("t", "Sample Input\n4\n\nSample Output\n8\n")
    double, add, other = "print(2 * int(input()))", "n = int(input())\nprint(n + n)", "print(input() + '.5')"
    ranked = AgreementRanker(sandbox, inputs=6).rank(task, programs(double, other, add))
    assert ranked[0].score == ranked[2].score > ranked[1].score
    for pool in ([], ["not python ("], [SQUARE], [SQUARE, SQUARE], ["", "x = 1"]):
        ranked = AgreementRanker(sandbox).rank(SQUARES, programs(*pool))
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
    assert running_rankers.same_as(rows, [1] * len(rows)) == [texts.count(row) for row in texts]


RIGHT = "def f(x):\n    return x + 1\n"
HALF = "def f(x):\n    return abs(x) + 1\n"
WRONG = "def f(x):\n    return x\n"
LACKS_NAME = "def f(x):\n    return y\n"


class Counting:
    """A sandbox that knows how many jobs it was given."""

    def __init__(self, sandbox: CagePool) -> None:
        self._sandbox = sandbox
        self.jobs = 0
        self.name, self.guarantees = sandbox.name, sandbox.guarantees

    def run(self, jobs: Iterator[Job]) -> Iterator[Ended]:
        def counted() -> Iterator[Job]:
            for job in jobs:
                self.jobs += 1
                yield job

        return self._sandbox.run(counted())


def test_the_fraction_of_examples_passed_is_the_score_and_nobody_passes_by_lying(sandbox: CagePool) -> None:
    liar = "class Same(int):\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Same(7)\n"
    broken, lying = ExamplesRanker(sandbox).rank(ADD_ONE, programs(LACKS_NAME, liar))
    assert (broken.score, broken.fault, broken.line) == (0, Fault.NAME_ERROR, 2)
    assert lying.score == 0
    assert ExamplesRanker(sandbox).rank(ADD_ONE, []) == []
    ranked = ExamplesRanker(sandbox).rank(ADD_ONE, programs(WRONG, HALF, RIGHT))
    assert [each.score for each in ranked] == [0, pytest.approx(2 / 3), 1]
    assert [each.program.id for each in ranked] == ["0", "1", "2"]
    assert ranked[2].fault is Fault.CORRECT
    assert ranked[1].fault is Fault.INT_SMALL_ERROR
    assert ranked[1].why == {"examples": 3, "passed": 2}
    task = Task("t", "Sample Input\n1\n\nSample Output\n2\n")
    ranked = ExamplesRanker(sandbox).rank(task, programs("print(int(input()) + 1)", "print(1)"))
    assert [each.score for each in ranked] == [1, 0]


def test_programs_with_one_text_run_once_and_without_examples_nothing_runs(sandbox: CagePool) -> None:
    counting = Counting(sandbox)
    ranked = ExamplesRanker(counting).rank(ADD_ONE, programs(RIGHT, RIGHT, "def f(x):\0", RIGHT))
    assert counting.jobs == 1
    assert [each.score for each in ranked] == [1, 1, 0, 1]
    assert ranked[2].fault is Fault.SYNTAX_ERROR
    counting = Counting(sandbox)
    ranked = ExamplesRanker(counting).rank(Task("t", "Add one.", "f"), programs(RIGHT, WRONG))
    assert counting.jobs == 0
    assert [each.score for each in ranked] == [0, 0]
    assert ranked[0].why == {"examples": 0}


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
ANY_TASK = Task("t", "", "f")


@settings(max_examples=40)
@given(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=3), st.integers(0, 3))
def test_inputs_are_distinct_repeatable_and_of_the_same_width(seeds: list[tuple[object, ...]], seed: int) -> None:
    examples = [Call(args, None) for args in seeds]
    made = made_inputs(ANY_TASK, examples, most=20, seed=seed)
    assert made == made_inputs(ANY_TASK, examples, most=20, seed=seed)
    assert len(set(map(repr, made))) == len(made) <= 20
    assert set(map(repr, seeds)) <= set(map(repr, made))
    assert all(isinstance(args, tuple) and len(args) == 2 and is_askable(args) for args in made)


@given(PLAIN, st.integers())
def test_a_change_keeps_the_type(value: object, seed: int) -> None:
    assert type(changed(value, random.Random(seed))) is type(value)
    assert all(type(edge) is type(value) for edge in running_rankers.edges(value))
    assert running_rankers.edges(1.5) == (0.0, 1.0, 2.0, -1.5)


def test_small_inputs_come_first_and_texts_keep_their_lines() -> None:
    made = [args[0] for args in made_inputs(ANY_TASK, [Call((12,), None), Call((5,), None)], most=30)]
    usual = [value for value in made if value > 0]
    assert made[: len(usual)] == sorted(usual)
    assert all(value <= 0 for value in made[len(usual) :])
    assert {0, -1} <= set(made)
    examples = [Call(([3, 1, 2], "word"), None)]
    first = made_inputs(ANY_TASK, examples, most=30)
    assert first != made_inputs(ANY_TASK, examples, most=30, seed=1)
    assert first != made_inputs(Task("u", "", "f"), examples, most=30)
    made = made_inputs(Task("t", ""), [Stdin("3\n10 20 30\nabc\n", "x")], most=15)
    assert "3\n10 20 30\nabc\n" in made
    assert len(made) == 15
    assert all(isinstance(text, str) and len(text.splitlines()) == 3 for text in made)
    assert made_inputs(Task("t", ""), [], most=15) == made_inputs(ANY_TASK, [], most=15) == ()
