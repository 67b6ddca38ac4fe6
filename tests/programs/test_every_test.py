"""Tests that go on after a wrong answer: the first decides, and whether the program breaks later is known."""

from __future__ import annotations

import pytest

from assay.cli.exec import figures_of, text
from assay.faults import Fault
from assay.programs.run_samples import OutcomeRow
from assay.values import Call, Outcome, Stdin

CHECK = "def check(candidate):\n  assert candidate(1) == 2\n  assert candidate(2) == 3\n  assert candidate(3) == 4"
UNITTEST = """
import unittest
class T(unittest.TestCase):
  def test_a(self): self.assertEqual(f(1), 2)
  def test_b(self): self.assertEqual(f(2), 3)
"""
PYTEST = "from solution import f\ndef test_a():\n  x = f(1)\n  assert x == 2\ndef test_b(): assert f(2) == 3"
RETRIED = "def good(x): assert f(x) == 2\ntry:\n  good(5)\nexcept AssertionError:\n  good(1)"
RAISES = "import pytest\nwith pytest.raises(AssertionError):\n  assert f(1) == 5\nassert f(1) == 2"
BESIDE = "import io, sys\nsys.stdout = io.StringIO()\nassert f(1) == 2\nassert f(2) == 3"
HANDED = "def g(): pass\nassert f(1) == 2\nassert [f(g), f(2)][1] == 3"
"""What leads beside the program comes after the first wrong answer."""
CALLS = (Call((1,), 2), Call((2,), 3))
INPUTS = (Stdin("1", "2"), Stdin("2", "3"))
RIGHT = "def f(x): return x + 1"
WRONG = "def f(x): return x"
BREAKS = "def f(x): return 1 if x == 1 else y"


EXITS, LEAVES = (BREAKS.replace("else y", f"else {end}") for end in ("__import__('os')._exit(0)", "exit()"))
NONE_FIRST = BREAKS.replace("1 if", "None if")
WHOLE_BREAKS = "n = int(input())\nprint(1 if n == 1 else y)"
LATER = [BESIDE.replace("f(2) == 3", "f(1) == 2"), "assert f(2) == 3"]
ROWS = [
    *((RIGHT, [test], "correct", True) for test in (CHECK, PYTEST, RETRIED, RAISES, BESIDE)),
    *((WRONG, [test], "IntSmallError", True) for test in (CHECK, UNITTEST, RETRIED, BESIDE, HANDED)),
    *((BREAKS, [test], "IntSmallError", False) for test in (CHECK, UNITTEST, HANDED)),
    *((each, [CHECK], "IntSmallError", False) for each in (EXITS, LEAVES)),
    *((BREAKS, tests, "IntSmallError", False) for tests in (CALLS, LATER, ["assert f(1) == 2", "assert f(2) == 3"])),
    (BREAKS, ["for x in (1, 2): assert f(x) == x + 1"], "IntSmallError", False),
    ("def f(x): return y", [CHECK], "NameError", False), ("def f(", [CHECK], "SyntaxError", False),
    ("", [CHECK], "function not found", False),
    (NONE_FIRST, [CHECK.replace("candidate(1)", "-candidate(1)")], "NoneError", False),
    (NONE_FIRST, [PYTEST.replace("x == 2", "-x == 2")], "NoneError", False),
    (EXITS, [BESIDE], "IntSmallError", False), (WRONG, CALLS, "IntSmallError", True),
    (WHOLE_BREAKS, INPUTS, "IntSmallError", False), ("print(input())", INPUTS, "IntSmallError", True),
    ("print(int(input()) + 1)", INPUTS, "correct", True),
]  # fmt: skip


def test_the_first_wrong_answer_decides_and_a_later_error_is_known(outcome):
    for source, tests, fault, ran_all in ROWS:
        entry, at = "" if tests is INPUTS else "f", (source, tests)
        first = outcome(source, *tests, entry=entry)
        every = outcome(source, *tests, entry=entry, extent="every test")
        assert (str(every.fault), every.ran_all, every.runs) == (fault, ran_all, ran_all), at
        seen = (first.fault, first.got, first.expected, first.test)
        assert seen == (every.fault, every.got, every.expected, every.test), at
        assert first.ran_all is (None if every.fault.is_intent else ran_all), at


def test_a_program_that_is_wrong_and_then_does_not_end_is_wrong_and_does_not_run(outcome):
    source = "import time\ndef f(x):\n  while x > 1: time.sleep(1)\n  return x"
    for test in (CHECK, BESIDE):
        seen = outcome(source, test, extent="every test", wall_s=2.5)
        assert (seen.fault, seen.ran_all, seen.got) == (Fault.INT_SMALL_ERROR, False, "1"), test


def rows(*outcomes: tuple[Fault | None, bool | None]) -> list[OutcomeRow]:
    return [OutcomeRow(Outcome("t", "", fault, ran_all=ran_all), 1) for fault, ran_all in outcomes]


def test_figures_say_what_exec_at_k_counts():
    known = [(Fault.CORRECT, True), (Fault.NAME_ERROR, False), (Fault.INT_SMALL_ERROR, False), (Fault.NONE_ERROR, True)]
    every = figures_of(rows(*known), [1])
    assert every["exec@k"][0]["value"] == 0.5
    before = figures_of(rows(*((fault, None) for fault, _ in known)), [1])
    assert before["exec@k"][0]["value"] == 0.75
    assert "note: exec@k counts programs without an execution error up to the first wrong answer" in "\n".join(
        text(before)
    )


def test_undecided_programs_do_not_pass_and_both_figures_are_told():
    figures = figures_of(rows((Fault.CORRECT, True), (Fault.NONE_ERROR, True), (None, None), (None, None)), [1])
    assert figures["pass@k"][0]["value"] == pytest.approx(0.25)
    assert figures["pass@k without undecided"][0]["value"] == 0.5
    assert "note: without undecided programs: pass@1 0.500" in list(text(figures))
    assert figures_of(rows((Fault.CORRECT, True)), [1])["pass@k without undecided"] == []
