"""The final arbiter: query, code, tests and the report of their run to 1 or 0, with reasons (CoSQA+, IV-C d)."""

from __future__ import annotations

from dataclasses import dataclass

from assay.judge.checks import TestProgram
from assay.judge.run_tests import CaseReport
from assay.judge.steps import PairSession


@dataclass(frozen=True, slots=True)
class Ruling:
    """A label and why."""

    label: int
    reason: str


def arbitrate(session: PairSession, program: TestProgram | None, report: CaseReport | None) -> Ruling:
    """Ask a model to decide on the evidence."""
    reply = session.ask(
        "arbitrate",
        program=program.text() if program else "There is no test program.",
        report=report.text() if report else "Nothing was run.",
    )
    return Ruling(reply["label"], reply["reason"])


def single(session: PairSession, program: TestProgram | None = None, report: CaseReport | None = None) -> Ruling:  # noqa: ARG001
    """Ask a model to decide by reading alone, whatever else there is (CoSQA+, table VI: single LLM)."""
    reply = session.ask("single")
    return Ruling(reply["label"], reply["reason"])
