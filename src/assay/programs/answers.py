"""Run programs on inputs in a sandbox, and return each program's answer to each input.

Inputs are arguments of the task's function, or texts on standard input. Two programs that answer alike have equal
texts; nothing else of a value crosses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.faults import Fault
from assay.programs.execute import refused
from assay.programs.harness.codec import NotPlainData, pack
from assay.programs.harness.judge_process import FAILED, NONE, RETURNED
from assay.values import Program, Script, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

Input = tuple[Any, ...] | str
"""The arguments of a call, or what a whole program reads."""


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """The answer of a program to one input."""

    text: str
    """The same for equal values; for what was raised, the exception's name."""
    fault: Fault | None = None
    """How it broke; None where it answered."""
    line: int = -1
    says: bool = True
    """Whether it answered with something: not with None, nor with an empty output."""

    @property
    def key(self) -> tuple[str, bool]:
        """A key that is equal for equal answers."""
        return self.text, self.fault is None


SILENT = ProgramAnswer("", Fault.EXECUTION_OTHER, says=False)
SLOW = ProgramAnswer("", Fault.TIMEOUT, says=False)
UNKNOWN = ProgramAnswer("", says=False)
"""The sandbox broke: nobody knows."""


def questions(entry: str, inputs: Sequence[Input]) -> bytes:
    """Return the judge's specification; raise NotPlainData for arguments that are not plain data."""
    inputs_json = [
        {"stdin": each} if isinstance(each, str) else {"args": json.dumps(pack(list(each)), separators=(",", ":"))}
        for each in inputs
    ]
    return json.dumps({"entry": entry, "inputs": inputs_json}).encode()


def is_askable(arguments: Input) -> bool:
    """Say whether an input can be passed to a program."""
    try:
        pack(arguments)
    except NotPlainData:
        return False
    return True


def answers(
    entry: str,
    programs: Sequence[Program],
    inputs: Sequence[Input],
    runner: ProgramRunner,
    limits: Limits | None = None,
) -> Iterator[tuple[ProgramAnswer, ...]]:
    """Yield the answers of each program to all inputs, in the order of the programs."""
    if not inputs:
        yield from ((),) * len(programs)
        return
    asked, posed = questions(entry, inputs), Task("", "", entry, tests=(Script(""),))
    refusals = [refused(posed, program) for program in programs]
    able = [program for program, refusal in zip(programs, refusals, strict=True) if refusal is None]
    sources = (json.dumps({"source": program.source}).encode() for program in able)
    ends = runner.run(Job(program.id, text, asked, limits=limits) for program, text in zip(able, sources, strict=True))
    for refusal in refusals:
        if refusal is None:
            yield answers_of(next(ends), len(inputs))
        else:
            one = ProgramAnswer("", refusal.fault, refusal.line, says=False) if refusal.fault else UNKNOWN
            yield (one,) * len(inputs)


def answers_of(ended: Ended, count: int) -> tuple[ProgramAnswer, ...]:
    """Return one answer per input; an input that was not reached has the reason."""
    lines = [_answer(line) for line in ended.verdict.splitlines()]
    if lines and lines[-1] is not None and lines[-1].text.startswith(FAILED):
        return (lines[-1],) * count
    known = [each for each in lines if each is not None][:count]
    rest = {"cpu": SLOW, "wall": SLOW, "broken": UNKNOWN}.get(ended.ended, SILENT)
    return (*known, *[rest] * (count - len(known)))


@lru_cache(maxsize=1024)
def _answer(line: bytes) -> ProgramAnswer | None:
    """Return the answer in a line of the verdict; None for a truncated line."""
    try:
        kind, text, fault, place = json.loads(line)
        broke = Fault(fault) if fault else None
    except (ValueError, TypeError):
        return None
    if kind in {RETURNED, NONE}:
        return ProgramAnswer(text, says=kind == RETURNED)
    return ProgramAnswer(f"{kind} {text}" if broke else text, broke, place, says=False)
