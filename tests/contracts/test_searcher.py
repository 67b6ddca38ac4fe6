"""Whatever searches, alone or around another: the same promises about what is returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from assay.encode.vectors import HashedEncoder
from assay.encode.view import view
from assay.operations.corpus_search import CorpusSearch
from assay.protocols import Searcher
from assay.search.hybrid import LearnedSearcher
from assay.search.issues import IssueSearcher
from assay.search.path_filters import PROSE
from assay.search.retrievers import FusedSearcher, IndexGuard, KeywordSearcher, Member, VectorSearcher
from assay.settings import SearchSettings
from assay.store.segment import build
from assay.store.snapshot import Snapshot
from assay.values import Chunk, Query

ENCODER = HashedEncoder("64")
WORDS = "retry timeout cache limit header request response client server session".split()


def snapshot_of(*segments: list[Chunk], dead=()) -> Snapshot:
    """Hold a list of chunks a segment."""
    parts = []
    for made in segments:
        live = np.array([chunk.id not in dead for chunk in made], dtype=bool)
        vectors = ENCODER.encode([view(chunk) for chunk in made], "code")
        parts.append((build(made, vectors), None if live.all() else live))
    return Snapshot(parts)


def chunks(count: int) -> list[Chunk]:
    """Return functions that call one another, four a file, and sections; every third has a twin elsewhere."""
    made = []
    for number in range(count):
        first, second, other = (WORDS[number * step % 10] for step in (1, 3, 7))
        path, line = f"{'lib' if number % 2 else 'test'}/{first}.py", 1 + 10 * (number // 10)
        name = f"{first}_{second}"
        text = f"def {name}():\n    {second}_{WORDS[number * 9 % 10]}()\n    return {other}\n"
        made.append(Chunk(f"c{number}", text, "python", path, line, line + 3, name, "function"))
        if number % 3 == 0:
            made.append(Chunk(f"t{number}", text, "python", f"copy/{path}", line, line + 3, name, "function"))
    prose = [
        Chunk(f"s{n}", f"About {w}.\n", "markdown", f"docs/{w}.md", 1, 2, w, "section") for n, w in enumerate(WORDS)
    ]
    return [*made, *prose]


@dataclass
class Longest:
    """A scorer that likes long texts."""

    def score(self, query: Query, chunks: list[Chunk]) -> list[float]:
        return [len(chunk.text) - len(query.text) for chunk in chunks]


def fused(snapshot, encoder, fusion: str) -> FusedSearcher:
    members = (
        Member("vectors", VectorSearcher(snapshot, encoder), 0.7),
        Member("keywords", KeywordSearcher(snapshot), 0.3),
    )
    return FusedSearcher(members, fusion, depth=30)


def corpus_search(snapshot, encoder, ranking: str, scorer: Longest | None = None) -> Searcher:
    settings = SearchSettings(ranking=ranking, reranker="longest" if scorer else "", rerank_depth=12)
    search = CorpusSearch(snapshot, encoder, settings, IndexGuard(str, ""))
    vars(search)["scorer"] = scorer
    return search


SEARCHERS: dict[str, Callable[..., Searcher]] = {
    "learned": LearnedSearcher,
    "issues": lambda snapshot, encoder: IssueSearcher(LearnedSearcher(snapshot, encoder), snapshot),
    "vectors": VectorSearcher,
    "keywords": lambda snapshot, _: KeywordSearcher(snapshot),
    "read and corrected": lambda snapshot, encoder: corpus_search(snapshot, encoder, "learned"),
    "rrf": lambda snapshot, encoder: fused(snapshot, encoder, "rrf"),
    "linear": lambda snapshot, encoder: fused(snapshot, encoder, "linear"),
    "reranked": lambda snapshot, encoder: corpus_search(snapshot, encoder, "keywords", Longest()),
    "fused, reranked": lambda snapshot, encoder: corpus_search(snapshot, encoder, "fused", Longest()),
}
ISSUE = (
    "The cache limit is lost\n\n" + "A request of the client waits for the server session. " * 8 + "\nat lib/cache.py:3"
)
TEXTS = ("retry the request", "cache_limit", "timeout", "a server for each session", "header " * 30, ISSUE)
FILTERS = (
    ({"mode": "docs"}, lambda chunk: chunk.language in PROSE),
    ({"mode": "code", "paths": ("lib/*",)}, lambda chunk: chunk.path.startswith("lib/")),
    ({"paths": ("!copy/",)}, lambda chunk: not chunk.path.startswith("copy/")),
    ({"kinds": ("section",)}, lambda chunk: chunk.kind == "section"),
    ({"languages": ("python",), "paths": ("copy/", "!*e.py")}, lambda chunk: chunk.path in COPIES),
)
COPIES = [f"copy/{folder}/{word}.py" for folder in ("lib", "test") for word in WORDS if not word.endswith("e")]


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    made = chunks(40)
    return snapshot_of(made[:25], made[25:], dead={"c3", "c30", "s2"})


def keys(hits):
    return [(hit.chunk.id, hit.score, dict(hit.why)) for hit in hits]


@pytest.mark.parametrize("name", SEARCHERS)
def test_a_searcher_keeps_its_promises(snapshot, name):
    """At most k distinct living chunks that its filters keep, best first, the same in a batch and alone."""
    searcher, queries = (
        SEARCHERS[name](snapshot, ENCODER),
        [Query(str(number), text) for number, text in enumerate(TEXTS)],
    )
    for k in (1, 5, 12, 200):
        for hits in searcher.search(queries, k):
            names = [hit.chunk.id for hit in hits]
            assert 0 < len(names) <= k
            assert len(set(names)) == len(names)
            assert not {"c3", "c30", "s2"} & set(names)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            assert all(np.isfinite([hit.score, *hit.why.values()]).all() and hit.why for hit in hits)
    for kept, is_kept in FILTERS:
        (hits,) = searcher.search([Query("1", "retry cache header limit", **kept)], 100)
        assert hits, kept
        assert all(is_kept(hit.chunk) for hit in hits), kept
    together = searcher.search(queries, 7)
    assert [keys(hits) for hits in together] == [keys(searcher.search([query], 7)[0]) for query in queries]
    assert searcher.search([], 5) == []
    assert searcher.search([Query("1", "retry", paths=("nowhere/",))], 5) == [[]]
    for empty in (snapshot_of([]), snapshot_of()):
        found = SEARCHERS[name](empty, ENCODER).search([Query("1", "retry"), Query("2", "x")], 5)
        assert found == [[], []], "an empty corpus has no hits"


def test_twins_are_in_the_order_of_the_corpus():
    """Where nothing but the text counts, which the paths of these do not share a word with."""
    same = [Chunk(f"n{n}", "retry the cache\n", "python", "", 0, 0, "", "block") for n in range(60)]
    snapshot = snapshot_of(same[:20], same[20:])
    for name in ("vectors", "keywords", "rrf", "linear", "reranked"):
        (hits,) = SEARCHERS[name](snapshot, ENCODER).search([Query("1", "retry")], 10)
        assert [hit.chunk.id for hit in hits] == [f"n{n}" for n in range(10)], name
