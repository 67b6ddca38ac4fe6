"""Programs among the others: normal forms, their paths, how alike they are, and what that makes of each."""

from __future__ import annotations

import ast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rank.canon import MAX_NODES, Canon, canon, of_text
from assay.rank.consensus_ranker import LENGTHS, bags, likeness, look_at
from assay.rank.syntax import children, walk
from assay.values import Program, Task


def form(source: str) -> Canon:
    return canon(ast.parse(source).body, "f")


SAME = (
    ("def f(a, b):\n    return a + b", "def f(x, y):\n    'Add.'\n    return x + y"),
    ("def f(a, b):\n    return a > b", "def f(a, b):\n    return b < a"),
    ("def f(a):\n    n = 0\n    n += a", "def f(b):\n    m = 0\n    m = m + b"),
    ("def f(a):\n    for i in range(0, a):\n        g(i)", "def f(a: int):\n    for j in range(a):\n        g(j)"),
    ("def f(a):\n    return [i for i in a if i]", "def f(a):\n    return (j for j in a if j)"),
    ("def f(a):\n    return a * 2.0", "import math\ndef f(a):\n    return a * 2"),
)
OTHER = (
    ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a"),
    ("def f(a, b):\n    return a < b", "def f(a, b):\n    return a > b"),
    ("def f(a):\n    return range(1, a)", "def f(a):\n    return range(a)"),
    ("def f(a):\n    return a[1:]", "def f(a):\n    return a[:1]"),
    ("def f(a):\n    return max(a)", "def f(a):\n    return min(a)"),
    ("def f(a):\n    b = a.upper()\n    return b", "def f(a):\n    b = a.lower()\n    return b"),
)


def test_programs_that_say_the_same_have_one_form_and_those_that_do_not_differ():
    for one, other in SAME:
        both = bags([form(one), form(other)])
        held = set(zip(both.rows.tolist(), both.paths.tolist(), strict=True))
        assert {path for row, path in held if row == 0} == {path for row, path in held if row == 1}, one
    assert [one for one, other in OTHER if form(one) == form(other)] == []


EVERY_KIND = """
match x:
    case {"a": [1, *rest], **others} | A(b, c=None) | None as d:
        pass
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> None:
    async with h() as i, j:
        await k
    async for l in m:
        yield
    global n
    try: pass
    except* (O, P) as q: raise R from s
    return {**t, "u": v}, {w}, [x for x in y if z], lambda: (yield), f"{a!r:>{b}}", not c, a < b < c, d[1:2, ...]
"""


def test_nodes_come_in_the_order_of_the_standard_library_and_paths_have_lengths():
    tree = ast.parse(EVERY_KIND)
    assert list(map(id, walk(tree))) == list(map(id, ast.walk(tree)))
    for node in walk(tree):
        assert list(map(id, children(node))) == list(map(id, ast.iter_child_nodes(node)))
    held = bags([Canon(("a", "b", "b"), (0, 0, 0)), Canon(("a", "b"), (0, 0))])
    found = sorted(zip(held.rows.tolist(), held.lengths[held.paths].tolist(), strict=True))
    assert found == [(0, 1), (0, 1), (0, 2), (1, 1), (1, 1), (1, 2)]
    assert held.lengths.max() <= LENGTHS
    held = bags([form("def f(a):\n    b = max(a)\n    return min(b)")])
    assert 0 < held.results.sum() < held.width, "what stands below a return is known"
    held = bags([of_text("one two three"), of_text("one two four"), of_text("")])
    assert held.lengths.tolist().count(1) == 5
    assert len(of_text("a " * 100_000).labels) == MAX_NODES
    assert bags([]).width == bags([Canon((), ())]).width == 0


@settings(max_examples=40)
@given(st.lists(st.text("abc ", max_size=12), min_size=1, max_size=8))
def test_likeness_is_jaccard_of_the_paths(sources: list[str]):
    held = bags([of_text(source) for source in sources])
    found = likeness(held, np.ones(held.width, bool), np.arange(len(sources)))
    sets = [set(held.paths[held.rows == row].tolist()) for row in range(len(sources))]
    wanted = [[len(one & other) / len(one | other) for other in sets] for one in sets]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_only_the_columns_asked_for_count_and_blocks_make_no_difference():
    held = bags([of_text("a b"), of_text("b a")])
    assert likeness(held, held.lengths == 1, np.arange(2))[0, 1] == 1.0
    assert likeness(held, np.ones(held.width, bool), np.arange(2))[0, 1] < 1.0
    held = bags([of_text(f"a b c{row % 7} d") for row in range(600)])
    found = likeness(held, np.ones(held.width, bool), np.arange(14))
    np.testing.assert_array_equal(found[:7], found[588:595])


ADD = "def f(a, b):\n    return a + b\n"
SUM = "def f(a, b):\n    return sum([a, b])\n"
LOOP = "def f(a, b):\n    for i in range(b):\n        a = a * i\n    return a\n"
BAD = "def f(a, b):\n    return c + b\n"


def views(sources: list[str], n: list[int] | None = None) -> dict[str, np.ndarray]:
    """Return the views of a pool, each in the order of these programs."""
    programs = [Program("t", source, n=count) for source, count in zip(sources, n or [1] * len(sources), strict=True)]
    seen = look_at(Task("t", "", "f"), programs)
    places = [seen.sources.index(source) for source in sources]
    return {**{name: values[places] for name, values in seen.views.items()}, "passing": seen.passing[places]}


def test_what_most_say_is_central_and_failing_programs_count_only_where_none_passes():
    found = views([ADD, ADD.replace("a", "x"), SUM, LOOP])
    assert found["all"].argmax() in {0, 1}
    assert (found["all"].argmin(), found["mass"].round(3).tolist()) == (3, [0.333, 0.333, 0.0, 0.0])
    once, twice = views([ADD, LOOP], [1, 1]), views([ADD, LOOP], [3, 1])
    assert twice["all"][0] > once["all"][0] == once["all"][1], "a copy counts, the program itself does not"
    found, alone = views([ADD, SUM, BAD], [1, 1, 98]), views([ADD, SUM])
    np.testing.assert_allclose(found["all"][:2], alone["all"])
    assert found["passing"].tolist() == [True, True, False]
    alone = views([ADD])
    assert alone["all"].tolist() == [-1.0]
    assert all(np.isfinite(values).all() for values in alone.values())
    found = views([BAD, BAD.replace("b", "d"), "def f(:"])
    assert found["all"][0] > found["all"][2]
    assert not found["passing"].any()
