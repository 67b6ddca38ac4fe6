"""The features that a ranking is made of: bounded, of the words where they stand, and the same in any segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.static import default_static
from assay.encode.view import view
from assay.search.features import FEATURES, _file_mean, _place, candidates_of
from assay.search.hybrid import LearnedSearcher
from assay.search.path_filters import traits_of
from assay.search.question import understand
from assay.search.relevance import QUERY_FEATURES, RELEVANCE_FEATURES, query_features, relevance_row
from assay.search.text_features import (
    ALL_FEATURES,
    KIND_FEATURES,
    PHRASE_FEATURES,
    SIMILARITY_FIELDS,
    TOKEN_FEATURES,
    TokenSimilarity,
    kind_features,
    phrase_features,
)
from assay.store.snapshot import Snapshot
from assay.values import KINDS, Chunk, Query

WORDS = st.sampled_from("retry retries parseArgs parse args server test example class the 42".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
PATHS = st.sampled_from(["", "retry/server.py", "tests/test_args.py", "CHANGELOG.md"])
LINES = {"start_line": st.integers(0, 5), "end_line": st.integers(5, 500), "kind": st.sampled_from(KINDS)}
CHUNKS = st.builds(Chunk, st.uuids().map(str), TEXTS, path=PATHS, symbol=TEXTS, parent=TEXTS, doc=TEXTS, **LINES)
UNBOUNDED = {"dense_share", "meaning_known", "log_lines"}  # by the spread of the corpus, by the length of a chunk


def features_of(snapshot, encoder, text):
    """Return the features of every living chunk by name."""
    hybrid = LearnedSearcher(snapshot, encoder)
    found = hybrid.look_up(Query("1", text), encoder.encode([text], "query")[0])
    numbers = np.setdiff1d(np.arange(snapshot.size), snapshot.dead)
    candidates = candidates_of(numbers, found)
    assert candidates.rows.shape == (len(numbers), len(FEATURES))
    return dict(zip(FEATURES, candidates.rows.T, strict=True))


@settings(max_examples=30)
@given(parts=st.lists(st.lists(CHUNKS, max_size=5), min_size=1, max_size=3), text=TEXTS)
def test_all_features_are_bounded(snapshot_of, encoder, parts, text):
    for name, values in features_of(snapshot_of(*parts), encoder, text).items():
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


def test_features_say_where_words_stand_and_what_is_asked_for(snapshot_of, encoder):
    found = features_of(snapshot_of(CORPUS), encoder, "retry request")
    assert found["covered"][:3] == pytest.approx(1)
    assert 0 < found["covered"][3] < 1
    assert found["covered"][5] == 0
    for feature, only in (("covered_name", [0]), ("covered_body", [2, 3, 4]), ("name_whole", [0])):
        assert np.flatnonzero(found[feature]).tolist() == only, feature
    for feature, only in (("rare_missing", [3, 5]), ("has_doc", [0, 1]), ("callable", [0, 1]), ("block", [3])):
        assert np.flatnonzero(found[feature]).tolist() == only, feature
    assert found["lexical_share"].max() == 1
    assert len(set(found["meaning_known"])) == 1
    assert found["log_lines"][3] > found["log_lines"][0]
    assert np.flatnonzero(found["test"]).tolist() == [4]
    assert not features_of(snapshot_of(CORPUS), encoder, "tests of retry")["test"].any()
    gone = Chunk("gone", "retry retry request", "python", "c.py", 1, 1, "retry", "function")
    parts = features_of(snapshot_of(CORPUS[:2], [gone], CORPUS[2:], dead={"gone"}), encoder, "retry request")
    assert {name: parts[name].tolist() for name in FEATURES} == {
        name: pytest.approx(found[name].tolist(), abs=1e-4) for name in FEATURES
    }


def test_chunks_with_a_path_share_their_file_and_those_without_are_files_of_their_own(snapshot_of, encoder):
    texts = ("retry request", "retry", "paint it red")
    loose = [Chunk(str(n), text) for n, text in enumerate(texts)]
    for cut in (3, 1):
        found = features_of(snapshot_of(loose[:cut], loose[cut:]), encoder, "retry request")
        assert found["file_lexical"].tolist() == found["lexical"].tolist()
        assert found["file_dense"].tolist() == found["dense"].tolist()
        assert len(set(found["file_lexical"])) == 3
    filed = [Chunk(f"f{n}", text, path="a.py") for n, text in enumerate(texts)]
    found = features_of(snapshot_of([*filed, loose[0]]), encoder, "retry request")
    assert len(set(found["file_lexical"][:3])) == 1
    assert found["file_lexical"][3] == found["lexical"][3]


def test_a_file_scores_the_mean_of_its_three_best_and_a_place_falls_from_one():
    files = np.array([0, 0, 1, 0, 0, 2])
    scores = np.array([0.1, 0.2, 0.5, 0.3, 0.4, 0.0], dtype=np.float32)
    assert _file_mean(files, scores).tolist() == pytest.approx([0.3, 0.3, 0.5, 0.3, 0.3, 0.0])
    places = _place(np.array([0.1, 0.9, *[0.0] * 9], dtype=np.float32))
    assert (places[1], places[0], places[-1]) == (1, pytest.approx(10 / 11), pytest.approx(0.5))


TRAITS = {
    "": "src/app/run.py src/latest.py src/contest/attest.py src/edit.py src/example.py src/license.py docs/en/intro.md"
    " docs/api/intro.md src/testing.py src/app-2.js src/generate.py",
    "test": "tests/test_run.py test/run.c src/run_test.go src/run.spec.ts src/__tests__/run.tsx conftest.py test.c"
    " src/main/RunTest.java src/main/RunIT.java benches/run.rs src/fixtures/run.json test-utils/run.js src/tests.rs",
    "example": "examples/run.py docs_src/run.py config.example.toml",
    "test example": "examples/tests/run.py",
    "aside": "CHANGELOG.md docs/release-notes.rst CONTRIBUTING.md docs/fr/intro.md docs/pt-BR/intro.md locales/de.po"
    " po/de.po static/jquery-3.5.1.js static/app.min.css third_party/zlib/inflate.c certs/server.pem api/types.pb.go"
    " api/zz_generated.deepcopy.go",
}


def test_a_path_says_what_sort_of_file_it_is():
    for traits, paths in TRAITS.items():
        for path in (*paths.split(), *([] if traits else [""])):
            assert traits_of(path) == tuple(name in traits.split() for name in ("test", "example", "aside")), path


KIND_WORDS = [
    ("which struct holds a connection", "struct", {"type", "type_asked", "kind_asked"}),
    ("which struct holds a connection", "enum", {"type", "type_asked"}),
    ("which struct holds a connection", "function", {"type_not_callable"}),
    ("which enumeration lists the states", "enum", {"type", "type_asked", "kind_asked"}),
    ("protocol that a transport implements", "interface", {"type", "type_asked", "kind_asked"}),
    ("close a connection", "class", {"type"}), ("close a connection", "method", set()),
    ("default number of retries", "constant", {"constant", "constant_asked"}),
    ("default number of retries", "block", {"block_asked"}), ("close a connection", "constant", {"constant"}),
]  # fmt: skip


def test_a_kind_word_is_held_against_what_a_unit_is():
    for question, kind, said in KIND_WORDS:
        (row,) = kind_features(understand(question).terms, [Chunk("1", "", kind=kind)])
        assert {name for name, value in zip(KIND_FEATURES, row.tolist(), strict=True) if value} == said, question
    chunks = [Chunk(str(at), "", kind=kind) for at, kind in enumerate(KINDS)]
    assert kind_features(["type"], chunks).shape == (len(KINDS), len(KIND_FEATURES))
    assert kind_features(["type"], []).shape == (0, len(KIND_FEATURES))


def phrases(question: str, text: str) -> dict[str, float]:
    (row,) = phrase_features(question, [Chunk("1", text)])
    return dict(zip(PHRASE_FEATURES, row.tolist(), strict=True))


def test_a_pasted_message_is_found_around_its_holes_whatever_its_case_and_never_inside_a_word():
    message = 'raise ValueError(f"cannot open file {path}: it is not a regular file")'
    found = phrases("ValueError: cannot open file /etc/motd: it is not a regular file", message)
    assert found["phrase"] >= 0.5
    assert found["phrase_any"] == 1
    assert phrases("CANNOT-OPEN file; it?", "cannot open (file) it")["phrase"] == 1
    assert phrases("an open file here", "can open files here")["phrase"] == 0
    nothing = dict.fromkeys(PHRASE_FEATURES, 0)
    assert phrases("open the file, which is regular, and say it cannot be", message) == nothing
    for question in ("", "open", "open the file"):
        assert phrases(question, f"open the file {question}") == nothing, question
    text = " ".join(f"word{at}" for at in range(40))
    assert phrases(text, text) == dict.fromkeys(PHRASE_FEATURES, 1)
    assert phrases(text * 50, text)["phrase_long"] == 1
    assert phrase_features("open the file here", []).shape == (0, len(PHRASE_FEATURES))


SIMILARITY = TokenSimilarity()


def near(words, *chunks):
    share = np.full(len(words), 1 / max(len(words), 1), dtype=np.float32)
    rows = SIMILARITY.features(words, share, chunks)
    assert rows.shape == (len(chunks), len(TOKEN_FEATURES))
    return [dict(zip(TOKEN_FEATURES, row, strict=True)) for row in rows.tolist()]


def test_a_word_is_nearest_to_itself_then_to_a_synonym_wherever_that_stands():
    (row,) = near(["retry"], Chunk("1", "", symbol="retryRequest"))
    assert [row[f"near_{field}"] for field in SIMILARITY_FIELDS] == pytest.approx([1, 1, 1], abs=1e-3)
    assert [row[f"alike_{field}@100"] for field in SIMILARITY_FIELDS] == pytest.approx([np.log(2)] * 3, abs=1e-2)
    assert (row["least_met"], row["met"]) == pytest.approx((1, 1), abs=1e-3)
    words = "delete removeFile paint_picture, error exception picture, folder directory color, begin start banana"
    for word, alike, stranger in map(str.split, words.split(", ")):
        mine, other = near([word], Chunk("1", "", symbol=alike), Chunk("2", "", symbol=stranger))
        assert all(mine[f"near_{field}"] > other[f"near_{field}"] + 0.1 for field in SIMILARITY_FIELDS), word
    once, twice = near(["error"], Chunk("1", "", symbol="exception"), Chunk("2", "", symbol="exceptionFailure"))
    levels = [name for name in once if name.startswith("alike_name@")]
    assert sum(twice[name] for name in levels) > max(once[name] for name in levels) > once["alike_name@100"]
    named = Chunk("1", "paint", symbol="retry")
    documented = Chunk("2", "paint", symbol="picture", doc="Retry.")
    rows = near(["retry"], named, documented, Chunk("3", "retry", symbol="picture"))
    held = [[field for field in SIMILARITY_FIELDS if row[f"near_{field}"] > 0.9] for row in rows]
    assert [sorted(each) for each in held] == [["doc", "name", "text"], ["doc", "text"], ["text"]]


def test_each_word_adds_what_it_weighs_and_the_one_that_is_met_least_is_known():
    chunks = [Chunk("1", "", symbol="retry")]
    (retry,), (banana,) = (near([word], *chunks) for word in ("retry", "banana"))
    (row,) = SIMILARITY.features(["retry", "banana"], np.array([0.75, 0.25], np.float32), chunks).tolist()
    for name, value in zip(TOKEN_FEATURES, row, strict=True):
        if name.startswith(("near_", "alike_")):
            assert value == pytest.approx(0.75 * retry[name] + 0.25 * banana[name], abs=1e-4), name
    whole, half = near(["retry", "request"], *(Chunk("1", "", symbol=name) for name in ("retryRequest", "retryBanana")))
    assert whole["asked_name"] > half["asked_name"]
    both, one = near(["retry", "banana"], Chunk("1", "retry banana"), Chunk("2", "retry"))
    assert both["least_met"] == pytest.approx(1, abs=1e-3)
    assert one["least_met"] < 0.8 < one["met"] + 0.4


def test_a_chunk_without_a_telling_word_is_near_nothing_and_takes_nothing_from_its_neighbours():
    for text in ("", "  ", "()", "the of and to", "how do i"):
        (row,) = near(["retry"], Chunk("1", text))
        assert max(value for name, value in row.items() if not name.startswith("alike_")) < 0.2, text
        assert max(row[f"alike_{field}@100"] for field in SIMILARITY_FIELDS) < 0.01, text
    full = Chunk("1", "retry", symbol="retry", doc="Retry.")
    (alone,) = near(["retry"], full)
    assert near(["retry"], Chunk("0", ""), full, Chunk("2", ""))[1] == pytest.approx(alone, abs=1e-6)
    assert not any(near([], Chunk("1", "retry"))[0].values())
    assert near(["retry"]) == []
    (row,) = near(["how", "do"], Chunk("1", "retry", symbol="retry"))  # a question of stop words alone
    assert all(0 <= value <= 1 for name, value in row.items() if not name.startswith("alike_"))


def test_a_foreign_question_is_unknown_to_the_corpus():
    chunks = (
        Chunk("1", "def send_mail(to):\n    server.deliver(to)", "python", "mail.py", 1, 2, "send_mail", "function"),
        Chunk("2", "def add(a, b):\n    return a + b", "python", "sums.py", 1, 2, "add", "function"),
    )
    encoder = default_static()
    snapshot = Snapshot.of(chunks, encoder.encode([view(one) for one in chunks], "code"))

    def looked_up(text: str) -> dict[str, float]:
        found = LearnedSearcher(snapshot, encoder).look_up(Query("1", text), encoder.encode([text], "query")[0])
        return dict(zip(QUERY_FEATURES, query_features(found).tolist(), strict=True))

    own, foreign = looked_up("where is mail sent"), looked_up("voltage of a transformer coil")
    assert own["unknown"] < foreign["unknown"] == 1
    assert own["strongest"] > foreign["strongest"] == 0
    assert own["closest"] > foreign["closest"]
    assert own["corpus"] == foreign["corpus"] == pytest.approx(np.log(3))
    assert own["always"] == 1
    assert all(np.isfinite(value) for value in looked_up("?!").values())


def test_relevance_is_judged_by_the_best_candidate_and_any_of_the_first_five():
    rows = np.zeros((7, len(ALL_FEATURES)), dtype=np.float32)
    rows[:, 0] = np.arange(7)
    asked = np.arange(len(QUERY_FEATURES), dtype=np.float32)

    def row_of(rows: np.ndarray, scores: list[float]) -> dict[str, float]:
        row = relevance_row(asked, rows, np.array(scores, dtype=np.float32)).tolist()
        return dict(zip(RELEVANCE_FEATURES, row, strict=True))

    row = row_of(rows, [3, 9, 5, 4, 2, 1, 0])
    assert (row["first_lexical"], row["any_lexical"]) == (1, 4)
    assert (row["score"], row["margin"]) == (9, pytest.approx(9 - 3.5))
    assert [row[name] for name in QUERY_FEATURES] == asked.tolist()
    assert row_of(rows[:1], [1])["margin"] == 0
    without = row_of(rows[:0], [])
    assert [without[name] for name in QUERY_FEATURES] == asked.tolist()
    assert not any(value for name, value in without.items() if name not in QUERY_FEATURES)
