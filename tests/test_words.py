"""What all parts mean by a word is one thing, however fast it is found."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from assay.words import WORD, words


@given(st.text() | st.text(st.characters(max_codepoint=127)))
@example("a\x1cb\x85c\x0bd_1-2")
def test_words_are_what_the_pattern_finds(text):
    assert words(text) == WORD.findall(text)
