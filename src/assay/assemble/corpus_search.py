"""A corpus and settings to what searches it: one root, or many in one pass.

Roots whose settings and encoder are the same are one corpus: one set of statistics, one ranking, one verdict, in the
time of one root of their size. Their answers need no merging then, which by rank loses a third of them
(docs/results.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from assay.assemble.pipeline import dictionary, searcher_of, weights_folder
from assay.protocols import Encoder, Searcher
from assay.search.combine import CheckedSearcher, IndexGuard, union
from assay.search.hybrid import is_relevant
from assay.search.question import Speller
from assay.search.retrievers import listing
from assay.settings import SearchSettings
from assay.store.snapshot import Snapshot
from assay.types import Hit, Query


@dataclass(frozen=True)
class CorpusSearch:
    """One corpus with all that its settings ask for, each part made when it is first needed."""

    snapshot: Snapshot
    encoder: Encoder
    settings: SearchSettings
    guard: IndexGuard

    @cached_property
    def speller(self) -> Speller:
        """Return what corrects the spelling of queries."""
        return Speller(self.snapshot, dictionary)

    @cached_property
    def searcher(self) -> Searcher:
        """Return the searcher that the settings ask for."""
        return self._searcher_by(self.settings)

    @cached_property
    def unreranked(self) -> Searcher:
        """Return the same without its reranker, for where that is not to be had."""
        return self._searcher_by(replace(self.settings, reranker=""))

    def _searcher_by(self, settings: SearchSettings) -> Searcher:
        return CheckedSearcher(searcher_of(self.snapshot, self.encoder, settings, self.speller), self.guard)

    def search(self, queries: Sequence[Query], k: int, *, reranked: bool = True) -> list[Hit]:
        """Return the best hits of some queries, united."""
        asked = [query for query in queries if query.text]
        found = (self.searcher if reranked else self.unreranked).search(asked, k) if asked else []
        with self.guard.reading():
            found += [listing(self.snapshot, query, k) for query in queries if not query.text]
        return union(found, k)

    def is_relevant(self, hits: Sequence[Hit], *, reranked: bool = True) -> bool:
        """Say whether a hit is likely right, by the ranking alone; where scores are no probabilities, any hit is.

        A reranker only says which of some texts is the better one, and one of them always is.
        """
        if self.settings.ranking == "learned" and not (reranked and self.settings.reranker):
            return is_relevant(hits, self.snapshot, self.encoder.name, weights_folder(self.settings))
        return bool(hits)
