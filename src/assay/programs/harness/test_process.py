"""The process of the tests: it asks the program's process, compares, and writes the verdict where nobody else can.

The first failing test decides; a survey (for `vacuity`) goes through all and names those that held. A verdict is JSON:
`fault` (a value of Fault, or null for undecided), `detail`, `got`, `expected`, `line`, `missing`, `tests_run`,
`shared`, `passed`, and `gone` where the program's process went away, which the cage can say more about.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.codec import Channel, Gone, NotPlainData, opaque, unpack
from assay.programs.harness.near import loosened, near
from assay.programs.harness.observe import observe
from assay.programs.harness.printed import differs, parsed
from assay.programs.harness.recorder import FAILURE, Recorder, TestFinding, found_in, show
from assay.programs.harness.remote import LoadFailed, NeedsObjects, Remote
from assay.programs.harness.script_plan import ScriptPlan, unpacked
from assay.programs.harness.scripts import run_script
from assay.programs.harness.seal import CodeChanged, Seal
from assay.programs.intent import fault_of

MOST_PASSED: Final = 1000


class OpenTests:
    """Tests that were read, for one program after the other."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._plans = plans_of(spec)
        self.stays = all(plan.pure for plan in self._plans.values())

    def __call__(self, sock: socket.socket, verdict_fd: int) -> None:
        """Test the program at the other end of the socket, and write the verdict; or its answers, if asked those."""
        if "inputs" in self._spec:
            observe(Channel(sock), self._spec, verdict_fd)
            return
        verdict = json.dumps(TestProcess(Channel(sock), self._spec, self._plans).verdict()).encode()
        while verdict:
            verdict = verdict[os.write(verdict_fd, verdict) :]


def plans_of(spec: dict[str, Any]) -> dict[int, ScriptPlan]:
    """Return the scripts among the tests, ready to run, by their place."""
    tests = spec.get("tests", [])
    return {number: unpacked(test) for number, test in enumerate(tests) if test["kind"] == "script"}


class TestProcess:
    """The tests of one task and the program that they ask."""

    def __init__(self, channel: Channel, spec: dict[str, Any], plans: dict[int, ScriptPlan]) -> None:
        self._spec = spec
        self._plans = plans
        self._entry: str = spec["entry"]
        self._remote = Remote(channel, lambda _: None, self._entry)
        self._survey = bool(spec.get("survey"))
        self._sealed = bool(spec.get("sealed"))
        self._run = 0
        self._shared = False
        self._passed: list[str] = []

    def verdict(self) -> dict[str, Any]:
        """Run the tests; return the verdict."""
        gone = False
        try:
            finding = self._finding()
        except LoadFailed as error:
            finding = found_in(error.failure)
        except Gone as error:
            gone, finding = True, TestFinding(None, str(error))
        except BaseException as error:  # noqa: BLE001 - the machinery's own fault is undecided, never the program's
            finding = TestFinding(None, f"the judge failed: {type(error).__name__}: {error}")
        if finding is None:
            finding = TestFinding(Fault.CORRECT, "") if self._run else TestFinding(None, "the tests checked nothing")
        told = {**asdict(finding), "fault": finding.fault and str(finding.fault)}
        passed = self._passed[:MOST_PASSED]
        return {**told, "tests_run": self._run, "shared": self._shared, "passed": passed, "gone": gone}

    def _finding(self) -> TestFinding | None:
        missing = self._prepare()
        if missing:
            return missing
        kinds: dict[str, Callable[[int, dict[str, Any]], TestFinding | None]] = {
            "script": self._script,
            "call": self._call,
            "stdin": self._stdin,
        }
        first: TestFinding | None = None
        for number, test in enumerate(self._spec["tests"]):
            finding = kinds[test["kind"]](number, test)
            first = first or finding
            if finding and not self._survey:
                break
        return first

    def _prepare(self) -> TestFinding | None:
        """Have the program loaded and see that it has what the tests call."""
        tests = self._spec["tests"]
        names = set().union(*(plan.names for plan in self._plans.values()))
        called = set().union(*(plan.called for plan in self._plans.values())) - sys.stdlib_module_names
        if any(test["kind"] == "call" for test in tests) or any(plan.check for plan in self._plans.values()):
            called.add(self._entry)
        if not self._plans and not called:
            return None
        self._remote.learn(sorted(names | called))
        absent = sorted(name for name in called if self._remote.kind_of(name) not in {"function", "class"})
        if not absent:
            return None
        name = self._entry if self._entry in absent else absent[0]
        return TestFinding(Fault.FUNCTION_NOT_FOUND, f"the tests expect a function named {name!r}")

    def _script(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        plan = self._plans[number]
        if plan.objects:
            return self._in_shared(number, test)
        recorder = Recorder(plan.asserts, plan.sites, survey=self._survey)
        self._remote.on_return = recorder.returned
        finding: TestFinding | None = None
        try:
            run_script(plan, recorder, self._remote.bring, self._entry, Seal() if self._sealed else None)
            finding = recorder.doubt()
        except CodeChanged as changed:
            finding = TestFinding(None, str(changed))
        except NeedsObjects:
            return self._in_shared(number, test)
        except (Gone, LoadFailed):
            raise
        except BaseException as error:  # noqa: BLE001 - tests may raise anything
            recorder.spoil()
            finding = recorder.finding(error)
        self._run += recorder.executed
        self._passed += [f"test {number}: {each}" for each in recorder.passed()] if self._survey else []
        return finding

    def _in_shared(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._shared = True
        nonce = secrets.token_hex(8)
        script = {**test, "survey": self._survey, "sealed": self._sealed}
        _, told, answer = self._remote.ask(["shared", script, nonce], {"shared"})
        if told != nonce or not isinstance(answer, dict):
            raise Gone("the tests beside the program did not end")
        if "failure" in answer:
            return found_in(dict(answer["failure"]))
        executed = answer.get("executed")
        self._run += executed if type(executed) is int and executed > 0 else 0
        self._passed += [f"test {number}: {each}" for each in answer.get("passed", [])]
        if answer.get("finding") is not None:
            return _told(answer["finding"])
        return None if executed else TestFinding(None, "shared: the tests checked nothing")

    def _call(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._run += 1
        shown = f"{self._entry}({test['args'][1:-1][:300]})"
        try:
            packed = self._remote.call_packed(self._entry, test["args"])
        except Gone:
            raise
        except BaseException as error:
            failure = getattr(error, FAILURE, None)
            if failure is None:
                raise
            return found_in(failure)
        if packed != test["expected"] or self._spec["loose"]:
            got, expected = self._value(packed), unpack(test["expected"])
            finding = self._compare(got, expected, test["atol"], f"call {number}: {shown}")
            if finding:
                return finding
        self._passed += [f"call {number}: {shown}"] if self._survey else []
        return None

    def _value(self, packed: Any) -> Any:
        if isinstance(packed, dict) and "refused" in packed:
            return opaque(*packed["refused"])
        return unpack(packed)

    def _compare(self, got: Any, expected: Any, atol: float, where: str) -> TestFinding | None:
        if self._spec["loose"]:
            got, expected = loosened(got, expected)
        if near(got, expected, atol):
            return None
        return TestFinding(fault_of(got, expected), where, show(got), show(expected))

    def _stdin(self, number: int, test: dict[str, Any]) -> TestFinding | None:
        self._run += 1
        try:
            _, text, status, failure = self._remote.ask(["run", test["text"]], {"printed"})
        except NotPlainData as error:
            return TestFinding(None, f"standard input is too long: {error}")
        if isinstance(failure, dict):
            return found_in(failure)
        if status != 0 or not isinstance(text, str):
            return TestFinding(Fault.EXECUTION_OTHER, f"ended with status {status}")
        lines = differs(text, test["expected"])
        if lines is None:
            self._passed += [f"input {number}"] if self._survey else []
            return None
        fault = fault_of(parsed(text), parsed(test["expected"]))
        return TestFinding(fault, f"input {number}", *lines)


def _told(finding: Any) -> TestFinding:
    """Read what a process that runs the program says about its tests."""
    try:
        fault = Fault(finding["fault"]) if finding["fault"] else None
        detail, got, expected, missing = (str(finding[name]) for name in ("detail", "got", "expected", "missing"))
        return TestFinding(fault, f"shared: {detail}", got, expected, int(finding["line"]), missing)
    except (TypeError, ValueError, KeyError) as error:
        raise Gone("the tests beside the program told what is no finding") from error
