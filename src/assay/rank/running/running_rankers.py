"""The rankers that run programs in a sandbox: on the examples of a task's text, and on inputs that have no answer.

`examples` scores a program by the fraction of its task's examples that it passes. `agreement` scores it by how many
others answer as it does to inputs like those of the examples. Each text runs once for all inputs. Values cross as
plain data and are compared here, so a program can only agree by answering alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Final

from assay.cage.job import Limits
from assay.faults import Fault
from assay.programs.answers import ProgramAnswer, answers, askable
from assay.programs.execute import Execution, executions
from assay.programs.shown_examples import examples_in
from assay.programs.verdict import usable_tests
from assay.rank.running.inputs import made_inputs
from assay.values import Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner


EXAMPLE_LIMITS: Final = Limits(cpu_s=2, wall_s=6)


class ExamplesRanker:
    """The ranker `examples`."""

    name = "examples"

    def __init__(self, runner: ProgramRunner, *, limits: Limits = EXAMPLE_LIMITS) -> None:
        self._runner = runner
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the share of examples that each program passes."""
        posed = replace(task, setup="", timeout_s=0.0)
        posed = replace(posed, tests=usable_tests(posed, examples_in(task)))
        if not posed.tests:
            return [Ranked(program, 0.0, why={"examples": 0.0}) for program in programs]
        own = [replace(program, task_id=task.id) for program in programs]
        ran = executions([posed], own, self._runner, limits=self._limits, survey=True)
        return [_ranked(program, one, len(posed.tests)) for program, one in zip(programs, ran, strict=True)]


def _ranked(program: Program, one: Execution, count: int) -> Ranked:
    held = min(len(one.passed), count)
    why = {"examples": float(count), "passed": float(held)}
    return Ranked(program, held / count, one.outcome.fault, one.outcome.line, why)


LIMITS: Final = Limits(cpu_s=1, wall_s=4)
INPUTS: Final = 40
_MOSTLY: Final = 0.5
"""A program breaks that breaks on more of the inputs than this, which most programs answer."""

Row = tuple[ProgramAnswer, ...]
"""What one program answered to each input."""


class AgreementRanker:
    """The ranker `agreement`."""

    name = "agreement"

    def __init__(self, runner: ProgramRunner, *, inputs: int = INPUTS, seed: int = 0, limits: Limits = LIMITS) -> None:
        self._runner, self._inputs, self._seed, self._limits = runner, inputs, seed, limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how well each program agrees with the others."""
        distinct, counts = _distinct(programs)
        made = made_inputs(task, examples_in(task), most=self._inputs, seed=self._seed)
        inputs = [each for each in made if askable(each)]
        rows = list(answers(task.entry_point, distinct, inputs, self._runner, self._limits))
        fair = _fair(rows)
        known = {
            program.source: (
                score,
                *_broken(row, fair),
                {"inputs": float(len(inputs)), "alike": float(same if inputs else 0)},
            )
            for program, row, score, same in zip(
                distinct, rows, alike(rows, counts), same_as(rows, counts), strict=True
            )
        }
        return [Ranked(program, *known[program.source]) for program in programs]


def _distinct(programs: Sequence[Program]) -> tuple[list[Program], list[int]]:
    """Return one program a text, and how often that text was sampled."""
    counts, first = Counter[str](), dict[str, Program]()
    for program in programs:
        counts[program.source] += program.n
        first.setdefault(program.source, program)
    return list(first.values()), list(counts.values())


def _fair(rows: Sequence[Row]) -> list[int]:
    """Return the inputs that most programs answer, all where there is none."""
    columns = list(zip(*rows, strict=True))
    fair = [at for at, column in enumerate(columns) if sum(each.fault is None for each in column) > len(rows) * _MOSTLY]
    return fair or list(range(len(columns)))


def _broken(row: Row, fair: Sequence[int]) -> tuple[Fault | None, int]:
    """Return how and where a program breaks that does so on most of the inputs."""
    broken = [row[at] for at in fair if row[at].fault is not None]
    return (broken[0].fault, broken[0].line) if len(broken) > len(fair) * _MOSTLY else (None, -1)


def alike(rows: Sequence[Row], counts: Sequence[int]) -> list[float]:
    """Score each program by the square of the share of the pool that answers as it does, in the mean over inputs.

    A text weighs the root of its samples. An input weighs what share of the pool answers it at all; an answer that is
    None or nothing counts `_EMPTY`, and an error, however common, nothing: counting errors cost 5 points on MBPP.
    """
    masses = [sqrt(count) for count in counts]
    whole = sum(masses)
    scores, weights = [0.0] * len(rows), 0.0
    for column in zip(*rows, strict=True):
        shares: dict[tuple[str, bool], float] = {}
        for answer, mass in zip(column, masses, strict=True):
            shares[answer.key] = shares.get(answer.key, 0.0) + mass / whole
        weight = sum(share for (_, answered), share in shares.items() if answered)
        weights += weight
        for number, answer in enumerate(column):
            scores[number] += weight * _worth(answer) * shares[answer.key] ** 2
    return [score / weights if weights else 0.0 for score in scores]


def same_as(rows: Sequence[Row], counts: Sequence[int]) -> list[int]:
    """Return how many samples answer every input as each program does, itself among them."""
    keys = [tuple(answer.key for answer in row) for row in rows]
    samples = Counter[tuple[tuple[str, bool], ...]]()
    for key, count in zip(keys, counts, strict=True):
        samples[key] += count
    return [samples[key] for key in keys]


_EMPTY = 0.3


def _worth(answer: ProgramAnswer) -> float:
    return 0.0 if answer.fault is not None else 1.0 if answer.says else _EMPTY
