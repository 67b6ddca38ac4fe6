"""The two processes together: what a program may try, and what becomes of it."""

from __future__ import annotations

from typing import Any

from assay.faults import Fault
from assay.values import Call, Stdin

TEST = "assert f(1) == 2"


def test_a_right_program_is_correct_and_what_it_prints_is_kept(outcome):
    seen = outcome("def f(x):\n  print('noise')\n  return x + 1", TEST, "assert f(2) == 3")
    assert (seen.fault, seen.tests_run, seen.stdout) == (Fault.CORRECT, 2, "noise\nnoise\n")


def test_a_failing_program_is_labelled_with_its_fault_and_its_line_as_in_the_paper(expect_labels):
    """The faults of tables 3, 12 and 13 of *Fault-Aware Neural Code Rankers*, on programs of our own."""
    rows = [
        ("def f(x):\n  return y", TEST, "NameError@2"),
        ("def f(x):\n  def g():\n    return [][x]\n  return g()", TEST, "IndexError@3"),
        ("import json\ndef f(x):\n  return json.loads('{')", TEST, "other execution error@3"),
        ("def f(x):\n  x = x + z\n  z = 1", TEST, "other execution error@2"),
        ("def f(x): return f(x)", TEST, "other execution error@1"),
        ("def f(x): raise SystemExit", TEST, "other execution error@1"),
        ("class Mine(ValueError): pass\ndef f(x): raise Mine", TEST, "other execution error@2"),
        ("def f(x): return {}['a']", TEST, "KeyError@1"), ("def f(x): return int('a')", TEST, "ValueError@1"),
        ("def f(): return 2", TEST, "TypeError"),
        ("import random\ndef f(n):\n  if n > 9: return True\n  return random.choice(n) > 0", TEST, "TypeError@4"),
        ("x = 1\ny = input()", TEST, "EOFError@2"), ("def f(x:\n  pass", TEST, "SyntaxError@1"),
        ("def f(x):\n    a\n  b", TEST, "SyntaxError@3"),
        ("def f(a):\n  if a == 'yes':\n    return 'over'..upper()", TEST, "SyntaxError@3"),
        ("def g(x): return 2", TEST, "function not found"), ("f = 3", TEST, "function not found"),
        ("", TEST, "function not found"),
        ("def f(x):\n  yield 1\n  raise KeyError(x)", "assert list(f(1)) == [1]", "KeyError@3"),
        ("def f(t): return {k: t[-k] for k in range(1, 0, -1)} | {0: {}[-1]}", "assert f([1]) == {}", "KeyError@1"),
        ("def f(n):\n  for i in range(n):\n    if i > n: return i", "assert f(3) == 1", "NoneError"),
        ("def f(a, b):\n  print(a - b)", "assert f(3, 1) == 2", "NoneError"),
        ("def f(*rows): return [r for r in rows if len(r) > 9]", "assert f([1], ['c']) == [1, 'c']", "EmptyError"),
        ("def f(s): return list(s)[:-1]", "assert f('level') == ''", "OutputTypeError"),
        ("def f(s): return dict(zip('Gems', (0, 2)))", "assert f('x') == {'gem': 3}", "LengthError"),
        ("def f(s): return s.isdigit()", "assert f('a') == True", "IntSmallError"),
        ("def f(a): return float('-inf')", "assert f([1, 3]) == 2.0", "IntLargeError"),
        ("def f(words): return ''.join(words)", "assert f(['good', 'bye']) == 'good bye'", "StringSmallError"),
        ("def f(s): return s.replace(' ', '')", "assert f('a b c d e') == ' a b c d e '", "StringLargeError"),
    ]  # fmt: skip
    expect_labels(rows)


def test_what_the_compiler_cannot_read_is_a_syntax_error_and_ten_megabytes_run(outcome):
    unreadable = [
        *("(" * 10_000, "-" * 100_000 + "1", "x = " + "1+" * 20_000 + "1\ndef f(x): return 2", "a\0b"),
        *("x = '\ud800'\ndef f(x): return 2", "# coding: nonsense\ndef f(x): return 2\n\f("),
    ]
    assert {outcome(source, TEST).fault for source in unreadable} == {Fault.SYNTAX_ERROR}
    assert outcome("def f(x): return 2\n" + "# filler\n" * 1_200_000, TEST).fault is Fault.CORRECT


def test_a_program_that_cheats_or_ends_everything_is_not_correct(expect_labels):
    gone = "other execution error"
    writes = "import os\nfor n in range(3, 300):\n  try: os.write(n, b'\\0\\0\\0\\2{}')\n  except OSError: pass"
    replaces = "import unittest, json\njson.dumps = lambda *a: 'true'\nunittest.TestCase = object\ndef f(x): return 1"
    rows = [
        ("class E:\n  def __eq__(s, o): return True\ndef f(x): return E()", TEST, "OutputTypeError"),
        ("class E(int):\n  def __eq__(s, o): return True\ndef f(x): return E(1)", TEST, "IntSmallError"),
        ("class E(list):\n  def __eq__(s, o): return True\ndef f(x): return E()", TEST, "EmptyError"),
        ("class f:\n  def __init__(s, x): pass\n  def __eq__(s, o): return True", TEST, "OutputTypeError"),
        ("def f(x):\n  while True: yield 2", TEST, "OutputTypeError"),
        ("def f(x): return 10 ** 6000", TEST, "IntLargeError"),
        ("def f(x): return 'x' * 20000000", TEST, "OutputTypeError"), ("import os\nos._exit(0)", TEST, gone),
        ("import sys\nsys.exit(0)", TEST, f"{gone}@2"), ("import os\ndef f(x): os._exit(0)", TEST, gone),
        ("import os\ndef f(x): os._exit(0)", "try: f(1)\nexcept BaseException: ok = True\nassert ok", gone),
        ("import os\nos.closerange(3, 300)\ndef f(x): return 2", TEST, gone), (writes, TEST, gone),
        ("import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGKILL)", TEST, gone),
        ("def f(x): raise StopIteration", TEST, f"{gone}@1"),
        ("class B(Exception):\n  def __str__(s): raise ValueError\ndef f(x): raise B", TEST, f"{gone}@3"),
        ("import builtins\nbuiltins.len = builtins.isinstance = None\ndef f(x): return 2", TEST, gone),
        (replaces, TEST, "IntSmallError"),
    ]  # fmt: skip
    expect_labels(rows)


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
    for test in ("expected = 10 ** 16 + 7\nassert f(1) == expected", Call((1,), 10**16 + 7)):
        assert outcome(WALKS, test).fault is Fault.NONE_ERROR


def test_a_program_that_does_not_end_is_a_timeout(outcome):
    for source in ("import time\ndef f(x): time.sleep(600)", "def f(x):\n  while True: pass"):
        assert outcome(source, TEST, wall_s=0.5).fault is Fault.TIMEOUT


def test_what_an_honest_program_may_do(expect_labels):
    """A few of many, for those of `benign` need a sandbox."""
    mine = "try:\n  f(1)\nexcept KeyError as e:\n  assert type(e).__name__ == 'Mine'"
    cases = "import unittest\nclass T(unittest.TestCase):\n  def test_a(s):\n    with s.assertRaises(ValueError): f(1)"
    swaps = "x, y = [[1]], [[2]]\np, q = x[0], y[0]\nf(x, y)\nassert x[0] is q and y[0] is p"
    beside = "import builtins\nassert f(1) == len('12')\nbuiltins.len = lambda _: 4\n"
    rows = [
        ("class Solution:\n  def f(self, x): return x + 1", TEST, "correct"),
        ("if __name__ == '__main__': input()\ndef f(x): return 2", TEST, "correct"),
        ("def f(x): x.sort(); x[0].append(5)", "x = [[2], [1]]\nf(x)\nassert x == [[1, 5], [2]]", "correct"),
        ("def f(x): return x", "x = [1]\nassert f(x) is x", "correct"),
        ("def f(x, *, y=1): return x + y", "assert f(1, y=4) == 5", "correct"),
        ("class Mine(KeyError): pass\ndef f(x): raise Mine", mine, "correct"),
        ("def f(x): raise ValueError", cases, "correct"),
        ("def f(x): return x\ndef g(x): return f(x)", "assert f(g(3)) == 3", "correct"),
        ("def f(x): return x", "def check(candidate):\n  assert candidate(1) == 1", "correct"),
        ("def f(x): return x", "def check(g):\n  assert g(1) == 1\ncheck(f)", "correct"),
        ("def f(a, b): a[0], b[0] = b[0], a[0]", swaps, "correct"),
        ("def f(x): return x + 1", beside, "correct beside"),
        ("def f(x): return x", beside, "IntSmallError beside"),
    ]
    expect_labels(rows)
    sums = [("def sum(a, b): return a + b", "assert sum(1, 2) == 3", "correct")]
    expect_labels(sums, entry="sum")  # a builtin name is the program's where it is under test


def test_what_a_program_changes_in_place_is_not_what_it_replaces(outcome):
    test = "rows = [[1, 2], [3, 4]]\nkept = rows[0]\nassert f(rows) is rows\nassert rows == [[2, 1], [4, 3]]\n"
    for body, right in (
        ("for row in rows: row.reverse()", True),
        ("rows[0][:], rows[1][:] = rows[0][::-1], rows[1][::-1]", True),
        ("rows[:] = [row[::-1] for row in rows]", False),
        ("rows[0] = rows[0][::-1]\n  rows[1].reverse()", False),
    ):
        seen = outcome(f"def f(rows):\n  {body}\n  return rows", test + "assert kept == [2, 1]\nassert kept is rows[0]")
        assert (seen.fault is Fault.CORRECT) is right, (body, seen)


def test_a_value_that_breaks_the_tests_is_an_intent_fault(expect_labels):
    rows = [
        ("None", "assert len(f(1)) == 2", "NoneError"), ("3", "assert f(1)[0] == 2", "OutputTypeError"),
        ("[]", "assert f(1)[0] == 2", "EmptyError"), ("[1]", "assert f(1)[4] == 2", "LengthError"),
        ("[1, 2, 3]", "a, b = f(1)\nassert a == b", "LengthError"), ("None", "assert f(1).strip() == ''", "NoneError"),
    ]  # fmt: skip
    expect_labels([(f"def f(x): return {value}", test, label) for value, test, label in rows])


def test_broken_tests_decide_nothing_and_say_why(outcome):
    for test, reason in (
        ("assert f(1) == 1\nassert f(2) == undefined", "NameError"), ("import nosuch\nassert f(1) == 1", "nosuch"),
        ("assert f(1) == 1 / 0", "ZeroDivisionError"), ("f(1)", "checked nothing"),
        ("def test_it(benchmark): assert f(1) == 1", "benchmark"), ("assert f(1) == 'a' + 1", "TypeError"),
    ):  # fmt: skip
        seen = outcome("def f(x): return x", test)
        assert (seen.fault, reason in seen.detail) == (None, True), seen
    seen = outcome("def f(x): return x", "assert f(encode(1)) == 1")
    assert (seen.fault, "encode" in seen.detail) == (Fault.FUNCTION_NOT_FOUND, True)


def test_calls_stop_at_the_first_that_differs_and_floats_and_lists_may_be_off_where_the_task_says_so(outcome):
    seen = outcome("def f(a, b): return a + b", Call((1, 2), 3), Call((1, 2), 40), Call((1, 2), 5))
    assert (str(seen.fault), seen.got, seen.expected, seen.tests_run) == ("IntLargeError", "3", "40", 2)
    for call, right in (
        (Call((1.0,), 1.0000001, 1e-6), True), (Call((1.0,), 1.1, 1e-6), False), (Call((1.0,), 1.0000001), False),
        (Call(([1.0, {"a": (2.0,)}],), [1.0, {"a": (2.0000001,)}], 1e-6), True), (Call((1,), 1.0), True),
        (Call(([1],), (1,), 1e-6), False), (Call(([1.0, 2.0],), [1.0], 1e-6), False),
        (Call(({3, 1, 2},), {1, 2, 3}), True),
    ):  # fmt: skip
        assert (outcome("def f(x): return x", call).fault is Fault.CORRECT) is right, call
    for expected, right in (([1, 2], True), ([[1, 2]], False), ([1, 3], False)):
        seen = outcome("def f(x): return tuple(x)", Call(([1, 2],), expected), tags={"values": "json"})
        assert (seen.fault is Fault.CORRECT) is right, expected
    assert outcome("def f(x): return tuple(x)", Call(([1, 2],), [1, 2])).fault is not Fault.CORRECT


def test_a_value_that_cannot_be_compared_is_the_program_s(outcome):
    deep: Any = []
    for _ in range(700):
        deep = [deep]
    nested, itself = "a = []\n  for _ in range(700): a = [a]", "a = []\n  a.append(a)"
    ends = "class A:\n    def __iter__(s): raise SystemExit\n    "
    for made, expected, fault in (
        (itself, [[[1]]], Fault.OUTPUT_TYPE_ERROR), ("a = {}\n  a[1] = a", {1: 2}, Fault.OUTPUT_TYPE_ERROR),
        (nested, deep, Fault.CORRECT), (nested, [deep], Fault.INTENT_OTHER), (nested, 1, Fault.OUTPUT_TYPE_ERROR),
        (f"{ends}__eq__ = None\n  a = A()", [1], Fault.OUTPUT_TYPE_ERROR),
        (f"{ends}def __eq__(s, o): return True\n  a = A()", [1, 2], Fault.EXECUTION_OTHER),
    ):  # fmt: skip
        for tags in ({}, {"values": "json"}):
            seen = outcome(f"def f():\n  {made}\n  return a", Call((), expected), tags=tags)
            assert (seen.fault, seen.suspected) == (fault, None), (made, seen)
            assert not seen.detail.startswith("the judge failed"), seen


STACK = "class Stack:\n  def __init__(s): s.x = []\n  def push(s, v): s.x.append(v)\n  def pop(s): return s.x.pop()"
PAIR = "class Pair:\n  def __init__(s, a): s.a = a\n"


def test_tests_that_need_objects_run_beside_the_program(expect_labels):
    test = "s = Stack()\ns.push(1)\nassert s.pop() == 1"
    rows = [
        (STACK, test, "correct beside"),
        (STACK.replace("return s.x.pop()", "return 2"), test, "IntSmallError beside"),
        (STACK.replace("push(", "psh("), test, "function not found beside"),
        (STACK.replace("s.x.pop()", "s.y.pop()"), test, "other execution error@4 beside"),
        ("", test, "function not found"),
        ("import os\n" + STACK.replace("return s.x.pop()", "os._exit(0)"), test, "other execution error beside"),
    ]
    expect_labels(rows, entry="Stack")
    rows = [
        (PAIR + "def f(pairs): return sum(p.a for p in pairs)", "assert f([Pair(1), Pair(2)]) == 3", "correct"),
        (PAIR + "def f(x): return Pair(x)", "assert f(f(1)) == 3", "OutputTypeError"),
        ("def f(g): return g(1)", "assert f(lambda x: x + 1) == 2", "correct beside"),
    ]
    expect_labels(rows)


def test_whole_programs(expect_labels):
    sums = "for _ in range(int(input())):\n  s = input()\n  print(sum(map(int, input().split())))"
    thread = "import threading\nthreading.Thread(target=lambda: {}).start()"
    rows = [
        ("print(int(input()) + 1)", "3\n", "4\n", "correct"), ("print(' a  b ')\nprint()", "", "a b", "correct"),
        ("print(1 / 3)", "", "0.333333", "correct"), ("print(10 ** 9 + 7)", "", str(10**9 + 8), "IntSmallError"),
        ("print(7, 13)", "", "1 30", "IntSmallError"), ("print(1)\nprint(2)", "", "1", "LengthError"),
        ("print('helloworld')", "", "hello world", "StringSmallError"), ("pass", "", "1", "EmptyError"),
        ("input(); input()", "1", "1", "EOFError@1"), ("x = y", "", "1", "NameError@1"),
        (sums, "2\n1\n2\n3", "2", "EOFError@3"),
        ("n = int(input())\na, b = map(int, input().split())", "1\n1 2 3", "1", "ValueError@2"),
        ("def main():\n  a = a + 1\nmain()", "", "1", "other execution error@2"),
        ("def f(:", "", "1", "SyntaxError@1"), ("print(1); exit()", "", "1", "correct"),
        ("print(1); exit(3)", "", "1", "other execution error@1"),
        ("if __name__ == '__main__': print(open(0).read().strip())", "7", "7", "correct"),
        (thread.format("print(7)"), "", "7", "correct"),
        (thread.format("1 / 0"), "", "7", "other execution error@2"),
        ("import atexit\natexit.register(print, 5)", "", "5", "correct"),
        ("import os\nos.kill(os.getpid(), 9)", "", "", "other execution error"),
        ("while True: print('x' * 10000)", "", "1", "other execution error@1"),
    ]  # fmt: skip
    expect_labels([(source, Stdin(given, out), label) for source, given, out, label in rows], entry="")


def test_each_input_is_a_fresh_process(outcome):
    source = "import os, sys\nn = int(input())\nassert not hasattr(os, 'mark')\nos.mark = 1\nprint(n)"
    seen = outcome(source, Stdin("1", "1"), Stdin("2", "2"), Stdin("3", "4"), entry="")
    assert (seen.tests_run, seen.got, seen.expected) == (3, "3", "4")
