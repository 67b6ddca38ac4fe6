"""What a program answered and what was expected to the kind of the difference: the nine intent errors of table 5.

Decisions where the paper is silent, in the order in which the rules are asked:

- None where something else was expected is NoneError, an empty list, tuple, dict or set where anything else was
  expected is EmptyError; both at the top only, for inside an answer the output itself is neither.
- bool, int, float and complex are one kind, as `False` against `True` (IntSmall) and `-inf` against `2.0` (IntLarge)
  in table 13 have it. A list is no tuple, a set no list, text no bytes: OutputTypeError. Variants of dict are dicts.
- Containers of one type: by length, then by the first difference, into which these rules look (`[[2], [3]]` against
  `[[1], [2]]` is IntSmall). Dicts are compared key by key in the expected order; other keys are `other intent error`,
  and so are sets in which more than one item differs.
- Numbers: at most 10 apart is small; no number and infinity are large. Text: lengths at most 3 apart is small.
- An assert that does not say what is right (`!=`, `not in`, a helper's `False`) leaves None and empty answers to be
  recognised, and is `other intent error` else. `isinstance` that fails is OutputTypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from assay.faults import Fault

SMALL_NUMBER: Final = 10
SMALL_TEXT: Final = 3
_DEEPEST: Final = 50
_NUMBERS: Final = (bool, int, float, complex)
_ARRAYS: Final = (list, tuple, dict, set, frozenset)


def fault_of(got: object, expected: object) -> Fault:
    """Return how an answer differs from the one that was expected; it does."""
    got, expected = plain_number(got), plain_number(expected)
    if got is None and expected is not None:
        return Fault.NONE_ERROR
    if _is_empty(got) and not _is_empty(expected):
        return Fault.EMPTY_ERROR
    return _within(got, expected, 0)


def fault_where(relation: str, got: object, expected: object) -> Fault:
    """Return the fault of an assert: how the program's value should have stood to the other one."""
    return _RELATIONS[relation](got, expected) if relation in _RELATIONS else fault_of_unknown(got)


def fault_of_unknown(got: object) -> Fault:
    """Return the fault of an answer of which nobody says what it should have been."""
    if got is None:
        return Fault.NONE_ERROR
    return Fault.EMPTY_ERROR if _is_empty(got) else Fault.INTENT_OTHER


def plain_number(value: Any) -> Any:
    """Return a scalar number of numpy as Python's own, and any other value, arrays too, as it is."""
    is_scalar = type(value).__module__ == "numpy" and type(value).__name__ != "ndarray" and hasattr(value, "dtype")
    return value.item() if is_scalar and value.dtype.kind in "biufc" else value


def _within(got: Any, expected: Any, depth: int) -> Fault:
    got, expected = plain_number(got), plain_number(expected)
    kind = _kind(got)
    if kind != _kind(expected):
        return Fault.OUTPUT_TYPE_ERROR
    if kind == "number":
        near = _gap(got, expected) <= SMALL_NUMBER
        return Fault.INT_SMALL_ERROR if near else Fault.INT_LARGE_ERROR
    if isinstance(got, str | bytes):
        near = abs(len(got) - len(expected)) <= SMALL_TEXT
        return Fault.STRING_SMALL_ERROR if near else Fault.STRING_LARGE_ERROR
    if not (isinstance(got, _ARRAYS) and isinstance(expected, _ARRAYS)) or depth > _DEEPEST:
        return Fault.INTENT_OTHER
    if len(got) != len(expected):
        return Fault.LENGTH_ERROR
    pair = _first_difference(got, expected)
    return _within(*pair, depth + 1) if pair else Fault.INTENT_OTHER


def _kind(value: object) -> str:
    if isinstance(value, _NUMBERS):
        return "number"
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, AbstractSet):
        return "set"
    return type(value).__name__


def _is_empty(value: object) -> bool:
    return isinstance(value, _ARRAYS) and not value


def _gap(got: complex, expected: complex) -> float:
    try:
        gap = abs(got - expected)
    except OverflowError:
        return float("inf")
    return gap if gap == gap else float("inf")  # noqa: PLR0124 - not a number


def _first_difference(got: Any, expected: Any) -> tuple[Any, Any] | None:
    if isinstance(expected, Mapping):
        if any(key not in got for key in expected):
            return None
        pairs = [(got[key], value) for key, value in expected.items()]
    elif isinstance(expected, AbstractSet):
        pairs = list(zip(got - expected, expected - got, strict=True))
        return pairs[0] if len(pairs) == 1 else None
    else:
        pairs = list(zip(got, expected, strict=True))
    return next((pair for pair in pairs if not same(*pair)), None)


def same(left: object, right: object) -> bool:
    """Compare two plain values; arrays and whatever cannot be compared differ."""
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - a comparison that fails is no equality, whatever failed
        return False


def _one_of(got: object, expected: object) -> Fault:
    """Judge by the first alternative of the answer's own kind, else by the first."""
    if isinstance(expected, str | bytes) or not isinstance(expected, Collection) or not expected:
        return fault_of_unknown(got)
    return fault_of(got, next((each for each in expected if _kind(each) == _kind(got)), next(iter(expected))))


def _of_type(got: object, _: object) -> Fault:
    return Fault.NONE_ERROR if got is None else Fault.OUTPUT_TYPE_ERROR


def _order(got: object, expected: object) -> Fault:
    return fault_of(got, expected) if not same(got, expected) else Fault.INTENT_OTHER


_RELATIONS: Final[dict[str, Callable[[object, object], Fault]]] = {
    "eq": fault_of,
    "in": _one_of,
    "order": _order,
    "true": lambda got, _: fault_of(got, True),
    "false": lambda got, _: fault_of(got, False),
    "none": lambda got, _: fault_of(got, None),
    "type": _of_type,
    "ne": lambda *_: Fault.INTENT_OTHER,
}
