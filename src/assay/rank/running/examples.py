"""Programs to the share of their task's examples that they pass, run in a sandbox: programs with one text run once.

The examples stand in the task's text, so this needs no tests, but it does run programs. Each example counts by itself;
the first that fails says how and where a program is wrong. Where a text shows none, all programs are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from assay.errors import InputError
from assay.sandbox.campaign import refused
from assay.sandbox.limits import Limits
from assay.sandbox.shown.examples import shown
from assay.sandbox.tasks.expected import Runs
from assay.sandbox.verdict import job_of, outcome_of, passed
from assay.types import Outcome, Program, Ranked, Task, Test

LIMITS: Final = Limits(cpu_s=2, wall_s=6)


class Examples:
    """The ranker `examples`."""

    name = "examples"

    def __init__(self, sandbox: Runs, *, limits: Limits = LIMITS) -> None:
        self._sandbox = sandbox
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the share of examples that each program passes."""
        tests = _usable(task, shown(task))
        if not tests:
            return [Ranked(program, 0.0, why={"examples": 0.0}) for program in programs]
        posed = replace(task, tests=tests, setup="", timeout_s=0.0)
        known = {program.source: (outcome, held) for program, outcome, held in self._run(posed, programs)}
        return [_ranked(program, *known[program.source], len(tests)) for program in programs]

    def _run(self, task: Task, programs: Sequence[Program]) -> Iterator[tuple[Program, Outcome, int]]:
        """Yield how each text ended, and how many examples it passed."""
        distinct = list({program.source: program for program in programs}.values())
        able = [program for program in distinct if refused(task, program) is None]
        jobs = (job_of(task, program, limits=self._limits, survey=True) for program in able)
        ends = self._sandbox.run(jobs)
        for program in distinct:
            outcome = refused(task, program)
            if outcome is not None:
                yield program, outcome, 0
                continue
            ended = next(ends)
            yield program, outcome_of(task, program, ended), len(passed(ended))


def _usable(task: Task, tests: Sequence[Test]) -> tuple[Test, ...]:
    """Return the tests that a sandbox can pose."""
    kept = []
    for test in tests:
        try:
            job_of(replace(task, tests=(test,), setup=""), Program(task.id, ""))
        except InputError:
            continue
        kept.append(test)
    return tuple(kept)


def _ranked(program: Program, outcome: Outcome, held: int, count: int) -> Ranked:
    score = min(held, count) / count
    why = {"examples": float(count), "passed": float(min(held, count))}
    return Ranked(program, score, outcome.fault, outcome.line, why)
