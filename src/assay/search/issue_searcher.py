"""An issue asked part by part: its title, all that it says, and its title again within the files that it names.

The title alone is the better question, and the rest adds what it leaves out; without a title the rest is asked. Each
part is answered with probabilities, so their weighted mean is one, too (a linear opinion pool: Stone, 1961, *The
Opinion Pool*). Half of it is of the hit and half of its file, whose probability is that of its best hit; a fix spreads
over files, so none has more than three places. Questions are asked as they stand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import TYPE_CHECKING

from assay.protocols import Searcher
from assay.search.filters import keeping
from assay.search.path_traits import traits_of
from assay.search.question import LONG
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Query

if TYPE_CHECKING:
    from assay.search.issue_text import IssueText
    from assay.search.named_places import NamedPlace

WEIGHTS: Mapping[str, float] = {"title": 1.0, "text": 0.5, "named": 0.5}
"""What each part counts; between 0.3 and 1 for the later ones nothing moves by more than one question in a hundred."""
_OF_ONE_FILE = 3
_DEPTH = 50
"""Hits of each part that are pooled."""
_Parts = dict[str, float]
"""What adds up to a score."""


@dataclass(frozen=True, slots=True)
class IssueSearcher:
    """Search with `inner`, whose scores are probabilities."""

    inner: Searcher
    snapshot: Snapshot

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first."""
        if all(len(query.text) < LONG for query in queries):
            return self.inner.search(queries, k)
        from assay.search.issue_text import issue_of  # its patterns are compiled when it is loaded

        issues = [issue_of(query.text) for query in queries]
        return [
            self._answer(query, issue, k) if issue else self.inner.search([query], k)[0]
            for query, issue in zip(queries, issues, strict=True)
        ]

    def _answer(self, query: Query, issue: IssueText, k: int) -> list[Hit]:
        named = self._named(query, issue.places)
        parts = {"title": replace(query, text=issue.title)} if issue.title else {}
        parts["text"] = replace(query, text=issue.text)
        if named:
            parts["named"] = replace(next(iter(parts.values())), paths=tuple(f"./{escape(path)}" for path in named))
        answers = self.inner.search([*parts.values()], max(k, _DEPTH))
        return pooled(dict(zip(parts, answers, strict=True)), named)[:k]

    def _named(self, query: Query, places: Sequence[NamedPlace]) -> dict[str, float]:
        """Return the files that are named and may be found, with how likely each is meant: 1/2, 1/3, and so on.

        A test or an example that is named shows the fault; it is not where the fault is.
        """
        if not places:
            return {}
        from assay.search.named_places import named_files

        passes = keeping(query.paths)
        files = dict.fromkeys(
            path for path in named_files(self.snapshot, places) if passes(path) and not any(traits_of(path))
        )
        return {path: 1 / at for at, path in enumerate(files, 2)}


def pooled(answers: Mapping[str, Sequence[Hit]], named: Mapping[str, float]) -> list[Hit]:
    """Return the hits of all parts, each once with its mean probability, best first; `why` adds up to it."""
    counts = {part: WEIGHTS[part] / 2 / sum(map(WEIGHTS.__getitem__, answers)) for part in answers}
    hits = {hit.chunk.id: hit for answer in answers.values() for hit in answer}
    own, files = defaultdict[str, _Parts](dict), defaultdict[tuple[str, str], _Parts](dict)
    for chunk in (hit.chunk for hit in hits.values() if hit.chunk.path in named):
        files[chunk.root, chunk.path]["file_named"] = named[chunk.path] * counts["named"]
    for part, answer in answers.items():
        for hit in answer:
            own[hit.chunk.id][part] = added = hit.score * counts[part]
            file = files[_file_of(hit)]
            if part != "named":
                file[f"file_{part}"] = max(file.get(f"file_{part}", 0.0), added)
    found = [_hit(hit.chunk, own[id_] | files[_file_of(hit)]) for id_, hit in hits.items()]
    return _spread(sorted(found, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path, hit.chunk.start_line)))


def _hit(chunk: Chunk, parts: _Parts) -> Hit:
    strongest_first = sorted(parts.items(), key=lambda part: -part[1])
    return Hit(chunk, sum(parts.values()), dict(strongest_first))


def _file_of(hit: Hit) -> tuple[str, str]:
    """Return the file of a hit and its root; a text without one is alone in its own."""
    return hit.chunk.root, hit.chunk.path or hit.chunk.id


def _spread(hits: Sequence[Hit]) -> list[Hit]:
    """Keep the first few hits of each file."""
    places = Counter[tuple[str, str]]()
    kept = []
    for hit in hits:
        places[_file_of(hit)] += 1
        if places[_file_of(hit)] <= _OF_ONE_FILE:
            kept.append(hit)
    return kept
