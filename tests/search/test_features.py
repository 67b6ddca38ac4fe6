from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.search.features import FEATURES, _file_mean, _place, candidates_of
from assay.search.hybrid import LearnedSearcher
from assay.types import KINDS, Chunk, Query

WORDS = st.sampled_from("retry retries parseArgs parse args server test example class the 42".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
CHUNKS = st.builds(
    Chunk,
    id=st.uuids().map(str),
    text=TEXTS,
    path=st.sampled_from(["", "retry/server.py", "tests/test_args.py", "CHANGELOG.md"]),
    start_line=st.integers(0, 5),
    end_line=st.integers(5, 500),
    symbol=TEXTS,
    kind=st.sampled_from(KINDS),
    parent=TEXTS,
    doc=TEXTS,
)
UNBOUNDED = {"dense_share", "meaning_known", "log_lines"}  # by the spread of the corpus, by the length of a chunk


def features_of(snapshot, encoder, text):
    """Return the features of every living chunk by name."""
    query = Query("1", text)
    hybrid = LearnedSearcher(snapshot, encoder)
    found = hybrid.look_up(query, encoder.encode([text], "query")[0])
    numbers = np.setdiff1d(np.arange(snapshot.size), snapshot.dead)
    candidates = candidates_of(numbers, found)
    assert candidates.rows.shape == (len(numbers), len(FEATURES))
    return dict(zip(FEATURES, candidates.rows.T, strict=True))


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(st.lists(CHUNKS, max_size=5), min_size=1, max_size=3), text=TEXTS)
def test_all_features_are_bounded(snapshot_of, encoder, parts, text):
    snapshot = snapshot_of(*parts)
    for name, values in features_of(snapshot, encoder, text).items():
        assert np.isfinite(values).all(), name
        if name not in UNBOUNDED:
            least = -1 if name in ("dense", "file_dense") else 0
            assert ((values >= least - 1e-5) & (values <= 1 + 1e-5)).all(), name


CORPUS = (
    Chunk("name", "pass", "python", "a.py", 1, 1, "retry_request", "function", doc="Try again."),
    Chunk("doc", "pass", "python", "a.py", 2, 2, "send", "function", doc="Retry a request."),
    Chunk("body", "retry(request)", "python", "b.py", 1, 1, "send", "class"),
    Chunk("half", "retry()", "python", "b.py", 2, 9, "", "block"),
    Chunk("test", "retry_request()", "python", "tests/test_a.py", 1, 4, "test_it", "test"),
    Chunk("none", "paint", "markdown", "docs/paint.md", 1, 4, "Colours", "section"),
)


def test_features_say_where_words_stand(snapshot_of, encoder):
    found = features_of(snapshot_of(CORPUS), encoder, "retry request")
    assert found["covered"][:3] == pytest.approx(1)
    assert 0 < found["covered"][3] < 1
    assert found["covered"][5] == 0
    for feature, only in (("covered_name", [0]), ("covered_body", [2, 3, 4])):
        assert np.flatnonzero(found[feature]).tolist() == only, feature
    assert found["name_whole"].tolist() == [1, 0, 0, 0, 0, 0]
    assert found["rare_missing"].tolist() == [0, 0, 0, 1, 0, 1]
    assert found["has_doc"].tolist() == [1, 1, 0, 0, 0, 0]
    assert found["callable"].tolist() == [1, 1, 0, 0, 0, 0]
    assert found["block"].tolist() == [0, 0, 0, 1, 0, 0]
    assert found["lexical_share"].max() == 1
    assert len(set(found["meaning_known"])) == 1
    assert found["log_lines"][3] > found["log_lines"][0]


def test_a_question_about_tests_asks_for_them(snapshot_of, encoder):
    snapshot = snapshot_of(CORPUS)
    plain, asked = (features_of(snapshot, encoder, text) for text in ("retry request", "tests of retry"))
    assert plain["test"].tolist() == [0, 0, 0, 0, 1, 0]
    assert asked["test"].tolist() == [0] * 6


def test_what_is_said_of_chunks_does_not_hang_on_their_segments(snapshot_of, encoder):
    whole = features_of(snapshot_of(CORPUS), encoder, "retry request")
    gone = Chunk("gone", "retry retry request", "python", "c.py", 1, 1, "retry", "function")
    parts = features_of(snapshot_of(CORPUS[:2], [gone], CORPUS[2:], dead={"gone"}), encoder, "retry request")
    for name in FEATURES:
        assert parts[name] == pytest.approx(whole[name], abs=1e-4), name


@pytest.mark.parametrize("cut", [3, 1])
def test_chunks_without_a_path_are_files_of_their_own(snapshot_of, encoder, cut):
    """A corpus of loose functions is not one file."""
    chunks = [Chunk(str(n), text) for n, text in enumerate(("retry request", "retry", "paint it red"))]
    found = features_of(snapshot_of(chunks[:cut], chunks[cut:]), encoder, "retry request")
    assert found["file_lexical"].tolist() == found["lexical"].tolist()
    assert found["file_dense"].tolist() == found["dense"].tolist()
    assert len(set(found["file_lexical"])) == 3


def test_chunks_with_a_path_share_their_file(snapshot_of, encoder):
    chunks = [Chunk(str(n), text, path="a.py") for n, text in enumerate(("retry request", "retry", "paint it red"))]
    loose = [Chunk("loose", "retry request")]
    found = features_of(snapshot_of([*chunks, *loose]), encoder, "retry request")
    assert len(set(found["file_lexical"][:3])) == 1
    assert found["file_lexical"][3] == found["lexical"][3]
    assert not found["test"][3]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1, width=32)), max_size=20))
def test_a_file_scores_the_mean_of_its_three_best(rows):
    files = np.unique(np.array([file for file, _ in rows], dtype=np.int64), return_inverse=True)[1]
    scores = np.array([score for _, score in rows], dtype=np.float32)
    best = {file: sorted(scores[files == file].tolist())[-3:] for file in files.tolist()}
    expected = [sum(best[file]) / len(best[file]) for file in files.tolist()]
    assert _file_mean(files, scores) == pytest.approx(expected, abs=1e-6)


def test_a_place_falls_from_one():
    places = _place(np.array([0.1, 0.9, *[0.0] * 9], dtype=np.float32))
    assert places[1] == 1
    assert places[0] == pytest.approx(10 / 11)
    assert places[-1] == pytest.approx(0.5)
