"""What a test means by its source alone, and what a failing assert of any shape says about the program's value."""

from __future__ import annotations

import pytest

from assay.programs.harness.assert_plan import packed, script_plan, unpacked
from assay.programs.harness.recorder import Failed, Recorder
from assay.programs.harness.run_tests import run_script

SHAPES = [  # the function under test returns its argument
    ("assert f(1) == 2", "1", "2", "IntSmallError"),
    ("assert 2 == f(1), 'message'", "1", "2", "IntSmallError"),
    ("assert f('a') is True", "'a'", "True", "OutputTypeError"),
    ("assert f(1) is None", "1", "None", "OutputTypeError"),
    ("assert f(1) != 1", "1", "f(1) != 1", "other intent error"),
    ("assert f(3) in (1, 14)", "3", "f(3) in (1, 14)", "IntSmallError"),
    ("assert 3 in f([])", "[]", "3 in f([])", "EmptyError"),
    ("assert 3 not in f([3])", "[3]", "3 not in f([3])", "other intent error"),
    ("assert 1 < f(50) < 3", "50", "1 < f(50) < 3", "IntLargeError"),
    ("assert abs(2 - f(1.0)) < 1e-6", "1.0", "2", "IntSmallError"),
    ("assert (f(30.0) - 2) ** 2 < 1e-6", "30.0", "2", "IntLargeError"),
    ("import math\nassert math.fabs(f(1.0) - 2) < 1e-6", "1.0", "2", "IntSmallError"),
    ("assert math.isclose(f(1.0), 2)", "1.0", "2", "IntSmallError"),
    ("assert all(a == b for a, b in zip(f([1, 2]), [1, 3]))", "[1, 2]", "[1, 3]", "IntSmallError"),
    ("assert all(f(x) == y for x, y in [(1, 1), (2, 30)])", "2", "30", "IntLargeError"),
    ("assert all(x > 0 for x in f([1, 0]))", "[1, 0]", "all((x > 0 for x in f([1, 0])))", "other intent error"),
    ("def near(a, b): return abs(a - b) < 1e-3\nassert near(2, f(1))", "1", "2", "IntSmallError"),
    ("def check_one(a, b):\n  assert a == b\ncheck_one(f(1), 2)", "1", "2", "IntSmallError"),
    ("def fine(x): return x > 3\nassert fine(f(1))", "1", "fine(f(1))", "other intent error"),
    ("assert not f('x')", "'x'", "False", "OutputTypeError"),
    ("assert f(None)", "None", "True", "NoneError"),
    ("assert not (f(1) == 1)", "1", "not f(1) == 1", "other intent error"),
    ("assert (f(1) == 2) == True", "1", "2", "IntSmallError"),
    ("assert sorted(f([2, 1])) == [1, 2, 3]", "[1, 2]", "[1, 2, 3]", "LengthError"),
    ("assert round(f(1.23), 1) == 9.5", "1.2", "9.5", "IntSmallError"),
    ("assert type(f(1)) == str", "1", "type(f(1)) == str", "OutputTypeError"),
    ("assert f('abc').startswith('x')", "'abc'", "f('abc').startswith('x')", "other intent error"),
    ("result = f(1)\nassert 2 == result", "1", "2", "IntSmallError"),
    ("assert (got := f(1)) == 2", "1", "2", "IntSmallError"),
    ("for i in range(3):\n  assert f(i) == 0", "1", "0", "IntSmallError"),
    ("assert f(1) == 3 or f(2) == 30", "2", "30", "IntLargeError"),
    ("assert f(1) == 1 and f(2) == 30", "2", "30", "IntLargeError"),
    ("x = [1]\nassert f(x) == x + [2]", "[1]", "[1, 2]", "LengthError"),
    ("assert f([1, 2])[1] == 30", "2", "30", "IntLargeError"),
    ("try:\n  f(1)\nexcept ValueError:\n  pass\nelse:\n  assert False", "1", "False", "other intent error"),
    ("import pytest\ndef test_it():\n  assert f(1.0) == pytest.approx(2.0)", "1.0", "2.0", "IntSmallError"),
    ("raise AssertionError(f(1))", "1", "", "other intent error"),
]
UNITTEST = [
    ("self.assertEqual(2, f(1))", "1", "2", "IntSmallError"),
    ("self.assertTrue(f(0))", "0", "True", "IntSmallError"),
    ("self.assertFalse(f(1) == 1)", "1", "self.assertFalse(f(1) == 1)", "other intent error"),
    ("self.assertIn(f(3), [1, 2])", "3", "self.assertIn(f(3), [1, 2])", "IntSmallError"),
    ("self.assertAlmostEqual(f(1.0), 2.0)", "1.0", "2.0", "IntSmallError"),
    ("self.assertListEqual(f([1]), [1, 2])", "[1]", "[1, 2]", "LengthError"),
    ("with self.assertRaises(ValueError): f(1)", "1", "self.assertRaises(ValueError)", "other intent error"),
]


def test_an_assert_of_any_shape_tells_got_and_expected(outcome):
    case = "import unittest\nclass T(unittest.TestCase):\n  def test_it(self):\n    {}\nunittest.main()"
    rows = [*SHAPES, *((case.format(line), *rest) for line, *rest in UNITTEST)]
    told = {test: outcome("def f(x): return x", test) for test, *_ in rows}
    found = [(test, seen.got, seen.expected, str(seen.fault)) for test, seen in told.items()]
    assert found == rows
    assert {(seen.line, seen.shared) for seen in told.values()} == {(-1, False)}


def run(test: str) -> tuple[Recorder, list[object]]:
    calls: list[object] = []

    def note(value: object) -> object:
        calls.append(value)
        return value

    plan = script_plan(test, "f")
    recorder = Recorder(plan, lambda: 0)
    run_script(plan, recorder, {"f": note}.get, "f")
    return recorder, calls


def test_operands_are_evaluated_once_in_their_order_and_no_further_than_needed():
    _, calls = run("assert f(1) < f(2) < f(3) and not (f(4) == f(5)) and abs(f(6) - f(7)) == f(1)")
    assert calls == [1, 2, 3, 4, 5, 6, 7, 1]
    _, calls = run("assert f(1) or f(2)\nassert not (f(3) > 5 > f(4))")
    assert calls == [1, 3]


def test_each_executed_assert_is_counted_and_a_message_made_when_it_is_needed():
    recorder, _ = run("for i in range(5):\n  assert f(i) == i\nif f(0):\n  assert False")
    assert recorder.executed == 5
    run("assert f(1) == 1, 1 / 0")
    with pytest.raises(Failed, match="ZeroDivisionError"):
        run("assert f(1) == 2, 1 / 0")


def test_a_plan_travels():
    source = "assert f(1) == 2"
    plan = script_plan(source, "f")
    spec = packed(plan, source, "f")
    assert unpacked(spec) == plan
    assert unpacked({**spec, "magic": "another Python", "code": ""}).sites == plan.sites


def test_tests_that_need_objects_are_told_by_their_source():
    plain = [
        *("assert f(1).strip().split() == []", "assert f(1).sort() is None", "assert math.isclose(f(1), 2)"),
        *("assert (np.array(f(1)) == 1).all()", "g = f(1)\nassert next(g) == 1"),
    ]
    with_objects = [
        *("assert f(1).val == 2", "s = f()\ns.push(1)", "assert f(1)(2) == 3", "assert isinstance(f(1), Node)"),
        *("class A(f): pass", "with f() as x: pass", "try: f(1)\nexcept Mine: pass"),
    ]
    assert [test for test in plain + with_objects if script_plan(test, "f").objects] == with_objects


def test_the_program_brings_what_the_tests_do_not_make():
    for test, names in (
        ("assert f(1) == helper(2)", {"f", "helper"}),
        ("def helper(x): return x\nassert f(1) == helper(2)", {"f"}),
        ("def check(candidate):\n  assert candidate(len([])) == 1", set()),
        ("import math\nassert math.pi == f([x for x in range(3)])", {"f"}),
        ("def a(f): return f\nassert a(1) == f(1)", {"f"}),
    ):
        assert script_plan(test, "f").names == names


def test_tests_that_leave_their_process_as_it_was_are_told_by_their_source():
    pure = [
        "def check(candidate):\n    for n in range(3):\n        assert candidate(n) == n, 'no'\n",
        "import math\nassert math.isclose(f(1), 2)",
        "from collections import Counter\nassert Counter(f(1)) == Counter([2])",
        "import numpy as np\ndef check(candidate):\n    assert np.allclose(candidate(1), 2, atol=1e-6)\n",
        "try:\n    f(1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError\nassert type(f(2)) is int",
        "x = [3]\nx.append(4)\nx[0] = 1\nassert f(x) == 5",
    ]
    reaching = [
        *("import random\nrandom.seed(1)\nassert f(1) == 2", "assert random.random() < f(1)"),
        *("import os\nassert f(1) == os.getpid()", "import math\nmath.pi = 3\nassert f(1) == 2"),
        *("import math\nmath.__dict__['pi'] = 3\nassert f(1) == 2", "setattr(f, 'a', 1)\nassert f(1) == 2"),
        *("exec('import os')\nassert f(1) == 2", "__import__('random').seed(1)\nassert f(1) == 2"),
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)",
        "with open('x', 'w') as file:\n    file.write('1')\nassert f('x') == 1",
        "import functools\n@functools.lru_cache\ndef g(x):\n    return f(x)\nassert g(1) == 2",
        *("import decimal\ndecimal.getcontext().prec = 3\nassert f(1) == 2", "assert np.isclose(f(1), 2)"),
    ]
    assert [test for test in pure + reaching if script_plan(test, "f").pure] == pure
