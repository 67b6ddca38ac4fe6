from __future__ import annotations

import time

import numpy as np
import pytest

from assay.errors import InputError
from assay.search.text_matches import TextMatch, holding, lines_matching, pattern, reading_order, text_matches
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Query

CHUNKS = (
    Chunk("1", "def load(path):\n    return Load(path, LOAD)\n", "python", "a.py", 3, 4, "load", "function"),
    Chunk("2", "load it; then load again", "markdown", "b.md", 1, 1, "", "section"),
    Chunk("3", "a.*b", "text", "c.txt", 7, 7, "", "block"),
)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Snapshot.of(CHUNKS, np.zeros((len(CHUNKS), 4), dtype=np.float32))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            "load",
            [
                TextMatch("a.py", 3, 5),
                TextMatch("a.py", 4, 12),
                TextMatch("a.py", 4, 23),
                TextMatch("b.md", 1, 1),
                TextMatch("b.md", 1, 15),
            ],
        ),
        ("Load", [TextMatch("a.py", 4, 12)]),
        ('"load it"', [TextMatch("b.md", 1, 1)]),
        ("a.*b", [TextMatch("c.txt", 7, 1)]),
        (":\n    return", [TextMatch("a.py", 3, 15)]),
        ("nowhere", []),
    ],
)
def test_every_place_is_found_letter_by_letter(snapshot: Snapshot, text: str, places: list[TextMatch]):
    assert text_matches(snapshot, Query("q", text)) == places


def test_filters_mean_what_they_mean_for_the_ranked_list(snapshot: Snapshot):
    assert {place.path for place in text_matches(snapshot, Query("q", "load", mode="docs"))} == {"b.md"}
    assert {place.path for place in text_matches(snapshot, Query("q", "load", paths=("!*.md",)))} == {"a.py"}


def test_what_two_chunks_share_counts_once():
    shared = (CHUNKS[0], Chunk("4", "def load(path):", "python", "a.py", 3, 3))
    snapshot = Snapshot.of(shared, np.zeros((2, 4), dtype=np.float32))
    assert len(text_matches(snapshot, Query("q", "load"))) == 3


def test_the_program_comes_before_its_documentation_and_tests():
    paths = ["CHANGES.md", "docs/use.md", "src/a.py", "tests/test_a.py", "src/b.py"]
    places = [TextMatch(path, line, 1) for path in paths for line in (9, 3)]
    ordered = [(place.path, place.line) for place in sorted(places, key=reading_order)]
    first = ["src/a.py", "src/b.py", "docs/use.md", "tests/test_a.py", "CHANGES.md"]
    assert ordered == [(path, line) for path in first for line in (3, 9)]


def test_expressions_match_within_lines(snapshot: Snapshot):
    (both,) = text_matches(snapshot, Query("q", "", patterns=(r"^\s*return .*LOAD",)))
    assert both == TextMatch("a.py", 4, 1)
    assert text_matches(snapshot, Query("q", "", patterns=(r"path\):\s+return",))) == []


@pytest.mark.parametrize("expression", ["(", "[a", "(?=a)", r"(a)\1", "*", "a{1000}{1000}", "a" * 1001])
def test_an_expression_that_cannot_be_searched_is_named(snapshot: Snapshot, expression: str):
    with pytest.raises(InputError, match=r"expression"):
        text_matches(snapshot, Query("q", "", patterns=(expression,)))


def test_an_expression_that_would_run_for_ever_is_quick():
    text = "a" * 1_000_000
    snapshot = Snapshot.of([Chunk("1", text, "text", "a.txt", 1, 1)], np.zeros((1, 4), dtype=np.float32))
    started = time.process_time()
    assert text_matches(snapshot, Query("q", "", patterns=("(a|aa)+$x|(.*)*b",))) == []
    assert time.process_time() - started < 1


def test_only_so_many_matches_are_counted(snapshot: Snapshot):
    assert len(text_matches(snapshot, Query("q", "", patterns=("[a-z]",)), 7)) == 7


def test_lines_of_a_chunk_that_match(snapshot: Snapshot):
    assert lines_matching(snapshot.chunk(0), Query("q", "", exact=("load",), patterns=("def",))) == [3, 4]


def test_texts_that_take_too_long_are_refused(snapshot: Snapshot):
    segments = [segment for segment, _ in snapshot.parts]
    with pytest.raises(InputError, match=r"keep fewer files, as with file:src"):
        holding(segments, [np.ones(len(CHUNKS), dtype=bool)], [pattern("never")], -1.0)


def test_lines_of_windows_end_where_they_end():
    chunk = Chunk("1", "return foo\r\nreturn bar\r\n", "text", "a.txt", 1, 2)
    snapshot = Snapshot.of([chunk], np.zeros((1, 4), dtype=np.float32))
    assert text_matches(snapshot, Query("q", "", patterns=("foo$",))) == [TextMatch("a.txt", 1, 8)]


def test_single_bytes_of_a_letter_are_counted_and_break_nothing():
    snapshot = Snapshot.of([Chunk("1", "é", "text", "a.txt", 1, 1)], np.zeros((1, 4), dtype=np.float32))
    assert len(text_matches(snapshot, Query("q", "", patterns=(r"\C",)))) >= 1


def test_a_long_line_full_of_matches_is_quick():
    snapshot = Snapshot.of([Chunk("1", "ab " * 60_000, "text", "a.txt", 1, 1)], np.zeros((1, 4), dtype=np.float32))
    started = time.process_time()
    places = text_matches(snapshot, Query("q", "", exact=("ab",)))
    assert places[:2] == [TextMatch("a.txt", 1, 1), TextMatch("a.txt", 1, 4)]
    assert (len(places), time.process_time() - started < 5) == (60_000, True)


def test_bytes_that_are_not_utf_8_are_refused_in_words(snapshot: Snapshot):
    for query in (Query("q", "", exact=("\udcff",)), Query("q", "", patterns=("\udcff+",))):
        with pytest.raises(InputError, match="not UTF-8"):
            text_matches(snapshot, query)
