from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.cage.cage import CagePool
from assay.cage.job import Ended, Job
from assay.faults import Fault
from assay.rank.running_rankers import ExamplesRanker
from assay.values import Program, Task

TASK = Task("t", "Add one.\n>>> f(1)\n2\n>>> f(2)\n3\n>>> f(-1)\n0\n", "f")
RIGHT = "def f(x):\n    return x + 1\n"
HALF = "def f(x):\n    return abs(x) + 1\n"
WRONG = "def f(x):\n    return x\n"
BREAKS = "def f(x):\n    return y\n"


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


def programs(*sources: str) -> list[Program]:
    return [Program("t", source, str(number)) for number, source in enumerate(sources)]


def test_the_share_of_examples_passed_is_the_score(sandbox: CagePool) -> None:
    ranked = ExamplesRanker(sandbox).rank(TASK, programs(WRONG, HALF, RIGHT))
    assert [each.score for each in ranked] == [0, pytest.approx(2 / 3), 1]
    assert [each.program.id for each in ranked] == ["0", "1", "2"]
    assert ranked[2].fault is Fault.CORRECT
    assert ranked[1].fault is Fault.INT_SMALL_ERROR
    assert ranked[1].why == {"examples": 3, "passed": 2}


def test_a_break_is_told_with_its_line_and_nobody_passes_by_lying(sandbox: CagePool) -> None:
    liar = "class Same(int):\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Same(7)\n"
    broken, lying = ExamplesRanker(sandbox).rank(TASK, programs(BREAKS, liar))
    assert (broken.score, broken.fault, broken.line) == (0, Fault.NAME_ERROR, 2)
    assert lying.score == 0
    assert ExamplesRanker(sandbox).rank(TASK, []) == []


def test_programs_with_one_text_run_once_and_what_cannot_run_not_at_all(sandbox: CagePool) -> None:
    counting = Counting(sandbox)
    ranked = ExamplesRanker(counting).rank(TASK, programs(RIGHT, RIGHT, "def f(x):\0", RIGHT))
    assert counting.jobs == 1
    assert [each.score for each in ranked] == [1, 1, 0, 1]
    assert ranked[2].fault is Fault.SYNTAX_ERROR


def test_without_examples_all_are_equal_and_nothing_runs(sandbox: CagePool) -> None:
    counting = Counting(sandbox)
    ranked = ExamplesRanker(counting).rank(Task("t", "Add one.", "f"), programs(RIGHT, WRONG))
    assert counting.jobs == 0
    assert [each.score for each in ranked] == [0, 0]
    assert ranked[0].why == {"examples": 0}


def test_whole_programs_are_shown_standard_input(sandbox: CagePool) -> None:
    task = Task("t", "Sample Input\n1\n\nSample Output\n2\n")
    ranked = ExamplesRanker(sandbox).rank(task, programs("print(int(input()) + 1)", "print(1)"))
    assert [each.score for each in ranked] == [1, 0]
