"""What a program printed beside what it should have printed: the same, or the first line that differs.

As APPS does: blank lines and the space around words do not count, and a number with a point or an exponent may be off
by one part in 100,000 or by 1e-8. Unlike there, a whole number that is expected has to be that one exactly, however
long and however written: `1e5` is 100000, `123456000.0` is not 123456789. What is too large for a float is text.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import zip_longest
from math import isclose, isinf

Value = int | float | str
_LONGEST_NUMBER = 400


def lines_of(text: str) -> list[list[str]]:
    """Return the words of each line that has some."""
    return [words for line in text.splitlines() if (words := line.split())]


def differs(printed: str, expected: str) -> tuple[str, str] | None:
    """Return the first lines that differ, an end as an empty line; None where there is no difference."""
    pairs = zip_longest(lines_of(printed), lines_of(expected), fillvalue=())
    for got, wanted in pairs:
        if len(got) != len(wanted) or not all(map(_alike, got, wanted)):
            return " ".join(got), " ".join(wanted)
    return None


def parsed(text: str) -> list[list[Value] | str]:
    """Return what was printed as values, as in table 13 of the paper: a line of numbers as a list, others as text."""
    lines = [(words, [_value(word) for word in words]) for words in lines_of(text)]
    return [" ".join(words) if any(isinstance(each, str) for each in values) else values for words, values in lines]


def _alike(got: str, wanted: str) -> bool:
    if got == wanted:
        return True
    left, right = _value(got), _value(wanted)
    if isinstance(left, str) or isinstance(right, str):
        return False
    if isinstance(right, int):
        return Decimal(got) == right
    try:
        return isclose(left, right, rel_tol=1e-5, abs_tol=1e-8)
    except OverflowError:
        return False


def _value(word: str) -> Value:
    if len(word) <= _LONGEST_NUMBER and "_" not in word and word.isascii():
        for kind in (int, float):
            try:
                value: int | float = kind(word)
            except ValueError:
                continue
            return word if kind is float and isinf(value) and any(map(str.isdigit, word)) else value
    return word
