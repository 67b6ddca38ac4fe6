"""What is finished of a program stays, what is not goes, and the rest is Python wherever it is cut."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rank.prefix.finished_part import finished_part

WHOLE = '''import os
@cache
@other(1,
       2)
async def f(x):
    """Say
    what."""
    try:
        for i in range(3):
            if i:  # a comment:
                y = [1,
                  2]
            else:
                while True:
                    pass
    except ValueError as e:
        with open(x) as g:
            return 1
    finally:
        print("""a
b""")
    match x:
        case 1:
            return 2
    try: y = 1
    except TypeError: pass
    return {1:
      2}
class A:
\tx: int = 1
\tdef m(self): return lambda: 0
'''


@pytest.mark.parametrize("odd", ["\x0c", "\x1c", "\x85", "\u2028"])
def test_lines_are_those_that_python_counts(odd: str):
    finished = f"sign = '{odd}'\nother = 2\n"
    assert finished_part(finished + "third = (") == finished


@given(st.integers(0, len(WHOLE)))
def test_a_program_that_is_cut_anywhere_is_python(place: int):
    part = finished_part(WHOLE[:place])
    ast.parse(part)
    kept = part.splitlines()[: WHOLE[:place].count("\n")]
    assert sum(one == other for one, other in zip(kept, WHOLE.splitlines(), strict=False)) >= len(kept) - 9


def test_a_whole_program_is_left_as_it_is():
    assert finished_part(WHOLE) == WHOLE


@pytest.mark.parametrize(
    ("cut", "finished"),
    [
        ("", ""),
        ("def f(x", ""),
        ("def f(x):", ""),
        ("def f(x):\n", "def f(x):\n pass\n"),
        ("def f(x):\n    return x", "def f(x):\n pass\n"),
        ("def f(x):\n    y = x\n    return y +", "def f(x):\n    y = x\n"),
        ("def f(x):\n    y = '''a\nb", "def f(x):\n pass\n"),
        ("def f(x):\n    y = 'a", "def f(x):\n pass\n"),
        ("try:\n\ttry:\n\t\ta = 1\n\t\tb", "try:\n\ttry:\n\t\ta = 1\n\tfinally:\n\t pass\nfinally:\n pass\n"),
        ("try: a = 1\n", "try: a = 1\nfinally:\n pass\n"),
        ("match x:\n", "match x:\n case _:\n  pass\n"),
        ("@a\n", "@a\ndef _(): pass\n"),
        ("x = 1\r\ny = 2\r\nz", "x = 1\r\ny = 2\r\n"),
        ("#" * 60_000 + "\n", ""),
    ],
)
def test_what_is_unfinished_goes(cut: str, finished: str):
    assert finished_part(cut) == finished


@pytest.mark.parametrize(
    "wrong", ["x = = 1\ny = 2\nz", "def f(:):\n    pass\nx", "if x:\n    a\n  b\nc\n", "x = 'a\ny = 2\nz = 3\n"]
)
def test_what_is_wrong_in_the_finished_part_stays_wrong(wrong: str):
    with pytest.raises(SyntaxError):
        ast.parse(finished_part(wrong))


@given(st.text(alphabet="def x():\n\t 'if\"#\\@=1[]{}try\udcff\0", max_size=60))
def test_no_text_breaks_it(text: str):
    finished_part(text)
