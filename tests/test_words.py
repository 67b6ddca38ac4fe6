"""What all parts mean by a word is one thing, however it is written and however fast it is found."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from assay.terms import STOP_WORDS, WORD, composed, exact, parts, stem, terms, terms_of, words

IDENTIFIERS = st.from_regex(r"[A-Za-z0-9_]{1,80}", fullmatch=True)
LOWER_WORDS = st.from_regex(r"[a-z]{1,10}", fullmatch=True)


@given(st.text() | st.text(st.characters(max_codepoint=127)))
@example("a\x1cb\x85c\x0bd_1-2")
@example("\uf900 cafe\u0301")
def test_words_are_what_the_pattern_finds_in_composed_text(text):
    assert words(text) == WORD.findall(composed(text))


PARTS = {
    "parse_args": "parse args", "parseArgs": "parse args", "PARSE_ARGS": "parse args", "__init__": "init",
    "HTTPServer": "http server", "HTTPServers2": "http servers 2", "getURL": "get url", "utf8": "utf 8",
    "sha256sum": "sha 256 sum", "A": "a", "aB": "a b", "___": "", "": "", "日本語": "日本語", "λ_max": "λ max",
    "Ωmega": "ω mega",
}  # fmt: skip


@given(IDENTIFIERS)
def test_an_identifier_falls_into_its_parts_and_no_letter_is_lost_or_added(any_identifier):
    assert {identifier: " ".join(parts(identifier)) for identifier in PARTS} == PARTS
    assert "".join(parts(any_identifier)) == any_identifier.replace("_", "").lower()
    assert all(not term.startswith("=") for term in terms_of(any_identifier)[: len(parts(any_identifier))])
    assert exact(any_identifier).startswith("=")


@given(st.lists(LOWER_WORDS, min_size=1, max_size=6))
def test_snake_and_camel_case_are_one(pieces):
    camel, snake = "".join(piece.capitalize() for piece in pieces), "_".join(pieces)
    assert exact(camel) == exact(snake) == exact(snake.upper()) == exact(f"_{snake}_")
    if all(len(piece) > 1 for piece in pieces):  # `A` and `B` in a row are an acronym, `AB`
        assert terms_of(camel) == terms_of(snake)


TERMS = {
    "HTTPServers": ("http", "server", "=httpservers"), "retries": ("retri",), "Retry": ("retri",), "_x": ("x",),
    "utf8": ("utf", "8", "=utf8"), "日本語": ("日本語",), "_": (),
}  # fmt: skip


def test_one_word_is_its_stem_several_are_themselves_too_and_accents_split_none():
    assert {identifier: terms_of(identifier) for identifier in TERMS} == TERMS
    for word in ("naïve", "Größe", "été"):
        assert terms_of(word)[-1] == exact(word) == "=" + word.lower()
        assert set(terms(f"a {word} thing")) >= set(terms_of(word))


@given(st.text())
def test_any_text_has_terms_and_no_empty_one(text):
    found = terms(text)
    assert all(found)
    assert "=" not in found
    assert found == [term for word in words(text) for term in terms_of(word)]


def test_a_very_long_identifier_is_cut():
    long = "aB" * 100_000
    assert len("".join(parts(long))) == 80
    assert len(exact(long)) == 81
    assert terms_of(long) == terms_of(long + "Other")
    assert exact("_".join(["word"] * 30)) == exact("Word" * 30)


def test_forms_of_a_word_share_a_stem_and_stop_words_are_those_of_questions():
    assert len({stem(word) for word in ("connect", "connected", "connecting", "connection", "connections")}) == 1
    assert stem("retry") == stem("retries") != stem("retire")
    assert all(parts(word) == (word,) for word in STOP_WORDS)
    assert STOP_WORDS.isdisjoint(("test", "file", "error", "no", "new", "all"))
