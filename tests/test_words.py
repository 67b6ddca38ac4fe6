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
    "parse_args": "parse args",
    "parseArgs": "parse args",
    "PARSE_ARGS": "parse args",
    "__init__": "init",
    "HTTPServer": "http server",
    "HTTPServers2": "http servers 2",
    "getURL": "get url",
    "utf8": "utf 8",
    "sha256sum": "sha 256 sum",
    "A": "a",
    "aB": "a b",
    "___": "",
    "": "",
    "日本語": "日本語",
    "λ_max": "λ max",
    "Ωmega": "ω mega",
}


def test_an_identifier_falls_into_its_parts():
    assert {identifier: " ".join(parts(identifier)) for identifier in PARTS} == PARTS


@given(IDENTIFIERS)
def test_no_letter_is_lost_and_none_added(identifier):
    assert "".join(parts(identifier)) == identifier.replace("_", "").lower()


@given(st.lists(LOWER_WORDS, min_size=1, max_size=6))
def test_snake_and_camel_case_are_one(pieces):
    camel, snake = "".join(piece.capitalize() for piece in pieces), "_".join(pieces)
    assert exact(camel) == exact(snake) == exact(snake.upper()) == exact(f"_{snake}_")
    if all(len(piece) > 1 for piece in pieces):  # `A` and `B` in a row are an acronym, `AB`
        assert terms_of(camel) == terms_of(snake)


TERMS = {
    "HTTPServers": ("http", "server", "=httpservers"),
    "retries": ("retri",),
    "Retry": ("retri",),
    "_x": ("x",),
    "utf8": ("utf", "8", "=utf8"),
    "日本語": ("日本語",),
    "_": (),
}


def test_one_word_is_its_stem_and_several_are_themselves_too():
    assert {identifier: terms_of(identifier) for identifier in TERMS} == TERMS


def test_a_word_with_accents_is_found_as_a_whole():
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


def test_a_long_identifier_is_the_same_in_either_case():
    snake, camel = "_".join(["word"] * 30), "Word" * 30
    assert exact(snake) == exact(camel)


@given(IDENTIFIERS)
def test_an_exact_term_is_no_ordinary_one(identifier):
    assert all(not term.startswith("=") for term in terms_of(identifier)[: len(parts(identifier))])
    assert exact(identifier).startswith("=")


def test_forms_of_a_word_share_a_stem():
    assert len({stem(word) for word in ("connect", "connected", "connecting", "connection", "connections")}) == 1
    assert stem("retry") == stem("retries") != stem("retire")


def test_stop_words_are_words_as_questions_have_them():
    assert all(parts(word) == (word,) for word in STOP_WORDS)
    assert STOP_WORDS.isdisjoint(("test", "file", "error", "no", "new", "all"))
