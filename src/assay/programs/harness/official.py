"""Compare answers like the harnesses of APPS and LiveCodeBench, for results comparable to published ones.

APPS takes the words of a line and the lines of a text in any order, each once, numbers to three decimals, and tuples
one level deep for lists. LiveCodeBench wants as many lines as are expected, blank ones too, each equal but for the
space at its ends, or its numbers equal as decimals; a tuple counts as a list on the outside alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from math import isclose
from typing import Any, Final

_DECIMALS: Final = 3


def _apps_prints(printed: str, expected: str) -> bool:
    actual, wanted = _words_of(printed), _words_of(expected)
    if {frozenset(line) for line in actual} == {frozenset(line) for line in wanted}:
        return True
    with suppress(ValueError, OverflowError):
        ours, theirs = ([[float(word) for word in line] for line in lines] for lines in (actual, wanted))
        alone = len(ours) == len(theirs) and all(len(line) == 1 for line in (*ours, *theirs))
        if alone and all(isclose(a, b, rel_tol=1e-5, abs_tol=1e-8) for (a,), (b,) in zip(ours, theirs, strict=True)):
            return True
        return _rounded(ours) == _rounded(theirs)
    return False


def _words_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def _rounded(lines: list[list[float]]) -> set[frozenset[float]]:
    return {frozenset(round(number, _DECIMALS) for number in line) for line in lines}


def _apps_returns(actual: Any, expected: Any) -> bool:
    actual = _as_list(actual)
    inner = (
        [_as_list(each) for each in actual]
        if isinstance(actual, list) and actual and isinstance(actual[0], tuple)
        else actual
    )
    return actual in (expected, [expected]) or inner == expected


def _livecodebench_prints(printed: str, expected: str) -> bool:
    got, wanted = ([line.strip() for line in text.strip().split("\n")] for text in (printed, expected))
    return len(got) == len(wanted) and all(map(_is_same_line, got, wanted))


def _is_same_line(actual: str, expected: str) -> bool:
    if actual == expected:
        return True
    with suppress(InvalidOperation, ValueError):
        return [Decimal(word) for word in actual.split()] == [Decimal(word) for word in expected.split()]
    return False


def _livecodebench_returns(actual: Any, expected: Any) -> bool:
    return bool(_as_list(actual) == expected)


def _as_list(value: Any) -> Any:
    return list(value) if issubclass(type(value), tuple) else value


PRINTS: Final[dict[str, Callable[[str, str], bool]]] = {"apps": _apps_prints, "livecodebench": _livecodebench_prints}
"""By the benchmark, whether it takes what was printed for what is expected."""
RETURNS: Final[dict[str, Callable[[Any, Any], bool]]] = {"apps": _apps_returns, "livecodebench": _livecodebench_returns}
"""The same of what was returned."""
