from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.encode.cached_scorer import CachedScorer
from assay.protocols import BlendedScorer
from assay.types import Blend, Chunk, Query

CHUNKS = [Chunk(str(n), "alpha beta gamma delta"[: 6 * n], path="a.py") for n in range(1, 5)]
QUERY = Query("1", "where is it")


class Lengths:
    """A scorer that remembers what it read."""

    blend = Blend(0.5)

    def __init__(self, name: str = "lengths") -> None:
        self.name = name
        self.read: list[str] = []

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        self.read += [chunk.id for chunk in chunks]
        return [len(chunk.text) / len(query.text) for chunk in chunks]


def test_each_text_is_read_once_a_question_and_model(tmp_path: Path) -> None:
    scorer = Lengths()
    first = CachedScorer(scorer, tmp_path / "deep" / "scores.sqlite")
    assert isinstance(first, BlendedScorer)
    assert (first.name, first.blend) == ("lengths", Blend(0.5))
    fresh = first.score(QUERY, CHUNKS[:3])
    again = CachedScorer(scorer, tmp_path / "deep" / "scores.sqlite")
    assert again.score(QUERY, CHUNKS) == [*fresh, scorer.score(QUERY, CHUNKS[3:])[0]]
    assert scorer.read == ["1", "2", "3", "4", "4"]
    again.score(Query("2", "another"), CHUNKS[:1])
    CachedScorer(Lengths("other"), tmp_path / "deep" / "scores.sqlite").score(QUERY, CHUNKS[:1])
    assert scorer.read[5:] == ["1"]


def test_two_chunks_with_one_text_are_read_once(tmp_path: Path) -> None:
    scorer = Lengths()
    twins = [CHUNKS[0], Chunk("twin", CHUNKS[0].text, path="a.py")]
    assert len(set(CachedScorer(scorer, tmp_path / "scores.sqlite").score(QUERY, twins))) == 1
    assert scorer.read == ["twin"]
    assert CachedScorer(scorer, tmp_path / "scores.sqlite").score(QUERY, []) == []
