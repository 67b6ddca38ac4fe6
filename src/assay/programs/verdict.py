"""Build the job that tests a program, and decide the outcome from how the job ended.

Programs may come in any order, and reading the tests of a task costs ten times what handing over a program does. So
what is kept is bounded by its bytes, not by a number of tasks: all of HumanEval take one megabyte. How far tests go
differs from one run over them to the next, and stands in a head before them.

Nothing that a program can write makes it correct: only the judge's verdict does. Where there is none, because the
program ended, was ended or took the judge along, that is the program's fault. Where the sandbox broke it is undecided,
and where it was the tests that failed, until somebody shows that they can be passed (`settle`). A program that was
found wrong and then ended, while it was asked for more, is wrong, and does not run.

A tag `values=json` on a task says that its expected values come from JSON, where a tuple is a list; `compare=apps` or
`compare=livecodebench` that answers are compared as in that harness (`official`); `code=sealed` that nobody has read
its tests, which may ask the program and not change it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final, Literal, assert_never

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.harness.assert_plan import packed, packed_call, script_plan
from assay.programs.harness.codec import NotPlainData, pack
from assay.programs.harness.collected_tests import PYTEST
from assay.programs.harness.official import PRINTS
from assay.programs.harness.recorder import TestFinding
from assay.values import Call, Outcome, Program, Pytest, Script, Stdin, Task, Test

MAX_MESSAGE_BYTES: Final = 64 << 20
Extent = Literal["first failure", "every test", "survey"]
"""How far tests go: to the first that fails, on to all of them, or that with the names of those that hold."""


@dataclass(frozen=True, slots=True)
class _Spec:
    tests: tuple[Any, ...]
    """They stay alive as long as their id is the key."""
    head: bytes
    whole: bytes


class SpecCache:
    """A cache of the specifications for judges, shared by all threads."""

    def __init__(self, read: Callable[[Task], bytes], most_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Take the function that reads the tests of a task."""
        self._read, self._most_bytes = read, most_bytes
        self._specs: OrderedDict[tuple[int, str, str], _Spec] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def spec(self, task: Task, head: bytes) -> bytes:
        """Return the head and the tests of a task, the same object for the same head.

        The tests may hold lists, so they are known by identity.
        """
        key = (id(task.tests), task.setup, task.entry_point)
        with self._lock:
            kept = self._specs.get(key)
        if kept is None or kept.head != head:
            tests = self._read(task) if kept is None else kept.whole[len(kept.head) :]
            kept = _Spec(task.tests, head, head + tests)
        with self._lock:
            before = self._specs.pop(key, None)
            self._specs[key] = kept
            self._bytes += len(kept.whole) - (len(before.whole) if before else 0)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._specs.popitem(last=False)[1].whole)
        return kept.whole


_FOR_PYTEST: Final = re.compile(
    r"^\s*(?:class |@|import pytest|from pytest|def (?:setup|teardown|test\w*\(\w))", re.MULTILINE
)
ENDED_EARLY: Final = "the program ended before its tests did"
_WALL: Final = 3
"""How much longer than its processor time a task may take on the clock."""


def job_of(task: Task, program: Program, *, limits: Limits | None = None, extent: Extent = "first failure") -> Job:
    """Return the job that runs a program against the tests of its task, to the given extent.

    Raises InputError for tests that cannot be read, or a task without any.
    """
    candidate = json.dumps({"source": program.source}).encode()
    spec = _SPECS.spec(task, _head(task, extent))
    if task.timeout_s > 0:
        base = limits or Limits()
        limits = replace(base, cpu_s=task.timeout_s, wall_s=max(base.wall_s, _WALL * task.timeout_s))
    sources = (test.source for test in task.tests if isinstance(test, Script | Pytest))
    modules = PYTEST if any(map(_FOR_PYTEST.search, sources)) else ()
    return Job(program.id, candidate, spec, limits=limits, modules=modules)


def outcome_of(
    task: Task, program: Program, ended: Ended, *, distribution_of: Callable[[str], str] = lambda _: ""
) -> Outcome:
    """Return the outcome of a finished job; `distribution_of` returns the distribution of a module, or empty."""
    verdict = _read(ended.verdict)
    if ended.ended == "broken":
        return Outcome(task.id, program.id, None, detail=_clean(f"the sandbox broke: {ended.detail}"))
    finding = _finding(ended, verdict)
    missing = distribution_of(finding.missing) and finding.missing if finding.missing else ""
    is_correct = finding.fault is Fault.CORRECT
    return Outcome(
        task.id,
        program.id,
        None if finding.doubtful else finding.fault,
        line=finding.line if finding.breaks else -1,
        detail=_clean(finding.detail),
        got=_clean(finding.got),
        expected=_clean(finding.expected),
        stdout=ended.stdout.decode("utf-8", "replace"),
        seconds=ended.wall_s,
        cpu_s=ended.cpu_s,
        peak_mb=ended.peak_mb,
        tests_run=verdict.get("tests_run", 0),
        shared=bool(verdict.get("shared")),
        missing=_clean(missing),
        test=finding.test,
        suspected=finding.fault if finding.doubtful else None,
        ran_all=is_correct if is_correct or finding.breaks else verdict["ran_all"],
    )


def passed(ended: Ended) -> tuple[str, ...]:
    """Return the names of the tests that held in a survey."""
    return tuple(map(str, _read(ended.verdict).get("passed", [])))


def unusable(task: Task) -> str:
    """Return why the tests of a task cannot be used; empty if they can."""
    try:
        job_of(task, Program(task.id, ""))
    except InputError as error:
        return str(error)
    return ""


def usable_tests(task: Task, tests: Iterable[Test]) -> tuple[Test, ...]:
    """Return the tests that can be used for the function of a task."""
    return tuple(test for test in tests if not unusable(replace(task, tests=(test,))))


def _head(task: Task, extent: Extent) -> bytes:
    """Return the head of a specification: how answers are compared, and how far the tests go."""
    loose, sealed = task.tags.get("values") == "json", task.tags.get("code") == "sealed"
    official = next((name for name in PRINTS if name == task.tags.get("compare")), "")
    goes = {"official": official, "survey": extent == "survey", "every_test": extent == "every test"}
    head = json.dumps({"entry": task.entry_point, "loose": loose, "sealed": sealed, **goes})
    return f'{head[:-1]}, "tests": '.encode()


def _read_tests(task: Task) -> bytes:
    if not task.tests:
        raise InputError(f"task {task.id} has no tests: a program can be neither right nor wrong")
    tests = [_test_spec(task, number, test) for number, test in enumerate(task.tests)]
    return f"{json.dumps(tests)}}}".encode()


_SPECS: Final = SpecCache(_read_tests)


def _test_spec(task: Task, number: int, test: Test) -> dict[str, Any]:
    try:
        match test:
            case Script(source=source) | Pytest(source=source):
                whole = f"{task.setup}\n{source}" if task.setup else source
                return packed(script_plan(whole, task.entry_point), whole, task.entry_point)
            case Call(args=args, expected=expected, atol=atol):
                if not task.entry_point:
                    raise InputError(f"task {task.id} calls a function and has no entry_point: name it")
                return packed_call(args, expected, atol)
            case Stdin(text=text, expected=expected):
                pack(text)
                return {"kind": "stdin", "text": text, "expected": expected}
    except (SyntaxError, ValueError, RecursionError, MemoryError, NotPlainData) as error:
        raise InputError(f"test {number} of task {task.id} cannot be used: {error}; fix or leave it out") from error
    assert_never(test)


def _finding(ended: Ended, verdict: dict[str, Any]) -> TestFinding:
    if ended.ended == "exit" and _fills_output(ended, verdict):
        return TestFinding(Fault.EXECUTION_OTHER, _BROKEN_LIMITS["output"])
    if verdict and not verdict.get("gone"):
        return TestFinding(Fault(verdict["fault"]), *(verdict[name] for name in _FOUND))
    if ended.ended in {"cpu", "wall"}:
        what = "processor time" if ended.ended == "cpu" else "time"
        return TestFinding(Fault.TIMEOUT, f"stopped: took more {what} than it may")
    return TestFinding(Fault.EXECUTION_OTHER, _why_gone(ended, verdict))


def _fills_output(ended: Ended, verdict: dict[str, Any]) -> bool:
    """Say whether output filled its file before the limit was checked, which is a matter of timing."""
    fills = len(ended.stdout) >= Limits().output_kb << 10
    return fills and str(verdict.get("detail", "")).endswith(os.strerror(errno.EFBIG))


def _why_gone(ended: Ended, verdict: dict[str, Any]) -> str:
    """Explain the end of a program whose tests did not finish."""
    if ended.ended in _BROKEN_LIMITS:
        return _BROKEN_LIMITS[ended.ended]
    if os.WIFSIGNALED(ended.status):
        number = os.WTERMSIG(ended.status)
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return f"{ENDED_EARLY}: ended by {name}"
    why = f" ({verdict['detail']})" if verdict.get("detail") else ""
    return f"{ENDED_EARLY}, with status {os.waitstatus_to_exitcode(ended.status)}{why}"


_FOUND: Final = ("detail", "got", "expected", "line", "missing", "doubtful", "test")
"""What a verdict says of a finding besides its fault, in the order of its fields."""
_BROKEN_LIMITS: Final = {
    "memory": "used more memory than it may",
    "output": "printed more than it may",
    "processes": "started more processes than it may",
}


def _read(raw: bytes) -> dict[str, Any]:
    """Return the last complete verdict: a judge that continues writes its verdict so far first."""
    for line in reversed(raw.splitlines()):
        with suppress(ValueError):
            verdict = json.loads(line)
            if isinstance(verdict, dict):
                return verdict
    return {}


def _clean(text: str) -> str:
    """Return text that is valid UTF-8, with lone surrogates escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
