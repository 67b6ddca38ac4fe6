from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.search.question import understand
from assay.terms import STOP_WORDS, stem


def test_a_question_is_its_telling_words_once_and_stemmed():
    question = understand("Where are the retries of retried requests handled?")
    assert question.terms == ("retri", "request", "handl")
    assert question.words == ("retries", "requests", "handled")


def test_a_question_without_a_telling_word_keeps_all():
    question = understand("how do I do this")
    assert question.words == ("how", "do", "i", "this")


@pytest.mark.parametrize("text", ["", "  ", "?!", "___", "...()"])
def test_a_question_without_a_word_has_no_terms(text):
    question = understand(text)
    assert question.terms == question.words == ()


def test_identifiers_are_looked_up_whole():
    assert "=parseargs" in understand("parseArgs").names
    assert "=parseargs" in understand("where is parse_args called").names


def test_neighbouring_words_are_tried_as_one_name():
    names = understand("parse command line").names
    assert {"=parsecommand", "=commandline", "=parsecommandline"} <= set(names)
    assert "=parseline" not in names
    assert "=x" not in understand("x").names


def test_what_stands_in_quotes_is_a_phrase():
    assert understand('raise "no such file" from `open()` "').phrases == ("no such file", "open()")
    assert understand("don't do that").phrases == ()


@pytest.mark.parametrize(
    ("text", "tests", "examples", "asides"),
    [
        ("unit tests of the parser", True, False, False),
        ("testing with mocks and fixtures", True, False, False),
        ("the latest contest", False, False, False),
        ("example of a plugin", False, True, False),
        ("demos and samples", False, True, False),
        ("tutorial snippets", False, True, False),
        ("what changed in the last release", False, False, True),
        ("how to contribute", False, False, True),
        ("contributing guide and license", False, False, True),
        ("migrating and upgrading", False, False, True),
        ("example tests in the changelog", True, True, True),
        ("parse a file", False, False, False),
    ],
)
def test_a_question_says_what_it_is_about(text, tests, examples, asides):
    question = understand(text)
    assert (question.about_tests, question.about_examples, question.about_asides) == (tests, examples, asides)


@given(st.text(max_size=300))
def test_any_text_is_a_question(text):
    question = understand(text)
    assert len(question.terms) == len(question.words) == len(set(question.terms))
    assert tuple(map(stem, question.words)) == question.terms
    assert len(set(question.names)) == len(question.names)
    assert STOP_WORDS.isdisjoint(question.words) or STOP_WORDS.issuperset(question.words)


def test_a_whole_file_for_a_question_is_read_in_part():
    question = understand("beginning " + "word1 other2 " * 100_000 + "ending")
    assert "begin" in question.terms
    assert "end" not in question.terms
    assert len(question.names) < 60
