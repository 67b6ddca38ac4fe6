"""The two processes together: what a program may try, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from assay.faults import Fault
from assay.types import Call, Stdin

TEST = "assert f(1) == 2"


def test_a_right_program_is_correct(outcome):
    seen = outcome("def f(x):\n  print('noise')\n  return x + 1", TEST, "assert f(2) == 3")
    assert (seen.fault, seen.tests_run, seen.stdout) == (Fault.CORRECT, 2, "noise\nnoise\n")


@pytest.mark.parametrize(
    ("source", "fault", "line"),
    [
        ("def f(x):\n  return y", "NameError", 2),
        ("def f(x):\n  def g():\n    return [][x]\n  return g()", "IndexError", 3),
        ("import json\ndef f(x):\n  return json.loads('{')", "other execution error", 3),
        ("def f(x):\n  x = x + z\n  z = 1", "other execution error", 2),
        ("def f(x): return f(x)", "other execution error", 1),
        ("def f(x): raise SystemExit", "other execution error", 1),
        ("class Mine(ValueError): pass\ndef f(x): raise Mine", "other execution error", 2),
        ("def f(x): return {}['a']", "KeyError", 1),
        ("def f(): return 2", "TypeError", -1),
        ("x = 1\ny = input()", "EOFError", 2),
        ("def f(x:\n  pass", "SyntaxError", 1),
        ("def f(x):\n    a\n  b", "SyntaxError", 3),
        ("def g(x): return 2", "function not found", -1),
        ("f = 3", "function not found", -1),
        ("", "function not found", -1),
        ("def f(x):\n  yield 1\n  raise KeyError(x)", "KeyError", 3),
    ],
)
def test_a_failing_program_says_where(outcome, source, fault, line):
    seen = outcome(source, "assert list(f(1)) == [1]" if "yield" in source else TEST)
    assert (str(seen.fault), seen.line) == (fault, line)


@pytest.mark.parametrize(
    "source",
    [
        "(" * 10_000,
        "-" * 100_000 + "1",
        "x = " + "1+" * 20_000 + "1\ndef f(x): return 2",
        "a\0b",
        "x = '\ud800'\ndef f(x): return 2",
        "# coding: nonsense\ndef f(x): return 2\n\f(",
    ],
    ids=["parentheses", "signs", "sums", "nul", "surrogate", "coding"],
)
def test_what_the_compiler_cannot_read_is_a_syntax_error(outcome, source):
    assert outcome(source, TEST).fault is Fault.SYNTAX_ERROR


def test_ten_megabytes_of_program_run(outcome):
    assert outcome("def f(x): return 2\n" + "# filler\n" * 1_200_000, TEST).fault is Fault.CORRECT


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("class E:\n  def __eq__(s, o): return True\ndef f(x): return E()", "OutputTypeError"),
        ("class E(int):\n  def __eq__(s, o): return True\ndef f(x): return E(1)", "IntSmallError"),
        ("class E(list):\n  def __eq__(s, o): return True\ndef f(x): return E()", "EmptyError"),
        (
            "class M(type):\n  def __eq__(s, o): return True\nclass A(metaclass=M): pass\ndef f(x): return A",
            "OutputTypeError",
        ),
        ("class f:\n  def __init__(s, x): pass\n  def __eq__(s, o): return True", "OutputTypeError"),
        ("def f(x):\n  while True: yield 2", "OutputTypeError"),
        ("def f(x):\n  a = []\n  a.append(a)\n  return a", "OutputTypeError"),
        ("def f(x): return 10 ** 6000", "IntLargeError"),
        ("def f(x): return 'a\\ud800'", "OutputTypeError"),
        ("def f(x): return [0] * 1000000", "OutputTypeError"),
        ("def f(x): return 'x' * 20000000", "OutputTypeError"),
        ("import os\nos._exit(0)", "other execution error"),
        ("import sys\nsys.exit(0)", "other execution error"),
        ("def f(x):\n  import os\n  os._exit(0)", "other execution error"),
        ("import os\nos.closerange(3, 300)\ndef f(x): return 2", "other execution error"),
        (
            "import os\nfor n in range(3, 300):\n  try: os.write(n, b'\\0\\0\\0\\2{}')\n  except OSError: pass",
            "other execution error",
        ),
        ("import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGKILL)", "other execution error"),
        ("def f(x): raise StopIteration", "other execution error"),
        ("class B(Exception):\n  def __str__(s): raise ValueError\ndef f(x): raise B", "other execution error"),
        ("import builtins\nbuiltins.len = builtins.isinstance = None\ndef f(x): return 2", "other execution error"),
        (
            "import unittest, json\njson.dumps = lambda *a: 'true'\nunittest.TestCase = object\ndef f(x): return 1",
            "IntSmallError",
        ),
    ],
    ids=range(21),
)
def test_a_program_that_cheats_is_not_correct(outcome, source, fault):
    assert str(outcome(source, TEST).fault) == fault


WALKS = """
def f(x):
    import sys
    frame = sys._getframe()
    while frame:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if type(value) is int and value > 10 ** 15:
                return value
        frame = frame.f_back
"""


def test_what_is_expected_is_not_on_the_program_s_stack(outcome):
    assert outcome(WALKS, "expected = 10 ** 16 + 7\nassert f(1) == expected").fault is Fault.NONE_ERROR
    call = Call((1,), 10**16 + 7)
    assert outcome(WALKS, call).fault is Fault.NONE_ERROR


def test_a_program_that_sleeps_is_a_timeout(outcome):
    seen = outcome("import time\ndef f(x): time.sleep(60)", TEST, wall_s=1.0)
    assert seen.fault is Fault.TIMEOUT


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("class Solution:\n  def f(self, x): return x + 1", TEST),
        (
            (
                "from dataclasses import dataclass\nimport pickle\n@dataclass\nclass A:\n  x: int\n"
                "def f(x): return pickle.loads(pickle.dumps(A(2))).x"
            ),
            TEST,
        ),
        ("if __name__ == '__main__': input()\ndef f(x): return 2", TEST),
        ("def f(x): x.sort(); x[0].append(5)", "x = [[2], [1]]\nfirst = x[1]\nf(x)\nassert x == [[1, 5], [2]]"),
        ("def f(x): x.clear(); x['a'] = {1}", "x = {1: 2}\nf(x)\nassert x == {'a': {1}}"),
        ("def f(x): return x", "x = [1]\nassert f(x) is x"),
        ("def f(x, *, y=1): return x + y", "assert f(1, y=4) == 5"),
        (
            "def f(x): raise ValueError('no', 3)",
            "try:\n  f(1)\nexcept ValueError as error:\n  assert error.args == ('no', 3)",
        ),
        ("def f(x): open('/nowhere/at/all')", "try:\n  f(1)\nexcept FileNotFoundError:\n  assert True"),
        ("def f(x): return b'\\xff'.decode()", "try:\n  f(1)\nexcept UnicodeDecodeError:\n  assert True"),
        (
            "class Mine(KeyError): pass\ndef f(x): raise Mine",
            "try:\n  f(1)\nexcept KeyError as e:\n  assert type(e).__name__ == 'Mine'",
        ),
        ("import math\nE = [1]\ndef f(x): return 1", "assert f(1) == E[0] and math.pi > 3"),
        ("def f(x): return x", "assert math.isclose(f(1.0), 1.0)"),
        ("def f(x): return x\ndef g(x): return f(x)", "assert f(g(3)) == 3"),
        ("def f(x): return (i for i in range(x))", "assert list(f(3)) == [0, 1, 2]"),
        (
            "def f(x): return x",
            "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(f(1), 1)",
        ),
        (
            "def f(x): raise ValueError",
            (
                "import unittest\nclass T(unittest.TestCase):\n  def test_a(self):\n"
                "    with self.assertRaises(ValueError): f(1)"
            ),
        ),
        ("def f(x): return x", "def check(candidate):\n  assert candidate(1) == 1"),
        ("def f(x): return x", "def check(g):\n  assert g(1) == 1\ncheck(f)"),
    ],
    ids=range(19),
)
def test_what_an_honest_program_may_do(outcome, source, test):
    seen = outcome(source, test)
    assert (seen.fault, seen.shared, seen.tests_run) == (Fault.CORRECT, False, 1), seen


def test_a_builtin_name_is_the_program_s_where_it_is_under_test(outcome):
    assert outcome("def sum(a, b): return a + b", "assert sum(1, 2) == 3", entry="sum").fault is Fault.CORRECT


@pytest.mark.parametrize(
    ("test", "returned", "fault"),
    [
        ("assert len(f(1)) == 2", "None", "NoneError"),
        ("assert f(1)[0] == 2", "3", "OutputTypeError"),
        ("assert f(1)[0] == 2", "[]", "EmptyError"),
        ("assert f(1)[4] == 2", "[1]", "LengthError"),
        ("a, b = f(1)\nassert a == b", "[1, 2, 3]", "LengthError"),
        ("assert sorted(f(1)) == [1]", "None", "NoneError"),
        ("assert f(1).strip() == ''", "None", "NoneError"),
    ],
)
def test_a_value_that_breaks_the_tests_is_an_intent_fault(outcome, test, returned, fault):
    assert str(outcome(f"def f(x): return {returned}", test).fault) == fault


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("assert f(1) == 1\nassert f(2) == undefined", "NameError"),
        ("import nosuch\nassert f(1) == 1", "nosuch"),
        ("assert f(1) == 1 / 0", "ZeroDivisionError"),
        ("f(1)", "checked nothing"),
        ("def test_it(benchmark): assert f(1) == 1", "benchmark"),
        ("assert f(1) == 'a' + 1", "TypeError"),
    ],
)
def test_broken_tests_decide_nothing(outcome, test, reason):
    seen = outcome("def f(x): return x", test)
    assert seen.fault is None
    assert reason in seen.detail


def test_a_helper_that_tests_call_and_nobody_has_is_not_found(outcome):
    seen = outcome("def f(x): return x", "assert f(encode(1)) == 1")
    assert (seen.fault, "encode" in seen.detail) == (Fault.FUNCTION_NOT_FOUND, True)


def test_calls_stop_at_the_first_that_differs(outcome):
    seen = outcome("def f(a, b): return a + b", Call((1, 2), 3), Call((1, 2), 40), Call((1, 2), 5))
    assert (str(seen.fault), seen.got, seen.expected, seen.tests_run) == ("IntLargeError", "3", "40", 2)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (Call((1.0,), 1.0000001, 1e-6), True),
        (Call(([1.0, {"a": (2.0,)}],), [1.0, {"a": (2.0000001,)}], 1e-6), True),
        (Call((1.0,), 1.1, 1e-6), False),
        (Call((1.0,), 1.0000001), False),
        (Call((1,), 1.0), True),
        (Call(([1],), (1,), 1e-6), False),
        (Call(([1.0, 2.0],), [1.0], 1e-6), False),
        (Call(({3, 1, 2},), {1, 2, 3}), True),
    ],
)
def test_floats_may_be_off_where_the_task_says_so(outcome, call, right):
    assert (outcome("def f(x): return x", call).fault is Fault.CORRECT) is right


@pytest.mark.parametrize(("expected", "right"), [([1, 2], True), ([[1, 2]], False), ([1, 3], False)])
def test_values_from_json_take_a_tuple_for_a_list(outcome, expected, right):
    seen = outcome("def f(x): return tuple(x)", Call(([1, 2],), expected), tags={"values": "json"})
    assert (seen.fault is Fault.CORRECT) is right
    assert outcome("def f(x): return tuple(x)", Call(([1, 2],), expected)).fault is not Fault.CORRECT


ENDS = "class A:\n    def __iter__(s): raise SystemExit"
DEEP: Any = []
for _ in range(700):
    DEEP = [DEEP]
NESTED = "a = []\n  for _ in range(700): a = [a]"


@pytest.mark.parametrize(
    ("made", "expected", "fault"),
    [
        ("a = []\n  a.append(a)", [1], Fault.OUTPUT_TYPE_ERROR),
        ("a = []\n  a.append(a)", [[[1]]], Fault.OUTPUT_TYPE_ERROR),
        ("a = {}\n  a[1] = a", {1: 2}, Fault.OUTPUT_TYPE_ERROR),
        (NESTED, DEEP, Fault.CORRECT),
        (NESTED, [DEEP], Fault.INTENT_OTHER),
        (NESTED, [1], Fault.OUTPUT_TYPE_ERROR),
        (NESTED, 1, Fault.OUTPUT_TYPE_ERROR),
        ("class A:\n    def __iter__(s): raise SystemExit\n    __eq__ = None\n  a = A()", [1], Fault.OUTPUT_TYPE_ERROR),
        (f"{ENDS}\n    def __eq__(s, o): return True\n  a = A()", [1, 2], Fault.EXECUTION_OTHER),
    ],
)
@pytest.mark.parametrize("tags", [{}, {"values": "json"}], ids=["strict", "json"])
def test_a_value_that_cannot_be_compared_is_the_program_s(outcome, made, expected, fault, tags):
    seen = outcome(f"def f():\n  {made}\n  return a", Call((), expected), tags=tags)
    assert not seen.detail.startswith("the judge failed"), seen
    assert (seen.fault, seen.suspected) == (fault, None), seen


def test_tests_that_patch_a_builtin_leave_a_right_program_right(outcome):
    right, wrong = "def f(x): return x + 1", "def f(x): return x"
    test = "import builtins\nassert f(4) == len('12345')\nbuiltins.len = lambda _: 4\n"
    assert outcome(right, test, TEST).fault is Fault.CORRECT
    assert outcome(wrong, test).fault is Fault.INT_SMALL_ERROR


STACK = "class Stack:\n  def __init__(s): s.x = []\n  def push(s, v): s.x.append(v)\n  def pop(s): return s.x.pop()"


@pytest.mark.parametrize(
    ("source", "fault", "line"),
    [
        (STACK, "correct", -1),
        (STACK.replace("return s.x.pop()", "return 2"), "IntSmallError", -1),
        (STACK.replace("push(", "psh("), "function not found", -1),
        (STACK.replace("s.x.pop()", "s.y.pop()"), "other execution error", 4),
        ("", "function not found", -1),
        ("import os\n" + STACK.replace("return s.x.pop()", "os._exit(0)"), "other execution error", -1),
    ],
)
def test_tests_that_need_objects_run_beside_the_program(outcome, source, fault, line):
    seen = outcome(source, "s = Stack()\ns.push(1)\nassert s.pop() == 1", entry="Stack")
    assert (str(seen.fault), seen.line) == (fault, line)
    assert seen.shared or not source


PAIR = "class Pair:\n  def __init__(s, a): s.a = a\n"


def test_objects_that_tests_build_and_hand_in_stay_with_the_program(outcome):
    seen = outcome(PAIR + "def f(pairs): return sum(p.a for p in pairs)", "assert f([Pair(1), Pair(2)]) == 3")
    assert (seen.fault, seen.shared) == (Fault.CORRECT, False)


def test_objects_that_the_function_under_test_returns_are_its_own_fault(outcome):
    seen = outcome(PAIR + "def f(x): return Pair(x)", "assert f(f(1)) == 3")
    assert (seen.fault, seen.shared) == (Fault.OUTPUT_TYPE_ERROR, False)


def test_a_callable_that_tests_hand_in_is_shared(outcome):
    seen = outcome("def f(g): return g(1)", "assert f(lambda x: x + 1) == 2")
    assert (seen.fault, seen.shared) == (Fault.CORRECT, True)


@pytest.mark.parametrize(
    ("source", "given", "expected", "fault"),
    [
        ("print(int(input()) + 1)", "3\n", "4\n", "correct"),
        ("print(' a  b ')\nprint()", "", "a b", "correct"),
        ("print(1 / 3)", "", "0.333333", "correct"),
        ("print(10 ** 9 + 7)", "", str(10**9 + 8), "IntSmallError"),
        ("print(7, 13)", "", "1 30", "IntSmallError"),
        ("print('helloworld')", "", "hello world", "StringSmallError"),
        ("print(1)\nprint(2)", "", "1", "LengthError"),
        ("pass", "", "1", "EmptyError"),
        ("input(); input()", "1", "1", "EOFError"),
        ("x = y", "", "1", "NameError"),
        ("def f(:", "", "1", "SyntaxError"),
        ("print(1); exit()", "", "1", "correct"),
        ("print(1); exit(3)", "", "1", "other execution error"),
        ("if __name__ == '__main__': print(open(0).read().strip())", "7", "7", "correct"),
        ("import threading\nthreading.Thread(target=lambda: print(7)).start()", "", "7", "correct"),
        ("import threading\nthreading.Thread(target=lambda: 1 / 0).start()", "", "7", "other execution error"),
        ("import atexit\natexit.register(print, 5)", "", "5", "correct"),
        ("import os\nos.kill(os.getpid(), 9)", "", "", "other execution error"),
        ("while True: print('x' * 10000)", "", "1", "other execution error"),
    ],
    ids=range(19),
)
def test_whole_programs(outcome, source, given, expected, fault):
    assert str(outcome(source, Stdin(given, expected), entry="").fault) == fault


def test_each_input_is_a_fresh_process(outcome):
    source = "import os, sys\nn = int(input())\nassert not hasattr(os, 'mark')\nos.mark = 1\nprint(n)"
    seen = outcome(source, Stdin("1", "1"), Stdin("2", "2"), Stdin("3", "4"), entry="")
    assert (seen.tests_run, seen.got, seen.expected) == (3, "3", "4")


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("def f(rows):\n  for row in rows: row.reverse()\n  return rows", True),
        ("def f(rows):\n  rows[:] = [row[::-1] for row in rows]\n  return rows", False),
        ("def f(rows):\n  rows[0][:], rows[1][:] = rows[0][::-1], rows[1][::-1]\n  return rows", True),
        ("def f(rows):\n  first = rows[0]\n  rows[0] = first[::-1]\n  rows[1].reverse()\n  return rows", False),
    ],
)
def test_what_a_program_changes_in_place_is_not_what_it_replaces(outcome, source, right):
    test = "rows = [[1, 2], [3, 4]]\nkept = rows[0]\nassert f(rows) is rows\nassert rows == [[2, 1], [4, 3]]\n"
    seen = outcome(source, test + "assert kept == [2, 1]\nassert kept is rows[0]")
    assert (seen.fault is Fault.CORRECT) is right, seen
    swapped = "x, y = [[1]], [[2]]\np, q = x[0], y[0]\nf(x, y)\nassert x[0] is q and y[0] is p"
    moved = outcome("def f(a, b): a[0], b[0] = b[0], a[0]", swapped)
    assert moved.fault is Fault.CORRECT, moved
