"""Compare answers with expected values, classify the difference, and write values as canonical text.

`fault_of` says which of the nine intent errors of the paper a wrong answer is. Where the paper is silent, in the order
in which the rules are asked:

- None where something else was expected is NoneError, an empty list, tuple, dict or set where anything else was
  expected is EmptyError; both at the top only, for inside an answer the output itself is neither.
- bool, int, float and complex are one kind, as `False` against `True` (IntSmall) and `-inf` against `2.0` (IntLarge) in
  table 13 have it. A list is no tuple, a set no list, text no bytes: OutputTypeError. Variants of dict are dicts.
- Containers of one type: by length, then by the first difference, into which these rules look (`[[2], [3]]` against
  `[[1], [2]]` is IntSmall). Dicts are compared key by key in the expected order; other keys are `other intent error`,
  and so are sets in which more than one item differs.
- Numbers: at most 10 apart is small; no number and infinity are large. Text: lengths at most 3 apart is small.
- An assert that does not say what is right (`!=`, `not in`, a helper's `False`) leaves None and empty answers to be
  recognised, and is `other intent error` else. `isinstance` that fails is OutputTypeError.

`near` compares as EvalPlus and `numpy.allclose` do: `|got - expected| <= atol + 1e-7 * |expected|`, only where a
tolerance is given and the expected number is a float. An infinity is near to itself alone, and nan to nothing. Scalars
of numpy are plain numbers; an array is equal to an array alone, and a complex number to none where another kind is
expected. Tasks from JSON need a tuple taken for a list and `[x]` for `x`, as APPS does: `loosened`.

`differs` compares what was printed as APPS does: blank lines and the space around words do not count, and a number with
a point or an exponent may be off by one part in 100,000 or by 1e-8. Unlike there, a whole number that is expected has
to be that one exactly, however long and however written: `1e5` is 100000, `123456000.0` is not 123456789. What is too
large for a float is text.

`canonical` writes equal values alike. As `==` has it, 1, 1.0 and True are one; sets and dictionaries have no order.
Unlike it, floats are one within nine digits, so that the order of a sum makes no difference. Long texts end in a hash
of the whole.
"""

from __future__ import annotations

import sys
from cmath import isfinite
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from hashlib import blake2b
from itertools import islice, zip_longest
from math import isclose, isinf
from operator import is_not
from typing import Any, Final

from assay.faults import Fault
from assay.programs.harness.codec import MAX_DRAWN_ITEMS, Opaque

SMALL_NUMBER: Final = 10
SMALL_TEXT: Final = 3
_MAX_DEPTH: Final = 100
_NUMBERS: Final = (bool, int, float, complex)
_ARRAYS: Final = (list, tuple, dict, set, frozenset)


def fault_of(actual: object, expected: object) -> Fault:
    """Classify the difference of a wrong answer from the expected one."""
    actual, expected = plain_number(actual), plain_number(expected)
    if actual is None and expected is not None:
        return Fault.NONE_ERROR
    if _is_empty(actual) and not _is_empty(expected):
        return Fault.EMPTY_ERROR
    return _fault_within(actual, expected, 0)


def fault_where(relation: str, actual: object, expected: object) -> Fault:
    """Return the fault of an assert, by the relation that the program's value should have to the other one."""
    return _RELATIONS[relation](actual, expected) if relation in _RELATIONS else fault_of_unknown(actual)


def fault_of_unknown(actual: object) -> Fault:
    """Return the fault of an answer whose expected value is unknown."""
    if actual is None:
        return Fault.NONE_ERROR
    return Fault.EMPTY_ERROR if _is_empty(actual) else Fault.INTENT_OTHER


def plain_number(value: Any) -> Any:
    """Convert a numpy scalar to a Python number; return any other value, also an array, unchanged."""
    is_scalar = type(value).__module__ == "numpy" and type(value).__name__ != "ndarray" and hasattr(value, "dtype")
    return value.item() if is_scalar and value.dtype.kind in "biufc" else value


def _fault_within(actual: Any, expected: Any, depth: int) -> Fault:
    actual, expected = plain_number(actual), plain_number(expected)
    kind = _kind(actual)
    if kind != _kind(expected):
        return Fault.OUTPUT_TYPE_ERROR
    if kind == "number":
        near = _gap(actual, expected) <= SMALL_NUMBER
        return Fault.INT_SMALL_ERROR if near else Fault.INT_LARGE_ERROR
    if isinstance(actual, str | bytes):
        near = abs(len(actual) - len(expected)) <= SMALL_TEXT
        return Fault.STRING_SMALL_ERROR if near else Fault.STRING_LARGE_ERROR
    if not (isinstance(actual, _ARRAYS) and isinstance(expected, _ARRAYS)) or depth > _MAX_DEPTH:
        return Fault.INTENT_OTHER
    if len(actual) != len(expected):
        return Fault.LENGTH_ERROR
    pair = _first_difference(actual, expected)
    return _fault_within(*pair, depth + 1) if pair else Fault.INTENT_OTHER


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


def _gap(actual: complex, expected: complex) -> float:
    try:
        gap = abs(actual - expected)
    except OverflowError:
        return float("inf")
    return gap if gap == gap else float("inf")  # noqa: PLR0124 - not a number


def _first_difference(actual: Any, expected: Any) -> tuple[Any, Any] | None:
    if isinstance(expected, Mapping):
        if any(key not in actual for key in expected):
            return None
        pairs = [(actual[key], value) for key, value in expected.items()]
    elif isinstance(expected, AbstractSet):
        pairs = list(zip(actual - expected, expected - actual, strict=True))
        return pairs[0] if len(pairs) == 1 else None
    else:
        pairs = list(zip(actual, expected, strict=True))
    return next((pair for pair in pairs if not same(*pair)), None)


def same(left: object, right: object) -> bool:
    """Compare two plain values; arrays and incomparable values differ."""
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - a comparison that fails is no equality, whatever failed
        return False


def _one_of(actual: object, expected: object) -> Fault:
    """Return the fault by the first alternative of the answer's kind, or else by the first one."""
    if isinstance(expected, str | bytes) or not isinstance(expected, Collection) or not expected:
        return fault_of_unknown(actual)
    return fault_of(actual, next((each for each in expected if _kind(each) == _kind(actual)), next(iter(expected))))


_RELATIONS: Final[dict[str, Callable[[object, object], Fault]]] = {
    "eq": fault_of,
    "in": _one_of,
    "order": lambda got, expected: Fault.INTENT_OTHER if same(got, expected) else fault_of(got, expected),
    "true": lambda got, _: fault_of(got, True),
    "false": lambda got, _: fault_of(got, False),
    "none": lambda got, _: fault_of(got, None),
    "type": lambda got, _: Fault.NONE_ERROR if got is None else Fault.OUTPUT_TYPE_ERROR,
    "ne": lambda *_: Fault.INTENT_OTHER,
}


_RELATIVE: Final = 1e-7
_COLLECTIONS: Final = frozenset({list, tuple, set, frozenset})


def near(actual: Any, expected: Any, atol: float) -> bool:
    """Say whether an answer equals the expected one, within a tolerance."""
    actual, expected = _plain(actual, plain_number), _plain(expected, plain_number)
    if not _same_kinds(actual, expected, 0):
        return False
    actual, expected = _plain(actual, _listed), _plain(expected, _listed)
    return same(actual, expected) or (atol > 0 and _is_within(actual, expected, atol, 0))


def _plain(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a value with its numpy parts converted, at any depth; the same object if there are none."""
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


def _same_kinds(actual: Any, expected: Any, depth: int) -> bool:
    """Say whether arrays face arrays, and complex numbers complex ones; `==` distinguishes other kinds."""
    if _is_array(actual) or _is_array(expected):
        return bool(_is_array(actual) and _is_array(expected) and actual.shape == expected.shape)
    if isinstance(actual, complex) or depth > _MAX_DEPTH:
        return isinstance(expected, complex) or depth > _MAX_DEPTH
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        pairs = zip(actual, expected, strict=False)
    elif isinstance(actual, dict) and isinstance(expected, dict):
        pairs = ((value, expected[key]) for key, value in actual.items() if key in expected)
    elif isinstance(actual, set | frozenset) and isinstance(expected, set | frozenset):
        return any(isinstance(one, complex) for one in expected) or not any(isinstance(one, complex) for one in actual)
    return all(_same_kinds(one, other, depth + 1) for one, other in pairs)


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "shape")


def loosened(actual: Any, expected: Any) -> tuple[Any, Any]:
    """Return both as JSON: tuples as lists, an expected list of one item as that item if the answer is not a list."""
    actual, expected = _as_json(actual), _as_json(expected)
    if isinstance(expected, list) and len(expected) == 1 and not isinstance(actual, list):
        expected = expected[0]
    return actual, expected


def _is_within(actual: Any, expected: Any, atol: float, depth: int) -> bool:
    if isinstance(expected, float | complex):
        return isinstance(actual, int | float | complex) and _close(actual, expected, atol)
    if depth > _MAX_DEPTH or type(actual) is not type(expected):
        return same(actual, expected)
    if isinstance(expected, dict) and actual.keys() == expected.keys():
        return all(_is_within(actual[key], value, atol, depth + 1) for key, value in expected.items())
    if isinstance(expected, list | tuple) and len(actual) == len(expected):
        return all(_is_within(*pair, atol, depth + 1) for pair in zip(actual, expected, strict=True))
    return same(actual, expected)


def _close(actual: complex, expected: complex, atol: float) -> bool:
    try:
        if not (isfinite(actual) and isfinite(expected)):
            return actual == expected
        return bool(abs(actual - expected) <= atol + _RELATIVE * abs(expected)) or actual == expected
    except OverflowError:
        return False


def _as_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return value


Value = int | float | str
_MAX_NUMBER_CHARS = 400


def lines_of(text: str) -> list[list[str]]:
    """Return the words of each line that is not blank."""
    return [words for line in text.splitlines() if (words := line.split())]


def differs(printed: str, expected: str) -> tuple[str, str] | None:
    """Return the first lines that differ, an empty line at an end; None if all are equal."""
    pairs = zip_longest(lines_of(printed), lines_of(expected), fillvalue=())
    for got, wanted in pairs:
        if len(got) != len(wanted) or not all(map(_same_word, got, wanted)):
            return " ".join(got), " ".join(wanted)
    return None


def parsed(text: str) -> list[list[Value] | str]:
    """Parse output as values, as in table 13 of the paper: a line of numbers is a list, any other is text."""
    lines = [(words, [_value(word) for word in words]) for words in lines_of(text)]
    return [" ".join(words) if any(isinstance(each, str) for each in values) else values for words, values in lines]


def _same_word(actual: str, expected: str) -> bool:
    if actual == expected:
        return True
    left, right = _value(actual), _value(expected)
    if isinstance(left, str) or isinstance(right, str):
        return False
    if isinstance(right, int):
        return Decimal(actual) == right
    try:
        return isclose(left, right, rel_tol=1e-5, abs_tol=1e-8)
    except OverflowError:
        return False


def _value(word: str) -> Value:
    if len(word) <= _MAX_NUMBER_CHARS and "_" not in word and word.isascii():
        for kind in (int, float):
            try:
                value: int | float = kind(word)
            except ValueError:
                continue
            return word if kind is float and isinf(value) and any(map(str.isdigit, word)) else value
    return word


MAX_SHOWN_CHARS: Final = 160
_MAX_PRINTED_CHARS: Final = 100_000
_EXACT: Final = 1e15
_BRACKETS: Final[dict[type[Any], tuple[str, str]]] = {list: ("[", "]"), tuple: ("(", ")")}


def canonical(value: object) -> str:
    """Return the canonical text of a value."""
    return shortened(_text(value, 0))


def canonical_lines(printed: str) -> str:
    """Return the canonical text of output: words and lines, decimal numbers within nine digits."""
    if len(printed) > _MAX_PRINTED_CHARS:
        return shortened("\n".join(map(" ".join, lines_of(printed))))
    lines = (line if isinstance(line, str) else " ".join(_text(each, 0) for each in line) for line in parsed(printed))
    return shortened("\n".join(lines))


def shortened(text: str) -> str:
    """Return a text; of a long one, replace the end by a hash of the whole."""
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{text[: MAX_SHOWN_CHARS - 40]}…{digest}"


def _text(value: Any, depth: int) -> str:  # noqa: PLR0911  # a kind of value each
    value = plain_number(value)
    if isinstance(value, bool | int):
        return hex(value) if abs(value) > _EXACT else str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str | bytes) or value is None:
        return repr(value)
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Opaque | Iterator):
        return _object_text(value, depth)
    if isinstance(value, Mapping):
        pairs = sorted(f"{_text(key, depth + 1)}: {_text(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_text(each, depth + 1) for each in value))}}}"
    if type(value) in _BRACKETS:
        left, right = _BRACKETS[type(value)]
        return f"{left}{', '.join(_text(each, depth + 1) for each in value)}{right}"
    return f"{type(value).__name__} {value!r}"


def _object_text(value: Any, depth: int) -> str:
    """Return the text of an object: the items of a finite iterator, or else its class."""
    if not isinstance(value, Iterator):
        return f"<{type(value).__name__}>"
    drawn = list(islice(value, MAX_DRAWN_ITEMS + 1))
    return f"<{', '.join(_text(each, depth + 1) for each in drawn)}>" if len(drawn) <= MAX_DRAWN_ITEMS else "<endless>"


def _number(value: float) -> str:
    if value.is_integer():
        return hex(int(value)) if abs(value) > _EXACT else str(int(value))
    return f"{value:.9g}"
