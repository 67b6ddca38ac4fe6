"""Two plain values and a tolerance to whether they are the same: `==`, with floats that may be off, however deep.

As EvalPlus and `numpy.allclose` compare: `|got - expected| <= atol + 1e-7 * |expected|`, only where a tolerance is
given and the expected number is a float. An infinity is near to itself alone, and nan to nothing. Scalars of numpy are
plain numbers; an array is equal to an array alone, and a complex number to none where another kind is expected. Tasks
from JSON need a tuple taken for a list and `[x]` for `x`, as APPS does: `loosened`.
"""

from __future__ import annotations

import sys
from cmath import isfinite
from collections.abc import Callable, Iterable
from operator import is_not
from typing import Any, Final

from assay.programs.intent import plain_number, same

_RELATIVE: Final = 1e-7
_DEEPEST: Final = 100
_COLLECTIONS: Final = frozenset({list, tuple, set, frozenset})


def near(got: Any, expected: Any, atol: float) -> bool:
    """Say whether an answer is the expected one."""
    got, expected = _plain(got, plain_number), _plain(expected, plain_number)
    if not _alike(got, expected, 0):
        return False
    got, expected = _plain(got, _listed), _plain(expected, _listed)
    return same(got, expected) or (atol > 0 and _within(got, expected, atol, 0))


def _plain(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a value with what is numpy's in it converted, however deep; the same value where there is nothing."""
    if "numpy" not in sys.modules:
        return value
    if type(value) in _COLLECTIONS:
        parts = [_plain(part, convert) for part in value]
        return type(value)(parts) if any(map(is_not, parts, value)) else value
    if type(value) is dict:
        parts = [_plain(part, convert) for part in value.values()]
        return dict(zip(value, parts, strict=True)) if any(map(is_not, parts, value.values())) else value
    return convert(value)


def _listed(value: Any) -> Any:
    return value.tolist() if _is_array(value) else value


def _alike(got: Any, expected: Any, depth: int) -> bool:
    """Say whether no array meets something else, and no complex number a real one; other kinds `==` tells apart."""
    if _is_array(got) or _is_array(expected):
        return bool(_is_array(got) and _is_array(expected) and got.shape == expected.shape)
    if isinstance(got, complex) or depth > _DEEPEST:
        return isinstance(expected, complex) or depth > _DEEPEST
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        pairs = zip(got, expected, strict=False)
    elif isinstance(got, dict) and isinstance(expected, dict):
        pairs = ((value, expected[key]) for key, value in got.items() if key in expected)
    elif isinstance(got, set | frozenset) and isinstance(expected, set | frozenset):
        return any(isinstance(one, complex) for one in expected) or not any(isinstance(one, complex) for one in got)
    return all(_alike(one, other, depth + 1) for one, other in pairs)


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "shape")


def loosened(got: Any, expected: Any) -> tuple[Any, Any]:
    """Return both as JSON has them: a tuple is a list, and a list of one thing that thing beside what is no list."""
    got, expected = _as_json(got), _as_json(expected)
    if isinstance(expected, list) and len(expected) == 1 and not isinstance(got, list):
        expected = expected[0]
    return got, expected


def _within(got: Any, expected: Any, atol: float, depth: int) -> bool:
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
