"""Objects of the program that stay with it: what honest tests do with them, and what a program may try with them."""

from __future__ import annotations

import json

import pytest

from assay.faults import Fault
from assay.types import Call

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


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1) == 2",
        "assert f(1) == [1, 2]",
        "assert 2 == f(1)",
        "assert not f(1) != 2",
        "assert sorted(f(1)) == [1, 2]",
        "assert list(f(1)) == [1, 2]",
        "assert set(f(1)) == {1, 2}",
        "assert [x for x in f(1)] == [1, 2]",
        "a, b = f(1)\nassert (a, b) == (1, 2)",
        "assert f(1)[0] == 5",
        "assert abs(f(1) - 2.5) < 1e-6",
        "assert 1 < f(1) < 3",
        "assert f(1) is True",
        "assert f(1).strip() == 'a'",
        "assert str(f(1)) == 'truth'",
        "assert int(f(1)) == 5",
        "assert {1: 'a'}.get(f(1)) == 'a'",
        "assert f(1) in [1, 2]",
        "assert f(1) in (3,)",
        "import pytest\nassert f(1) == pytest.approx(2.0)",
        "import pytest\nassert f(1) == [pytest.approx(2.0)]",
        "import math\nassert math.isclose(f(1), 2.0)",
        "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(f(1), 5)",
        "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertAlmostEqual(f(1), 5)",
        "class Mine:\n  x = 3\nassert f(1) == Mine()",
        "assert f(1).sort(key=lambda x: x) == 4",
    ],
)
def test_an_object_that_says_yes_to_everything_gains_nothing(outcome, test):
    seen = outcome(LIAR, test)
    assert seen.fault is not Fault.CORRECT, seen


def test_a_call_compares_what_an_object_holds_with_what_was_expected(outcome):
    assert outcome(LIAR, Call((1,), [1, 2])).fault is not Fault.CORRECT
    honest = "class L:\n  def __init__(s, *x): s.x = x\n  def __iter__(s): return iter(s.x)\n"
    honest += "  def __eq__(s, o): return list(s.x) == list(o)\ndef f(x): return L(x, 2)"
    assert outcome(honest, Call((1,), [1, 2])).fault is Fault.CORRECT
    assert outcome(honest, Call((1,), [1, 3])).fault is not Fault.CORRECT


def test_the_program_s_word_is_told(outcome):
    word = "class B:\n  def __contains__(s, x): return True\n  def __eq__(s, o): return True\ndef f(): return B()"
    for test in ("assert 3 in f()", "assert f() == f()"):
        seen = outcome(word, test)
        assert (seen.fault, seen.shared) == (Fault.CORRECT, True)


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


@pytest.mark.parametrize(
    "test",
    [
        "assert abs(f(1) - 2.5) < 1e-6",
        "assert abs(2.5 - f(1)) < 1e-6",
        "x = f(1)\nx -= 2.5\nassert abs(x) < 1e-6",
        "assert f(1) % 2 == 1",
        "assert f(1).issubset({1})",
        "assert f(1).startswith('a')",
        "assert f(1).isdisjoint({3})",
        "assert f(1).count(1) == 2",
        "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertAlmostEqual(f(1), 5)",
    ],
)
def test_an_object_that_is_handed_the_expected_value_is_not_believed_in_silence(outcome, test):
    seen = outcome(BELIEVED, test)
    assert (seen.fault, seen.shared) == (Fault.CORRECT, True), seen


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


@pytest.mark.parametrize(
    "test",
    [
        "assert 3.99 < f(0) < 4.01",
        "r = f(0)\nassert r >= 4 and r <= 4",
        "assert f(0) > 3.99\nassert f(0) < 4.01",
        "r = f(0)\nassert not r < 4 and not r > 4",
        "assert f(0) != 3 and 3 < f(0) < 5",
        "r = f(0)\nassert r == [1, 2] or r == [1, 2]",
        "assert 3.5 < f(1) < 5",
        "assert max(f(0), 3.99) <= 4.01",
        "import types\nassert isinstance(f(2), types.GeneratorType)",
        "assert type(f(2)).__name__ == 'generator'",
        "import inspect\nassert inspect.isgenerator(f(2))",
        "assert np.allclose(f(0), 4)",
        "assert np.isclose(f(0), 4.0)",
        "assert isclose(f(0), 4.0)",
        (
            "import unittest\nclass T(unittest.TestCase):\n  def test_a(s):\n    r = f(0)\n"
            "    s.assertGreater(r, 3.9)\n    s.assertLess(r, 4.1)"
        ),
    ],
)
def test_an_object_cannot_learn_what_it_has_to_be(outcome, test):
    pytest.importorskip("numpy")
    seen = outcome(LEARNS, test)
    assert seen.fault is not Fault.CORRECT or (seen.shared and "inspect" in test), seen


def test_names_of_libraries_in_tests_are_the_libraries(outcome):
    pytest.importorskip("numpy")
    for test in ("assert np.allclose(f(1), 1.0)", "assert isclose(f(1), 1.0)", "assert math.floor(f(1)) == 1"):
        assert outcome("def f(x): return x", test).fault is Fault.CORRECT, test
    own = "queue = [1]\ndef f(x): queue.append(x)"
    assert outcome(own, "f(2)\nassert queue == [1, 2]\nassert queue.index(2) == 1").fault is Fault.CORRECT


def test_content_follows_what_tests_do_with_an_object(outcome):
    source = "class Stack:\n  def __init__(s): s.x = [1]\n  def __iter__(s): return iter(s.x)\n"
    source += "  def __eq__(s, o): return s.x == o\n  def append(s, n): s.x.append(n)\n"
    source += "s = Stack()\ndef f(x): return s\ndef g(n): s.append(n)"
    test = "r = f(0)\nassert r == [1]\nr.append(2)\nassert r == [1, 2]\ng(3)\nassert r == [1, 2, 3]"
    assert outcome(source, test).fault is Fault.CORRECT


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


def test_an_honest_number_of_an_own_class_counts_as_the_number_that_it_holds(outcome):
    for test in ("assert abs(f(10) - 2.5) < 1e-6", "assert f(10) == 2.5", "assert not f(10) == 2.25"):
        assert outcome(NUMBER, test).fault is Fault.CORRECT, test
    for test in ("assert abs(f(10) - 3.5) < 1e-6", "assert f(10) == 3.5"):
        assert outcome(NUMBER, test).fault is Fault.OUTPUT_TYPE_ERROR, test


def test_an_equality_that_says_so_in_numpy_counts(outcome):
    pytest.importorskip("numpy")
    source = "import numpy\nclass Row:\n  def __init__(s, *x): s.x = numpy.array(x)\n"
    source += "  def __iter__(s): return iter(s.x.tolist())\n  def __eq__(s, o): return (s.x == numpy.array(o)).all()\n"
    source += "def f(x): return Row(x, 2)"
    assert outcome(source, "assert f(1) == [1, 2]").fault is Fault.CORRECT
    assert outcome(source, "assert f(1) == [1, 3]").fault is not Fault.CORRECT


def test_an_object_that_leaves_equality_to_the_other_side_is_not_equal(outcome):
    source = "class L:\n  def __iter__(s): return iter([1])\n  def __eq__(s, o): return NotImplemented\n"
    assert outcome(f"{source}def f(x): return L()", "assert f(1) == [1]").fault is not Fault.CORRECT


DIES = "import os\ndef f(x): os._exit(0)"


@pytest.mark.parametrize("name", ["Exception", "BaseException"])
def test_tests_that_expect_any_error_do_not_pass_with_a_program_that_is_gone(outcome, name):
    seen = outcome(DIES, f"try: f(1)\nexcept {name}: ok = True\nassert ok")
    assert seen.fault is Fault.EXECUTION_OTHER


FORGED = """
import json, os, socket, struct
def answer(message):
    raw = json.dumps(message).encode()
    return struct.pack('>I', len(raw)) + raw
for number in range(100, 140):
    try: channel = socket.socket(fileno=number)
    except OSError: continue
    break
said = {said}
def f(x):
    for message in said: channel.sendall(answer(message))
    os._exit(0)
"""


@pytest.mark.parametrize(
    "said",
    [
        [["returned", {"=": 0}, None, None]],
        [["returned", {"h": [0]}, None, None]],
        [["returned", {"h": ["0", "A", []]}, None, None]],
        [["returned", {"h": [0, 5, ["__eq__"]]}, None, None]],
        [["returned", {"h": [0, "A", [5, {}]]}, None, None]],
        [["returned", {"h": [-1, "list", ["__eq__", "__iter__"]]}, None, None]],
        [["returned", {"h": [0, "A", ["__exit__", "__enter__", "__class__"]]}, None, None]],
        [["returned", {"h": [0, "A", ["__iter__", "__eq__"]]}, None, None], ["returned", 2, None, None]],
        [["returned", {"h": [0, "A", ["__next__", "__eq__"]]}, None, None], ["returned", [], None, None]],
        [["returned", {"m": ["builtins.BaseException", ["print", {"t": []}, None]]}, None, None]],
        [["returned", {"m": ["numpy.ndarray", ["O8", {"t": [1]}, {"b": "0000000000000000"}]]}, None, None]],
        [["returned", {"T": "os.system"}, None, None]],
        [["returned", {"T": "builtins.print"}, None, None]],
        [["raised", {"type": "ValueError", "whole": {"h": [0, "A", []]}}, None]],
        [["raised", {"type": "StopIteration", "bases": ["StopIteration"], "args": []}, None]],
        [["raised", {"type": "X", "bases": [], "object": {"h": [0, "A", []]}, "cause": {}}, None]],
        [["raised", {"cause": 5}, None]],
        [["refused", "value", "why", None]],
        [["raised", 5, None]],
    ],
    ids=json.dumps,
)
def test_a_forged_answer_is_the_program_s_fault(outcome, said):
    for test in ("assert f(1) == [1, 2]", "assert sorted(f(1)) == [1, 2]"):
        seen = outcome(FORGED.format(said=repr(said)), test)
        assert seen.fault not in {Fault.CORRECT, None}, seen


def test_more_objects_than_can_be_kept_are_an_end(outcome):
    source = "class A: pass\ndef f(n): return [A() for _ in range(n)]"
    assert outcome(source, "assert len(f(10)) == 10").fault is Fault.CORRECT
    seen = outcome(source, "for n in range(12): assert len(f(10_000)) == 10_000")
    assert (seen.fault, seen.detail) == (Fault.EXECUTION_OTHER, "TooLarge: more than 100000 objects")
