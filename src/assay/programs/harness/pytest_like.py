"""The few things of pytest that tests of programs use, so that they run the same with pytest installed or not.

`raises`, `approx`, `mark.parametrize`, `mark.skip`, `skip`, `fail`, `param`, fixtures that are functions, and those of
`fixtures`. Marks that say nothing about how a test runs are left out. What is missing raises `Unsupported`: the run is
undecided, not wrong.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from math import inf
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from assay.programs.harness.fixtures import FIXTURES


class Unsupported(ImportError):
    """A part of pytest that is not here."""


def _unsupported(what: str) -> Unsupported:
    return Unsupported(f"{what} is not supported here")


class TestSkipped(Exception):
    """A test that asks not to be run."""


class Approx:
    """A number, or a list or dict of numbers, that others may come near to: within 1e-6 of it, or 1e-12.

    An infinity is near to itself alone, and nan to nothing.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None) -> None:  # noqa: A002
        self.expected = expected
        self._rel = rel if rel is not None else 0.0 if abs is not None else 1e-6
        self._abs = abs if abs is not None else 1e-12

    def __eq__(self, other: object) -> bool:
        return self._near(other, self.expected)

    def __repr__(self) -> str:
        return repr(self.expected)

    def _near(self, got: Any, expected: Any) -> bool:
        if isinstance(expected, Mapping):
            return (
                isinstance(got, Mapping)
                and got.keys() == expected.keys()
                and all(self._near(got[key], value) for key, value in expected.items())
            )
        if isinstance(expected, Sequence) and not isinstance(expected, str):
            return hasattr(got, "__len__") and len(got) == len(expected) and all(map(self._near, got, expected))
        if isinstance(expected, int | float) and isinstance(got, int | float):
            return got == expected or abs(got - expected) <= max(self._rel * abs(expected), self._abs) < inf
        return bool(got == expected)


@contextmanager
def raises(kind: type[BaseException] | tuple[type[BaseException], ...], match: str = "") -> Iterator[SimpleNamespace]:
    """Fail unless the block raises this."""
    info = SimpleNamespace(value=None, type=None)
    try:
        yield info
    except kind as error:
        info.value, info.type = error, type(error)
        if match and not re.search(match, str(error)):
            raise AssertionError(f"{str(error)!r} does not match {match!r}") from None
    else:
        raise AssertionError(f"nothing raised {kind}")


def _raises(kind: Any, *called: Any, match: str = "", **keywords: Any) -> Any:
    if not called:
        return raises(kind, match)
    with raises(kind, match) as info:
        called[0](*called[1:], **keywords)
    return info


def _parametrize(names: str | Sequence[str], values: Iterable[Any], **options: object) -> Callable[[Any], Any]:
    if options.get("indirect"):
        raise _unsupported("pytest.mark.parametrize(indirect=…)")
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = [dict(zip(keys, [value] if len(keys) == 1 else value, strict=True)) for value in values]

    def mark(function: Any) -> Any:
        if isinstance(function, type):
            raise _unsupported("pytest.mark.parametrize of a class")
        function.cases = [*getattr(function, "cases", []), cases]
        return function

    return mark


def _param(*values: Any, marks: object = (), **_: object) -> Any:
    if marks:
        raise _unsupported("pytest.param(marks=…)")
    return values[0] if len(values) == 1 else values


def _fixture(function: Any = None, **options: object) -> Any:
    for option in ("params", "autouse", "name"):
        if options.get(option):
            raise _unsupported(f"pytest.fixture({option}=…)")

    def mark(made: Any) -> Any:
        made.is_fixture = True
        return made

    return mark(function) if function is not None else mark


def _skip(reason: str = "", **_: object) -> Any:
    raise TestSkipped(reason)


def _fail(reason: str = "", **_: object) -> Any:
    raise AssertionError(reason)


_CHANGING: Final = frozenset({"xfail", "skipif", "usefixtures"})
"""Marks on which it depends whether a test runs, with what, and what its failure means."""


class _Mark:
    parametrize = staticmethod(_parametrize)

    def __getattr__(self, name: str) -> Any:
        if name in _CHANGING:
            raise _unsupported(f"pytest.mark.{name}")

        def mark(*values: Any, **_: object) -> Any:
            def apply(function: Any) -> Any:
                if name == "skip":
                    function.skipped = True
                return function

            return apply(values[0]) if len(values) == 1 and callable(values[0]) else apply

        return mark


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _unsupported(f"pytest.{name}")


def _module() -> ModuleType:
    module = _Module("pytest")
    module.__dict__.update(
        raises=_raises, approx=Approx, mark=_Mark(), param=_param, fixture=_fixture, skip=_skip, fail=_fail
    )
    return module


MODULE: Final = _module()


def run(function: Any, namespace: Mapping[str, Any]) -> None:
    """Run a test function: once for each case of its marks, with the fixtures that it names."""
    if getattr(function, "skipped", False) or getattr(function, "is_fixture", False):
        return
    for cases in product(*getattr(function, "cases", [])):
        given = {name: value for case in cases for name, value in case.items()}
        with ExitStack() as after:
            _call(function, given, namespace, after)


def _call(function: Any, given: dict[str, Any], namespace: Mapping[str, Any], after: ExitStack) -> Any:
    for name, parameter in inspect.signature(function).parameters.items():
        if name in given or parameter.default is not inspect.Parameter.empty:
            continue
        maker = namespace.get(name)
        if maker is None and name in FIXTURES:
            given = {**given, name: after.enter_context(FIXTURES[name]())}
            continue
        if not getattr(maker, "is_fixture", False):
            raise _unsupported(f"the fixture {name}")
        given = {**given, name: _make_fixture(maker, namespace, after)}
    accepted = inspect.signature(function).parameters
    try:
        made = function(**{name: value for name, value in given.items() if name in accepted})
    except TestSkipped:
        return None
    if inspect.iscoroutine(made):
        made.close()
        raise _unsupported("an async test")
    return made


def _make_fixture(maker: Any, namespace: Mapping[str, Any], after: ExitStack) -> Any:
    made = _call(maker, {}, namespace, after)
    if not inspect.isgenerator(made):
        return made
    value = next(made)
    after.callback(lambda: next(made, None))
    return value
