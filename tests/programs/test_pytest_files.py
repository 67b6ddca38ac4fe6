"""Test files as pytest has them: whatever it would run is run, or the outcome is undecided and says what was not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.faults import Fault
from assay.values import Pytest

HEAD = """import sys, unittest, warnings
import pytest
from solution import f
"""
FILE = "\n" + (Path(__file__).parent / "pytest_files.txt").read_text("utf-8")
HELD = dict(each.rstrip("\n").split("\n", 1) for each in FILE.split("\n== ")[1:])


@pytest.mark.parametrize("extent", ["every test", pytest.param("first failure", marks=pytest.mark.nightly)])
def test_whatever_pytest_runs_is_run(outcome, extent):
    """Of each file one is right about the program, and the next is wrong."""
    found = {}
    for name, test in HELD.items():
        right, wrong = (Pytest(HEAD + test.replace("{}", wanted)) for wanted in "23")
        seen = outcome("step = 1\ndef f(x): return x + step", right, wrong, extent=extent)
        if seen.fault in {None, Fault.CORRECT} or seen.test != 1:
            found[name] = seen
    assert found == {}


def test_a_test_that_did_not_run_is_named(outcome):
    for test, said in (
        ("class TestIt:\n  def __init__(self): 0\n  def test_a(self): assert f(1) == 3", "TestIt.test_a did not run"),
        ("def test_a():\n  if f(1) == 2: return\n  assert f(1) == 3", "not reached: f(1) == 3"),
        ("def test_a():\n  if f(1) == 2: pytest.skip('x')\n  assert f(1) == 3", "test_a was skipped"),
        ("def test_a():\n  try: f()\n  except TypeError: pytest.skip('x')\n  assert f(1) == 3", "test_a was skipped"),
        ("@pytest.mark.skipif(f(1) == 2, reason='x')\ndef test_a(): assert f(1) == 3", "test_a was skipped"),
        ("class T(unittest.TestCase):\n  def test_a(s):\n    if f(1) == 2: s.skipTest('')\n", "T.test_a was skip"),
        ("def test_a(): return f(1) == 3", "test_a returns a value"),
        ("def test_a(nothing): assert f(1) == 3", "FixtureLookupError"),
        ("@pytest.mark.parametrize('n', f)\ndef test_a(m): assert f(1) == 3", "could not be collected"),
    ):
        seen = outcome("def f(x): return x + 1", Pytest(HEAD + test + "\ndef test_z(): assert f(1) == 2"), entry="f")
        assert (seen.fault, said in seen.detail) == (None, True), (test, seen)
