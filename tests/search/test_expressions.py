"""Expressions whose words and borders of words are Unicode's, beside those of Python, in time linear in the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.search.expressions import Bordered, matches_in, pattern, suited
from assay.search.grep_patterns import PatternOptions, line_finder

BORDERS = {r"\b": r"\b", r"\B": r"\B", r"\<": r"\b(?=\w)", r"\>": r"\b(?<=\w)"}
PIECES = [*BORDERS, *r"a é - . \w \W \S [^é] [^-] [aé]+ a? .* \w+? (é|-) (a|\b) ^ $".split()]
LETTERS = st.text("aéЖ- \n_1", max_size=12)


def spans(expression: str, text: str) -> list[tuple[int, int]]:
    """Return where an expression matches, in letters."""
    data = text.encode()
    found = [each.span(1) for each in suited(found_by(expression), data).finditer(data)]
    return [(len(data[:start].decode()), len(data[:end].decode())) for start, end in found if start < end]


def found_by(expression: str):
    return line_finder([expression], PatternOptions("perl"))


@settings(max_examples=250)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6), LETTERS)
@example([r"\b", "é", r"\b", ".*", r"\b", "a", r"\b"], "é -é a")
@example([r"\<", r"\b", r"\w+?", r"\>"], "aé é")
def test_borders_and_classes_are_those_of_unicode(pieces: list[str], text: str):
    expression = "".join(pieces)
    as_python = "".join(BORDERS.get(piece, piece).replace("[^", r"[^\n").replace(r"\W", r"[^\w\n]") for piece in pieces)
    wanted = [
        (each.start() + before, each.end() + before)
        for before, line in lines_of(text)
        for each in re.finditer(as_python, line)
        if each.start() < each.end()
    ]
    assert spans(expression, text) == wanted, expression


def lines_of(text: str) -> list[tuple[int, str]]:
    """Return lines with the letters before them."""
    lines = text.split("\n")
    return [(sum(len(each) + 1 for each in lines[:at]), line) for at, line in enumerate(lines)]


def test_what_people_search_for_in_other_languages_than_english_is_found():
    cases = [
        (r"\bcafé\b", "décafé, cafés, café", 1), (r"\bжизнь\b", "жизнь жизнью (жизнь)", 2), (r"\w+", "naïve über", 2),
        (r"\bété\b.*\bnaïf\b", "l'été fut naïf", 1), (r"[^\W\d]+", "é1ü", 2), (r"\s", "a\u3000b\u2003c", 2),
        (r"[[:alpha:]]+", "été2", 1), (r"[[:upper:]]", "Éé", 1), (r"\bहिन्दी", "हिन्दी", 1),
        (r"\Qé.\E\b", "é.a é.", 1), (r"(?i)\bÉTÉ\b", "été", 1), (r"\b\PL", "a 1", 2), (r"é\b$", "café", 1),
    ]  # fmt: skip
    assert [(one, text) for one, text, count in cases if len(spans(one, text)) != count] == []


def test_ascii_is_searched_without_tags_and_nothing_takes_more_than_linear_time():
    """A long line of words with borders is tagged once, whatever matches in it."""
    quick, tagged = found_by(r"\bfoo\b"), found_by(r"\<.")
    assert isinstance(quick, Bordered)
    assert suited(quick, b"foo") is quick.ascii
    assert tagged.ascii is None, "RE2 has no border that is only a beginning"
    line = "é a " * 20_000
    assert len(list(matches_in(found_by(r"\b\w\b"), line.encode()))) == 40_000
    assert spans(r"\b(é|éé)+x\b", "é" * 100_000) == []
    assert len(list(pattern(r"\ba\b").finditer(("é\n" * 1000 + "a é\n").encode()))) == 1


def test_what_looks_around_is_refused_but_at_the_ends_of_a_pattern():
    assert spans(r"took \K\d+(?=ms)", "took 12ms, took 3s") == [(5, 7)]
    assert spans(r"(?<=é)\b.", "é-") == [(1, 2)]
    for refused in (r"a(?!b)", r"(?<!a)b", r"(a)\1", r"a(?=b)c", r"a|b\Kc"):
        with pytest.raises(InputError, match="look-around and back-references are not supported"):
            found_by(refused)
