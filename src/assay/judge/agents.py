"""Judge a pair by language models: each step is asked once and recorded.

A part is a function that can be replaced or left out, and the configurations of table VI are such choices. A pair that
cannot be decided is a verdict without a grade, never an exception and never a guess.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import BudgetSpent, ChatError, EndpointRefused, InputError, Interrupted, NoAnswer, nearest
from assay.judge.pairs import Pair, Verdict, added, not_python, undecided
from assay.judge.records import PairSession
from assay.judge.requests import CONFIGURATIONS, RUNNING
from assay.judge.screeners import LikelihoodScreener, Screener
from assay.judge.written_tests import CaseReport, Installs, SandboxFailed, TestProgram, generate, parts_of, simulate
from assay.llm.recorded import REPLY
from assay.protocols import Chat
from assay.runs.record import NoSteps, Record, Steps

Answer = tuple[int, str]
"""A label and the reason for it."""


def arbitrate(session: PairSession, program: TestProgram | None, report: CaseReport | None) -> Answer:
    """Ask a model to decide on the evidence; of tests that broke it hears nothing, so it holds them against nobody."""
    seen = report.evidence() if report else ""
    reply = session.ask(
        "arbitrate",
        program=program.text() if program and (seen or not report) else "There is no test program.",
        report=seen or "No test ran.",
    )
    return reply["label"], reply["reason"]


def single(session: PairSession, program: TestProgram | None = None, report: CaseReport | None = None) -> Answer:  # noqa: ARG001
    """Ask a model to decide by reading alone, whatever else there is (CoSQA+, table VI: single LLM)."""
    reply = session.ask("single")
    return reply["label"], reply["reason"]


class Fix(NamedTuple):
    """What is to be run next, or that nothing is."""

    program: TestProgram | None
    """None where the error was judged irreparable."""
    by: str
    """`install`, or `model`."""
    notes: tuple[str, ...] = ()
    """What could not be done, for whoever tries next."""


class Fixer:
    """Repairs what broke."""

    def __init__(self, installs: Installs) -> None:
        self._installs = installs

    def __call__(self, session: PairSession, program: TestProgram, report: CaseReport, notes: Sequence[str]) -> Fix:
        """Return the next program to run: with the distributions that bring what is missing, or as a model says."""
        if report.final:
            return Fix(None, "none")

        def known() -> dict[str, Any]:
            return {"brings": {module: self._installs.brings(module) for module in report.missing}, "seconds": 0.0}

        missing = ("brings", *report.missing)
        brings: dict[str, str] = session.once("install", missing, known)["brings"] if report.missing else {}
        unknown = [f"no known distribution brings the module {module}" for module, name in brings.items() if not name]
        added, refused = self._added(session, program, [name for name in brings.values() if name])
        if added:
            return Fix(added, "install", (*notes, *refused))
        return self._ask_for_fix(session, program, report, (*notes, *unknown, *refused))

    def _added(
        self, session: PairSession, program: TestProgram, names: Sequence[str]
    ) -> tuple[TestProgram | None, list[str]]:
        """Install further distributions, all or each alone; return the program that has them, and what was refused."""
        have, refused = list(program.distributions), []
        for name in dict.fromkeys(names):
            if name in have:
                continue
            if why := self._refusal(session, (*have, name)):
                refused.append(why)
            else:
                have.append(name)
        added = tuple(sorted(have))
        return (None if added == program.distributions else replace(program, distributions=added)), refused

    def _refusal(self, session: PairSession, names: Sequence[str]) -> str:
        def install() -> dict[str, Any]:
            began = time.monotonic()
            made = self._installs.have(names)
            found = {"refused": made} if isinstance(made, str) else {"refused": "", "installed": [*made.distributions]}
            return {"names": list(names), **found, "seconds": round(time.monotonic() - began, 3)}

        why: str = session.once("install", tuple(sorted(names)), install)["refused"]
        return why

    def _ask_for_fix(
        self, session: PairSession, program: TestProgram, report: CaseReport, notes: tuple[str, ...]
    ) -> Fix:
        reply = session.ask("fix", program=program.text(), report=report.text(), notes="\n".join(notes))
        if reply["action"] == "irreparable":
            return Fix(None, "model", notes)
        setup, helpers, cases = parts_of(reply)
        return Fix(replace(program, setup=setup, helpers=helpers, cases=cases), "model", notes)


MAX_TRIES = 3
Execute = Callable[[PairSession, TestProgram], CaseReport]
Repair = Callable[[PairSession, TestProgram, CaseReport, Sequence[str]], Fix]


@dataclass(frozen=True, slots=True)
class Parts:
    """The function of each agent; None leaves one out."""

    screen: Screener | None = LikelihoodScreener()  # noqa: RUF009  # it cannot be changed
    generate: Callable[[PairSession], TestProgram] | None = generate
    execute: Execute | None = None
    fix: Repair | None = None
    arbitrate: Callable[[PairSession, TestProgram | None, CaseReport | None], Answer] = arbitrate


_PARTS: Mapping[str, Parts] = {
    "all": Parts(),
    "single": Parts(screen=None, generate=None, arbitrate=single),
    "ps+fa": Parts(generate=None),
    "ps+tpg+fa": Parts(),
    "ps+tpg+te+fa": Parts(),
    "ps+tpg+sim+fa": Parts(execute=simulate),
}
"""The rows of table VI: preliminary screener, test program generator, test executor, bug fixer, final arbiter."""


def configured(name: str, execute: Execute | None = None, fix: Repair | None = None) -> Parts:
    """Return the parts of a configuration; the caller brings those that run programs."""
    if name not in _PARTS:
        raise InputError(f"unknown configuration '{name}'; {nearest(name, list(CONFIGURATIONS))}")
    if name not in RUNNING:
        return _PARTS[name]
    if execute is None:
        raise InputError(f"the configuration '{name}' runs programs: give what runs them")
    return replace(_PARTS[name], execute=execute, fix=fix if name == "all" else None)


def annotate(session: PairSession, parts: Parts, max_tries: int = MAX_TRIES) -> Verdict:
    """Return the verdict on a pair; the numbers are the lines of algorithm 1."""
    if parts.screen:
        assessment, justification = parts.screen(session)  # 1
        if assessment == "match":  # 2
            return Verdict(1, justification, "screen")  # 3
        if assessment == "non-match":  # 4
            return Verdict(0, justification, "screen")  # 5
    program = report = None
    about: dict[str, Any] = {}
    if parts.generate and (untested := not_python(session.pair.code)):
        about = {"untested": untested}
    elif parts.generate:
        program = parts.generate(session)  # 6, 7
        program, report, about = _run_tests(session, program, parts, max_tries)
    label, reason = parts.arbitrate(session, program, report)  # 16
    path = "single" if not parts.screen else "tests" if report and report.evidence() else "arbiter"
    return Verdict(label, reason, path, details=about)


def _run_tests(
    session: PairSession, program: TestProgram, parts: Parts, max_tries: int
) -> tuple[TestProgram, CaseReport | None, dict[str, Any]]:
    """Run a test program until it no longer breaks or nothing helps; return it, its report and what a record says."""
    if parts.execute is None:
        return program, None, _tests_as_json(program)
    report = parts.execute(session, program)  # 8
    try_time = 0  # 9
    notes: Sequence[str] = ()
    fixes: list[str] = []
    while report.error and parts.fix and try_time <= max_tries:  # 10
        fix = parts.fix(session, program, report, notes)  # 11, and 12: what is installed is installed there
        if fix.program is None:
            fixes.append("irreparable")
            break
        if fix.program == program:
            fixes.append("unchanged")
            break
        program, notes = fix.program, fix.notes
        fixes.append(fix.by)
        report = parts.execute(session, program)  # 13
        try_time += 1  # 14
    return program, report, {**_tests_as_json(program, report), "tries": try_time, "fixes": fixes}


def _tests_as_json(program: TestProgram, report: CaseReport | None = None) -> dict[str, Any]:
    readings = {"readings": list(program.readings)} if program.readings else {}
    about = {"reading": program.reading, "cases": len(program.cases), **readings}
    if report is None:
        return about
    return {
        **about,
        "executable": report.executable,
        "error": report.error,
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "asserts": sum(case.asserts for case in report.cases),
        "distributions": list(program.distributions),
    }


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
        except ChatError as error:
            verdict = without_answer(error)
        except SandboxFailed as error:
            verdict = undecided("sandbox", str(error))
        return replace(verdict, details={**verdict.details, **spent(session.taken)})


def without_answer(error: ChatError) -> Verdict:
    """Return the undecided verdict of a question without an answer; what ends a campaign is raised again."""
    if isinstance(error, BudgetSpent | EndpointRefused | Interrupted):
        raise error
    return undecided("reply" if isinstance(error, NoAnswer) else "chat", str(error))


def spent(steps: Sequence[Record]) -> Mapping[str, Any]:
    """Return what some steps took, made now or read from records; questions without an answer are of this run alone."""
    replies = [step for step in steps if step["kind"] == REPLY]
    paid = [step for step in steps if "cost" in step]
    return {
        "calls": dict(Counter(step["part"] for step in replies)),
        "prompts": {step["part"]: step["prompt"] for step in replies},
        "models": sorted({step["model"] for step in replies}),
        **{name: added(step.get(name, 0.0) for step in paid) for name in ("tokens_in", "tokens_out", "cost", "saved")},
        "tokens_cached": sum(step["tokens_cached"] for step in replies),
        "asked_again": sum(step["attempts"] - 1 for step in replies),
        "seconds": {
            place: _seconds(steps, kind)
            for place, kind in (("model", REPLY), ("sandbox", "run"), ("install", "install"))
        },
    }


def _seconds(steps: Sequence[Record], kind: str) -> float:
    return round(sum((float(step["seconds"]) for step in steps if step["kind"] == kind), 0.0), 3)
