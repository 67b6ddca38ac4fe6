"""Tests call the helpers of the prompt, whatever a program puts in their place."""

from __future__ import annotations

from assay.faults import Fault
from assay.programs.tasks.task_file import helpers_of

PROMPT = """
import math

def poly(xs, x):
    return sum(c * math.pow(x, i) for i, c in enumerate(xs))

def f(xs):
    \"\"\"Find a zero.\"\"\"
"""
TEST = "def check(candidate):\n  xs = [-2, 1]\n  assert abs(poly(xs, candidate(xs))) < 1e-4"
RIGHT = PROMPT + "    return -xs[0] / xs[1]\n"
WRONG = PROMPT + "    return 0\n"
LIES = "\npoly = lambda xs, x: 0\n"


def test_a_program_cannot_change_the_helpers_that_tests_call(outcome):
    right = (RIGHT, RIGHT + LIES, "def f(xs): return -xs[0] / xs[1]")
    wrong = (WRONG, WRONG + LIES, WRONG + "\ndef poly(xs, x): return 0\n")
    wrong += ("math = 5\n" + WRONG.replace("import math", "") + LIES,)
    wrong += (WRONG + "    \n" + LIES + "import sys; sys.modules['tests'] = None",)
    for source in (*right, *wrong):
        seen = outcome(source, TEST, setup=helpers_of(PROMPT, "f", TEST))
        assert (seen.fault is Fault.CORRECT, seen.shared) == (source in right, False), (source, seen)


def test_a_helper_may_need_what_the_program_brings(outcome):
    prompt = "def twice(x):\n    return f(x) + 1\n\ndef f(x):\n    pass\n"
    test = "assert twice(3) == 7"
    setup = helpers_of(prompt, "f", test)
    assert outcome("def f(x): return 2 * x", test, setup=setup).fault is Fault.CORRECT
    assert outcome("def f(x): return x\ndef twice(x): return 7", test, setup=setup).fault is Fault.INT_SMALL_ERROR


def test_where_no_helper_is_called_there_is_none():
    for prompt, entry, test in (
        (PROMPT, "f", "assert f(1) == 1"), (PROMPT, "poly", "assert poly(1) == 1"), ("Find a zero.", "f", TEST),
        (PROMPT, "f", "assert ("), ("print(1)\nfor f in (): pass\ndef f(): pass", "f", "assert f(1) == 1"),
    ):  # fmt: skip
        assert helpers_of(prompt, entry, test) == "", (prompt, test)


def test_whatever_a_prompt_binds_is_there_for_its_tests(outcome):
    lies = "def f(x): return 99\ndef isqrt(x): return 2\nhalf = isqrt\ndef more(x): return 7\ndef mean(x): return 4"
    for prompt, test in (
        ("from math import isqrt\ndef f(x):\n    pass", "assert isqrt(f(4)) == 2"),
        ("half = lambda x: x / 2\ndef f(x):\n    pass", "assert half(f(4)) == 2"),
        ("def f(x):\n    pass\nLIMIT = 3\ndef more(x):\n    return x + LIMIT", "assert more(f(4)) == 7"),
        ("import statistics as s\ndef f(x):\n    pass\nmean = s.mean", "assert mean([f(4)]) == 4"),
        ("class Point:\n    x = 4\ndef f(x):\n    pass", "assert f(4) == Point.x"),
    ):
        setup = helpers_of(prompt, "f", test)
        assert outcome("def f(x): return x", test, setup=setup).fault is Fault.CORRECT, test
        assert outcome(f"{lies}\nclass Point: x = 99", test, setup=setup).fault is not Fault.CORRECT, test
