from __future__ import annotations

import pytest

from assay.search.asked_kind import KIND_FEATURES, kind_features
from assay.search.question import understand
from assay.search.shared_phrases import PHRASE_FEATURES, phrase_features
from assay.types import KINDS, Chunk


def kinds(question: str, kind: str) -> set[str]:
    (row,) = kind_features(understand(question).terms, [Chunk("1", "", kind=kind)])
    return {name for name, value in zip(KIND_FEATURES, row.tolist(), strict=True) if value}


@pytest.mark.parametrize(
    ("question", "kind", "said"),
    [
        ("which struct holds a connection", "struct", {"type", "type_asked", "kind_asked"}),
        ("which struct holds a connection", "enum", {"type", "type_asked"}),
        ("which struct holds a connection", "function", {"type_not_callable"}),
        ("which enumeration lists the states", "enum", {"type", "type_asked", "kind_asked"}),
        ("protocol that a transport implements", "interface", {"type", "type_asked", "kind_asked"}),
        ("close a connection", "class", {"type"}),
        ("close a connection", "method", set()),
        ("default number of retries", "constant", {"constant", "constant_asked"}),
        ("default number of retries", "block", {"block_asked"}),
        ("close a connection", "constant", {"constant"}),
    ],
)
def test_a_kind_word_is_held_against_what_a_unit_is(question, kind, said):
    assert kinds(question, kind) == said


def test_every_kind_has_a_row_and_no_chunks_have_none():
    chunks = [Chunk(str(at), "", kind=kind) for at, kind in enumerate(KINDS)]
    assert kind_features(["type"], chunks).shape == (len(KINDS), len(KIND_FEATURES))
    assert kind_features(["type"], []).shape == (0, len(KIND_FEATURES))


def phrases(question: str, text: str) -> dict[str, float]:
    (row,) = phrase_features(question, [Chunk("1", text)])
    return dict(zip(PHRASE_FEATURES, row.tolist(), strict=True))


MESSAGE = 'raise ValueError(f"cannot open file {path}: it is not a regular file")'


def test_a_pasted_message_is_found_around_its_holes():
    found = phrases("ValueError: cannot open file /etc/motd: it is not a regular file", MESSAGE)
    assert found["phrase"] >= 0.5
    assert found["phrase_any"] == 1
    assert phrases("open the file, which is regular, and say it cannot be", MESSAGE) == dict.fromkeys(
        PHRASE_FEATURES, 0
    )


def test_letter_case_and_punctuation_do_not_matter():
    assert phrases("CANNOT-OPEN file; it?", "cannot open (file) it")["phrase"] == 1


def test_a_word_is_not_found_inside_another():
    assert phrases("an open file here", "can open files here")["phrase"] == 0


@pytest.mark.parametrize("question", ["", "open", "open the file"])
def test_a_short_question_has_no_phrase(question):
    assert phrases(question, f"open the file {question}") == dict.fromkeys(PHRASE_FEATURES, 0)


def test_a_long_phrase_is_as_good_as_it_gets():
    text = " ".join(f"word{at}" for at in range(40))
    assert phrases(text, text) == dict.fromkeys(PHRASE_FEATURES, 1)
    assert phrases(text * 50, text)["phrase_long"] == 1


def test_without_chunks_there_are_no_rows():
    assert phrase_features("open the file here", []).shape == (0, len(PHRASE_FEATURES))
