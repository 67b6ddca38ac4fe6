"""Test files as pytest has them: whatever it would run is run, or the outcome is undecided and says what was not."""

from __future__ import annotations

import pytest

from assay.faults import Fault
from assay.values import Pytest

HEAD = """import sys, unittest, warnings
import pytest
from solution import f
"""
HELD = {
    "another name": "import solution\nfrom solution import f as g\ndef test_a(): assert solution.f(1) == g(1) == {}",
    "parameters": "@pytest.mark.parametrize('a, b', [(0, 1), (1, {})])\ndef test_a(a, b): assert f(a) == b",
    "raises": "def test_a():\n  with pytest.raises(TypeError, match='f'): f()\n  assert f(1) == {}",
    "skips": (
        "@pytest.mark.slow\n@pytest.mark.skip\ndef test_a(): assert 0\n@pytest.mark.skip\nclass TestA:\n"
        "  def test_a(self): assert 0\ndef test_b(): assert f(1) == {}"
    ),
    "inherited": "class Base:\n  def test_a(self): assert f(1) == {}\nclass TestIt(Base): pass",
    "a mixin": (
        "class Cases:\n  wanted = {}\n  def test_a(self): self.assertEqual(f(1), self.wanted)\n"
        "class T(Cases, unittest.TestCase): pass"
    ),
    "nested": "class TestOut:\n  class TestIn:\n    def test_a(self): assert f(1) == {}",
    "tear-down of a method": (
        "class TestIt:\n  def teardown_method(self, method): assert f(1) == {}\n  def test_a(self): assert f"
    ),
    "tear-down of a class": (
        "class TestIt:\n  @classmethod\n  def teardown_class(cls): assert f(1) == {}\n  def test_a(self): assert f"
    ),
    "tear-down of the module": "def teardown_module(module): assert f(1) == {}\ndef test_a(): assert f",
    "set-up of a function": "n = []\ndef setup_function(function): n.append(f(1))\ndef test_a(): assert n == [{}]",
    "set-up of a test case": (
        "class T(unittest.TestCase):\n  @classmethod\n  def setUpClass(cls): cls.n = f(1)\n"
        "  def test_a(self): self.assertEqual(self.n, {})"
    ),
    "sub-tests": (
        "class T(unittest.TestCase):\n  def test_a(self):\n    for n in (1, 2):\n"
        "      with self.subTest(n): self.assertEqual(f(n) - n, {} - 1)"
    ),
    "an expected failure": (
        "class T(unittest.TestCase):\n  @unittest.expectedFailure\n  def test_a(self): self.assertEqual(f(1), 9)\n"
        "  def test_b(self): self.assertEqual(f(1), {})"
    ),
    "xfail": "@pytest.mark.xfail\ndef test_a(): assert f(1) == 9\ndef test_b(): assert f(1) == {}",
    "strict xfail": "@pytest.mark.xfail(strict=True)\ndef test_a(): assert f(1) != {}",
    "a skip": "@unittest.skip('later')\ndef test_a(): assert 0\ndef test_b(): assert f(1) == {}",
    "usefixtures": (
        "n = []\n@pytest.fixture\ndef one(): n.append(f(1))\n"
        "@pytest.mark.usefixtures('one')\ndef test_a(): assert n == [{}]"
    ),
    "autouse": "@pytest.fixture(autouse=True)\ndef one(): assert f(1) == {}\ndef test_a(): assert f",
    "a fixture with parameters": (
        "@pytest.fixture(params=[1, 2])\ndef n(request): return request.param\ndef test_a(n): assert f(n) - n == {} - 1"
    ),
    "a fixture of a class": (
        "class TestIt:\n  @pytest.fixture\n  def n(self): return f(1)\n  def test_a(self, n): assert n == {}"
    ),
    "a fixture that yields": (
        "@pytest.fixture(name='n')\ndef made():\n  yield 1\n  assert f(1) == {}\ndef test_a(n): assert f"
    ),
    "indirect": (
        "@pytest.fixture\ndef n(request): return f(request.param)\n"
        "@pytest.mark.parametrize('n', [1], indirect=True)\ndef test_a(n): assert n == {}"
    ),
    "a marked parameter": (
        "@pytest.mark.parametrize('n', [pytest.param(5, marks=pytest.mark.skip), 1])\ndef test_a(n): assert f(n) == {}"
    ),
    "parameters of a class": (
        "@pytest.mark.parametrize('n', [1])\nclass TestIt:\n  def test_a(self, n): assert f(n) == {}"
    ),
    "async": "import asyncio\n@pytest.mark.asyncio\nasync def test_a():\n  await asyncio.sleep(0)\n  assert f(1) == {}",
    "warns": ("def test_a():\n  with pytest.warns(UserWarning, match='x'): warnings.warn('xy')\n  assert f(1) == {}"),
    "what is printed": "def test_a(capsys):\n  print(f(1))\n  assert capsys.readouterr().out == '{}\\n'",
    "below main": "if __name__ == '__main__':\n  assert f(1) == {}\n  unittest.main()",
    "main that is called": "def main():\n  assert f(1) == {}\nif __name__ == '__main__':\n  sys.exit(main())",
    "a helper called check": "def check(got, wanted): assert got == wanted\ndef test_a(): check(f(1), {})",
    "parts of check": (
        "def test_one(candidate): assert candidate(1) == {}\n"
        "def check(candidate):\n  for test in (test_one,): test(candidate)"
    ),
    "a test that names itself": "def test_a(request): assert request.function is test_a and f(1) == {}",
    "check beside tests": "def check(candidate): assert candidate(1) == {}\ndef test_a(): assert f",
    "tests beside check": "def check(candidate): assert candidate\ndef test_a(): assert f(1) == {}",
    "a patched module": (
        "import solution\ndef test_a(monkeypatch):\n  monkeypatch.setattr(solution, 'step', 2)\n  assert f(1) == {} + 1"
    ),
    "a patched name": (
        "from unittest.mock import patch\ndef test_a():\n  with patch('solution.step', 2): assert f(1) == {} + 1"
    ),
}


@pytest.mark.parametrize("extent", ["first failure", "every test"])
def test_whatever_pytest_runs_is_run(outcome, extent):
    wrong = []
    for name, test in HELD.items():
        for wanted, right in ((2, True), (3, False)):
            source = HEAD + test.replace("{}", str(wanted))
            seen = outcome("step = 1\ndef f(x): return x + step", Pytest(source), entry="f", extent=extent)
            if (seen.fault is Fault.CORRECT, seen.fault is not None) != (right, True):
                wrong.append((name, wanted, seen))
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
