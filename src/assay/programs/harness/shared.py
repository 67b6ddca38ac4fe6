"""Tests and program in one interpreter, for tests that need objects which cannot leave it.

Only the tests' own needs lead here (`script_plan.ScriptPlan.objects`, or an argument that is no plain data), never
what a program returned. A program that means to can lie here: it can walk the stack, and its `__eq__` is asked. What
stands against it: a nonce that is told when the tests have ended, how many asserts were executed, and `drop_vacuous`;
every outcome says that it was so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from types import FunctionType, ModuleType
from typing import Any, Final

from assay.programs.harness.program import failure_of
from assay.programs.harness.recorder import FAILURE, Failed, Recorder, TestFinding, changed_code
from assay.programs.harness.script_plan import ScriptPlan, unpacked
from assay.programs.harness.scripts import Bring, ProgramModule, run_script
from assay.programs.harness.seal import CodeChanged, Seal

_INSIDE: Final = (
    "inspect", "get_type_hints", "__code__", "__annotations__", "__defaults__", "__wrapped__", "doctest", "reload",
    "vars(", "dir(", "__dict__",
)  # fmt: skip
"""What tests say that look at functions, or at the module, as they are written: these are then not watched."""
ON_DISK: Final = ("subprocess", "importlib", "runpy", "multiprocessing", "sys.executable")
"""What tests say that have the program loaded from its file."""


def run(
    script: dict[str, Any], bring: Bring, program: ModuleType, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Run a script beside the module of the program.

    Return how many asserts it executed, those that held, what failed first and whether the program broke. `tell` takes
    the first finding where the tests go on after it, for the program may never come back.
    """
    plan = unpacked(script)
    survey = bool(script.get("survey"))
    found: list[TestFinding] = []
    looks_inside = any(word in script["source"] for word in _INSIDE)

    recorder = _RecorderBeside(plan, found, tell if script["goes_on"] else None)
    seal = Seal() if script.get("sealed") else None
    if seal:
        seal.hold_program(vars(program))

    def watched(name: str) -> Any:
        found = bring(name)
        return _watched(found, recorder) if isinstance(found, FunctionType) and not looks_inside else found

    def module_of(bring: Bring) -> ModuleType:
        return program if looks_inside and not seal else ProgramModule(bring, vars(program))

    try:
        run_script(plan, recorder, watched, script["entry"], seal, module_of=module_of)
    except CodeChanged as changed:
        found.insert(0, changed_code(changed))
    except BaseException as error:  # noqa: BLE001 - a verdict about whatever it is
        found.append(recorder.finding(error))
    return {
        "executed": recorder.executed,
        "passed": recorder.passed() if survey else [],
        "finding": _packed(found[0]) if found else None,
        "broke": any(each.breaks for each in found),
    }


class _RecorderBeside(Recorder):
    """Knows the program's exceptions by what they passed through."""

    def __init__(
        self, plan: ScriptPlan, found: list[TestFinding], tell: Callable[[dict[str, Any]], None] | None
    ) -> None:
        """Add what failed to `found`; `tell` takes the first of it, where the tests go on."""

        def spare(finding: TestFinding) -> bool:
            found.append(finding)
            if tell and len(found) == 1 and not finding.breaks:
                tell(_packed(finding))
            return not finding.breaks

        # nobody counts what is asked of a program that lies beside: it may always have been asked
        super().__init__(plan, count().__next__, spare if tell else None, (CodeChanged,))

    def finding(self, error: BaseException) -> TestFinding:
        """Say why an assert, or a script, ended with this exception."""
        if not isinstance(error, Failed):
            _claim(error)
        return super().finding(error)


def _packed(finding: TestFinding) -> dict[str, Any]:
    return {**asdict(finding), "fault": str(finding.fault)}


def _watched(function: FunctionType, recorder: Recorder) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            value = function(*args, **keywords)
        except Exception as error:
            _claim(error, surely=True)
            raise
        recorder.returned(value)
        return value

    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__dict__"):
        setattr(call, name, getattr(function, name))
    return call


def _claim(error: BaseException, *, surely: bool = False) -> None:
    """Mark an exception as the program's: one that passed through its source, or that its function raised."""
    failure = failure_of(error)
    if failure["line"] > 0 or surely:
        with suppress(AttributeError):
            setattr(error, FAILURE, failure)
