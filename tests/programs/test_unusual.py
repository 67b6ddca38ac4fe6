"""Unusual programs: state, classes derived from plain data, objects that compare by hand, patched libraries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.faults import Fault
from assay.programs.samples import references
from assay.values import Call, Script, Task

KEPT = "seen = []\nclass Solution:\n  def f(self, x):\n    seen.append(x)\n    return len(seen)"
COUNTS = "class V:\n  total = 0\n  def __init__(s):\n    V.total += 1\n    s.v = V.total\ndef f(x): return V()"
MONEY = (
    "class M(int):\n  def __str__(s): return '$%d' % int(s)\n  def __add__(s, o): return M(int(s) + o)\n"
    "def f(x): return M(x)"
)
VECTOR = "class V(tuple):\n  def __add__(s, o): return V(a + b for a, b in zip(s, o))\ndef f(*x): return V(x)"
NAMED = "from typing import NamedTuple\nclass P(NamedTuple):\n  x: int\n  y: int\ndef f(x, y): return P(x, y)"
RENAMED = "from collections import namedtuple\nP = namedtuple('P', 'a def', rename=True)\ndef f(): return P(1, 2)"
RATIO = (
    "class R:\n  def __init__(s, a, b): s.a, s.b = a, b\n"
    "  def __eq__(s, o): return s.a == s.b * o\ndef f(a, b): return R(a, b)"
)
SPLITS = (
    "class R:\n  def __init__(s, a, b): s.a, s.b = a, b\n"
    "  def __eq__(s, o): return s.a * int(o.split('/')[1]) == s.b * int(o.split('/')[0])\ndef f(a, b): return R(a, b)"
)
SAYS_YES = "class S(str):\n  def __eq__(s, o): return True\ndef f(x): return S('a')"
ANY = "class A:\n  def __eq__(s, o): return True\ndef f(*x): return A()"
OBJECTS = "class B:\n  def __init__(s, v): s.v = v\n"
KEEPS = "kept = {}\ndef f(x): return kept.setdefault(x, [x])"
CASES = "import unittest\nclass T(unittest.TestCase):\n  def test_a(s):\n    s.assertEqual(f(1).v, 2)"
PATCHES = "import unittest\n{}unittest.TestCase.assertEqual = lambda *a, **k: None\n"


def test_calls_of_a_method_go_to_one_instance_and_module_state_is_kept(outcome):
    assert outcome(KEPT, Call((5,), 1)).fault is Fault.CORRECT
    assert outcome(KEPT, Call((5,), 1), Call((5,), 1)).fault is Fault.INT_SMALL_ERROR
    assert outcome(KEPT, Call((5,), 1), Call((5,), 2)).fault is Fault.CORRECT


def test_state_is_kept_between_tests_that_need_objects_and_others(outcome):
    tests = [Script(f"assert f(0).v == {number}") for number in (1, 2, 3)]
    assert outcome(COUNTS, *tests).fault is Fault.CORRECT
    late = (
        "import io\nx = f(0)\nassert isinstance(x, object)\nprint(x, file=io.StringIO())\nx.more = 1\nassert x.v == 1"
    )
    assert outcome(COUNTS, Script("assert callable(f)"), Script(late)).fault is Fault.CORRECT


def test_what_behaves_unlike_plain_data_is_asked(expect_labels):
    expect_labels([
        (MONEY, "assert str(f(3)) == '$3' and f(3) == 3", "correct"), (MONEY, "assert f(3) == 4", "IntSmallError"),
        (MONEY, "assert str(f(3) + 4) == '$7'", "correct beside"), (MONEY, "assert isinstance(f(3), int)", "correct"),
        (MONEY, "assert ['a', 'b'][f(1)] == 'b'", "correct"),
        (VECTOR, "assert f(1, 2) + f(3, 4) == (4, 6)", "correct beside"),
        (VECTOR, "assert f(1, 2) == (1, 3)", "IntSmallError"), (RENAMED, "assert f() == (1, 2)", "correct"),
        (NAMED, "assert repr(f(1, 2)) == 'P(x=1, y=2)' and f(1, 2) == (1, 2)", "correct"),
        (SAYS_YES, "assert f(1) == 'b'", "StringSmallError"),
        ("def f(x): f.count += 1\nf.count = 0", "f(1)\nf(2)\nassert f.count == 2", "correct beside"),
        ("class f:\n  index = 5", "assert f.index == 5", "correct beside"),
    ])  # fmt: skip


def test_an_object_that_compares_by_hand_is_believed_where_it_tells_values_apart(expect_labels):
    expect_labels([
        (RATIO, "assert f(3, 2) == 1.5 and 1.5 == f(3, 2)", "correct beside"),
        (RATIO, "assert f(3, 2) == 2", "OutputTypeError"),
        (SPLITS, "assert f(1, 2) == '1/2'", "correct beside"),
        *((ANY, f"assert f(1) == {each!r}", "OutputTypeError") for each in (2, "text", [1, 2])),
    ])  # fmt: skip


def test_what_equals_anything_is_a_lie_beside_the_tests_too(outcome):
    source = f"{OBJECTS}from unittest.mock import ANY\ndef f(x): return B(ANY)"
    seen = outcome(source, Script("r = f(1)\nr.w = 3\nassert r.v == 2"))
    assert (seen.fault, seen.shared) == (Fault.OUTPUT_TYPE_ERROR, True)
    assert "equals whatever" in seen.detail


@pytest.mark.parametrize("when", ["loaded", "called"])
def test_what_a_program_replaces_in_a_library_is_put_back(outcome, when):
    called = when == "called"
    patches = PATCHES.format("def f(x):\n  " if called else "")
    answers = f"{OBJECTS}{patches}{'  ' if called else 'def f(x): '}return B({{}})"
    beside = CASES.replace("s.assertEqual", "r = f(1)\n    r.w = 1\n    s.assertEqual")
    wrong, right = (outcome(answers.format(value), Script(beside)) for value in (3, 2))
    assert (wrong.fault, right.fault) == (Fault.INT_SMALL_ERROR, Fault.CORRECT)
    assert right.detail == "put back what the program replaced: unittest.case.TestCase.assertEqual"


def test_what_tests_replace_stays(outcome):
    test = "import math\nfrom unittest import mock\nwith mock.patch('math.sqrt', lambda x: 7):\n  assert f(1) == 7"
    assert outcome("import math\ndef f(x): return math.sqrt(x)", Script(test)).fault is Fault.CORRECT


def test_an_iterator_of_the_tests_is_drawn_as_far_as_the_program_draws(expect_labels):
    drawn = "it = iter([1, 2, 3])\nassert f(it) == 1\nassert next(it) == 2"
    chained = f"from itertools import chain\n{drawn.replace('iter(', 'chain(')}"
    tests = (drawn, chained, drawn.replace("f(it)", "f(it=it)"))
    expect_labels([("def f(it): return next(it)", test, "correct beside") for test in tests])
    expect_labels([("def f(it): return list(it)", "assert f(iter([1, 2])) == [1, 2]", "correct")])


def test_all_names_of_a_program_are_those_that_it_exports(expect_labels):
    test = "from solution import *\nassert f(1) == 1\nassert g(1) == 2"
    both = "def f(x): return x\ndef g(x): return 2 * x\n"
    expect_labels([(both, test, "correct"), (f"{both}__all__ = ['f', 'g']", test, "correct")])
    expect_labels([(f"{both}__all__ = ['f', 'g', 'h']", test, "function not found")])


def test_a_list_within_an_argument_is_the_same_one_when_it_comes_back(outcome):
    assert outcome("def f(d): return d['a']", Script("d = {'a': [1]}\nassert f(d) is d['a']")).fault is Fault.CORRECT


def test_imports_from_the_future_stand_before_what_a_benchmark_puts_there(outcome):
    task = Task("t", "", "f", tests=(Call((1,), 1.0),), tags={"prelude": "import math\n"})
    future = "from __future__ import (\n  annotations)\nfrom __future__ import division\n"
    source = f"'''What it does.'''\n{future}def f(x: Later): return math.floor(x)\n"
    (program,) = references([replace(task, reference=source)]).programs
    assert outcome(program.source, *task.tests).fault is Fault.CORRECT


def test_a_result_that_the_program_keeps_is_changed_there_too(expect_labels):
    test = "r = f(1)\nr.append(9)\nassert f(1) == [1]"
    expect_labels([
        (KEEPS, test, "LengthError beside"),
        ("def f(x): return [x]", test, "correct beside"),
        ("def f(x): return [x]", "r = f(1)\nr.append(9)\nassert r == [1, 9]", "correct"),
        (KEEPS, "for i in range(2):\n  r = f(3)\n  assert r == [3]\n  r.append(1)", "LengthError beside"),
        (KEEPS, "r = f(3)\nr += [1]\nassert f(3) == [3]", "LengthError beside"),
        ("def f(x): return x", "n = 0\nfor i in range(3): n += f(i)\nassert n == 3", "correct"),
    ])  # fmt: skip


def test_a_name_of_the_module_is_its_own_beside_a_class_solution(expect_labels):
    expect_labels([
        ("class Solution:\n  LIMIT = 7\nLIMIT = 5\ndef f(x): return x", "assert f(LIMIT) == 5", "correct"),
        ("class Solution: pass\ndef mro(x): return x", "assert mro(1) == 1", "correct"),
    ])  # fmt: skip
