"""Run test functions, `unittest` cases and other tests that pytest collects.

Functions that pytest would call without any set-up are called here. For all else (classes, fixtures, marks, set-up and
tear-down of any kind, skips, expected failures) pytest itself collects and runs, so that nothing is guessed: without
configuration files, plug-ins of others, output and rewriting, on a module that lies in no file.
"""

from __future__ import annotations

import asyncio
import inspect
import unittest
from collections.abc import Callable, Collection, Generator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.recorder import FAILURE, Decided, Recorder, TestFinding, unsaid
from assay.programs.harness.source_analysis import AROUND_MODULES

TESTS: Final = "tests"
"""The name of the module of tests."""
PYTEST: Final = ("pytest", "_pytest.unittest", "_pytest.raises", "asyncio")
"""What is worth loading once, where many processes run tests by pytest."""
_ARGUMENTS: Final = (
    "-c /dev/null --rootdir / --noconftest --assert=plain -s -p no:cacheprovider -p no:terminal -p no:faulthandler"
    " -p no:junitxml -p no:pastebin -p no:doctest -p no:stepwise -p no:setuponly -p no:setupplan"
).split()
_NOT_PLAIN: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
_SKIPPED: Final = {("builtins", "Skipped"), ("_pytest.outcomes", "Skipped")}
_RAN: Final = frozenset({0, 1, 2, 5})
"""Exit statuses of pytest that say that it did its work: passed, failed, interrupted, no tests."""


def _hook(*, tryfirst: bool = False, wrapper: bool = False) -> Callable[[Any], Any]:
    """Mark a hook like `pytest.hookimpl`, since pytest is not imported before tests need it."""

    def mark(function: Any) -> Any:
        function.pytest_impl = {"tryfirst": tryfirst, "wrapper": wrapper}
        return function

    return mark


def run_collected(namespace: Mapping[str, Any], but: Collection[str], recorder: Recorder) -> None:
    """Run the tests among the names of a module, `but` some; raise the exception that ends them."""
    own = {name: value for name, value in namespace.items() if name not in but and _is_of_tests(value)}
    tests = {name: value for name, value in own.items() if _is_collected(name, value)}
    around = not AROUND_MODULES.isdisjoint(own) or any(map(_is_fixture, own.values()))
    if around or not all(map(_is_plain, tests.values())):
        if tests:
            _run_by_pytest(own, recorder)
        return
    for name, test in tests.items():
        _call(name, test, recorder)


def is_skip(error: BaseException) -> bool:
    """Say whether an exception asks for a test to be skipped."""
    if hasattr(error, FAILURE):
        return False  # it is the program that raised it
    return isinstance(error, unittest.SkipTest) or (type(error).__module__, type(error).__name__) in _SKIPPED


def _is_of_tests(value: Any) -> bool:
    """Say whether a value is defined in the tests, neither imported nor from the program."""
    return getattr(value, "__module__", TESTS) == TESTS


def _is_collected(name: str, value: Any) -> bool:
    if isinstance(value, type):
        return name.startswith("Test") or issubclass(value, unittest.TestCase)
    return name.startswith("test") and callable(value)


def _is_plain(test: Any) -> bool:
    """Say whether a test is a plain function, without arguments, marks and decorators."""
    if type(test) is not FunctionType or vars(test) or test.__code__.co_flags & _NOT_PLAIN:
        return False
    return test.__code__.co_name == test.__name__ and not test.__code__.co_argcount + test.__code__.co_kwonlyargcount


def _is_fixture(value: Any) -> bool:
    return "Fixture" in type(value).__name__ or "_pytestfixturefunction" in getattr(value, "__dict__", ())


def _call(name: str, test: FunctionType, recorder: Recorder) -> None:
    recorder.begin_test(name, test.__code__.co_firstlineno)
    try:
        returned = test()
    except BaseException as error:
        if is_skip(error):
            recorder.note_skip(name)
        elif not recorder.spares(error):
            raise
        return
    recorder.end_test()
    if returned is not None:
        recorder.note_or_raise(unsaid(f"{name} returns a value, as if it had forgotten its assert"))


def _run_by_pytest(own: Mapping[str, Any], recorder: Recorder) -> None:
    try:
        import pytest
    except ImportError:
        recorder.note_or_raise(unsaid("the tests need pytest, which is not installed where they run"))
        return
    module = ModuleType(TESTS)
    module.__dict__.update(own)
    plugin = _Plugin(module, recorder)
    status = pytest.main([*_ARGUMENTS], plugins=[plugin])
    if plugin.raised is not None:
        raise plugin.raised
    if status not in _RAN:
        recorder.note_or_raise(unsaid(f"pytest could not run the tests: {plugin.trouble or f'status {int(status)}'}"))


class _Plugin:
    """A pytest plugin that runs the tests of one module, and reports each result to a recorder."""

    def __init__(self, module: ModuleType, recorder: Recorder) -> None:
        self._module, self._recorder = module, recorder
        self._session: Any = None
        self.raised: BaseException | None = None
        """What ends the tests."""
        self.trouble = ""

    def pytest_configure(self, config: Any) -> None:
        config.option.tbstyle = "native"  # the others read source files

    @_hook(tryfirst=True)
    def pytest_collection(self, session: Any) -> bool:
        import pytest

        self._session = session
        kind: Any = type("TestsModule", (pytest.Module,), {"_getobj": lambda _: self._module})
        session.items = list(session.genitems(kind.from_parent(session, path=session.path / "tests.py")))
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        session.testscollected = len(session.items)
        return True

    def pytest_collectreport(self, report: Any) -> None:
        if not report.passed:
            self._note(unsaid(f"{report.nodeid or 'the tests'} could not be collected: {str(report.longrepr)[-300:]}"))

    @_hook(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        self._recorder.begin_test(_name_of(item), _line_of(item))

    @_hook(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
        if not _may_fail(item):
            return (yield)
        with self._recorder:  # an assert that is expected to fail is no finding
            return (yield)

    @_hook(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        named = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001  what pytest itself does here
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in named}))
        return True

    @_hook(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        report = yield
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, self._recorder.ends):
            self._end(error)
        elif report.failed or (hasattr(error, FAILURE) and report.skipped and not hasattr(report, "wasxfail")):
            self._fail(item, error)
        elif report.skipped and not hasattr(report, "wasxfail"):
            self._guarded(lambda: self._recorder.note_skip(_name_of(item), by_mark=_is_marked(item, report)))
        elif report.when == "call":
            self._recorder.end_test(may_stop_early=_may_fail(item))
        return report

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if self.raised is None:
            self._fail(None, excinfo.value)

    def pytest_internalerror(self, excinfo: Any) -> None:
        self.trouble = f"{excinfo.type.__name__}: {excinfo.value}"[:300]

    def _fail(self, item: Any, error: BaseException | None) -> None:
        while isinstance(error, BaseExceptionGroup) and "tearing down" in str(error):
            error = error.exceptions[0]
        if error is None:
            detail = f"the test {_name_of(item)} was expected to fail, and passed"
            self._note(TestFinding(Fault.INTENT_OTHER, detail))
        elif not self._recorder.spares(error):
            self._end(Decided(self._recorder.finding(error)))

    def _note(self, finding: TestFinding) -> None:
        self._guarded(lambda: self._recorder.note_or_raise(finding))

    def _guarded(self, note: Callable[[], object]) -> None:
        try:
            note()
        except Exception as ended:  # noqa: BLE001  it is raised where pytest is not in between
            self._end(ended)

    def _end(self, error: BaseException | None) -> None:
        self.raised = self.raised or error
        if self._session is not None:
            self._session.shouldstop = "decided"


def _name_of(item: Any) -> str:
    """Return the name of a test in its source: with its classes, without its parameters."""
    parts = item.nodeid.partition("::")[2].split("[")[0].split("::")
    return ".".join([*parts[:-1], getattr(item, "originalname", None) or item.name])


def _may_fail(item: Any) -> bool:
    return item.get_closest_marker("xfail") is not None or _is_decorated(item, "__unittest_expecting_failure__")


def _is_marked(item: Any, report: Any) -> bool:
    """Say whether a mark or decorator skips a test."""
    marked = report.when == "setup" and any(item.get_closest_marker(name) for name in ("skip", "skipif"))
    return marked or _is_decorated(item, "__unittest_skip__")


def _is_decorated(item: Any, name: str) -> bool:
    return any(getattr(getattr(item, owner, None), name, False) for owner in ("obj", "cls"))


def _line_of(item: Any) -> int:
    code = getattr(inspect.unwrap(getattr(item, "obj", None) or _line_of), "__code__", None)
    return code.co_firstlineno if code else -1
