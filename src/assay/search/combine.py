"""Fuse, unite and rerank the answers of searchers, and report a corrupt index in one line.

`rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) with their k of 60. `linear` adds scores in
standard deviations above the lowest that a searcher returned: z-scores, but for one constant a query, so that what a
searcher did not return adds 0.

An index is checked in full when it is made, asked about or first served. A search verifies the blocks that it reads.
Where a search breaks for any other reason, every byte is read before the index is held to be sound.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.errors import AssayError, DamagedIndex, StorageError
from assay.protocols import Scorer, Searcher
from assay.values import Hit, Query

DEPTH = 200
"""Hits that each searcher is asked for at least."""
_RRF_K = 60


class Member(NamedTuple):
    """A searcher, what it is called in `why`, and how much it counts."""

    name: str
    searcher: Searcher
    weight: float


@dataclass(frozen=True, slots=True)
class FusedSearcher:
    """Search with every member; equal scores are in the order of the members, then of their hits."""

    members: tuple[Member, ...]
    fusion: str = "rrf"
    depth: int = DEPTH

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; the parts in `why` add up to the score."""
        counting = [member for member in self.members if member.weight]
        if not counting:
            return [[] for _ in queries]
        answers = [member.searcher.search(queries, max(k, self.depth)) for member in counting]
        return [self._fused(counting, answer)[:k] for answer in zip(*answers, strict=True)]

    def _fused(self, members: Sequence[Member], answers: Sequence[Sequence[Hit]]) -> list[Hit]:
        parts: dict[str, dict[str, float]] = {}
        chunks = {hit.chunk.id: hit.chunk for hits in answers for hit in hits}
        for member, hits in zip(members, answers, strict=True):
            for hit, worth in zip(hits, FUSIONS[self.fusion](hits), strict=True):
                parts.setdefault(hit.chunk.id, {})[member.name] = member.weight * worth
        return sorted(
            (Hit(chunks[id_], sum(why.values()), why) for id_, why in parts.items()), key=lambda hit: -hit.score
        )


def by_rank(hits: Sequence[Hit]) -> list[float]:
    """Return what each place is worth in reciprocal rank fusion."""
    return [1.0 / (_RRF_K + rank) for rank in range(1, len(hits) + 1)]


def by_score(hits: Sequence[Hit]) -> list[float]:
    """Return how many standard deviations each score is above the lowest; equal scores tell nothing."""
    scores = np.array([hit.score for hit in hits], dtype=np.float64)
    deviation = float(scores.std()) if len(scores) else 0.0
    above: list[float] = (scores - scores.min(initial=np.inf)).tolist()
    return [score / deviation for score in above] if deviation > 0 else [1.0] * len(hits)


FUSIONS: Mapping[str, Callable[[Sequence[Hit]], list[float]]] = {"rrf": by_rank, "linear": by_score}
"""How what a member returned becomes comparable, by the name that `search.fusion` gives it."""


def union(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the best `k` of all answers; equal ranks are ordered by score, and one answer stays as it is."""
    ranked = [(rank, -hit.score, hit) for answer in answers for rank, hit in enumerate(answer)]
    ranked.sort(key=lambda entry: entry[:2])
    best = {hit.chunk.id: hit for _, _, hit in reversed(ranked)}
    order = dict.fromkeys(hit.chunk.id for _, _, hit in ranked)
    return [best[chunk_id] for chunk_id in order][:k]


def rerank(scorer: Scorer, query: Query, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of a query, best first by what a scorer that reads them says, equal ones as they were."""
    if not hits:
        return []
    scores = map(float, scorer.score(query, [hit.chunk for hit in hits]))
    scored = [Hit(hit.chunk, score, {"reranker": score}) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)


def rebuild_command(path: str, location: str | None) -> str:
    """Return the command that rebuilds the index of a path, at a location if one was named."""
    return shlex.join(["assay", "index", path, *(["--index", location] if location else [])])


@dataclass(frozen=True, slots=True)
class IndexGuard:
    """Says of an index that it is damaged, to who reads it and to the index itself, so that a refresh rebuilds it."""

    check: Callable[[], str]
    """Reads every byte, and returns what is damaged."""
    rebuild: str
    """The command that rebuilds the index."""
    is_copied: bool = False
    """Whether copies are read, of which `check` fetches again what is not as written."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise DamagedIndex with the next step where what is done inside breaks over a damaged index."""
        try:
            yield
        except DamagedIndex as damage:
            found = self.check()
            if self.is_copied and not found:
                raise StorageError(
                    f"a copy of the index was corrupt and is fetched again ({damage}): try again"
                ) from damage
            raise DamagedIndex(f"the index is corrupt: {found or damage}; {self.rebuild} rebuilds it") from damage
        except AssayError:
            raise
        except Exception as error:
            if found := self.check():
                raise DamagedIndex(f"the index is corrupt: {found}; {self.rebuild} rebuilds it") from error
            raise
