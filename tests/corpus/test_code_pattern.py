"""Code that has the structure of a pattern is found, with what its holes stand for."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.code_pattern import Pattern
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


INVALID = [
    ("x", "cobol", "no grammar for the language 'cobol'"), ("x", "pythn", "did you mean 'python'"),
    ("x", "markdown", "no grammar"), ("", "python", "not a valid python pattern"),
    ("$$$", "python", r"Standalone multi meta variable `\$\$\$`"), ("x" * 6000, "python", "6,000 characters"),
    ("\ud800", "python", "characters that cannot be encoded"),
]  # fmt: skip


def test_an_invalid_pattern_is_refused_in_one_line():
    for pattern, language, said in INVALID:
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
