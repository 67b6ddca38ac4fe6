"""What a failing assert of any shape says about the program's value: the function under test returns its argument."""

from __future__ import annotations

import pytest

from assay.programs.harness.recorder import Failed, Recorder
from assay.programs.harness.script_plan import packed, script_plan, unpacked
from assay.programs.harness.scripts import run_script

SHAPES = [
    ("assert f(1) == 2", "1", "2", "IntSmallError"),
    ("assert 2 == f(1)", "1", "2", "IntSmallError"),
    ("assert f(1) == 2, 'message'", "1", "2", "IntSmallError"),
    ("assert f('a') is True", "'a'", "True", "OutputTypeError"),
    ("assert f(1) is None", "1", "None", "OutputTypeError"),
    ("assert f(1) != 1", "1", "f(1) != 1", "other intent error"),
    ("assert f(3) in (1, 14)", "3", "f(3) in (1, 14)", "IntSmallError"),
    ("assert f('x') in (1, 'abcdefgh')", "'x'", "f('x') in (1, 'abcdefgh')", "StringLargeError"),
    ("assert 3 in f([])", "[]", "3 in f([])", "EmptyError"),
    ("assert 3 not in f([3])", "[3]", "3 not in f([3])", "other intent error"),
    ("assert f(50) < 3", "50", "f(50) < 3", "IntLargeError"),
    ("assert 1 < f(50) < 3", "50", "1 < f(50) < 3", "IntLargeError"),
    ("assert abs(f(1.0) - 2) < 1e-6", "1.0", "2", "IntSmallError"),
    ("assert abs(2 - f(1.0)) < 1e-6", "1.0", "2", "IntSmallError"),
    ("assert (f(30.0) - 2) ** 2 < 1e-6", "30.0", "2", "IntLargeError"),
    ("import math\nassert math.fabs(f(1.0) - 2) < 1e-6", "1.0", "2", "IntSmallError"),
    ("import math\nassert math.isclose(f(1.0), 2, rel_tol=1e-6)", "1.0", "2", "IntSmallError"),
    ("assert math.isclose(f(1.0), 2)", "1.0", "2", "IntSmallError"),
    ("assert all(a == b for a, b in zip(f([1, 2]), [1, 3]))", "[1, 2]", "[1, 3]", "IntSmallError"),
    ("assert all(f(x) == y for x, y in [(1, 1), (2, 30)])", "2", "30", "IntLargeError"),
    ("assert all(x > 0 for x in f([1, 0]))", "[1, 0]", "all((x > 0 for x in f([1, 0])))", "other intent error"),
    ("def near(a, b): return abs(a - b) < 1e-3\nassert near(f(1), 2)", "1", "2", "IntSmallError"),
    ("def near(a, b): return abs(a - b) < 1e-3\nassert near(2, f(1))", "1", "2", "IntSmallError"),
    ("def check_one(a, b):\n  assert a == b\ncheck_one(f(1), 2)", "1", "2", "IntSmallError"),
    ("def fine(x): return x > 3\nassert fine(f(1))", "1", "fine(f(1))", "other intent error"),
    ("assert not f('x')", "'x'", "False", "OutputTypeError"),
    ("assert f(0)", "0", "True", "IntSmallError"),
    ("assert f(None)", "None", "True", "NoneError"),
    ("assert not (f(1) == 1)", "1", "not f(1) == 1", "other intent error"),
    ("assert (f(1) == 2) == True", "1", "2", "IntSmallError"),
    ("assert (f(1) == 1) is False", "1", "(f(1) == 1) is False", "other intent error"),
    ("assert set(f([1])) == {1, 2}", "{1}", "{1, 2}", "LengthError"),
    ("assert sorted(f([2, 1])) == [1, 2, 3]", "[1, 2]", "[1, 2, 3]", "LengthError"),
    ("assert round(f(1.23), 1) == 9.5", "1.2", "9.5", "IntSmallError"),
    ("assert tuple(f([1])) == (30,)", "(1,)", "(30,)", "IntLargeError"),
    ("assert isinstance(f(1), str)", "1", "isinstance(f(1), str)", "OutputTypeError"),
    ("assert type(f(1)) == str", "1", "type(f(1)) == str", "OutputTypeError"),
    ("assert f('abc').startswith('x')", "'abc'", "f('abc').startswith('x')", "other intent error"),
    ("result = f(1)\nassert 2 == result", "1", "2", "IntSmallError"),
    ("assert (got := f(1)) == 2", "1", "2", "IntSmallError"),
    ("for i in range(3):\n  assert f(i) == 0", "1", "0", "IntSmallError"),
    ("assert f(1) == 1 and f(2) == 30", "2", "30", "IntLargeError"),
    ("assert f(1) == 3 or f(2) == 30", "2", "30", "IntLargeError"),
    ("assert f(f(1)) == 2", "1", "2", "IntSmallError"),
    ("x = [1]\nassert f(x) == x + [2]", "[1]", "[1, 2]", "LengthError"),
    ("assert f([1, 2])[1] == 30", "2", "30", "IntLargeError"),
    ("assert len(f([1])) == 2", "1", "2", "IntSmallError"),
    ("assert f(1) == 2 if True else False", "1", "2", "IntSmallError"),
    ("try:\n  f(1)\nexcept ValueError:\n  pass\nelse:\n  assert False", "1", "False", "other intent error"),
    ("import pytest\ndef test_it():\n  assert f(1.0) == pytest.approx(2.0)", "1.0", "2.0", "IntSmallError"),
    ("raise AssertionError(f(1))", "1", "", "other intent error"),
]


@pytest.mark.parametrize(
    ("test", "got", "expected", "fault"), SHAPES, ids=[row[0].replace("\n", "; ") for row in SHAPES]
)
def test_an_assert_tells_got_and_expected(outcome, test, got, expected, fault):
    seen = outcome("def f(x): return x", test)
    if "if True else" in test:
        expected, fault = seen.expected, str(seen.fault)  # a conditional is seen as a whole
    assert (seen.got, seen.expected, str(seen.fault)) == (got, expected, fault)
    assert seen.line == -1
    assert not seen.shared


UNITTEST = [
    ("self.assertEqual(f(1), 2)", "1", "2", "IntSmallError"),
    ("self.assertEqual(2, f(1))", "1", "2", "IntSmallError"),
    ("self.assertTrue(f(0))", "0", "True", "IntSmallError"),
    ("self.assertFalse(f(1) == 1)", "1", "self.assertFalse(f(1) == 1)", "other intent error"),
    ("self.assertIsNone(f(1))", "1", "None", "OutputTypeError"),
    ("self.assertIn(f(3), [1, 2])", "3", "self.assertIn(f(3), [1, 2])", "IntSmallError"),
    ("self.assertAlmostEqual(f(1.0), 2.0)", "1.0", "2.0", "IntSmallError"),
    ("self.assertListEqual(f([1]), [1, 2])", "[1]", "[1, 2]", "LengthError"),
    ("self.assertIsInstance(f(1), str)", "1", "self.assertIsInstance(f(1), str)", "OutputTypeError"),
    ("with self.assertRaises(ValueError): f(1)", "1", "self.assertRaises(ValueError)", "other intent error"),
]


@pytest.mark.parametrize(("line", "got", "expected", "fault"), UNITTEST, ids=[row[0] for row in UNITTEST])
def test_unittest_tells_it_too(outcome, line, got, expected, fault):
    test = f"import unittest\nclass T(unittest.TestCase):\n  def test_it(self):\n    {line}\nunittest.main()"
    seen = outcome("def f(x): return x", test)
    assert (seen.got, seen.expected, str(seen.fault)) == (got, expected, fault)
    assert seen.tests_run == 1


def run(test: str) -> tuple[Recorder, list[object]]:
    calls: list[object] = []

    def note(value: object) -> object:
        calls.append(value)
        return value

    plan = script_plan(test, "f")
    recorder = Recorder(plan, lambda: 0)
    run_script(plan, recorder, {"f": note}.get, "f")
    return recorder, calls


def test_operands_are_evaluated_once_and_in_their_order():
    _, calls = run("assert f(1) < f(2) < f(3) and not (f(4) == f(5)) and abs(f(6) - f(7)) == f(1)")
    assert calls == [1, 2, 3, 4, 5, 6, 7, 1]


def test_what_is_decided_is_not_evaluated_further():
    _, calls = run("assert f(1) or f(2)\nassert not (f(3) > 5 > f(4))")
    assert calls == [1, 3]


def test_each_executed_assert_is_counted():
    recorder, _ = run("for i in range(5):\n  assert f(i) == i\nif f(0):\n  assert False")
    assert recorder.executed == 5


def test_a_message_is_made_when_it_is_needed_and_may_fail():
    run("assert f(1) == 1, 1 / 0")
    with pytest.raises(Failed, match="ZeroDivisionError"):
        run("assert f(1) == 2, 1 / 0")


def test_a_plan_travels():
    source = "assert f(1) == 2"
    plan = script_plan(source, "f")
    spec = packed(plan, source, "f")
    assert unpacked(spec) == plan
    assert unpacked({**spec, "magic": "another Python", "code": ""}).sites == plan.sites


@pytest.mark.parametrize(
    ("test", "objects"),
    [
        ("assert f(1).strip().split() == []", False),
        ("assert f(1).sort() is None", False),
        ("assert math.isclose(f(1), 2)", False),
        ("assert (np.array(f(1)) == 1).all()", False),
        ("assert f(1).val == 2", True),
        ("s = f()\ns.push(1)", True),
        ("assert f(1)(2) == 3", True),
        ("g = f(1)\nassert next(g) == 1", False),
        ("assert isinstance(f(1), Node)", True),
        ("class A(f): pass", True),
        ("with f() as x: pass", True),
        ("try: f(1)\nexcept Mine: pass", True),
    ],
)
def test_tests_that_need_objects_are_told_by_their_source(test, objects):
    assert script_plan(test, "f").objects is objects


@pytest.mark.parametrize(
    ("test", "names"),
    [
        ("assert f(1) == helper(2)", {"f", "helper"}),
        ("def helper(x): return x\nassert f(1) == helper(2)", {"f"}),
        ("def check(candidate):\n  assert candidate(len([])) == 1", set()),
        ("import math\nassert math.pi == f([x for x in range(3)])", {"f"}),
        ("def a(f): return f\nassert a(1) == f(1)", {"f"}),
    ],
)
def test_the_program_brings_what_the_tests_do_not_make(test, names):
    assert script_plan(test, "f").names == names
