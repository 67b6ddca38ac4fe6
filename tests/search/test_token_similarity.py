from __future__ import annotations

import numpy as np
import pytest

from assay.search.token_similarity import FIELDS, TOKEN_FEATURES, TokenSimilarity
from assay.types import Chunk

SIMILARITY = TokenSimilarity()


def near(words, *chunks):
    share = np.full(len(words), 1 / max(len(words), 1), dtype=np.float32)
    rows = SIMILARITY.features(words, share, chunks)
    assert rows.shape == (len(chunks), len(TOKEN_FEATURES))
    return [dict(zip(TOKEN_FEATURES, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize(
    ("word", "alike", "stranger"),
    [
        ("delete", "removeFile", "paint_picture"),
        ("error", "exception", "picture"),
        ("folder", "directory", "color"),
        ("begin", "start", "banana"),
    ],
)
def test_a_synonym_is_nearer_than_a_stranger(word, alike, stranger):
    mine, other = near([word], Chunk("1", "", symbol=alike), Chunk("2", "", symbol=stranger))
    for column in ("near_name", "near_doc", "near_text"):
        assert mine[column] > other[column] + 0.1, column


def test_a_word_is_nearest_to_itself():
    (row,) = near(["retry"], Chunk("1", "", symbol="retryRequest"))
    assert [row[f"near_{field}"] for field in FIELDS] == pytest.approx([1, 1, 1], abs=1e-3)
    assert [row[f"alike_{field}@100"] for field in FIELDS] == pytest.approx([np.log(2)] * 3, abs=1e-2)
    assert (row["least_met"], row["met"]) == pytest.approx((1, 1), abs=1e-3)


def test_levels_count_how_many_words_are_similar():
    once, twice = near(["error"], Chunk("1", "", symbol="exception"), Chunk("2", "", symbol="exceptionFailure"))
    level = max((name for name in once if name.startswith("alike_name@")), key=lambda name: once[name])
    assert level != "alike_name@100"
    assert sum(twice[name] for name in twice if name.startswith("alike_name@")) > once[level]


def test_a_name_that_is_not_asked_for_whole_is_asked_for_less():
    whole, half = near(
        ["retry", "request"], Chunk("1", "", symbol="retryRequest"), Chunk("2", "", symbol="retryBanana")
    )
    assert whole["asked_name"] > half["asked_name"]


def test_the_word_that_is_met_least_is_known():
    both, one = near(["retry", "banana"], Chunk("1", "retry banana"), Chunk("2", "retry"))
    assert both["least_met"] == pytest.approx(1, abs=1e-3)
    assert one["least_met"] < 0.8 < one["met"] + 0.4


def test_a_word_counts_where_it_stands():
    name, doc, text = near(
        ["retry"],
        Chunk("1", "paint", symbol="retry"),
        Chunk("2", "paint", symbol="picture", doc="Retry."),
        Chunk("3", "retry", symbol="picture"),
    )
    assert [row["near_name"] > 0.9 for row in (name, doc, text)] == [True, False, False]
    assert [row["near_doc"] > 0.9 for row in (name, doc, text)] == [True, True, False]
    assert [row["near_text"] > 0.9 for row in (name, doc, text)] == [True, True, True]


def test_each_word_adds_what_it_weighs():
    chunks = [Chunk("1", "", symbol="retry")]
    (retry,), (banana,) = (near([word], *chunks) for word in ("retry", "banana"))
    rows = SIMILARITY.features(["retry", "banana"], np.array([0.75, 0.25], np.float32), chunks)
    for name, value in zip(TOKEN_FEATURES, rows[0].tolist(), strict=True):
        if name.startswith(("near_", "alike_")):
            assert value == pytest.approx(0.75 * retry[name] + 0.25 * banana[name], abs=1e-4), name


@pytest.mark.parametrize("text", ["", "  ", "()", "the of and to", "how do i"])
def test_a_chunk_without_a_telling_word_is_near_nothing(text):
    (row,) = near(["retry"], Chunk("1", text))
    assert max(value for name, value in row.items() if not name.startswith("alike_")) < 0.2
    assert max(row[f"alike_{field}@100"] for field in FIELDS) < 0.01


def test_an_empty_chunk_takes_nothing_from_its_neighbours():
    full = Chunk("1", "retry", symbol="retry", doc="Retry.")
    (alone,) = near(["retry"], full)
    for row in near(["retry"], Chunk("0", ""), full, Chunk("2", ""))[1:2]:
        assert row == pytest.approx(alone, abs=1e-6)


def test_without_words_or_chunks_there_is_nothing_to_compare():
    assert not any(near([], Chunk("1", "retry"))[0].values())
    assert near(["retry"]) == []


def test_a_question_of_stop_words_alone_is_compared_all_the_same():
    (row,) = near(["how", "do"], Chunk("1", "retry", symbol="retry"))
    assert all(0 <= value <= 1 for name, value in row.items() if not name.startswith("alike_"))
