"""Run a script of tests: its asserts, `check`, test functions, `unittest` cases and what pytest collects.

Objects are compared by identity, functions by their code, defaults and the functions that they close over too, classes
by their methods. Looked at before each assert and at the end, so that what is put back in between is seen. A name that
the program's own functions declare as global may change.

Functions that pytest would call with nothing around them are called here. For all else (classes, fixtures, marks,
set-up and tear-down of any kind, skips, expected failures) pytest itself collects and runs, so that nothing is guessed:
without configuration files, plug-ins of others, output and rewriting, on a module that lies in no file.

The names that the tests do not make come from the program, through whatever `bring` is: calls to another process, or
the program's own objects where both share an interpreter.
"""

from __future__ import annotations

import asyncio
import dis
import inspect
import sys
import unittest
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, MutableMapping
from functools import partial
from importlib import import_module
from itertools import chain
from operator import is_
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.assert_plan import BEGIN, FAILED, GUARDED, MODULE, SEEN, SPARED, TESTS_FILE, ScriptPlan
from assay.programs.harness.recorder import FAILURE, NOTHING, Decided, Recorder, TestFinding, unsaid
from assay.programs.harness.source_analysis import AROUND_MODULES, library

_COMES_BY_ITSELF: Final = frozenset({"__warningregistry__"})
_NOTHING: Final = object()


class CodeChanged(BaseException):
    """Tests changed the code that they are to test; no test means to catch it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the test changes '{name}' of the code under judgment, and may only ask it")


class Seal:
    """What was sealed, and whether it is whole; a broken seal stays broken."""

    def __init__(self) -> None:
        self.looks: list[Callable[[], str]] = []
        """Each returns the name that was changed, empty where none was."""
        self._broken = ""

    def hold(
        self, space: Mapping[str, Any], names: Iterable[str] | None = None, free: frozenset[str] = _COMES_BY_ITSELF
    ) -> None:
        """Hold names of a mapping to their objects; without any given, all but the free ones, and none may come."""
        held = {name: space[name] for name in (space if names is None else names) if name not in free}
        for name, value in held.items():
            self.hold_object(name, value)

        def look() -> str:
            moved = (name for name, value in held.items() if space.get(name, _NOTHING) is not value)
            new = () if names is not None else tuple(space.keys() - held.keys() - free)
            return next(chain(moved, new), "")

        self.looks.append(look)

    def hold_program(self, space: Mapping[str, Any]) -> None:
        """Hold the module of a program."""
        codes = [part for value in tuple(space.values()) for part in _parts(value) if isinstance(part, CodeType)]
        self.hold(space, free=_COMES_BY_ITSELF.union(*map(_declared, codes)))

    def hold_object(self, name: str, value: object) -> None:
        """Hold a function or a class to what it is."""
        before = _parts(value)

        def look() -> str:
            now = _parts(value)
            return "" if len(before) == len(now) and all(map(is_, before, now)) else name

        if before:
            self.looks.append(look)

    def check(self) -> None:
        """Raise CodeChanged where anything is other than it was held to."""
        self._broken = self._broken or next(filter(None, (look() for look in self.looks)), "")
        if self._broken:
            raise CodeChanged(self._broken)


def _parts(value: object, seen: frozenset[int] = frozenset()) -> tuple[object, ...]:
    """Return the objects of which a function or a class consists, those within what it closes over too."""
    if id(value) in seen:
        return ()
    seen |= {id(value)}
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
        inner = [each for each in cells if callable(each)]
        named = (value.__kwdefaults__ or {}).values()
        return (value.__code__, value.__defaults__, *named, *_with_parts(inner, seen))
    if isinstance(value, type):
        return _with_parts([each for each in vars(value).values() if hasattr(each, "__get__")], seen)
    if isinstance(value, (staticmethod, classmethod)):
        return _parts(value.__func__, seen)
    inner = [value.__dict__["__wrapped__"]] if "__wrapped__" in getattr(value, "__dict__", ()) else []
    return _with_parts(inner, seen)


def _with_parts(values: list[Any], seen: frozenset[int]) -> tuple[object, ...]:
    return (*values, *(part for value in values for part in _parts(value, seen)))


def _declared(code: CodeType) -> Iterator[str]:
    """Yield the globals that a function and those within it bind."""
    yield from (
        str(each.argval) for each in dis.get_instructions(code) if each.opname in {"STORE_GLOBAL", "DELETE_GLOBAL"}
    )
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _declared(const)


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
    """Mark a hook as `pytest.hookimpl` does, which is not there before tests need it."""

    def mark(function: Any) -> Any:
        function.pytest_impl = {"tryfirst": tryfirst, "wrapper": wrapper}
        return function

    return mark


def run_collected(namespace: Mapping[str, Any], but: Collection[str], recorder: Recorder) -> None:
    """Run the tests among the names of a module, `but` some; raise what ends them."""
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
    """Say whether a value was not imported, nor brought by the program."""
    return getattr(value, "__module__", TESTS) == TESTS


def _is_collected(name: str, value: Any) -> bool:
    if isinstance(value, type):
        return name.startswith("Test") or issubclass(value, unittest.TestCase)
    return name.startswith("test") and callable(value)


def _is_plain(test: Any) -> bool:
    """Say whether a test is a function without arguments, marks and decorators."""
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
    """Has pytest run the tests of one module, and tells a recorder what comes of each."""

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
    """Return the name of a test as its source has it: with its classes, without its parameters."""
    parts = item.nodeid.partition("::")[2].split("[")[0].split("::")
    return ".".join([*parts[:-1], getattr(item, "originalname", None) or item.name])


def _may_fail(item: Any) -> bool:
    return item.get_closest_marker("xfail") is not None or _is_decorated(item, "__unittest_expecting_failure__")


def _is_marked(item: Any, report: Any) -> bool:
    """Say whether a mark or decorator has a test skipped."""
    marked = report.when == "setup" and any(item.get_closest_marker(name) for name in ("skip", "skipif"))
    return marked or _is_decorated(item, "__unittest_skip__")


def _is_decorated(item: Any, name: str) -> bool:
    return any(getattr(getattr(item, owner, None), name, False) for owner in ("obj", "cls"))


def _line_of(item: Any) -> int:
    code = getattr(inspect.unwrap(getattr(item, "obj", None) or _line_of), "__code__", None)
    return code.co_firstlineno if code else -1


Bring = Callable[[str], Any]


class ProgramModule(ModuleType):
    """The program, as tests import it; what tests change in it is changed where the program lies beside them."""

    def __init__(self, bring: Bring, space: MutableMapping[str, Any] | None = None) -> None:
        super().__init__(MODULE)
        self.__dict__.update(__path__=[], _bring=bring, _space=self.__dict__ if space is None else space, _before={})

    def __getattr__(self, name: str) -> Any:
        found = NOTHING if name.startswith("__") else self.__dict__["_bring"](name)
        if found is NOTHING:
            raise AttributeError(f"the program has no {name}")
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        space = self.__dict__["_space"]
        self.__dict__["_before"].setdefault(name, space.get(name, NOTHING))
        space[name] = value

    def __delattr__(self, name: str) -> None:
        """Take a change back, for nothing else is deleted of a module whose names come from elsewhere."""
        before = self.__dict__["_before"].pop(name, NOTHING)
        if before is NOTHING:
            del self.__dict__["_space"][name]
        else:
            self.__dict__["_space"][name] = before


def run_script(  # noqa: PLR0913, PLR0917  each is one thing
    plan: ScriptPlan,
    recorder: Recorder,
    bring: Bring,
    entry: str,
    seal: Seal | None = None,
    namespace: dict[str, Any] | None = None,
    module_of: Callable[[Bring], ModuleType] = ProgramModule,
) -> None:
    """Run the tests, in a namespace of the caller's where there is one; `module_of` makes what they import.

    Raises what they raise, and CodeChanged where they break a seal.
    """
    namespace = {} if namespace is None else namespace
    namespace |= {"__name__": TESTS, "__file__": "tests.py"}
    namespace |= {BEGIN: recorder.begin, SEEN: recorder.note_operand, FAILED: recorder.failed}
    namespace |= {SPARED: recorder.spared, GUARDED: recorder}
    brought: dict[str, Any] = {}
    if seal:
        namespace[BEGIN] = _checking(seal, recorder.begin)
        bring = _once(bring, brought, seal)
    namespace |= _names(plan, bring)
    tests = ModuleType(TESTS)
    sys.modules |= {MODULE: module_of(bring), TESTS: tests}
    if seal:
        _hold_stand_ins(seal, namespace, brought)
    try:
        exec(plan.code, namespace)  # noqa: S102 - what this is for
    except SystemExit as ended:
        if ended.code or not _is_raised_by_tests(ended):
            raise
    tests.__dict__.update(namespace)
    for name in plan.outline.calls:
        recorder.begin_test(name)
        namespace[name](*([bring(entry)] if name == "check" else []))
    run_collected(namespace, plan.outline.helpers, recorder)
    if seal:
        seal.check()
    recorder.check_whole()


def _names(plan: ScriptPlan, bring: Bring) -> dict[str, Any]:
    """Return what the names mean that the tests do not make.

    Raises Decided where they import all names of a program that says which, and lacks one of them.
    """
    exported = bring("__all__") if plan.stars else NOTHING
    if isinstance(exported, list | tuple):
        for name in exported:
            if bring(str(name)) is NOTHING:
                detail = f"the program exports {name!r}, which it does not have"
                raise Decided(TestFinding(Fault.FUNCTION_NOT_FOUND, detail))
        bring = _among(bring, {str(name) for name in exported})
    found = {name: standard(name, bring) for name in plan.names - {name for name, *_ in plan.libraries}}
    found |= {each[0]: library(each, partial(standard, each[0], bring)) for each in plan.libraries}
    return {name: value for name, value in found.items() if value is not NOTHING}


def _among(bring: Bring, names: Collection[str]) -> Bring:
    return lambda name: bring(name) if name in names else NOTHING


def _is_raised_by_tests(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == TESTS_FILE and not hasattr(error, FAILURE)


def _checking(seal: Seal, begin: Callable[[int], None]) -> Callable[[int], None]:
    def check(number: int) -> None:
        seal.check()
        begin(number)

    return check


def _once(bring: Bring, brought: dict[str, Any], seal: Seal) -> Bring:
    """Return what brings the same function or class each time, and seals it; a value may change, and is read again."""

    def once(name: str) -> Any:
        if name in brought:
            return brought[name]
        found = bring(name)
        if callable(found):
            brought[name] = found
            seal.hold_object(name, found)
        return found

    return once


def _hold_stand_ins(seal: Seal, namespace: dict[str, Any], brought: dict[str, Any]) -> None:
    """Seal what stands for the program in the tests: its module, and each name of it under that name."""
    seal.hold(sys.modules, [MODULE])
    seal.hold(vars(sys.modules[MODULE]))
    seal.hold_object(MODULE, ProgramModule)
    seal.looks.append(
        lambda: next((name for name, value in brought.items() if namespace.get(name, value) is not value), "")
    )


def standard(name: str, bring: Bring) -> Any:
    """Return what a name stands for: the program's, else a module of the standard library that the tests forgot."""
    found = bring(name)
    return import_module(name) if found is NOTHING and name in sys.stdlib_module_names else found
