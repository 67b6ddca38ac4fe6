from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.encode.vocabulary import Vocabulary

VOCABULARY = Vocabulary(sorted(["retry", "time", "timeout", "out", "##out", "re", "##try", "##r", "t", "http", "2"]))


def words_of(text: str) -> list[str]:
    return [VOCABULARY.entries[row] for row in VOCABULARY.rows(text)]


def test_whole_words_come_before_pieces() -> None:
    assert words_of("timeout retry") == ["timeout", "retry"]


def test_identifiers_are_split_before_they_are_looked_up() -> None:
    assert words_of("HTTPRetry2 time_out") == ["http", "retry", "2", "time", "out"]


def test_unknown_words_are_cut_into_the_longest_pieces() -> None:
    assert words_of("retryout") == ["retry", "##out"]
    assert words_of("timer") == ["time", "##r"]


def test_letters_that_start_no_piece_are_passed_over() -> None:
    assert words_of("retryzout zzz") == ["retry", "##out"]


@given(st.text())
def test_any_text_has_rows_inside_the_table_and_the_same_ones_again(text: str) -> None:
    rows = VOCABULARY.rows(text)
    assert all(0 <= row < len(VOCABULARY) for row in rows)
    assert VOCABULARY.rows(text) == rows == Vocabulary(VOCABULARY.entries).rows(text)


def test_words_met_are_forgotten_before_there_are_too_many():
    vocabulary = Vocabulary(["send", "mail", "##s"])
    wanted = vocabulary.rows("send_mail mails")
    for start in range(0, 200_000, 50_000):
        vocabulary.rows(" ".join(f"w{number}" for number in range(start, start + 50_000)))
    assert len(vocabulary._met) < 150_000
    assert vocabulary.rows("send_mail mails") == wanted
