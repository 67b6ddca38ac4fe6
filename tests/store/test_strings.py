"""A column of strings, packed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.store.strings import Strings

TEXTS = st.text(st.sampled_from("ab/é\ud800"), max_size=3)


@given(st.lists(TEXTS, max_size=30), TEXTS)
def test_a_string_is_found_wherever_it_stands(texts: list[str], sought: str):
    assert Strings.of(texts).positions(sought) == [at for at, text in enumerate(texts) if text == sought]
