from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rank.dataset.message_shapes import message_shape


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ("NameError: name 'math' is not defined", "NameError: name '…' is not defined"),
        (
            "TypeError: f() takes 2 positional arguments but 3 were given",
            "TypeError: NAME() takes N positional arguments but N were given",
        ),
        ("SyntaxError: '(' was never closed (solution.py, line 32)", "SyntaxError: '…' was never closed"),
        (
            "TypeError: int() can't convert non-string with explicit base",
            "TypeError: NAME() can't convert non-string with explicit base",
        ),
        ("ValueError: [1, 2] is not in list", "ValueError: […] is not in list"),
        ("KeyError: -1.5", "KeyError: N"),
        ("UnicodeError: U+201C in utf8", "UnicodeError: U+N in utf8"),
        ("AssertionError", "AssertionError"),
        ("\n  ValueError: first\nsecond", "ValueError: first"),
        ("", ""),
    ],
)
def test_what_belongs_to_one_program_is_replaced(message: str, shape: str) -> None:
    assert message_shape(message) == shape


@given(st.text())
def test_a_shape_is_short_and_one_line(message: str) -> None:
    shape = message_shape(message)
    assert len(shape) <= 120
    assert "\n" not in shape
