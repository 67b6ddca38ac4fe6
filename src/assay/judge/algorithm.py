"""Test-driven agents: algorithm 1 of CoSQA+ to the letter, of parts that can be replaced or left out.

A part is a function; which of them there are is a configuration, and those of table VI have names. Nothing is decided
here but the order: a pair that cannot be decided is a verdict without a grade, never an exception and never a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import BudgetSpent, ChatError, Deferred, EndpointRefused, InputError, NoAnswer, nearest
from assay.judge.checks import TestProgram, generate
from assay.judge.fix import Fix
from assay.judge.pair_verdict import Verdict, undecided
from assay.judge.pairs import Pair, not_python
from assay.judge.run_tests import CaseReport, SandboxFailed, simulate
from assay.judge.screen import Screening, screen
from assay.judge.steps import PairSession
from assay.protocols import Chat
from assay.runs.record import NoSteps, Record, Steps


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


Screen = Callable[[PairSession], Screening]
Generate = Callable[[PairSession], TestProgram]
Execute = Callable[[PairSession, TestProgram], CaseReport]
Repair = Callable[[PairSession, TestProgram, CaseReport, Sequence[str]], Fix]
Arbitrate = Callable[[PairSession, TestProgram | None, CaseReport | None], Ruling]
MAX_TRIES = 3


@dataclass(frozen=True, slots=True)
class Parts:
    """Who does what; None is left out."""

    screen: Screen | None = screen
    generate: Generate | None = generate
    execute: Execute | None = None
    fix: Repair | None = None
    arbitrate: Arbitrate = arbitrate
    python_only: bool = True
    """Whether no tests are written for what cannot run; they were before, for nothing."""


CONFIGURATIONS = ("all", "single", "ps+fa", "ps+tpg+fa", "ps+tpg+te+fa", "ps+tpg+sim+fa")
"""The rows of table VI: preliminary screener, test program generator, test executor, bug fixer, final arbiter."""
RUNNING = frozenset({"all", "ps+tpg+te+fa"})
"""Configurations that need a sandbox."""


def configured(name: str, execute: Execute | None = None, fix: Repair | None = None) -> Parts:
    """Return the parts of a configuration; those that run programs are given."""
    if name not in CONFIGURATIONS:
        raise InputError(f"unknown configuration '{name}'; {nearest(name, CONFIGURATIONS)}")
    if name in RUNNING and execute is None:
        raise InputError(f"the configuration '{name}' runs programs: give what runs them")
    made = {
        "all": Parts(execute=execute, fix=fix),
        "single": Parts(screen=None, generate=None, arbitrate=single),
        "ps+fa": Parts(generate=None),
        "ps+tpg+fa": Parts(),
        "ps+tpg+te+fa": Parts(execute=execute),
        "ps+tpg+sim+fa": Parts(execute=simulate),
    }
    return made[name]


@dataclass(frozen=True, slots=True)
class TestedPair:
    """What became of the test program of a pair."""

    program: TestProgram
    report: CaseReport | None
    tries: int = 0
    fixes: tuple[str, ...] = ()


def annotate(session: PairSession, parts: Parts, max_tries: int = MAX_TRIES) -> Verdict:
    """Return the verdict on a pair; the numbers are the lines of algorithm 1."""
    if parts.screen:
        screening = parts.screen(session)  # 1
        if screening.assessment == "match":  # 2
            return Verdict(1, screening.justification, "screen")  # 3
        if screening.assessment == "non-match":  # 4
            return Verdict(0, screening.justification, "screen")  # 5
    untested = not_python(session.pair.code) if parts.python_only else ""
    tested = _tested(session, parts, max_tries) if parts.generate and not untested else None  # 6
    program, report = (tested.program, tested.report) if tested else (None, None)
    ruling = parts.arbitrate(session, program, report)  # 16
    path = "single" if not parts.screen else "tests" if report else "arbiter"
    told = _tests_as_json(tested) if tested else {"untested": untested} if parts.generate and untested else {}
    return Verdict(ruling.label, ruling.reason, path, told=told)


def _tested(session: PairSession, parts: Parts, max_tries: int) -> TestedPair:
    """Write a test program and run it until it no longer breaks or nothing helps."""
    assert parts.generate
    program = parts.generate(session)  # 7
    if parts.execute is None:
        return TestedPair(program, None)
    report = parts.execute(session, program)  # 8
    try_time = 0  # 9
    notes: Sequence[str] = ()
    fixes: list[str] = []
    while report.error and parts.fix and try_time <= max_tries:  # 10
        fix = parts.fix(session, program, report, notes)  # 11, and 12: what is installed is installed there
        if fix.program is None:
            fixes.append("irreparable")
            break
        program, notes = fix.program, fix.notes
        fixes.append(fix.by)
        report = parts.execute(session, program)  # 13
        try_time += 1  # 14
    return TestedPair(program, report, try_time, tuple(fixes))


def _tests_as_json(tested: TestedPair) -> dict[str, Any]:
    """Return what a record says about tests."""
    program, report = tested.program, tested.report
    told: dict[str, Any] = {"reading": program.reading, "cases": len(program.cases)}
    if program.readings:
        told["readings"] = list(program.readings)
    if report:
        told |= {
            "executable": report.executable,
            "error": report.error,
            "passed": report.count("passed"),
            "failed": report.count("failed"),
            "asserts": sum(case.asserts for case in report.cases),
            "tries": tested.tries,
            "fixes": list(tested.fixes),
            "distributions": list(program.distributions),
        }
    return told


@dataclass(frozen=True, slots=True)
class Agents:
    """Test-driven agents that share one model."""

    chat: Chat
    parts: Parts
    steps: Steps = NoSteps()  # noqa: RUF009  # it holds nothing
    max_tries: int = MAX_TRIES
    opinion: int = 1
    """Which of several opinions of the same model this is."""
    prompts: Path | None = None
    """Where the prompt files lie, if not in this package."""

    @property
    def name(self) -> str:
        """What judged: the model."""
        return f"agents:{self.chat.name}"

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict of one walk through the algorithm."""
        session = PairSession(pair, self.chat, self.steps, self.opinion, self.prompts)
        try:
            verdict = annotate(session, self.parts, self.max_tries)
        except (BudgetSpent, Deferred, EndpointRefused):
            raise
        except ChatError as error:
            verdict = undecided("reply" if isinstance(error, NoAnswer) else "chat", str(error))
        except SandboxFailed as error:
            verdict = undecided("sandbox", str(error))
        return replace(verdict, told={**verdict.told, **spent(session.taken)})


def spent(steps: Sequence[Record]) -> Mapping[str, Any]:
    """Return what some steps took: the same for steps made now and for those read from records."""
    replies = [step for step in steps if step["kind"] == "reply"]
    costs = [step["cost"] for step in replies]
    return {
        "calls": dict(Counter(step["part"] for step in replies)),
        "prompts": {step["part"]: step["prompt"] for step in replies},
        "models": sorted({step["model"] for step in replies}),
        "tokens_in": sum(step["tokens_in"] for step in replies),
        "tokens_out": sum(step["tokens_out"] for step in replies),
        **_sharing(replies),
        "cost": None if None in costs else round(sum(costs), 9),
        "seconds": {
            "model": round(sum(step["seconds"] for step in replies), 3),
            "sandbox": round(sum(step["seconds"] for step in steps if step["kind"] == "run"), 3),
            "install": round(sum(step["seconds"] for step in steps if step["kind"] == "install"), 3),
        },
    }


def _sharing(replies: Sequence[Record]) -> dict[str, int]:
    """Return how many tokens an endpoint had read before, how many it could have, and answers that fitted no schema."""
    return {
        "tokens_cached": sum(step["tokens_cached"] for step in replies),
        "tokens_shareable": sum(round(step["shareable"] * step["tokens_in"]) for step in replies),
        "asked_again": sum(step["attempts"] - 1 for step in replies),
    }
