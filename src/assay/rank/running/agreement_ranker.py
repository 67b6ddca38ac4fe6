"""Programs to how many others answer as they do, run in a sandbox: what many programs agree on is likely right.

Two ways. Where generated tests are given, CodeT's dual agreement (Chen et al. 2022); where none are, agreement on
inputs made up from the task's text. Each text runs once for all inputs. Values cross as plain data and are compared
here, so a program can only agree by answering alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cage.job import Limits
from assay.faults import Fault
from assay.programs.answers import Input, answers, askable
from assay.programs.harness.comparison import canonical
from assay.programs.shown_examples import examples_in
from assay.rank.running.answer_agreement import Row, alike, dual, same_as
from assay.rank.running.generated_tests import GeneratedTests
from assay.rank.running.test_inputs import in_order, made_inputs
from assay.types import Call, Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

LIMITS: Final = Limits(cpu_s=1, wall_s=4)
INPUTS: Final = 40
_MOST_TESTS: Final = 500
"""Those generated the most often; CodeT makes at most as many of its hundred texts."""
_MOSTLY: Final = 0.5
"""A program breaks that breaks on more of the inputs than this, which most programs answer."""

Tests = Sequence[tuple[Call, int]]


class AgreementRanker:
    """The ranker `agreement`, or `agreement:FILE` with a file of generated tests."""

    def __init__(  # each is one thing
        self, runner: ProgramRunner, given: str = "", *, inputs: int = INPUTS, seed: int = 0, limits: Limits = LIMITS
    ) -> None:
        self.name = f"agreement:{given}" if given else "agreement"
        self._runner = runner
        self._given = GeneratedTests(Path(given)) if given else None
        self._inputs = inputs
        self._seed = seed
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how well each program agrees with the others."""
        distinct, counts = _distinct(programs)
        tests = self._tests(task)
        inputs = in_order(_arguments(tests)) if tests else self._make_inputs(task, distinct)
        rows = list(answers(task.entry_point, distinct, inputs, self._runner, self._limits))
        scores = _dual(rows, counts, inputs, tests) if tests else alike(rows, counts)
        told = zip(distinct, rows, scores, same_as(rows, counts), strict=True)
        fair = _fair(rows)
        known = {
            program.source: (score, *_broken(row, fair), _why(len(inputs), len(tests), same))
            for program, row, score, same in told
        }
        return [Ranked(program, *known[program.source]) for program in programs]

    def _tests(self, task: Task) -> list[tuple[Call, int]]:
        tests = [pair for pair in self._given.tests(task) if askable(pair[0].args)] if self._given else []
        return sorted(tests, key=lambda pair: -pair[1])[:_MOST_TESTS]

    def _make_inputs(self, task: Task, programs: Sequence[Program]) -> list[Input]:
        made = made_inputs(task, examples_in(task), programs, most=self._inputs, seed=self._seed)
        return [each for each in made if askable(each)]


def _distinct(programs: Sequence[Program]) -> tuple[list[Program], list[int]]:
    """Return one program a text, and how often that text was sampled."""
    counts: dict[str, int] = {}
    for program in programs:
        counts[program.source] = counts.get(program.source, 0) + program.n
    first: dict[str, Program] = {}
    for program in programs:
        first.setdefault(program.source, program)
    return list(first.values()), list(counts.values())


def _arguments(tests: Tests) -> list[Input]:
    return list({repr(call.args): call.args for call, _ in tests}.values())


def _dual(rows: Sequence[Row], counts: Sequence[int], inputs: Sequence[Input], tests: Tests) -> list[float]:
    place = {repr(each): number for number, each in enumerate(inputs)}
    wanted = [(place[repr(call.args)], canonical(call.expected)) for call, _ in tests]
    held = [
        frozenset(number for number, (at, text) in enumerate(wanted) if row[at].fault is None and row[at].text == text)
        for row in rows
    ]
    return dual(held, counts, [times for _, times in tests])


def _fair(rows: Sequence[Row]) -> list[int]:
    """Return the inputs that most programs answer, all where there is none."""
    columns = list(zip(*rows, strict=True))
    fair = [at for at, column in enumerate(columns) if sum(each.fault is None for each in column) > len(rows) * _MOSTLY]
    return fair or list(range(len(columns)))


def _broken(row: Row, fair: Sequence[int]) -> tuple[Fault | None, int]:
    """Return how and where a program breaks that does so on most of the inputs."""
    broken = [row[at] for at in fair if row[at].fault is not None]
    return (broken[0].fault, broken[0].line) if len(broken) > len(fair) * _MOSTLY else (None, -1)


def _why(inputs: int, tests: int, same: int) -> Mapping[str, float]:
    return {"inputs": float(inputs), "tests": float(tests), "alike": float(same if inputs else 0)}
