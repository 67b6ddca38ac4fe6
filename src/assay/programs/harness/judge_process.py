"""Test a program from another process and write the verdict where the program cannot reach it.

Each answer is one line of JSON: `[kind, text, fault, line]`. What a program returned or printed crosses as plain data
and is written as a canonical text here, in the process that it cannot reach; it can only be what it is. A program that
takes too long for one input has its earlier answers written already.

The first finding decides. With `every_test` the tests go on after a wrong answer, as far as the program does not break,
to learn whether it would on any of them; a survey of vacuous tests goes through all and names those that held.
A verdict is a line of JSON: `fault` (a value of Fault), `doubtful` where the fault is the tests' or the machinery's
unless some program passes the test, `test` (its place), `detail`, `got`, `expected`, `line`, `missing`, `tests_run`,
`shared`, `passed`, `ran_all` (null where a wrong answer ended the tests), and `gone` where the program's process went
away, which the cage can say more about. Where tests go on, a first line holds what is known by then, for the program
may never come back; the last line counts.

A process that runs code for the first time writes into the pages where it lies: what the interpreter learns of it, and
which method a name means. Learned before the fork it is the same page in all children, and nothing to copy.
"""

from __future__ import annotations

import json
import linecache
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.assert_plan import ScriptPlan, packed, packed_call, script_plan, unpacked
from assay.programs.harness.codec import Channel, Gone, NotPlainData, Opaque, deeply, unpack
from assay.programs.harness.comparison import (
    canonical,
    canonical_lines,
    differs,
    fault_of,
    fault_of_unknown,
    loosened,
    near,
    parsed,
)
from assay.programs.harness.official import PRINTS, RETURNS
from assay.programs.harness.program_process import FILE, Candidate, make_ready
from assay.programs.harness.proxies import NeedsObjects, data_of
from assay.programs.harness.recorder import (
    FAILURE,
    MAX_TEXT_CHARS,
    NOTHING,
    Comparison,
    Recorder,
    TestFinding,
    changed_code,
    found_in,
    show,
)
from assay.programs.harness.remote import LoadFailed, Remote, is_failure
from assay.programs.harness.run_tests import run_script
from assay.programs.harness.seal import CodeChanged, Seal

RETURNED: Final = "returned"
NONE: Final = "none"
RAISED: Final = "raised"
OPAQUE: Final = "opaque"
FAILED: Final = "failed"
"""It did not load, or has no such function: there is no answer but this one."""

Answer = tuple[str, str, str, int]


def observe(channel: Channel, spec: dict[str, Any], answers_fd: int) -> None:
    """Run the program at the other end of the channel on each input of `spec`."""
    remote = Remote(channel, lambda _: None)
    try:
        failed = _loading(remote, spec["entry"])
        if failed:
            write_line(answers_fd, failed)
            return
        for given in spec["inputs"]:
            is_text = "stdin" in given
            write_line(answers_fd, _printed(remote, given["stdin"]) if is_text else _call_entry(remote, spec, given))
    except Gone:
        return


def _loading(remote: Remote, entry: str) -> Answer | None:
    """Return why a function cannot be called; None if it can, or if a whole program is run."""
    try:
        is_there = not entry or remote.kind_of(entry) in {"function", "class"}
    except LoadFailed as error:
        return _failure(FAILED, error.failure)
    return None if is_there else (FAILED, "", str(Fault.FUNCTION_NOT_FOUND), -1)


def _call_entry(remote: Remote, spec: dict[str, Any], request: dict[str, Any]) -> Answer:
    """Call the function and return its answer; an iterator of the program may raise while it is consumed."""
    try:
        value = remote.answer(remote.call_packed(spec["entry"], request["args"]))
        is_opaque = isinstance(value, Opaque) and not isinstance(value, Iterator)
        return OPAQUE if is_opaque else NONE if value is None else RETURNED, canonical(value), "", -1
    except Gone:
        raise
    except BaseException as error:
        failure = getattr(error, FAILURE, None)
        if failure is None:
            raise Gone("no answer") from error
        return _failure(RAISED, failure)


def _printed(remote: Remote, text: str) -> Answer:
    try:
        _, printed, status, failure = remote.ask(["run", text], {"printed"})
    except NotPlainData as error:
        raise Gone(str(error)) from error
    if isinstance(failure, dict):
        return _failure(RAISED, failure)
    if status != 0 or not isinstance(printed, str):
        return RAISED, f"status {status}"[:80], str(Fault.EXECUTION_OTHER), -1
    return RETURNED if printed.strip() else NONE, canonical_lines(printed), "", -1


def _failure(kind: str, failure: dict[str, Any]) -> Answer:
    found = found_in(failure)
    return kind, str(failure.get("type", ""))[:80], str(found.fault or ""), found.line


def write_line(file: int, answer: object) -> None:
    """Write a complete line of JSON."""
    line = json.dumps(answer).encode() + b"\n"
    while line:
        line = line[os.write(file, line) :]


MAX_PASSED: Final = 1000


class OpenTests:
    """Parsed tests, for one program after another."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._plans = plans_of(spec)
        self.stays = all(plan.pure for plan in self._plans.values())

    def __call__(self, sock: socket.socket, verdict_fd: int) -> None:
        """Test the program at the other end of the socket, and write the verdict, or its answers if requested."""
        if "inputs" in self._spec:
            observe(Channel(sock), self._spec, verdict_fd)
            return
        write = partial(write_line, verdict_fd)
        write(JudgeProcess(Channel(sock), self._spec, self._plans, write).verdict())


def plans_of(spec: dict[str, Any]) -> dict[int, ScriptPlan]:
    """Return the compiled scripts among the tests, by their position."""
    tests = spec.get("tests", [])
    return {number: unpacked(test) for number, test in enumerate(tests) if test["kind"] == "script"}


_LOADED_ANYWAY: Final = frozenset({"unittest", "pytest"})
"""Libraries by which tests compare that the processes of such tests have loaded."""


class _RecorderApart(Recorder):
    """Classifies findings without relying on the program: requests for that do not count as reliance."""

    def __init__(
        self,
        plan: ScriptPlan,
        remote: Remote,
        spare: Callable[[TestFinding], bool] | None,
        ends: tuple[type[BaseException], ...],
    ) -> None:
        super().__init__(plan, lambda: remote.requests, spare, ends)
        self._remote = remote

    def finding(self, error: BaseException) -> TestFinding:
        """Say why an assert, or a script, ended with this exception."""
        relied = self._remote.relied
        found = super().finding(error)
        self._remote.relied = relied
        return found

    def _decisive(self) -> Comparison:
        decided = super()._decisive()
        return decided._replace(actual=data_of(decided.actual))


class _BesideNeeded(Exception):
    """The tests need objects of the program, and must run beside it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class JudgeProcess:
    """The tests of one task, and the program under test."""

    def __init__(
        self,
        channel: Channel,
        spec: dict[str, Any],
        plans: dict[int, ScriptPlan],
        write: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        """Prepare a judge; `write` stores the verdict so far if tests continue after a finding."""
        self._spec = spec
        self._plans = plans
        self._write = write
        self._entry: str = spec["entry"]
        self._channel = channel
        self._beside: set[int] = set()
        """The scripts that run beside the program, by their places."""
        self._survey = bool(spec.get("survey"))
        self._goes_on = self._survey or bool(spec.get("every_test"))
        self._sealed = bool(spec.get("sealed"))
        self._official: str = spec.get("official", "")
        self._begin()

    def _begin(self) -> None:
        """Reset what is known of the program."""
        self._remote = Remote(self._channel, lambda _: None)
        self._run = 0
        self._last: Any = NOTHING
        self._first: TestFinding | None = None
        self._broke = False
        self._number = -1
        self._shared = False
        self._passed: list[str] = []
        self._replaced: dict[str, None] = {}

    def verdict(self) -> dict[str, Any]:
        """Run the tests; return the verdict."""
        gone = ""
        try:
            self._run_tests()
        except LoadFailed as error:
            self._note_finding(found_in(error.failure))
        except Gone as error:
            gone, self._broke = str(error) or "the channel was closed", True
        except BaseException as error:  # noqa: BLE001 - the machinery's own fault is never the program's, unless it provokes it
            said = f"the judge failed: {type(error).__name__}: {error}"
            self._note_finding(TestFinding(Fault.EXECUTION_OTHER, said[:MAX_TEXT_CHARS], doubtful=True))
        if self._first is None and not gone and not self._run:
            fault = Fault.INTENT_OTHER if self._last is NOTHING else fault_of_unknown(self._last)
            self._note_finding(TestFinding(fault, "the tests checked nothing", show(self._last), doubtful=True))
        return self._so_far(gone)

    def _so_far(self, gone: str = "") -> dict[str, Any]:
        """Return the verdict so far."""
        replaced = ", ".join(self._replaced)
        told = f"put back what the program replaced: {replaced}"[:MAX_TEXT_CHARS] if replaced else ""
        finding = self._first or TestFinding(Fault.EXECUTION_OTHER if gone else Fault.CORRECT, gone or told)
        return {
            **asdict(finding),
            "fault": str(finding.fault),
            "tests_run": self._run,
            "shared": self._shared or self._remote.relied,
            "passed": self._passed[:MAX_PASSED],
            "ran_all": not self._broke if self._goes_on else None,
            "gone": bool(gone) and self._first is None,
        }

    def _note_finding(self, finding: TestFinding) -> bool:
        """Record why a test did not pass; return whether the tests continue."""
        self._broke = self._broke or finding.breaks
        goes_on = self._goes_on and (self._survey or not self._broke)
        if self._first is None:
            finding.test = self._number
            self._first = finding
            if goes_on:
                self._write({**self._so_far(), "ran_all": False})
        return goes_on

    def _note_passed(self, test: str, *parts: str) -> None:
        """Record, for a survey, which asserts of a test held."""
        self._passed += [f"{test}: {part}" for part in parts] if self._survey else []

    def _run_tests(self) -> None:
        """Run the tests; if one turns out to need objects, run all of them again from the program's initial state."""
        while True:
            try:
                self._run_in_turn()
            except _BesideNeeded as needed:
                self._beside.update(number for number in self._plans if number >= needed.number)
                self._begin()
                self._remote.ask(["reload"], {"reload"})
            else:
                return

    def _run_in_turn(self) -> None:
        if missing := self._prepare():
            self._note_finding(missing)
            return
        kinds = {"script": self._script, "call": self._call, "stdin": self._stdin}
        for number, test in enumerate(self._spec["tests"]):
            self._number = number
            finding = kinds[test["kind"]](number, test)
            if finding and not self._note_finding(finding):
                break

    def _prepare(self) -> TestFinding | None:
        """Load the program, and check that it has the names that the tests call."""
        tests = self._spec["tests"]
        plans = self._plans.values()
        libraries = _LOADED_ANYWAY.union(*(plan.guarded for plan in plans if plan.objects or plan.uses_library))
        libraries &= {name for plan in plans for name in plan.guarded}
        if libraries:
            self._remote.ask(["guard", sorted(libraries)], {"guard"})
        names = set().union(*(plan.names for plan in self._plans.values()))
        called = set().union(*(plan.called_names for plan in self._plans.values())) - sys.stdlib_module_names
        checks = any("check" in plan.outline.calls for plan in self._plans.values())
        if checks or any(test["kind"] == "call" for test in tests):
            called.add(self._entry)
        if not self._plans and not called:
            return None
        self._remote.learn(sorted(names | called))
        absent = [name for name in called if self._remote.kind_of(name) not in {"function", "class"}]
        if not absent:
            return None
        name = min(absent, key=lambda name: (name != self._entry, name))
        return TestFinding(Fault.FUNCTION_NOT_FOUND, f"the tests expect a function named {name!r}")

    def _script(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        plan = self._plans[number]
        if number in self._beside or self._needs_objects(plan):
            return self._in_shared(number, test)

        def spare(finding: TestFinding) -> bool:
            self._look_for_objects(plan, sys.exception())
            return self._remote.ended is None and self._note_finding(finding) and not finding.breaks

        ends = (Gone, LoadFailed, NeedsObjects, CodeChanged)
        recorder = _RecorderApart(plan, self._remote, spare if self._goes_on else None, ends)
        self._remote.on_return = recorder.returned
        finding: TestFinding | None = None
        try:
            self._remote.namespace = {}
            seal = Seal() if self._sealed else None
            run_script(plan, recorder, self._remote.bring, self._entry, seal, self._remote.namespace)
        except (Gone, LoadFailed, NeedsObjects) as error:
            self._remote.ended = self._remote.ended or error
        except CodeChanged as changed:
            finding = changed_code(changed)
        except BaseException as error:  # noqa: BLE001 - tests may raise anything
            finding = recorder.finding(error)
            self._look_for_objects(plan, error)
        ended, self._remote.ended = self._remote.ended, None
        if isinstance(ended, NeedsObjects):
            raise _BesideNeeded(number)
        if ended is not None:
            raise ended
        self._last = recorder.last
        self._run += recorder.executed
        self._note_passed(f"test {number}", *recorder.passed())
        return finding

    def _needs_objects(self, plan: ScriptPlan) -> bool:
        """Say whether tests need objects, by their source or because a name is a function or a class."""
        return plan.objects or any(self._remote.kind_of(name) in {"function", "class"} for name in plan.attributed)

    def _look_for_objects(self, plan: ScriptPlan, error: BaseException | None) -> None:
        """Run tests again beside the program if they failed with a proxy of an object that they took for another value.

        They know classes of a library, or gave what the program derived from plain data to what wants exactly that.
        """
        remote = self._remote
        misused = isinstance(error, TypeError | AttributeError) and not hasattr(error, FAILURE) and remote.keeps_derived
        if remote.ended is None and (misused or (remote.keeps_objects and plan.uses_library)):
            remote.ended = NeedsObjects("the tests look for objects of a library, or for exactly plain data")

    def _in_shared(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._shared, self._remote.ended = True, None
        nonce = secrets.token_hex(8)
        script = {**test, "survey": self._survey, "sealed": self._sealed, "goes_on": self._goes_on}
        kind, told, answer = self._remote.ask(["shared", script, nonce], {"shared", "found"})
        if kind == "found" and told == nonce:
            self._note_finding(_read_finding(answer))
            _, told, answer = self._remote.hear({"shared"})
        if told != nonce or not isinstance(answer, dict):
            raise Gone("the tests beside the program did not end")
        if is_failure(answer.get("failure")):
            return found_in(answer["failure"])
        self._broke = self._broke or bool(answer.get("broke"))
        executed, passed = answer.get("executed"), answer.get("passed")
        self._run += executed if type(executed) is int and executed > 0 else 0
        self._note_passed(f"test {number}", *(passed if isinstance(passed, list) else ()))
        replaced = answer.get("replaced")
        self._replaced |= dict.fromkeys(map(str, replaced if isinstance(replaced, list) else ()))
        if answer.get("finding") is not None:
            return _read_finding(answer["finding"])
        return None if executed else TestFinding(Fault.INTENT_OTHER, "shared: the tests checked nothing", doubtful=True)

    def _call(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._run += 1
        shown = f"{self._entry}({test['args'][1:-1][:300]})"
        try:
            packed = self._remote.call_packed(self._entry, test["args"])
            finding = self._compared(packed, test, f"call {number}: {shown}")
        except Gone:
            raise
        except BaseException as error:
            failure = getattr(error, FAILURE, None)
            if failure is None:
                raise
            return found_in(failure)
        if not finding:
            self._note_passed(f"call {number}", shown)
        return finding

    def _compared(self, packed: Any, test: dict[str, Any], where: str) -> TestFinding | None:
        """Compare a returned value with the expected one; a failing comparison is the program's fault."""
        with deeply():
            if packed == test["expected"] and not self._spec["loose"]:
                return None
            got, expected = self._remote.answer(packed), unpack(test["expected"])
            try:
                if self._official:
                    with suppress(ValueError, TypeError):  # arrays are neither equal nor unequal to lists
                        if RETURNS[self._official](got, expected):
                            return None
                    got, expected = loosened(got, expected)
                    return TestFinding(fault_of(got, expected), where, show(got), show(expected))
                if self._spec["loose"]:
                    got, expected = loosened(got, expected)
                if near(got, expected, test["atol"]):
                    return None
                return TestFinding(fault_of(got, expected), where, show(got), show(expected))
            except RecursionError:
                where += ": nested too deep to compare"
                return TestFinding(Fault.OUTPUT_TYPE_ERROR, where, show(got), show(expected))

    def _stdin(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._run += 1
        try:
            _, text, status, failure = self._remote.ask(["run", test["text"]], {"printed"})
        except NotPlainData as error:
            return TestFinding(Fault.EXECUTION_OTHER, f"standard input is too long: {error}", doubtful=True)
        if isinstance(failure, dict):
            return found_in(failure)
        if status != 0 or not isinstance(text, str):
            return TestFinding(Fault.EXECUTION_OTHER, f"ended with status {status}")
        lines = differs(text, test["expected"])
        if self._official:
            lines = None if PRINTS[self._official](text, test["expected"]) else lines or (text, test["expected"])
        if lines is None:
            self._passed += [f"input {number}"] if self._survey else []
            return None
        fault = fault_of(parsed(text), parsed(test["expected"]))
        return TestFinding(fault, f"input {number}", *lines)


def _read_finding(finding: Any) -> TestFinding:
    """Parse a finding of a process that runs the program and its tests."""
    try:
        texts = (str(finding[name])[:MAX_TEXT_CHARS] for name in ("detail", "got", "expected", "missing"))
        detail, got, expected, missing = texts
        fault, line, doubtful = Fault(finding["fault"]), int(finding["line"]), bool(finding["doubtful"])
        return TestFinding(fault, f"shared: {detail}", got, expected, line, missing, doubtful)
    except Exception as error:  # a forged finding may do anything here
        raise Gone("the test process sent an invalid result") from error


_TIMES: Final = 20
_SOURCE: Final = '''
from typing import List, Optional
import math

def solve(numbers: List[int], k: int = 3, name: Optional[str] = None) -> int:
    """Return the sum of the k greatest numbers."""
    total = 0
    for n in sorted(numbers, reverse=True)[:k]:
        if n > 0 and not name:
            total += n
    return [math.floor(total)] + [len(str(x)) for x in {}.items()]
'''
_TESTS: Final = """
def check(candidate):
    assert candidate([3, 1, 2], 2) == [5]
    assert candidate([], 3) == [0], "nothing"
    assert sum(candidate([1.5] * 9)) < 20
"""


def rehearse() -> None:
    """Run a test program, and leave no trace of it that a later program could see."""
    before = dict(sys.modules)
    tests = [packed(script_plan(_TESTS, "solve"), _TESTS, "solve"), packed_call([[1, 2]], [3], 0.0)]
    spec = {"entry": "solve", "loose": False, "survey": False, "tests": tests}
    plans = plans_of(spec)
    for _ in range(_TIMES):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            program = _Alone(ours, Candidate({"source": _SOURCE}, Channel(theirs), -1))
            fault = JudgeProcess(program, spec, plans).verdict()["fault"]
        if fault != "correct":
            raise RuntimeError(f"the rehearsal of the harness ended with {fault}: report this with your Python version")
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]
    sys.modules.update(before)
    linecache.cache.pop(FILE, None)
    make_ready()


class _Alone(Channel):
    """The judge's end of a channel to a program in the same process."""

    def __init__(self, sock: socket.socket, candidate: Candidate) -> None:
        super().__init__(sock)
        self._candidate = candidate

    def post(self, text: str) -> None:
        super().post(text)
        self._candidate.answer_one()
