"""Code that has the structure of a pattern is found, and rewritten with what its holes stood for."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.code_pattern import Pattern, Rewriting
from assay.errors import InputError

CODE = """import logging

def load(path):
    with open(path, "rb", 0) as file:
        return parse(
            file.read(),
        )
"""


def places(pattern: str, text: str = CODE, language: str = "python") -> list[tuple[int, int]]:
    return [(found.start_line, found.end_line) for found in Pattern(pattern, language).matches(text)]


def test_a_pattern_finds_structure_whatever_the_spacing_and_tells_its_holes():
    (found,) = Pattern("open($PATH, $$$REST)", "python").matches(CODE)
    assert (found.start_line, found.text) == (4, '    with open(path, "rb", 0) as file:\n')
    assert found.holes == {"PATH": "path", "REST": '"rb", 0'}
    assert places("parse($X.read())") == places("parse($$$)") == [(5, 7)]
    assert places("def $NAME($$$): $$$BODY") == [(3, 7)]
    assert places("open(  $A ,$B,$C )") == [(4, 4)]
    assert places("close($X)") == []


@pytest.mark.parametrize(
    ("pattern", "language", "said"),
    [
        ("x", "cobol", "no grammar for the language 'cobol'"),
        ("x", "pythn", "did you mean 'python'"),
        ("x", "markdown", "no grammar"),
        ("", "python", "not a valid python pattern"),
        ("$$$", "python", r"Standalone multi meta variable `\$\$\$`"),
        ("\ud800", "python", "characters that are no text"),
        ("x" * 6000, "python", "6,000 characters"),
    ],
)
def test_what_is_no_pattern_is_said_in_a_line(pattern: str, language: str, said: str):
    with pytest.raises(InputError, match=said) as raised:
        Pattern(pattern, language)
    assert "\n" not in str(raised.value)


def test_a_pattern_that_does_not_parse_is_known_and_hostile_files_are_not_parsed():
    assert Pattern("open($X)", "python").parses
    assert Pattern("def $NAME($$$): $$$BODY", "python").parses
    assert not Pattern("def (", "python").parses
    assert places("open($X)", "open(1)" + " " * 30_000) == places("open($X)", "open(1)\n\ud800") == []


@settings(max_examples=100)
@given(st.text("$ABµ_()[]{}:.,=*\"' \n\tdefclass\ud800\U0010ffff", max_size=24), st.sampled_from(["python", "c"]))
def test_no_pattern_ends_the_process(pattern: str, language: str):
    with suppress(InputError):
        list(Pattern(pattern, language).matches("def f(a):\n    return f(a)\n"))


REWRITTEN = [
    ("foo($A)", "bar($A, 1)", "x = foo( a )\n", "x = bar(a, 1)\n", 1),
    ("foo($A, $$$R)", "foo($$$R, $A)", "foo(a, b,  c)\nfoo(1, 2)\n", "foo(b,  c, a)\nfoo(2, 1)\n", 2),
    ("foo($$$R)", "bar($$$R)", "foo()\n", "bar()\n", 1), ("f($X)", "g($X)", "f(f(1))\n", "g(f(1))\n", 1),
    ("f($X)", "g($X)", "é = f('ü')  # ß\n", "é = g('ü')  # ß\n", 1),
    ("f($X)", "g(\n    $X,\n)", "if x:\n    f(1)\n", "if x:\n    g(\n        1,\n    )\n", 1),
    ("f($X)", "g(\n$X)", "if x:\r\n    f(1)\r\n", "if x:\r\n    g(\r\n    1)\r\n", 1),
    ("f($X)", "", "a\nb\n", "a\nb\n", 0), ("f($_X, $Y)", "g($Y)", "f(1, 2)\n", "g(2)\n", 1),
    ("f($X)", r"g(\1, $X)", "f(1)\n", "g(\\1, 1)\n", 1),
]  # fmt: skip


def test_matches_are_replaced_with_what_their_holes_stood_for():
    for pattern, replacement, before, after, count in REWRITTEN:
        assert Rewriting(Pattern(pattern, "python"), replacement).rewrite(before) == (after, count), replacement


def test_a_hole_that_the_pattern_has_not_is_refused_and_one_without_a_name_is_not_dropped():
    for replacement in ("bar($B)", "bar($$$)", "$AB"):
        with pytest.raises(InputError, match="which the pattern does not define"):
            Rewriting(Pattern("foo($A)", "python"), replacement)
    for hole in ("$_A", "$_", "$$$_A"):
        with pytest.raises(InputError, match="begins with _ is not kept"):
            Rewriting(Pattern(f"foo({hole})", "python"), f"bar({hole})")
