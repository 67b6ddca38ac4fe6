"""A plain value to a text that is the same for values that are equal, and short.

As `==` has it, 1, 1.0 and True are one; sets and dictionaries have no order. Unlike it, floats are one within nine
digits, so that the order of a sum makes no difference. Long texts end in a hash of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

from assay.programs.harness.crossing import MOST_DRAWN, Opaque
from assay.programs.harness.printed import lines_of, parsed
from assay.programs.intent import plain_number

LONGEST: Final = 160
_DEEPEST: Final = 60
_MOST_SHOWN: Final = 100_000
_EXACT: Final = 1e15
_BRACKETS: Final[dict[type[Any], tuple[str, str]]] = {list: ("[", "]"), tuple: ("(", ")")}


def canonical(value: object) -> str:
    """Return the text of a value."""
    return shortened(_text(value, 0))


def canonical_lines(printed: str) -> str:
    """Return the text of what a program printed: words and lines, numbers with a point within nine digits."""
    if len(printed) > _MOST_SHOWN:
        return shortened("\n".join(map(" ".join, lines_of(printed))))
    return shortened("\n".join(map(_line, parsed(printed))))


def shortened(text: str) -> str:
    """Return a text, the end of a long one as a hash of the whole."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 40]}…{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _line(values: object) -> str:
    return " ".join(_text(value, 0) for value in values) if isinstance(values, list) else str(values)


def _text(value: Any, depth: int) -> str:  # noqa: PLR0911  # a kind of value each
    value = plain_number(value)
    if isinstance(value, bool | int):
        return hex(value) if abs(value) > _EXACT else str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str | bytes) or value is None:
        return repr(value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Opaque | Iterator):
        return _drawn(value, depth)
    if isinstance(value, Mapping):
        pairs = sorted(f"{_text(key, depth + 1)}: {_text(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_text(each, depth + 1) for each in value))}}}"
    if type(value) in _BRACKETS:
        left, right = _BRACKETS[type(value)]
        return f"{left}{', '.join(_text(each, depth + 1) for each in value)}{right}"
    return f"{type(value).__name__} {value!r}"


def _drawn(value: Any, depth: int) -> str:
    """Return the text of an object: of what an iterator gives, if it has an end, else its class."""
    if not isinstance(value, Iterator):
        return f"<{type(value).__name__}>"
    drawn = list(islice(value, MOST_DRAWN + 1))
    return f"<{', '.join(_text(each, depth + 1) for each in drawn)}>" if len(drawn) <= MOST_DRAWN else "<endless>"


def _number(value: float) -> str:
    if value.is_integer():
        return hex(int(value)) if abs(value) > _EXACT else str(int(value))
    return f"{value:.9g}"
