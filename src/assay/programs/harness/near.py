"""Two plain values and a tolerance to whether they are the same: `==`, with floats that may be off, however deep.

As EvalPlus and `numpy.allclose` compare: `|got - expected| <= atol + 1e-7 * |expected|`, only where a tolerance is
given and the expected number is a float. An infinity is near to itself alone, and nan to nothing. Tasks from JSON need
a tuple taken for a list and `[x]` for `x`, as APPS does: `loosened`.
"""

from __future__ import annotations

from cmath import isfinite
from typing import Any, Final

from assay.programs.intent import plain_number, same

_RELATIVE: Final = 1e-7
_DEEPEST: Final = 100


def near(got: Any, expected: Any, atol: float) -> bool:
    """Say whether an answer is the expected one."""
    return same(got, expected) or (atol > 0 and _within(got, expected, atol, 0))


def loosened(got: Any, expected: Any) -> tuple[Any, Any]:
    """Return both as JSON has them: a tuple is a list, and a list of one thing that thing beside what is no list."""
    got, expected = _as_json(got), _as_json(expected)
    if isinstance(expected, list) and len(expected) == 1 and not isinstance(got, list):
        expected = expected[0]
    return got, expected


def _within(got: Any, expected: Any, atol: float, depth: int) -> bool:
    got = plain_number(got)
    if isinstance(expected, float | complex):
        return isinstance(got, int | float | complex) and _close(got, expected, atol)
    if depth > _DEEPEST or type(got) is not type(expected):
        return same(got, expected)
    if isinstance(expected, list | tuple):
        pairs = zip(got, expected, strict=False)
        return len(got) == len(expected) and all(_within(*pair, atol, depth + 1) for pair in pairs)
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(
            _within(got[key], value, atol, depth + 1) for key, value in expected.items()
        )
    return same(got, expected)


def _close(got: complex, expected: complex, atol: float) -> bool:
    try:
        if not (isfinite(got) and isfinite(expected)):
            return got == expected
        return bool(abs(got - expected) <= atol + _RELATIVE * abs(expected)) or got == expected
    except OverflowError:
        return False


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return value
