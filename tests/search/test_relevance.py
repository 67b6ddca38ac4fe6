from __future__ import annotations

import numpy as np
import pytest

from assay.encode.static import default_static
from assay.encode.view import view
from assay.search.hybrid import LearnedSearcher
from assay.search.relevance import QUERY_FEATURES, RELEVANCE_FEATURES, query_features, relevance_row
from assay.search.text_features import ALL_FEATURES
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Query

CHUNKS = (
    Chunk("1", "def send_mail(to):\n    server.deliver(to)", "python", "mail.py", 1, 2, "send_mail", "function"),
    Chunk("2", "def add(a, b):\n    return a + b", "python", "sums.py", 1, 2, "add", "function"),
)


def looked_up(text: str) -> dict[str, float]:
    encoder = default_static()
    snapshot = Snapshot.of(CHUNKS, encoder.encode([view(one) for one in CHUNKS], "code"))
    found = LearnedSearcher(snapshot, encoder).look_up(Query("1", text), encoder.encode([text], "query")[0])
    return dict(zip(QUERY_FEATURES, query_features(found).tolist(), strict=True))


def test_a_foreign_question_is_unknown_to_the_corpus():
    own, foreign = looked_up("where is mail sent"), looked_up("voltage of a transformer coil")
    assert own["unknown"] < foreign["unknown"] == 1
    assert own["strongest"] > foreign["strongest"] == 0
    assert own["closest"] > foreign["closest"]
    assert own["corpus"] == foreign["corpus"] == pytest.approx(np.log(3))
    assert own["always"] == 1


def test_a_question_without_terms_has_features():
    assert all(np.isfinite(value) for value in looked_up("?!").values())


def test_the_row_is_of_the_best_candidate_and_of_any_of_the_first_five():
    rows = np.zeros((7, len(ALL_FEATURES)), dtype=np.float32)
    rows[:, 0] = np.arange(7)
    scores = np.array([3, 9, 5, 4, 2, 1, 0], dtype=np.float32)
    asked = np.arange(len(QUERY_FEATURES), dtype=np.float32)
    row = dict(zip(RELEVANCE_FEATURES, relevance_row(asked, rows, scores).tolist(), strict=True))
    assert (row["first_lexical"], row["any_lexical"]) == (1, 4)
    assert (row["score"], row["margin"]) == (9, pytest.approx(9 - 3.5))
    assert [row[name] for name in QUERY_FEATURES] == asked.tolist()


def test_one_candidate_stands_out_from_nothing():
    rows = np.ones((1, len(ALL_FEATURES)), dtype=np.float32)
    row = relevance_row(np.zeros(len(QUERY_FEATURES), np.float32), rows, np.ones(1, np.float32))
    assert row[RELEVANCE_FEATURES.index("margin")] == 0


def test_a_query_without_candidates_has_a_row():
    asked = np.arange(len(QUERY_FEATURES), dtype=np.float32)
    row = relevance_row(asked, np.zeros((0, len(ALL_FEATURES)), np.float32), np.zeros(0, np.float32))
    assert row.tolist() == [0.0] * (len(RELEVANCE_FEATURES) - len(asked)) + asked.tolist()
