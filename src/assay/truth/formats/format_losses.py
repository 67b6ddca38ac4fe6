"""A ground truth to what a format cannot hold of it, in words, so that nothing is dropped without being said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from assay.truth.ground_truth import Truth
from assay.types import Chunk, Judgment, Query

_PLAIN_QUERY = {"mode": "all", "languages": (), "paths": (), "kinds": ()}
_PLAIN_CHUNK = {field.name: field.default for field in fields(Chunk) if field.name not in {"id", "text", "path"}}


def counted(number: int, what: str) -> Iterator[str]:
    """Yield what is lost and how many times, nothing where nothing is."""
    if number:
        yield f"{what} ({number:,})"


def filters(queries: Iterable[Query]) -> Iterator[str]:
    """Yield how many queries keep only some of the corpus."""
    filtered = (any(getattr(query, name) != plain for name, plain in _PLAIN_QUERY.items()) for query in queries)
    yield from counted(sum(filtered), "queries with mode, languages, paths or kinds")


def tags(queries: Iterable[Query], held: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the tags of queries that are not among those a format holds."""
    names = sorted({name for query in queries for name in query.tags} - held)
    if names:
        yield f"the tags {', '.join(names)}"


def judges(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Yield how many judgments say who made them or why."""
    named = sum(bool(judgment.judge or judgment.reason) for judgment in judgments)
    yield from counted(named, "judges and reasons of judgments")


def repeats(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Yield how many judgments are further ones of the same pair."""
    seen: set[tuple[str, str]] = set()
    again = 0
    for judgment in judgments:
        key = (judgment.query_id, judgment.target)
        again += key in seen
        seen.add(key)
    yield from counted(again, "further judgments of a pair that is judged already")


def documents(truth: Truth) -> Iterator[str]:
    """Yield how many documents come with a ground truth."""
    yield from counted(len(truth.documents), "documents")


def document_fields(held: frozenset[str], chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield the fields of documents that are not among those a format holds."""
    names = [name for name in _PLAIN_CHUNK if name not in held]
    lost = sorted({name for chunk in chunks for name in names if getattr(chunk, name) != _PLAIN_CHUNK[name]})
    if lost:
        yield f"the fields {', '.join(lost)} of documents"


def corpus(truth: Truth) -> Iterator[str]:
    """Yield what is known of a checkout."""
    if truth.repository or truth.commit:
        yield "repository and commit"
    yield from counted(len(truth.hidden), "hidden targets")


def unanswered(truth: Truth) -> Iterator[str]:
    """Yield how many queries nobody judged anything for."""
    judged = {judgment.query_id for judgment in truth.judgments}
    yield from counted(sum(query.id not in judged for query in truth.queries), "queries without a judgment")


def strays(truth: Truth) -> Iterator[str]:
    """Yield how many judgments are of something that is no document."""
    known = {document.id for document in truth.documents}
    yield from counted(sum(each.target not in known for each in truth.judgments), "judgments of no document")
