"""Code in classed pieces: whatever the text, nothing of it is lost and every class is one of a few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.serve.highlight import CLASSES, styled

LANGUAGES = sorted({*BY_EXTENSION.values(), *BY_NAME.values(), "", "no such language"})
PYTHON = '''@cache
def add(one, other=1.5):
    """Add two
    numbers."""
    return one + other  # sum
'''


def test_pieces_have_the_class_of_what_they_are():
    lines = styled(PYTHON, "python")
    assert lines[0] == [("nd", "@cache")]
    assert lines[1][:3] == [("k", "def"), ("", " "), ("nf", "add")]
    assert ("m", "1.5") in lines[1]
    assert lines[3][-1] == ("s", '    numbers."""')
    assert lines[4][-1] == ("c", "# sum")
    assert len(lines) == 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_keeps_its_text(language: str):
    texts = (PYTHON, "<a href='b'>c</a>\n# d\n", "a\r\nb\rc\n\n\n", "\n\n  x\t\n", "\ufeffa", "", "# T\n\n*e* `f`\n")
    for text in texts:
        lines = styled(text, language)
        assert "\n".join("".join(piece for _, piece in line) for line in lines) == text.removesuffix("\n")
        assert {name for line in lines for name, _ in line} <= {*CLASSES, ""}


@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_text_is_kept(text: str, language: str):
    lines = styled(text, language)
    assert "\n".join("".join(piece for _, piece in line) for line in lines) == text.removesuffix("\n")


def test_most_languages_are_told_apart():
    plain = {language for language in LANGUAGES if {name for name, _ in styled("if x: # y\n", language)[0]} == {""}}
    assert {"python", "typescript", "tsx", "go", "rust", "csharp", "swift", "kotlin", "yaml", "css"}.isdisjoint(plain)


def test_what_nobody_reads_to_the_end_is_plain():
    lines = styled("x = 1\n" * 20_000, "python")
    assert lines[0] != [("", "x = 1")] == lines[-1]
    assert len(lines) == 20_000


@pytest.mark.parametrize(
    ("text", "language"),
    [("\n" * 90_000, "c"), ("\n" * 90_000, "restructuredtext"), ("-" * 90_000, "diff"), ("a " * 45_000, "objc")],
)
def test_a_hostile_text_is_given_up_on_and_kept(text: str, language: str, growth):
    assert growth(lambda size: styled(text[:size], language), 11_000) < 24  # 64 without a limit
    lines = styled(text, language)
    assert "\n".join("".join(piece for _, piece in line) for line in lines) == text.removesuffix("\n")
