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


def test_whatever_pytest_runs_is_run(outcome):
    runs_what_pytest_runs(outcome, (("first failure", 3, False), ("every test", 2, True)))


@pytest.mark.nightly
def test_it_is_run_however_far_tests_are_followed(outcome):
    runs_what_pytest_runs(outcome, (("first failure", 2, True), ("every test", 3, False)))


def runs_what_pytest_runs(outcome, rows):
    """Run each file against a program that is right or wrong, up to its first failure or to its end."""
    wrong = []
    for name, test in HELD.items():
        for extent, wanted, right in rows:
            source = HEAD + test.replace("{}", str(wanted))
            seen = outcome("step = 1\ndef f(x): return x + step", Pytest(source), entry="f", extent=extent)
            if (seen.fault is Fault.CORRECT, seen.fault is not None) != (right, True):
                wrong.append((name, extent, wanted, seen))
    assert wrong == []


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
