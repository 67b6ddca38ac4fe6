"""Count hits by repository, language and kind, list the lines that match, and take a question apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from assay.operations.hits import answer_type, cursor, offset_of
from assay.operations.joint_answer import joint_answer, matches_of
from assay.operations.requests import Facets, Matches, Typed
from assay.operations.roots import Roots
from assay.operations.search import Scope, scope_of, turn
from assay.operations.sizing import text_of_lines
from assay.operations.status import by_frequency, holdings
from assay.search.filters import filter_mask
from assay.search.query_filters import KEYS, QueryPart, mode_of, query_words
from assay.search.reference_table import numbers_in
from assay.values import Query

_COUNTED = 200
"""Hits that are counted if filters alone do not decide."""
_MAX_VALUES = 250
_MAX_LINE_CHARS = 500
"""Characters of a matching line that are shown."""


@answer_type
class FacetCounts:
    """The numbers of hits by repository, language and kind, highest first."""

    counted: int
    """Hits that were counted."""
    complete: bool
    """Whether all are counted: what filters, quoted texts and expressions allow; by meaning only the best are."""
    repositories: dict[str, int]
    """By name; empty where one folder was searched."""
    languages: dict[str, int]
    kinds: dict[str, int]


def facets(request: Facets, roots: Roots) -> FacetCounts:
    """Count the hits of some questions in one place or in all roots; without a text, all that the filters allow."""
    scope = scope_of(roots, request)
    pairs = zip(scope.queries, request.texts, strict=True)
    by_filter = [query.reads_text or not query_words(text).by_meaning for query, text in pairs]
    counts = _all_counts(scope) if all(by_filter) else (Counter[str](),) * 3
    if is_complete := any(counts):
        counted = counts[0].total()
    else:
        with turn(scope.searches, scope.queries):
            found = joint_answer(scope.searches, scope.queries, _COUNTED, rooted=not scope.root)
        chunks = [hit.chunk for hit in found.hits]
        counts = tuple(Counter(getattr(chunk, name) for chunk in chunks) for name in ("root", "language", "kind"))
        counted = len(chunks)
    repositories, *most = [by_frequency(each, _MAX_VALUES) for each in counts]
    return FacetCounts(counted, is_complete, {} if scope.root else repositories, *most)


def _all_counts(scope: Scope) -> tuple[Counter[str], ...]:
    """Count every chunk that the filters keep by repository, language and kind."""
    counts = Counter[str](), Counter[str](), Counter[str]()
    for search in scope.searches:
        for member in search.members:
            with search.corpus_search.guard.reading():
                masks = [filter_mask(member.snapshot, query) for query in scope.queries]
            everything = np.ones(member.snapshot.size, bool)
            kept = np.logical_or.reduce([everything if mask is None else mask for mask in masks])
            here = ({member.name: int(kept.sum())}, *holdings(member.snapshot, kept))
            for count, more in zip(counts, here, strict=True):
                count.update(more)
    return counts


@answer_type
class QuestionParts:
    """The parts of a typed question."""

    parts: list[QueryPart]
    """In order."""
    asked: str
    """What is searched by meaning beside them."""
    by_meaning: bool
    """False: there is nothing but query words."""
    mode: str
    """What it searches by default: code or all."""
    keys: dict[str, str]
    """Every query word, with the meaning of its value."""


def question_parts(request: Typed, _roots: Roots) -> QuestionParts:
    """Take a question apart as a search does."""
    words = query_words(request.query)
    return QuestionParts(list(words.parts), words.text, words.by_meaning, mode_of(request.query), KEYS)


@answer_type
class MatchingLine:
    """A line that matches."""

    path: str
    line: int
    pieces: list[str]
    """The line cut where matches begin and end: every second piece is a match."""
    root: str = ""
    """Its root, in an answer from several roots."""


@answer_type
class MatchList:
    """Lines that match, in order of files: code, then tests and examples, then documentation and the rest."""

    root: str
    """Empty if several were searched: then each line has its own."""
    lines: list[MatchingLine]
    cursor: str = ""
    """For the next page; empty at the end."""


def matches(request: Matches, roots: Roots) -> MatchList:
    """List the lines that contain what some questions quote, or match their expressions."""
    scope = scope_of(roots, request)
    queries = [query for query in scope.queries if query.reads_text]
    question = ("matches", *request.texts, request.path, astuple(request.keep), request.limit)
    start = offset_of(request.cursor, question, scope.version)
    found = matches_of(scope.searches, queries, rooted=not scope.root)
    lines = [*dict.fromkeys((place.path, place.line) for place in found)]
    shown = [_matching_line(scope, queries, *place) for place in lines[start : start + request.limit]]
    after = cursor(start + len(shown), question, scope.version) if start + len(shown) < len(lines) else ""
    return MatchList(scope.root, shown, after)


def _matching_line(scope: Scope, queries: Sequence[Query], path: str, line: int) -> MatchingLine:
    from assay.search.text_matches import cut_at_matches  # not for most searches

    root = "" if scope.root else max((one for one in scope.snapshots if path.startswith(f"{one}/")), key=len)
    snapshot, inside = scope.snapshots[root], path.removeprefix(f"{root}/")
    text = text_of_lines(snapshot, numbers_in(snapshot, inside).tolist(), line, line).rstrip("\r\n")[:_MAX_LINE_CHARS]
    return MatchingLine(inside, line, max((cut_at_matches(text, query) for query in queries), key=len), root)
