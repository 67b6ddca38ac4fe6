"""Record asserts, operands and returned values while tests run, and explain failures.

The first failing assert decides. Its got is the program's value where it met the expected one (`asserts`). An error
that the test code raises itself is put down to the program's last value: at once where that value explains it, else
doubtfully, which counts where some program passes the test (`settle`).
"""

from __future__ import annotations

import reprlib
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from assay.faults import Fault
from assay.programs.harness.assert_plan import EXPECTED, GOT, MODULE, OF_MODULE, OF_NONE, ScriptPlan
from assay.programs.harness.codec import Opaque
from assay.programs.harness.comparison import fault_of_unknown, fault_where

MAX_TEXT_CHARS: Final = 2000
_MAX_LINE_NUMBER: Final = 10**9
_MAX_RETURNED: Final = 64
_DATA: Final = (str, bytes, list, tuple, dict, set, frozenset)
FAILURE: Final = "program_failure"
"""The attribute under which an exception of the program carries what its process said about it."""


class Nothing:
    """The absence of a value, where None is one."""

    def __repr__(self) -> str:
        return ""


NOTHING: Final = Nothing()


class Failed(AssertionError):
    """A rewritten assert that was false."""


@dataclass(slots=True)
class TestFinding:
    """Why tests did not pass."""

    fault: Fault
    detail: str
    got: str = ""
    expected: str = ""
    line: int = -1
    missing: str = ""
    doubtful: bool = False
    """It may as well be the tests' fault: what ran them failed, and no answer was found wrong."""
    test: int = -1
    """The place of the test in its task."""

    @property
    def breaks(self) -> bool:
        """Whether the program broke."""
        return self.fault.is_execution and not self.doubtful


class Decided(Exception):
    """The tests end with a finding."""

    def __init__(self, finding: TestFinding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


class Comparison(NamedTuple):
    """How the program's value should relate to the expected one, `NOTHING` if there is none."""

    relation: str
    actual: Any
    expected: Any


class Recorder:
    """Records the asserts of one run of a script."""

    def __init__(
        self,
        plan: ScriptPlan,
        count_requests: Callable[[], int],
        spare: Callable[[TestFinding], bool] | None = None,
        ends: tuple[type[BaseException], ...] = (),
    ) -> None:
        """Take a plan, and a function that counts the requests to the program.

        `spare` takes a finding and says whether the tests go on after it; `ends` are exceptions that say nothing about
        an answer, and always end the tests.
        """
        self._asserts = plan.asserts
        self._sites = plan.sites
        self._outline = plan.outline
        self._count_requests = count_requests
        self._spare = spare
        self.ends = ends
        self._ran: dict[str, int] = {}
        self._stopped: set[str] = set()
        self._test = ("", 0, 0)
        self._guards = 0
        self._current = -1
        self._operands: list[tuple[int, int, Any]] = []
        self._returned: deque[Any] = deque(maxlen=_MAX_RETURNED)
        self._fresh = 0
        self.executed = 0
        self._begun: dict[int, None] = {}
        self._false: set[int] = set()

    def begin(self, number: int) -> None:
        """Record the start of an assert."""
        self.executed += 1
        self._current = number
        self._operands.clear()
        self._fresh = 0
        self._begun[number] = None

    def note_operand(self, site: int, role: int, value: Any) -> Any:
        """Record an operand, and return it."""
        self._operands.append((site, role, value))
        return value

    def failed(self, message: Callable[[], object]) -> None:
        """Fail the current assert."""
        self._false.add(self._current)
        raise Failed(_message_text(message))

    def is_spared(self) -> bool:
        """Say whether the tests continue after the current exception."""
        error = sys.exception()
        return error is not None and self.spares(error)

    def spares(self, error: BaseException) -> bool:
        """Say whether the tests continue after an exception."""
        if self._spare is None or self._guards or isinstance(error, self.ends):
            return False
        return self._spare(self.finding(error))

    def begin_test(self, name: str, line: int = -1) -> None:
        """Record the start of a test: its name, and the first line of its code."""
        self._ran[name] = line
        self._test = (name, self.executed, self._count_requests())

    def end_test(self, *, may_stop_early: bool = False) -> None:
        """Record the end of a test; one without asserts counts as one assert."""
        name, executed, _ = self._test
        self.executed += self.executed == executed
        if may_stop_early:
            self._stopped.add(name)

    def note_skip(self, name: str, *, by_mark: bool = False) -> None:
        """Accept a skip unless the program may have caused it, which is a finding."""
        self._stopped.add(name)
        if self._outline.skips_by_program or (not by_mark and self._count_requests() != self._test[2]):
            self.note_or_raise(unsaid(f"{name} was skipped, as the program may have brought about"))

    def note_or_raise(self, finding: TestFinding) -> None:
        """Record a finding; raise Decided if the tests end with it."""
        if self._spare is None or not self._spare(finding):
            raise Decided(finding)

    def check_whole(self) -> None:
        """Check that every test ran, and that passed tests reached their asserts."""
        missing = next((name for name, line in self._outline.tests if not self._has_run(name, line)), "")
        if missing:
            self.note_or_raise(unsaid(f"the test {missing} did not run"))
        lines = {*self._ran.values(), *(line for name, line in self._outline.tests if name in self._ran), OF_MODULE}
        lines -= {self._ran[name] for name in self._stopped & self._ran.keys()}
        lines -= {OF_NONE, *(line for name, line in self._outline.tests if name in self._stopped)}
        for number, (line, text, owner) in enumerate(self._asserts):
            if owner in lines and number not in self._begun:
                self.note_or_raise(unsaid(f"the assert at line {line} of the tests was not reached: {text}"))

    def _has_run(self, name: str, line: int) -> bool:
        return name in self._ran or line in self._ran.values()

    def __enter__(self) -> None:
        """Enter a block in which the tests may catch an exception themselves."""
        self._guards += 1

    def __exit__(self, *_: object) -> None:
        self._guards -= 1

    def returned(self, value: Any) -> None:
        """Record a value that the program returned."""
        self._returned.append(value)
        self._fresh += 1

    @property
    def last(self) -> Any:
        """The last value that the program returned, `NOTHING` before the first."""
        return self._returned[-1] if self._returned else NOTHING

    def passed(self) -> list[str]:
        """Return line and text of the asserts that held; one that raised did not hold."""
        held = (self._asserts[number] for number in self._begun if number not in self._false)
        return [f"line {line}: {text}" for line, text, _ in held]

    def finding(self, error: BaseException) -> TestFinding:
        """Say why an assert, or a script, ended with this exception."""
        if isinstance(error, Decided):
            return error.finding
        self._false.add(self._current)
        failure = getattr(error, FAILURE, None)
        if failure is None and isinstance(error, AssertionError) and not self._operands:
            failure = getattr(error.__context__, FAILURE, None)
        if failure is not None:
            return found_in(failure)
        if isinstance(error, AssertionError) or _is_told_by_pytest(error):
            return self._of_assert(str(error))
        return self._of_test_error(error)

    def _of_assert(self, message: str) -> TestFinding:
        line, text, _ = self._asserts[self._current] if self._current >= 0 else (0, "", OF_NONE)
        relation, actual, expected = self._decisive()
        fault = fault_where(relation, actual, None if expected is NOTHING else expected)
        right = relation.capitalize() if relation in {"true", "false", "none"} else text
        if relation == "eq" and expected is not NOTHING:
            right = show(expected)
        where = f"assert at line {line} of the tests: {text}" if text else "an assertion of the tests"
        detail = f"{where}{f' ({message[:200]})' if message else ''}"
        return TestFinding(Fault.INTENT_OTHER if actual is NOTHING else fault, detail, show(actual), right)

    def _decisive(self) -> Comparison:
        """Return the comparison that decided the current assert."""
        last = self.last
        site = next((site for site, role, _ in reversed(self._operands) if role == GOT), -1)
        if site < 0:
            return Comparison("ne", last, NOTHING)
        relation, direct = self._sites[site]
        operands = {role: value for number, role, value in self._operands if number == site}
        actual, expected = operands[GOT], operands.get(EXPECTED, NOTHING)
        if type(expected).__module__.startswith("_pytest"):  # of `pytest.approx`
            expected = getattr(expected, "expected", NOTHING)
        if relation.startswith("any "):
            relation = relation[4:]
            if self._is_returned(expected) and not self._is_returned(actual):
                actual, expected = expected, actual
                relation = "contains" if relation == "in" else relation
        if not direct and isinstance(actual, bool) and self._fresh and not isinstance(last, bool):
            return Comparison("unknown", last, NOTHING)
        return Comparison(relation, actual, expected)

    def _is_returned(self, value: Any) -> bool:
        return any(value is one for one in self._returned)

    def _of_test_error(self, error: BaseException) -> TestFinding:
        message = f"{type(error).__name__}: {str(error)[:300]}"
        if isinstance(error, AttributeError) and type(error.obj).__module__ == MODULE:
            return TestFinding(Fault.FUNCTION_NOT_FOUND, message)
        last = self.last
        certain = explains(last, error)
        what = "could not use what was returned" if certain else "itself failed"
        return TestFinding(blamed(error, last), f"the test code {what}: {message}", show(last), doubtful=not certain)


def _is_told_by_pytest(error: BaseException) -> bool:
    """Say whether this is `pytest.fail` or a failed `pytest.raises`, rather than a misuse of pytest."""
    named = type(error).__name__ == "Failed" and type(error).__module__ in {"builtins", "_pytest.outcomes"}
    return named and (bool(getattr(error, "pytrace", False)) or str(error).startswith("Unexpected success"))


def unsaid(detail: str) -> TestFinding:
    """Return the finding for tests that did not report a result."""
    return TestFinding(Fault.INTENT_OTHER, detail, doubtful=True)


def changed_code(error: BaseException) -> TestFinding:
    """Return the finding for tests that change the code under test, for which the program is not at fault."""
    return TestFinding(Fault.INTENT_OTHER, str(error), doubtful=True)


def found_in(failure: dict[str, Any]) -> TestFinding:
    """Turn an exception reported by the program's process into a finding."""
    kind, message, line = str(failure.get("type", "")), str(failure.get("message", "")), failure.get("line", -1)
    where = line if type(line) is int and 0 < line < _MAX_LINE_NUMBER else -1
    detail, missing = f"{kind}: {message}" if message else kind, str(failure.get("missing", ""))
    if kind == "SystemExit":
        detail = f"the program ended before its tests did ({detail})"
    return TestFinding(fault_of_exception(kind), detail[:MAX_TEXT_CHARS], line=where, missing=missing)


def fault_of_exception(kind: str) -> Fault:
    """Return the fault of an exception by its exact name, as in the paper; only syntax errors include subclasses.

    `UnboundLocalError` is `other` (table 12), though it is a NameError, and so is every class of the program's own.
    """
    return _NAMED.get(kind, Fault.EXECUTION_OTHER)


_NAMED: Final = {
    **{name: Fault(name) for name in "NameError ValueError EOFError TypeError IndexError KeyError SyntaxError".split()},
    **dict.fromkeys(("IndentationError", "TabError"), Fault.SYNTAX_ERROR),
}


def explains(last: object, error: BaseException) -> bool:
    """Say whether a value alone explains an error of test code, whatever the test does."""
    if last is NOTHING or isinstance(error, NameError | ImportError | SyntaxError):
        return False
    if isinstance(error, TypeError | AttributeError):
        kind = type(last).__name__
        return f"'{kind}'" in str(error) or f" {kind} " in f" {error} "
    if isinstance(last, _DATA) and _asks_for_more(error):
        return True
    return isinstance(error, MemoryError | OverflowError | RecursionError)


def blamed(error: BaseException, last: object) -> Fault:
    """Return the fault of a value with which test code raised an error."""
    if last is NOTHING:
        return Fault.INTENT_OTHER
    if isinstance(error, MemoryError | OverflowError | RecursionError):
        return Fault.INT_LARGE_ERROR if isinstance(last, int) else Fault.INTENT_OTHER
    if isinstance(error, TypeError | AttributeError) or "truth value of an array" in str(error):
        return Fault.NONE_ERROR if last is None else Fault.OUTPUT_TYPE_ERROR
    if isinstance(last, _DATA) and _asks_for_more(error):
        return Fault.LENGTH_ERROR if last else Fault.EMPTY_ERROR
    return fault_of_unknown(last)


def _asks_for_more(error: BaseException) -> bool:
    return isinstance(error, IndexError | KeyError) or (isinstance(error, ValueError) and "unpack" in str(error))


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 8
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = self.maxdeque = 100
        self.maxstring = self.maxother = MAX_TEXT_CHARS
        self.maxlong = 200

    def repr1(self, x: object, level: int) -> str:
        return Opaque.__repr__(x) if isinstance(x, Opaque) else super().repr1(x, level)

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() <= 2000 else f"<an integer of {x.bit_length()} bits>"


_short = _Short()


def show(value: object) -> str:
    """Return the repr of a value, truncated; never raises."""
    try:
        return _short.repr(value)[:MAX_TEXT_CHARS]
    except Exception:  # noqa: BLE001 - a value may be anything where tests run beside the program
        return f"<{type(value).__name__}>"


def _message_text(message: Callable[[], object]) -> str:
    try:
        said = message()
        return "" if said is None else str(said)
    except Exception as error:  # noqa: BLE001 - the assert is false, whatever its message does
        return f"its message failed: {type(error).__name__}"
