"""Pool the unjudged answers of systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from assay.corpus.languages import BY_EXTENSION
from assay.measure.line_spans import Entry, Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.truth.ground_truth import Qrels
from assay.values import Chunk, Problem, Query

Run = Mapping[str, Sequence[Span]]
"""The ranked answers of one system, by the query's id."""


@dataclass(frozen=True, slots=True)
class UnjudgedPair:
    """A pair to judge."""

    query_id: str
    query: str
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundBy:
    """The system that found a target; never shown to a judge."""

    query_id: str
    target: str
    system: str
    rank: int
    found: str
    """The system's result: the target itself, or a place that it represents."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The results of several systems, and the pairs among them to judge."""

    pairs: tuple[UnjudgedPair, ...]
    sources: tuple[FoundBy, ...]
    found: int
    """Different results within the depth, all queries together."""
    judged: int
    """How many of them are judged already."""
    shares: Mapping[str, float]
    """By system, judged@depth: the mean fraction of its results that are judged."""
    together: int
    """How many of them are represented by another one of nearly the same lines."""
    problems: tuple[Problem, ...] = ()


def pool(right: Qrels, runs: Mapping[str, Run], depth: int, text_of: Callable[[Span], str], *, seed: int = 0) -> Pool:
    """Return the unjudged pairs within the first `depth` results of any run; those without a text are problems."""
    found = {query.id: _results(runs, query.id, depth) for query in right.queries}
    standing = {query_id: _standing(results, right.entries[query_id]) for query_id, results in found.items()}
    asked = {query.id: query.text for query in right.queries}
    pairs: list[UnjudgedPair] = []
    sources: list[FoundBy] = []
    problems = list(_strangers(runs, asked))
    for query_id in _shuffled(asked, f"{seed}"):
        for target in _shuffled(standing[query_id], f"{seed} {query_id}"):
            spans = standing[query_id][target]
            text = text_of(spans[0])
            by = [(span, *each) for span in spans for each in found[query_id][span]]
            sources += [FoundBy(query_id, target, system, rank, str(span)) for span, system, rank in by]
            if text.strip():
                pairs.append(UnjudgedPair(query_id, asked[query_id], target, text))
            else:
                systems = ", ".join(dict.fromkeys(system for system, _ in found[query_id][spans[0]]))
                problems.append(Problem(query_id, f"the corpus has no text at {target}, which {systems} found"))
    results = sum(map(len, found.values()))
    unjudged = sum(len(spans) for each in standing.values() for spans in each.values())
    together = unjudged - sum(map(len, standing.values()))
    shares = {name: _share(right, run, depth) for name, run in runs.items()}
    return Pool(tuple(pairs), tuple(sources), results, results - unjudged, shares, together, tuple(problems))


def as_pairs(
    judging_pool: Pool, queries: Iterable[Query], languages: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[Query, Chunk]]:
    """Return the pairs to judge; `languages` are those of documents, files have them by their suffix."""
    asked = {query.id: query for query in queries}
    return [
        as_pair(asked[row.query_id], row.target, row.text, languages.get(row.target, "")) for row in judging_pool.pairs
    ]


def as_pair(query: Query, target: str, text: str, language: str | None = None) -> tuple[Query, Chunk]:
    """Return a query and the text of a target; without a language, it is that of the file's suffix."""
    path = target.partition(":")[0]
    return query, Chunk(target, text, language or BY_EXTENSION.get(path.rpartition(".")[2], ""), path)


def _standing(results: Iterable[Span], entries: Sequence[Entry]) -> dict[str, list[Span]]:
    """Return the places to judge, each with the unjudged ones that it represents, itself first.

    The shortest come first, then whole files.
    """
    unjudged = [span for span in results if not any(span.overlaps(entry.span) for entry in entries)]
    stands: dict[str, list[Span]] = {}
    by_path: defaultdict[str, list[Span]] = defaultdict(list)
    for span in sorted(unjudged, key=lambda span: (not span.start, span.end - span.start, str(span))):
        like = next((other for other in by_path[span.path] if _alike(span, other)), None)
        if like is None:
            by_path[span.path].append(span)
        stands.setdefault(str(like or span), []).append(span)
    return stands


def _results(runs: Mapping[str, Run], query_id: str, depth: int) -> dict[Span, list[tuple[str, int]]]:
    """Return the results of each system within the depth; a repeated one keeps its first rank."""
    found: defaultdict[Span, list[tuple[str, int]]] = defaultdict(list)
    for name, run in runs.items():
        for rank, span in enumerate(list(dict.fromkeys(run.get(query_id, ())))[:depth], 1):
            found[span].append((name, rank))
    return found


def _alike(one: Span, other: Span) -> bool:
    """Say whether two places of one file overlap in at least half of their combined lines."""
    if not one.start or not other.start:
        return one == other
    shared = min(one.end, other.end) - max(one.start, other.start) + 1
    both = max(one.end, other.end) - min(one.start, other.start) + 1
    return 2 * shared >= both


def _shuffled(values: Iterable[str], seed: str) -> list[str]:
    shuffled = sorted(values)
    Random(seed).shuffle(shuffled)  # noqa: S311  # an order, not a secret
    return shuffled


def _strangers(runs: Mapping[str, Run], query_ids: Collection[str]) -> Iterator[Problem]:
    for name, run in runs.items():
        if strange := [query_id for query_id in run if query_id not in query_ids]:
            yield Problem(name, f"{len(strange)} of its {len(run)} queries are not in the ground truth: '{strange[0]}'")


def _share(right: Qrels, run: Run, depth: int) -> float:
    known = {query.id: run.get(query.id, ()) for query in right.queries}
    values = parse(f"judged@{depth}").of(match(known, right.entries, right.units[0]))
    return float(values.mean()) if len(values) else 0.0
