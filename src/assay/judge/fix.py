"""The bug fixer: a test program that broke to one that may not, in two stages (CoSQA+, IV-C c).

First what is missing is installed, without a model; then a model repairs the test program, proposes commands, or says
that nothing helps. It is given tests and gives tests: the code is no part of what it may change (`checks`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.judge.checks import TestProgram, parts_of
from assay.judge.installs import Installs, distributions_in
from assay.judge.run_tests import CaseReport
from assay.judge.steps import PairSession


@dataclass(frozen=True, slots=True)
class Fix:
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
        """Return the next program to run."""
        if report.final:
            return Fix(None, "none")
        wanted, unknown = self._missing_distributions(session, program, report)
        added, refused = self._added(session, program, wanted)
        if added:
            return Fix(added, "install", (*notes, *refused))
        return self._ask_for_fix(session, program, report, (*notes, *unknown, *refused))

    def _missing_distributions(
        self, session: PairSession, program: TestProgram, report: CaseReport
    ) -> tuple[list[str], list[str]]:
        """Return the distributions that bring what is missing, and a word on modules that nobody knows."""
        if not report.missing:
            return [], []

        def known() -> dict[str, Any]:
            return {"brings": {module: self._installs.brings(module) for module in report.missing}, "seconds": 0.0}

        brings: dict[str, str] = session.once("install", ("brings", *report.missing), known)["brings"]
        unknown = [f"no known distribution brings the module {module}" for module, name in brings.items() if not name]
        return [name for name in brings.values() if name and name not in program.distributions], unknown

    def _added(
        self, session: PairSession, program: TestProgram, names: Sequence[str]
    ) -> tuple[TestProgram | None, list[str]]:
        """Install further distributions, all or each alone; return the program that has them, and what was refused."""
        have, refused = list(program.distributions), []
        for name in dict.fromkeys(names):
            if name in have:
                continue
            why = self._refusal(session, (*have, name))
            if why:
                refused.append(why)
            else:
                have.append(name)
        added = tuple(sorted(have))
        return (None if added == program.distributions else replace(program, distributions=added)), refused

    def _refusal(self, session: PairSession, names: Sequence[str]) -> str:
        def install() -> dict[str, Any]:
            began = time.monotonic()
            made = self._installs.have(names)
            seconds = round(time.monotonic() - began, 3)
            if isinstance(made, str):
                return {"names": list(names), "refused": made, "seconds": seconds}
            return {"names": list(names), "refused": "", "installed": list(made.distributions), "seconds": seconds}

        why: str = session.once("install", tuple(sorted(names)), install)["refused"]
        return why

    def _ask_for_fix(
        self, session: PairSession, program: TestProgram, report: CaseReport, notes: tuple[str, ...]
    ) -> Fix:
        reply = session.ask("fix", program=program.text(), report=report.text(), notes="\n".join(notes))
        if reply["action"] == "irreparable":
            return Fix(None, "model", notes)
        if reply["action"] == "repair":
            setup, helpers, cases = parts_of(reply)
            fixed = replace(program, setup=setup, helpers=helpers, cases=cases)
            return Fix(fixed, "model", (*notes, "the last repair changed nothing") if fixed == program else notes)
        commands = [distributions_in(command) for command in reply.get("commands", ())]
        refused = [command for command in commands if isinstance(command, str)]
        names = [name for command in commands if isinstance(command, list) for name in command]
        added, more = self._added(session, program, names)
        return Fix(added or program, "model", (*notes, *refused, *more))
