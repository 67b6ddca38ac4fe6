"""A searcher's hits and what is linked to the best of them: called, calling, or beside them in their file.

What is linked comes below the hits, so that a reranker sees more to choose from; only with a `weight` does it rise
among them by itself. Links are those of `related`: calls, resolved by file, import and receiver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import CALLABLES, TYPES
from assay.protocols import Searcher
from assay.search.filters import Mask, filter_mask
from assay.search.reference_table import numbers_in, table_of
from assay.search.related_code import callees_of, calls_of_unit
from assay.search.resolve import resolver_of
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Query

_SEEDS = 5
"""Hits whose links are followed."""


_COMMON = 20
"""What so many chunks call says nothing about any of them."""


def called(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the numbers of the chunks where what a chunk calls is defined."""
    lines = (chunk.start_line, chunk.end_line)
    found = {each.chunk for _, each, among in callees_of(resolver_of(snapshot), chunk.path, lines) if among == 1}
    return np.array(sorted(found), dtype=np.int64)


def calling(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the numbers of the chunks that call what a chunk defines."""
    resolver = resolver_of(snapshot)
    found: set[int] = set()
    for unit in table_of(snapshot).file(chunk.path).definitions:
        inside = chunk.start_line <= unit.at.start and unit.at.end <= chunk.end_line
        if inside and unit.at.kind in TYPES | CALLABLES:
            callers = {call.chunk for call, among in calls_of_unit(resolver, unit) if among == 1}
            found |= callers if len(callers) <= _COMMON else set()
    return np.array(sorted(found), dtype=np.int64)


@dataclass(slots=True)
class _Linked:
    """A chunk that hits are linked to: how strongly, the best score of them, and by what."""

    strength: float
    score: float
    link: str


@dataclass(frozen=True, slots=True)
class ExpandedSearcher:
    """Search with `inner`, then add at most `number` chunks that its best hits are linked to."""

    inner: Searcher
    snapshot: Snapshot
    number: int
    weight: float = 0.0
    """The share of the best linking hit's score that a linked chunk has."""
    depth: int = 50
    """Places that are the hits' own before what is linked takes one."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first: past the first `depth`, the last places are for the linked."""
        answers = self.inner.search(queries, k)
        return [self._expanded(query, hits, k) for query, hits in zip(queries, answers, strict=True)]

    def _expanded(self, query: Query, hits: Sequence[Hit], k: int) -> list[Hit]:
        linked = self._linked(query, hits)
        own = hits if self.weight else hits[: max(self.depth, k - len(linked))]
        return sorted((*own, *linked), key=lambda hit: -hit.score)[:k]

    def _linked(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        """Return what the first hits are linked to and no hit is, the most strongly linked first."""
        allowed = filter_mask(self.snapshot, query)
        known = {hit.chunk.id for hit in hits}
        found: dict[int, _Linked] = {}
        for place, hit in enumerate(hits[:_SEEDS], 1):
            for number, link in self._links(hit.chunk, allowed):
                linked = found.setdefault(number, _Linked(0.0, hit.score, link))
                linked.strength += 1.0 / place
        by_path = self.snapshot.order.ordered(np.array(list(found), dtype=np.int64)).tolist()
        ordered = sorted(by_path, key=lambda number: -found[number].strength)
        made = (self._hit(number, found[number]) for number in ordered)
        fresh = (hit for hit in made if hit.chunk.id not in known)
        return [hit for hit, _ in zip(fresh, range(self.number), strict=False)]

    def _hit(self, number: int, linked: _Linked) -> Hit:
        score = self.weight * linked.score
        return Hit(self.snapshot.chunk(number), score, {linked.link: score})

    def _links(self, chunk: Chunk, allowed: Mask | None) -> Iterator[tuple[int, str]]:
        """Yield what a chunk is linked to and a query may find, each once for each link."""
        here = numbers_in(self.snapshot, chunk.path) if chunk.path else np.zeros(0, dtype=np.int64)
        at = int(np.searchsorted(self.snapshot.rows("lines", here)[:, 0], chunk.start_line)) if len(here) else 0
        links = {
            "is called": called(self.snapshot, chunk),
            "calls": calling(self.snapshot, chunk),
            "beside": here[[place for place in (at - 1, at + 1) if 0 <= place < len(here)]],
        }
        for link, numbers in links.items():
            for number in np.unique(numbers).tolist():
                if allowed is None or allowed[number]:
                    yield number, link
