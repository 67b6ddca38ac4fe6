"""The test executor: a test program and the code it tests to a structured report of what happened (CoSQA+, IV-C c).

Each case runs in a program of its own, so that one cannot spoil another. The code goes in byte by byte as a text of its
own, behind the setup, and `code_in` reads it back out of what is run. A case that changes the code or what stands for
it (`seal`) is no evidence but an error, and so is one that holds where a program that does nothing is in its place.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import AssayError, InputError
from assay.faults import Fault
from assay.judge.checks import TestProgram, refused
from assay.judge.installs import Installs
from assay.judge.pairs import laid_out, not_python
from assay.judge.steps import PairSession
from assay.programs.drop_vacuous import drop_vacuous_tests
from assay.programs.execute import Execution, executions
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import unusable
from assay.runs.record import Record
from assay.types import Outcome, Program, Script, Task, Test

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

State = Literal["passed", "failed", "error"]
RunnerOf = Callable[[Sequence[str]], "ProgramRunner"]
"""Folders to import from to what runs programs that do."""
_ABSENT = re.compile(r"No module named '([A-Za-z_]\w*)")
_MOST = 600
"""Characters of a value or a message that a report tells."""


class SandboxFailed(AssayError):
    """The sandbox, not the program, failed."""


@dataclass(frozen=True, slots=True)
class Case:
    """What became of one test case."""

    number: int
    state: State
    asserts: int = 0
    """How many were carried out."""
    detail: str = ""
    got: str = ""
    expected: str = ""
    line: int = -1
    """Of the code under judgment, where it broke."""


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What running a test program showed."""

    cases: tuple[Case, ...]
    error: str = ""
    """What broke first, so that the program could not say what it should; empty where all of it ran."""
    missing: tuple[str, ...] = ()
    """Modules that are not there."""
    seconds: float = 0.0
    final: bool = False
    """No repair can help: the code under judgment is no Python."""

    @property
    def executable(self) -> bool:
        """Whether the program ran as a whole, whatever its tests said."""
        return not self.error

    def text(self) -> str:
        """Return it as models read it."""
        if not self.cases:
            return f"The program was not run: {self.error}"
        counts = ", ".join(f"{self.count(state)} {state}" for state in ("passed", "failed", "error"))
        kept = ("number", "state", "asserts", "detail", "got", "expected", "line")
        rows = [
            {name: getattr(case, name) for name in kept if getattr(case, name) not in ("", -1)} for case in self.cases
        ]
        return "\n".join((f"{len(self.cases)} cases: {counts}", *(json.dumps(row, ensure_ascii=False) for row in rows)))

    def count(self, state: State) -> int:
        """Return how many cases came to this."""
        return sum(case.state == state for case in self.cases)


class Executor:
    """Runs test programs in sandboxes."""

    def __init__(self, runner_of: RunnerOf, installs: Installs) -> None:
        self._runner_of, self._installs = runner_of, installs

    def __call__(self, session: PairSession, program: TestProgram) -> CaseReport:
        """Run a program, or take the report of the run that was made before."""
        code = session.pair.code
        why = not_python(code)
        if why:
            return CaseReport((), why, final=True)
        why = refused(program, code.text)
        if why:
            return CaseReport((), why)
        asked = (program.setup, program.helpers, *program.cases, *program.distributions)
        step = session.once("run", asked, lambda: asdict(self._run(code.text, program)))
        return _report(step)

    def _run(self, code: str, program: TestProgram) -> CaseReport:
        overlay = self._installs.have(program.distributions) if program.distributions else ""
        if isinstance(overlay, str) and overlay:
            return CaseReport((), overlay)
        source = source_of(program.setup, code)
        if code_in(source) != code:
            raise SandboxFailed("the code under judgment is not what would run")
        folders = [] if isinstance(overlay, str) else [str(overlay.folder)]
        scripts = tuple(Script(program.script(number)) for number in range(len(program.cases)))
        tasks = [Task(f"case {number}", "", tests=(each,), tags=_SEALED) for number, each in enumerate(scripts)]
        programs = [Program(task.id, source, task.id) for task in tasks]
        if why := next(filter(None, map(unusable, tasks)), ""):
            return CaseReport((), why)
        runner = self._runner_of(folders)
        try:
            ran = list(executions(tasks, programs, runner))
        except InputError as error:
            raise SandboxFailed(str(error)) from error
        for one in ran:
            if one.broken:
                raise SandboxFailed(one.outcome.detail)
        says = _saying(scripts, program.setup, runner) if any(map(_holds, ran)) else scripts
        return summed(
            [
                _VACUOUS if _holds(one) and script not in says else one.outcome
                for script, one in zip(scripts, ran, strict=True)
            ]
        )


_SEALED = {"code": "sealed"}
_VACUOUS = Outcome(
    "", "", None, detail="holds for a program that does nothing too, so it says nothing: test what the code returns"
)


def _holds(one: Execution) -> bool:
    return one.outcome.fault is Fault.CORRECT


def _saying(scripts: tuple[Script, ...], setup: str, runner: ProgramRunner) -> tuple[Test, ...]:
    """Return the cases that say something about the code: not those that hold for stubs behind the same setup."""
    reading = TaskFile((Task("cases", "", tests=scripts),))
    return drop_vacuous_tests(reading, runner, around=partial(source_of, setup)).tasks[0].tests


def source_of(setup: str, code: str) -> str:
    """Return the module that is tested: the setup runs, then the code, each compiled by itself."""
    run = "exec(compile({}{!r}, {!r}, 'exec', dont_inherit=True), globals())\n"
    before = "'if True:\\n' + " if laid_out(code) != code else ""
    return run.format("", setup, "setup.py") + run.format(before, code, "solution.py")


def code_in(source: str) -> str:
    """Return the code under judgment as a module holds it: the last text that it compiles."""
    texts = [
        call.args[0]
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "compile"
    ]
    last = texts[-1].right if isinstance(texts[-1], ast.BinOp) else texts[-1]
    code: str = ast.literal_eval(last)
    return code


def summed(outcomes: Sequence[Outcome]) -> CaseReport:
    """Put the outcomes of the cases together."""
    cases = tuple(_case(number, outcome) for number, outcome in enumerate(outcomes, 1))
    broken = [case for case in cases if case.state == "error"]
    error = f"case {broken[0].number}: {broken[0].detail}" if broken else ""
    missing = tuple(sorted({name for case in broken for name in _ABSENT.findall(case.detail)}))
    return CaseReport(cases, error, missing, round(sum(outcome.seconds for outcome in outcomes), 3))


def _case(number: int, outcome: Outcome) -> Case:
    fault = outcome.fault
    state: State = "error"
    if fault is Fault.CORRECT:
        state = "passed"
    elif fault is not None and fault.is_intent:
        state = "failed"
    kind = f"{fault}: " if fault and state == "error" and not outcome.detail.startswith(str(fault)) else ""
    detail, got, expected = (text[:_MOST] for text in (kind + outcome.detail, outcome.got, outcome.expected))
    return Case(number, state, outcome.tests_run, detail, got, expected, outcome.line)


def _report(step: Record) -> CaseReport:
    """Read a report out of its record."""
    given: dict[str, Any] = {name: step[name] for name in CaseReport.__slots__ if name in step}
    return CaseReport(
        **{**given, "cases": tuple(Case(**case) for case in step["cases"]), "missing": tuple(step["missing"])}
    )


def simulate(session: PairSession, program: TestProgram) -> CaseReport:
    """Ask a model what running the program would show (CoSQA+, table VI: simulated executor)."""
    reply = session.ask("simulate", program=program.text())
    told = zip(reply["outcomes"], reply["details"], strict=False)
    states: dict[str, State] = {"passed": "passed", "failed": "failed", "error": "error"}
    cases = tuple(
        Case(number, states.get(outcome, "error"), detail=detail[:_MOST])
        for number, (outcome, detail) in enumerate(told, 1)
    )
    broken = next((case for case in cases if case.state == "error"), None)
    return CaseReport(cases, f"case {broken.number}: {broken.detail}" if broken else "")
