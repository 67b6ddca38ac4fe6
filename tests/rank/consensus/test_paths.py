"""Normal forms and their paths."""

from __future__ import annotations

import ast

import pytest

from assay.rank.consensus.canon import MOST_NODES, Canon, canon, of_text
from assay.rank.consensus.paths import LENGTHS, bags


def form(source: str) -> Canon:
    return canon(ast.parse(source).body, "f")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b):\n    return a + b", "def f(x, y):\n    'Add.'\n    return x + y"),
        ("def f(a, b):\n    return a > b", "def f(a, b):\n    return b < a"),
        ("def f(a):\n    n = 0\n    n += a", "def f(b):\n    m = 0\n    m = m + b"),
        ("def f(a):\n    for i in range(0, a):\n        g(i)", "def f(a: int):\n    for j in range(a):\n        g(j)"),
        ("def f(a):\n    return [i for i in a if i]", "def f(a):\n    return (j for j in a if j)"),
        ("def f(a):\n    return a * 2.0", "import math\ndef f(a):\n    return a * 2"),
    ],
)
def test_programs_that_say_the_same_have_one_bag(one: str, other: str):
    both = bags([form(one), form(other)])
    first, second = (
        {(path, count) for row, path, count in zip(both.rows, both.paths, both.counts, strict=True) if row == at}
        for at in (0, 1)
    )
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a"),
        ("def f(a, b):\n    return a < b", "def f(a, b):\n    return a > b"),
        ("def f(a):\n    return range(1, a)", "def f(a):\n    return range(a)"),
        ("def f(a):\n    return a[1:]", "def f(a):\n    return a[:1]"),
        ("def f(a):\n    return max(a)", "def f(a):\n    return min(a)"),
    ],
)
def test_programs_that_say_something_else_differ(one: str, other: str):
    assert form(one) != form(other)


def test_paths_are_counted_by_length():
    held = bags([Canon(("a", "b", "b"), (0, 0, 0)), Canon(("a", "b"), (0, 0))])
    found = sorted(zip(held.rows.tolist(), held.lengths[held.paths].tolist(), held.counts.tolist(), strict=True))
    assert found == [(0, 1, 1.0), (0, 1, 2.0), (0, 2, 2.0), (1, 1, 1.0), (1, 1, 1.0), (1, 2, 1.0)]
    assert held.lengths.max() <= LENGTHS


def test_what_stands_below_a_return_is_known():
    held = bags([form("def f(a):\n    b = max(a)\n    return min(b)")])
    assert 0 < held.results.sum() < held.width


def test_text_has_the_paths_of_its_words():
    held = bags([of_text("one two three"), of_text("one two four"), of_text("")])
    assert held.lengths.tolist().count(1) == 5
    assert len(of_text("a " * 100_000).labels) == MOST_NODES


def test_no_programs_have_no_paths():
    assert bags([]).width == bags([Canon((), ())]).width == 0
