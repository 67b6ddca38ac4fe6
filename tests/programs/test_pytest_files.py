"""Test files as pytest has them: run without it, and undecided where they need what is not here."""

from __future__ import annotations

import pytest

from assay.types import Pytest


@pytest.mark.parametrize(
    ("test", "fault"),
    [
        ("from solution import f\ndef test_a(): assert f(1) == 2", "IntSmallError"),
        ("import solution\ndef test_a(): assert solution.f(1) == 1", "correct"),
        (
            (
                "import pytest\nfrom solution import f as g\n@pytest.mark.parametrize('a, b', [(1, 1), (2, 30)])\n"
                "def test_a(a, b): assert g(a) == b"
            ),
            "IntLargeError",
        ),
        (
            (
                "import pytest\nfrom solution import f\n@pytest.fixture\ndef one():\n  yield 1\n"
                "class TestIt:\n  def test_a(self, one): assert f(one) == 1\n"
                "  def test_b(self):\n    with pytest.raises(ValueError, match='x'): raise ValueError('xy')"
            ),
            "correct",
        ),
        ("import pytest\n@pytest.mark.skip\ndef test_a(): assert False\ndef test_b(): assert True", "correct"),
        (
            "import pytest\n@pytest.mark.slow\n@pytest.mark.skip\ndef test_a(): assert 0\ndef test_b(): assert 1",
            "correct",
        ),
        (
            "import pytest\n@pytest.mark.skip\nclass TestA:\n  def test_a(self): assert 0\ndef test_b(): assert 1",
            "correct",
        ),
    ],
    ids=range(7),
)
def test_pytest_files(outcome, test, fault):
    assert str(outcome("def f(x): return x", Pytest(test), entry="").fault) == fault


@pytest.mark.parametrize(
    "line",
    [
        "@pytest.mark.xfail\ndef test_a(): assert f(1) == 2",
        "@pytest.mark.skipif(True, reason='x')\ndef test_a(): assert f(1) == 2",
        "@pytest.mark.usefixtures('one')\ndef test_a(): assert f(1) == 2",
        "@pytest.fixture(autouse=True)\ndef one(): f(1)\ndef test_a(): assert f(1) == 2",
        "@pytest.fixture(params=[1, 2])\ndef one(request): return request.param\ndef test_a(one): assert f(1) == 2",
        "@pytest.fixture(name='two')\ndef one(): return 1\ndef test_a(two): assert f(1) == 2",
        "@pytest.mark.parametrize('one', [1], indirect=True)\ndef test_a(one): assert f(1) == 2",
        "@pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_a(a): assert f(1) == 2",
        "@pytest.mark.parametrize('a', [1])\nclass TestA:\n  def test_a(self, a): assert f(1) == 2",
        "@pytest.mark.asyncio\nasync def test_a(): assert f(1) == 2",
    ],
)
def test_what_is_missing_of_pytest_decides_nothing(outcome, line):
    seen = outcome("def f(x): return x", Pytest(f"import pytest\nfrom solution import f\n{line}"), entry="")
    assert seen.fault is None, seen
    assert "is not supported here" in seen.detail, seen
