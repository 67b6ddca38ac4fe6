"""Objects of the program that stay with it: what honest tests do with them, and what a program may try with them."""

from __future__ import annotations

import pytest

from assay.faults import Fault
from assay.values import Call

LIAR = """
class Liar:
    def __init__(s, *a): pass
    def yes(s, *a): return True
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = yes
    def __ne__(s, o): return False
    def me(s, *a): return s
    __getitem__ = __abs__ = __sub__ = __rsub__ = __add__ = __round__ = __call__ = me
    def __getattr__(s, name):
        if name.startswith('__'): raise AttributeError(name)
        return s.me
    def __hash__(s): return hash(1)
    def __len__(s): return 2
    def __iter__(s): return iter([Liar(), Liar()])
    def __int__(s): return 77
    def __str__(s): return 'lie'
    __class__ = int
def f(x): return Liar()
"""
LIES = [
    *("assert f(1) == 2", "assert 2 == f(1)", "assert not f(1) != 2", "assert f(1) is True", "assert 1 < f(1) < 3"),
    *("assert sorted(f(1)) == [1, 2]", "assert set(f(1)) == {1, 2}", "assert [x for x in f(1)] == [1, 2]"),
    *("a, b = f(1)\nassert (a, b) == (1, 2)", "assert f(1)[0] == 5", "assert abs(f(1) - 2.5) < 1e-6"),
    *("assert f(1).strip() == 'a'", "assert str(f(1)) == 'truth'", "assert int(f(1)) == 5"),
    *("assert {1: 'a'}.get(f(1)) == 'a'", "assert f(1) in [1, 2]", "import math\nassert math.isclose(f(1), 2.0)"),
    "import pytest\nassert f(1) == [pytest.approx(2.0)]",
    "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertAlmostEqual(f(1), 5)",
    *("class Mine:\n  x = 3\nassert f(1) == Mine()", "assert f(1).sort(key=lambda x: x) == 4"),
]
BELIEVED = """
class Made:
    def no_distance(s, o): return 0.0
    __sub__ = __rsub__ = __isub__ = no_distance
    def __mod__(s, o): return True
    def issubset(s, o): return True
    def startswith(s, o): return o == 'a'
    isdisjoint = bool
    class count:
        def __init__(s, o): pass
        def __int__(s): return 2
        __eq__ = __sub__ = lambda s, o: True
def f(x): return Made()
"""
BELIEFS = [
    *("assert abs(f(1) - 2.5) < 1e-6", "assert abs(2.5 - f(1)) < 1e-6", "x = f(1)\nx -= 2.5\nassert abs(x) < 1e-6"),
    *("assert f(1) % 2 == 1", "assert f(1).issubset({1})", "assert f(1).startswith('a')"),
    *("assert f(1).isdisjoint({3})", "assert f(1).count(1) == 2"),
    "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertAlmostEqual(f(1), 5)",
]
LEARNS = """
import types
told = []
class Learner:
    x = 1e9
    def __float__(s): return told[-1] + .005 if told else 1e9
    def __int__(s): return int(float(s))
    def __iter__(s): return iter(told[-1] if told and type(told[-1]) is list else [0, 0])
    def learn(s, o): told.append(o); return True
    __lt__ = __gt__ = __le__ = __ge__ = __eq__ = learn
    def __ne__(s, o): return not s.learn(o)
    def __hash__(s): return 1
class Split(Learner):
    def __float__(s): return 1e9
    def __int__(s): return -9
class generator(Learner): pass
class np:
    allclose = isclose = staticmethod(lambda *a, **k: True)
def isclose(*a, **k): return True
def f(x): return [Learner(), Split(), generator()][x]
"""
LESSONS = [
    *("assert 3.99 < f(0) < 4.01", "r = f(0)\nassert r >= 4 and r <= 4", "assert f(0) > 3.99\nassert f(0) < 4.01"),
    *("r = f(0)\nassert not r < 4 and not r > 4", "assert f(0) != 3 and 3 < f(0) < 5", "assert 3.5 < f(1) < 5"),
    *("r = f(0)\nassert r == [1, 2] or r == [1, 2]", "assert max(f(0), 3.99) <= 4.01"),
    "import types\nassert isinstance(f(2), types.GeneratorType)",
    *("assert type(f(2)).__name__ == 'generator'", "import inspect\nassert inspect.isgenerator(f(2))"),
    *("assert np.allclose(f(0), 4)", "assert np.isclose(f(0), 4.0)", "assert isclose(f(0), 4.0)"),
    "import unittest\nclass T(unittest.TestCase):\n  def test_a(s): s.assertLess(f(0), 4.1)",
    "import unittest\nclass T(unittest.TestCase):\n  def test_a(s): x = f(0); s.assertLess(x, 5); s.assertTrue(x > 3)",
]


def test_an_object_that_says_yes_to_everything_or_learns_what_is_wanted_gains_nothing(outcome):
    pytest.importorskip("numpy")
    believed = [
        (test, seen)
        for source, tests in ((LIAR, [*LIES, Call((1,), [1, 2])]), (LEARNS, LESSONS))
        for test in tests
        if (seen := outcome(source, test)).fault is Fault.CORRECT and not (seen.shared and "inspect" in str(test))
    ]
    assert believed == []


def test_where_the_program_s_word_counts_the_outcome_says_so(expect_labels):
    word = "class B:\n  def __contains__(s, x): return True\n  def __eq__(s, o): return True\ndef f(): return B()"
    rows = [(word, test, "correct beside") for test in ("assert 3 in f()", "assert f() == f()")]
    expect_labels([*rows, *((BELIEVED, test, "correct beside") for test in BELIEFS)])


SERIES = """
class L:
    def __init__(s, *x): s.x = list(x)
    def __iter__(s): return iter(s.x)
    def __eq__(s, o): return list(s.x) == list(o)
    def append(s, n): s.x.append(n)
s = L(1)
def f(x): return L(x, 2) if x else s
def g(n): s.append(n)
"""
NUMBER = """
class Number:
    def __init__(s, x): s.x = x
    def __eq__(s, o): return Same(s.x == float(o))
    def __sub__(s, o): return Number(s.x - float(o))
    def __abs__(s): return Number(abs(s.x))
    def __lt__(s, o): return s.x < float(o)
    def __float__(s): return s.x
class Same:
    def __init__(s, same): s.same = same
    def __bool__(s): return s.same
def f(x): return Number(x / 4)
"""
ROW = """
import numpy
class Row:
    def __init__(s, *x): s.x = numpy.array(x)
    def __iter__(s): return iter(s.x.tolist())
    def __eq__(s, o): return (s.x == numpy.array(o)).all()
def f(x): return Row(x, 2)
"""


def test_an_honest_object_counts_as_what_it_holds(expect_labels):
    pytest.importorskip("numpy")
    grows = "r = f(0)\nassert r == [1]\nr.append(2)\nassert r == [1, 2]\ng(3)\nassert r == [1, 2, 3]"
    leaves = "class L:\n  def __iter__(s): return iter([1])\n  def __eq__(s, o): return NotImplemented\n"
    rows = [
        (SERIES, Call((1,), [1, 2]), "correct"), (SERIES, Call((1,), [1, 3]), "OutputTypeError"),
        (SERIES, grows, "correct beside"), (NUMBER, "assert abs(f(10) - 2.5) < 1e-6", "correct beside"),
        (NUMBER, "assert f(10) == 2.5", "correct beside"), (NUMBER, "assert not f(10) == 2.25", "correct"),
        (NUMBER, "assert abs(f(10) - 3.5) < 1e-6", "OutputTypeError beside"),
        (NUMBER, "assert f(10) == 3.5", "OutputTypeError"), (ROW, "assert f(1) == [1, 2]", "correct"),
        (ROW, "assert f(1) == [1, 3]", "OutputTypeError"),
        (f"{leaves}def f(x): return L()", "assert f(1) == [1]", "OutputTypeError"),
        ("def f(x): return x", "assert np.allclose(f(1), 1.0)", "correct"),
        ("def f(x): return x", "assert isclose(f(1), 1.0)", "correct"),
        ("queue = [1]\ndef f(x): queue.append(x)", "f(2)\nassert queue == [1, 2] and queue.index(2) == 1", "correct"),
    ]  # fmt: skip
    expect_labels(rows)


def test_more_objects_than_can_be_kept_are_an_end(outcome):
    source = "class A: pass\ndef f(n): return [A() for _ in range(n)]"
    assert outcome(source, "assert len(f(10)) == 10").fault is Fault.CORRECT
    seen = outcome(source, "for n in range(12): assert len(f(10_000)) == 10_000")
    assert (seen.fault, seen.detail) == (Fault.EXECUTION_OTHER, "TooLarge: more than 100000 objects")
