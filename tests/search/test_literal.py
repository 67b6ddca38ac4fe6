from __future__ import annotations

import numpy as np
import pytest

from assay.search.literal import LiteralMatch, literal_matches, reading_order
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
                LiteralMatch("a.py", 3, 5),
                LiteralMatch("a.py", 4, 12),
                LiteralMatch("a.py", 4, 23),
                LiteralMatch("b.md", 1, 1),
                LiteralMatch("b.md", 1, 15),
            ],
        ),
        ("Load", [LiteralMatch("a.py", 4, 12)]),
        ('"load it"', [LiteralMatch("b.md", 1, 1)]),
        ("a.*b", [LiteralMatch("c.txt", 7, 1)]),
        (":\n    return", [LiteralMatch("a.py", 3, 15)]),
        ("nowhere", []),
    ],
)
def test_every_place_is_found_letter_by_letter(snapshot: Snapshot, text: str, places: list[LiteralMatch]):
    assert literal_matches(snapshot, Query("q", text)) == places


def test_filters_mean_what_they_mean_for_the_ranked_list(snapshot: Snapshot):
    assert {place.path for place in literal_matches(snapshot, Query("q", "load", mode="docs"))} == {"b.md"}
    assert {place.path for place in literal_matches(snapshot, Query("q", "load", paths=("!*.md",)))} == {"a.py"}


def test_what_two_chunks_share_counts_once():
    shared = (CHUNKS[0], Chunk("4", "def load(path):", "python", "a.py", 3, 3))
    snapshot = Snapshot.of(shared, np.zeros((2, 4), dtype=np.float32))
    assert len(literal_matches(snapshot, Query("q", "load"))) == 3


def test_the_program_comes_before_its_documentation_and_tests():
    paths = ["CHANGES.md", "docs/use.md", "src/a.py", "tests/test_a.py", "src/b.py"]
    places = [LiteralMatch(path, line, 1) for path in paths for line in (9, 3)]
    ordered = [(place.path, place.line) for place in sorted(places, key=reading_order)]
    first = ["src/a.py", "src/b.py", "docs/use.md", "tests/test_a.py", "CHANGES.md"]
    assert ordered == [(path, line) for path in first for line in (3, 9)]
