"""Programs to the share of their task's examples that they pass, run in a sandbox: programs with one text run once.

The examples stand in the task's text, so this needs no tests, but it does run programs. Each example counts by itself;
the first that fails says how and where a program is wrong. Where a text shows none, all programs are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.cage.job import Limits
from assay.programs.execute import Execution, executions
from assay.programs.shown_examples import examples_in
from assay.programs.verdict import usable_tests
from assay.types import Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

LIMITS: Final = Limits(cpu_s=2, wall_s=6)


class ExamplesRanker:
    """The ranker `examples`."""

    name = "examples"

    def __init__(self, runner: ProgramRunner, *, limits: Limits = LIMITS) -> None:
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
