"""Runs one script of tests: its asserts, then HumanEval's `check`, `unittest` cases and functions named `test_…`.

The names that the tests do not make come from the program, through whatever `bring` is: calls to another process, or
the program's own objects where both share an interpreter. Tests that import `pytest` get `pytest_like`.
"""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from assay.programs.harness import pytest_like
from assay.programs.harness.asserts import BEGIN, FAILED, GUARDED, SEEN, SPARED
from assay.programs.harness.recorder import NOTHING, Recorder
from assay.programs.harness.script_plan import MODULE, ScriptPlan
from assay.programs.harness.seal import Seal

Bring = Callable[[str], Any]
_TESTS = "tests"


class ProgramModule(ModuleType):
    """The program, as tests import it."""

    def __init__(self, bring: Bring) -> None:
        super().__init__(MODULE)
        self.__dict__["__path__"] = []
        self.__dict__["_bring"] = bring

    def __getattr__(self, name: str) -> Any:
        found = NOTHING if name.startswith("__") else self.__dict__["_bring"](name)
        if found is NOTHING:
            raise AttributeError(f"the program has no {name}")
        return found


def run_script(  # noqa: PLR0913, PLR0917  each is one thing
    plan: ScriptPlan,
    recorder: Recorder,
    bring: Bring,
    entry: str,
    seal: Seal | None = None,
    namespace: dict[str, Any] | None = None,
) -> None:
    """Run the tests, in a namespace of the caller's where there is one.

    Raises what they raise, and CodeChanged where they break a seal.
    """
    namespace = {} if namespace is None else namespace
    namespace |= {"__name__": _TESTS, "__file__": "tests.py"}
    namespace |= {BEGIN: recorder.begin, SEEN: recorder.note_operand, FAILED: recorder.failed}
    namespace |= {SPARED: recorder.spared, GUARDED: recorder}
    brought: dict[str, Any] = {}
    if seal:
        namespace[BEGIN] = _checking(seal, recorder.begin)
        bring = _once(bring, brought, seal)
    for name in plan.names:
        value = standard(name, bring)
        if value is not NOTHING:
            namespace[name] = value
    module = ModuleType(_TESTS)
    sys.modules |= {MODULE: ProgramModule(bring), _TESTS: module, "pytest": pytest_like.MODULE}
    if seal:
        _hold_stand_ins(seal, namespace, brought)
    exec(plan.code, namespace)  # noqa: S102 - what this is for
    module.__dict__.update(namespace)
    if plan.check:
        namespace["check"](bring(entry))
    else:
        _run_collected(namespace, recorder)
    if seal:
        seal.check()


def _run_collected(namespace: dict[str, Any], recorder: Recorder) -> None:
    for test in _collected(namespace):
        try:
            test()
        except BaseException:  # tests may raise anything
            if not recorder.spared():
                raise


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
    seal.look(lambda: next((name for name, value in brought.items() if namespace.get(name, value) is not value), ""))


def standard(name: str, bring: Bring) -> Any:
    """Return what a name stands for: the program's, else a module of the standard library that the tests forgot."""
    found = bring(name)
    return import_module(name) if found is NOTHING and name in sys.stdlib_module_names else found


def _collected(namespace: dict[str, Any]) -> Iterator[Callable[[], object]]:
    """Yield what runs each test case, test class method and test function."""
    for name, value in list(namespace.items()):
        if isinstance(value, type) and value.__module__ == _TESTS and not vars(value).get("skipped"):
            if issubclass(value, unittest.TestCase):
                yield unittest.defaultTestLoader.loadTestsFromTestCase(value).debug
            elif name.startswith("Test"):
                yield from (partial(pytest_like.run, function, namespace) for function in _methods(value))
        elif name.startswith("test") and getattr(value, "__module__", "") == _TESTS and callable(value):
            yield partial(pytest_like.run, value, namespace)


def _methods(kind: type) -> Iterator[Callable[..., object]]:
    """Yield the tests of a class, each bound to an instance of its own."""
    for name in vars(kind):
        if name.startswith("test"):
            instance = kind()
            setup = getattr(instance, "setup_method", None)
            if setup is not None:
                setup()
            yield getattr(instance, name)
