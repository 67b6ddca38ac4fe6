"""A program and inputs to a job for a sandbox, and how that job ended to what the program answered to each.

Inputs are arguments of the task's function, or texts on standard input. Two programs that answer alike have equal
texts; nothing else of a value crosses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay.faults import Fault
from assay.sandbox.harness.codec import Refused, pack
from assay.sandbox.harness.observe import FAILED, NONE, RETURNED
from assay.sandbox.limits import Ended, Job, Limits
from assay.types import Program

Input = tuple[Any, ...] | str
"""The arguments of a call, or what a whole program reads."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program did with one input."""

    text: str
    """The same for equal values; for what was raised, the exception's name."""
    fault: Fault | None = None
    """How it broke; None where it answered."""
    line: int = -1
    says: bool = True
    """Whether it answered with something: not with None, nor with an empty output."""

    @property
    def key(self) -> tuple[str, bool]:
        """What two programs share that answer alike."""
        return self.text, self.fault is None


SILENT = Answer("", Fault.EXECUTION_OTHER, says=False)
SLOW = Answer("", Fault.TIMEOUT, says=False)
UNKNOWN = Answer("", says=False)
"""The sandbox broke: nobody knows."""


def questions(entry: str, inputs: Sequence[Input]) -> bytes:
    """Return what the judge is told; raises Refused for arguments that are no plain data."""
    asked = [
        {"stdin": each} if isinstance(each, str) else {"args": json.dumps(pack(list(each)), separators=(",", ":"))}
        for each in inputs
    ]
    return json.dumps({"entry": entry, "inputs": asked}).encode()


def askable(given: Input) -> bool:
    """Say whether an input can be handed to a program."""
    try:
        pack(given)
    except Refused:
        return False
    return True


def job_of(asked: bytes, program: Program, limits: Limits | None = None) -> Job:
    """Return the job that asks a program these questions."""
    return Job(program.id, json.dumps({"source": program.source}).encode(), asked, limits=limits)


def answers_of(ended: Ended, count: int) -> tuple[Answer, ...]:
    """Return one answer an input; those that a program did not come to say why."""
    told = [_answer(line) for line in ended.verdict.splitlines()]
    if told and told[-1] is not None and told[-1].text.startswith(FAILED):
        return (told[-1],) * count
    known = [each for each in told if each is not None][:count]
    rest = {"cpu": SLOW, "wall": SLOW, "broken": UNKNOWN}.get(ended.ended, SILENT)
    return (*known, *[rest] * (count - len(known)))


@lru_cache(maxsize=1024)
def _answer(line: bytes) -> Answer | None:
    """Return what a line of the verdict tells; a line that was cut off tells nothing."""
    try:
        kind, text, fault, place = json.loads(line)
        broke = Fault(fault) if fault else None
    except (ValueError, TypeError):
        return None
    if kind in {RETURNED, NONE}:
        return Answer(text, says=kind == RETURNED)
    return Answer(f"{kind} {text}" if broke else text, broke, place, says=False)
