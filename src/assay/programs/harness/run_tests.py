"""Run a script of tests against the names of a program.

The names that the tests do not make come from the program, through whatever `bring` is: calls to another process, or
the program's own objects where both share an interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, MutableMapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from assay.faults import Fault
from assay.programs.harness.assert_plan import BEGIN, FAILED, GUARDED, MODULE, SEEN, SPARED, TESTS_FILE, ScriptPlan
from assay.programs.harness.collected_tests import TESTS, run_collected
from assay.programs.harness.recorder import FAILURE, NOTHING, Decided, Recorder, TestFinding
from assay.programs.harness.seal import Seal
from assay.programs.harness.source_analysis import library

Bring = Callable[[str], Any]


class ProgramModule(ModuleType):
    """The program as a module for tests; changes by tests reach a program that runs beside them."""

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
        """Undo a change of the tests; other names cannot be deleted."""
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
    """Run the tests, in the caller's namespace if given; `module_of` builds the module that they import.

    Raises what they raise, and CodeChanged where they break a seal.
    """
    namespace = {} if namespace is None else namespace
    namespace |= {"__name__": TESTS, "__file__": "tests.py"}
    namespace |= {BEGIN: recorder.begin, SEEN: recorder.note_operand, FAILED: recorder.failed}
    namespace |= {SPARED: recorder.is_spared, GUARDED: recorder}
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
    """Return the values of the names that the tests do not define.

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
    """Return a function that always brings the same sealed function or class; values are read again."""

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
    """Seal the program in the tests: its module, and each of its names."""
    seal.hold(sys.modules, [MODULE])
    seal.hold(vars(sys.modules[MODULE]))
    seal.hold_object(MODULE, ProgramModule)
    seal.looks.append(
        lambda: next((name for name, value in brought.items() if namespace.get(name, value) is not value), "")
    )


def standard(name: str, bring: Bring) -> Any:
    """Return the value of a name: the program's, or else a standard module that the tests forgot to import."""
    found = bring(name)
    return import_module(name) if found is NOTHING and name in sys.stdlib_module_names else found
