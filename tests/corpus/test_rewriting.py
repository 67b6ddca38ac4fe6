from __future__ import annotations

import pytest

from assay.corpus.code_pattern import Pattern
from assay.corpus.rewriting import Rewriting
from assay.errors import InputError


@pytest.mark.parametrize(
    ("pattern", "replacement", "before", "after", "count"),
    [
        ("foo($A)", "bar($A, 1)", "x = foo( a )\n", "x = bar(a, 1)\n", 1),
        ("foo($A, $$$R)", "foo($$$R, $A)", "foo(a, b,  c)\nfoo(1, 2)\n", "foo(b,  c, a)\nfoo(2, 1)\n", 2),
        ("foo($$$R)", "bar($$$R)", "foo()\n", "bar()\n", 1),
        ("f($X)", "g($X)", "f(f(1))\n", "g(f(1))\n", 1),
        ("f($X)", "g($X)", "é = f('ü')  # ß\n", "é = g('ü')  # ß\n", 1),
        ("f($X)", "g(\n    $X,\n)", "if x:\n    f(1)\n", "if x:\n    g(\n        1,\n    )\n", 1),
        ("f($X)", "g(\n$X)", "if x:\r\n    f(1)\r\n", "if x:\r\n    g(\r\n    1)\r\n", 1),
        ("f($X)", "", "a\nb\n", "a\nb\n", 0),
        ("f($_X, $Y)", "g($Y)", "f(1, 2)\n", "g(2)\n", 1),
        ("f($X)", r"g(\1, $X)", "f(1)\n", "g(\\1, 1)\n", 1),
    ],
)
def test_matches_are_replaced_with_what_their_holes_stood_for(pattern, replacement, before, after, count):
    assert Rewriting(Pattern(pattern, "python"), replacement).rewrite(before) == (after, count)


@pytest.mark.parametrize("replacement", ["bar($B)", "bar($$$)", "$AB"])
def test_a_hole_that_the_pattern_has_not_is_refused(replacement: str):
    with pytest.raises(InputError, match="no hole of the pattern"):
        Rewriting(Pattern("foo($A)", "python"), replacement)


@pytest.mark.parametrize("hole", ["$_A", "$_", "$$$_A"])
def test_what_a_hole_without_a_name_stands_for_is_not_dropped(hole: str):
    with pytest.raises(InputError, match="begins with _ is not kept"):
        Rewriting(Pattern(f"foo({hole})", "python"), f"bar({hole})")
