"""Search what is open, and count what is found.

Command line, Python, HTTP and MCP take the same request, and differ only in how they write the answer down.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from assay.errors import InputError
from assay.operations.hits import Answer, FoundUnit, answer_type, offset_of
from assay.operations.hits import cursor as cursor_of
from assay.operations.indexes import is_quick
from assay.operations.joint_answer import JointAnswer, joint_answer, matches_of
from assay.operations.requests import Facets, Matches, Question, Search, Typed
from assay.operations.roots import Roots, check_globs
from assay.operations.sizing import TELLING, Size, cost, sized, text_cost, text_of_lines
from assay.operations.status import holdings
from assay.operations.workspace import DEPTHS, JointSearch, joint_searches
from assay.search.display import terms_to_mark as terms_asked
from assay.search.display import worth_showing
from assay.search.filters import filter_mask
from assay.search.query_filters import KEYS, QueryPart, mode_of, query_words, repositories_in
from assay.search.reference_table import numbers_in
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import Problem, Query

DEEPEST = DEPTHS[-1]
"""Hits of one question that can be paged through."""
_COUNTED = 200
"""Hits that are counted where filters alone do not decide."""
_LISTED = 20
_LINES_FOR_MODELS = (4, 2)
"""Telling lines of each hit for a model, which reads the unit next if these say that it is right."""
_turn = Lock()


def turn(searches: Sequence[JointSearch], queries: Sequence[Query]) -> AbstractContextManager[object]:
    """Return what to search in: a turn where searches only compute, else nothing to wait for.

    The interpreter runs one thread at a time: threads that rank side by side hand it to one another at every array, and
    together answer a quarter fewer questions than one alone. What waits for somebody else, a reranker or a model of the
    encoder's, takes no turn, nor does what reads every text for a quoted one.
    """
    settings = [search.members[0].settings for search in searches]
    only_compute = all(not each.search.reranker and is_quick(each.encoder.spec) for each in settings)
    return _turn if only_compute and not any(query.reads_text for query in queries) else nullcontext()


class _Scope(NamedTuple):
    """What questions are asked of."""

    root: str
    """Empty for several."""
    searches: Sequence[JointSearch]
    snapshots: Mapping[str, Snapshot]
    """By the root that hits have."""
    version: str
    queries: Sequence[Query]
    problems: tuple[Problem, ...] = ()
    truncated: bool = False
    stale: bool = False


def _scope(roots: Roots, request: Question) -> _Scope:
    """Return one place, or every root that is kept, with the questions that keep to it."""
    texts, keep, repositories = request.texts, request.keep, repositories_asked(request)
    if request.path and keep.repo:
        raise InputError("repo keeps to some of the served folders, and path names one: leave one of them out")
    if repositories or (not request.path and roots.are_several):
        check_globs((*keep.file, *repositories))
        every = roots.everything.view(repositories)
        queries = keep.queries(texts)
        return _Scope("", every.searches, every.snapshots(), every.version, queries, every.problems, every.truncated)
    place = roots.place(request.path)
    queries = keep.queries(texts, place.globs(keep.file))
    view = place.reader.view()
    searches, snapshots = joint_searches([view.workspace]), {"": view.workspace.snapshot}
    return _Scope(place.reader.name, searches, snapshots, view.version, queries, stale=view.stale)


def repositories_asked(request: Question) -> tuple[str, ...]:
    """Return the globs of the repositories that a question keeps to."""
    return request.keep.repo + repositories_in(request.texts)


def search(
    request: Search, roots: Roots, *, is_text: bool = False, cost_of: Callable[[FoundUnit], int] = cost
) -> Answer:
    """Return the best hits of some questions, united, in one place; of several roots, in all or some.

    `cost_of` says how many tokens of the budget a hit takes as it is written. With `is_text`, that is text for a model,
    and what is unlikely is left for the next page.
    """
    cost_of = text_cost if is_text else cost_of
    scope = _scope(roots, request)
    question = ("search", *request.texts, request.path, astuple(request.keep), request.group)
    start = offset_of(request.cursor, question, scope.version)
    with turn(scope.searches, scope.queries):
        answer = _answer(scope, min(start + request.limit + 1, DEEPEST), request)  # one to know of more
        hits = answer.hits[start : start + request.limit]
        reads_text = any(query.reads_text for query in scope.queries)
        if is_text and not reads_text:  # else each hit holds what is sought
            hits = hits[: worth_showing([hit.score for hit in hits])]
        shown, taken = sized(hits, _size(answer, scope.queries, request, cost_of), scope.snapshots)
    more = len(answer.hits) > start + taken and start + taken < DEEPEST
    matches = answer.matches
    return Answer(
        scope.root,
        shown,
        relevant=answer.relevant,
        stale=answer.stale,
        language=answer.language,
        truncated=scope.truncated,
        cursor=cursor_of(start + taken, question, scope.version) if more else "",
        corrected=list(answer.corrected),
        notes=list(answer.notes),
        problems=_named(answer.problems),
        matches=-1 if matches is None else len(matches),
        matched_files=-1 if matches is None else len({place.path for place in matches}),
    )


def _size(answer: JointAnswer, queries: Sequence[Query], request: Search, cost_of: Callable[[FoundUnit], int]) -> Size:
    beside = ([*answer.corrected, answer.language], answer.notes, _named(answer.problems))
    return Size(
        request.budget,
        terms_asked(answer.corrected or tuple(query.text for query in queries)),
        explain=request.explain,
        aside=sum(tokens(json.dumps(each)) for each in beside if each),
        detail=request.detail,
        queries=queries,
        cost=cost_of,
        lines=_LINES_FOR_MODELS if cost_of is text_cost else TELLING,
    )


def _named(problems: Sequence[Problem]) -> list[str]:
    return list(map(str, problems[:_LISTED]))


def _answer(scope: _Scope, limit: int, request: Search) -> JointAnswer:
    found = joint_answer(scope.searches, scope.queries, limit, rooted=not scope.root, is_grouped=request.group)
    return replace(found, stale=found.stale or scope.stale, problems=scope.problems + found.problems)


_MOST_VALUES = 250
_WIDEST = 500
"""Characters of a matching line that are shown."""


@answer_type
class FacetCounts:
    """How many hits there are of each repository, language and kind, most first."""

    counted: int
    """Hits that were counted."""
    complete: bool
    """Whether these are all: what filters, quoted texts and expressions keep; by meaning the best are counted."""
    repositories: dict[str, int]
    """By name; empty where one folder was searched."""
    languages: dict[str, int]
    kinds: dict[str, int]


def facets(request: Facets, roots: Roots) -> FacetCounts:
    """Count what some questions find, in one place or in every root that is kept: all that filters alone keep."""
    scope = _scope(roots, request)
    by_filter = [
        query.reads_text or not query_words(text).by_meaning
        for query, text in zip(scope.queries, request.texts, strict=True)
    ]
    counts = _all_counts(scope) if all(by_filter) else (Counter[str](),) * 3
    if is_complete := any(counts):
        counted = counts[0].total()
    else:
        with turn(scope.searches, scope.queries):
            found = joint_answer(scope.searches, scope.queries, _COUNTED, rooted=not scope.root)
        chunks = [hit.chunk for hit in found.hits]
        counts = tuple(Counter(getattr(chunk, name) for chunk in chunks) for name in ("root", "language", "kind"))
        counted = len(chunks)
    repositories, *most = [{value: n for value, n in each.most_common(_MOST_VALUES) if value and n} for each in counts]
    return FacetCounts(counted, is_complete, {} if scope.root else repositories, *most)


def _all_counts(scope: _Scope) -> tuple[Counter[str], ...]:
    """Count every chunk that the filters keep by repository, language and kind."""
    counts = Counter[str](), Counter[str](), Counter[str]()
    for search in scope.searches:
        for member in search.members:
            with search.corpus_search.guard.reading():
                masks = [filter_mask(member.snapshot, query) for query in scope.queries]
            kept = np.logical_or.reduce(
                [np.ones(member.snapshot.size, bool) if mask is None else mask for mask in masks]
            )
            for count, more in zip(
                counts, ({member.name: int(kept.sum())}, *holdings(member.snapshot, kept)), strict=True
            ):
                count.update(more)
    return counts


@answer_type
class QuestionParts:
    """What a typed question holds."""

    parts: list[QueryPart]
    """In order."""
    asked: str
    """What is asked by meaning beside them."""
    by_meaning: bool
    """False: only they are asked for."""
    mode: str
    """What it is asked of, if nothing else says: code or all."""
    keys: dict[str, str]
    """Every query word, with what its value says."""


def question_parts(request: Typed) -> QuestionParts:
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
    """Of an answer from several roots, the one that holds this."""


@answer_type
class MatchList:
    """Lines that match, in order of files: code, then tests and examples, then documentation and the rest."""

    root: str
    """Empty if several were searched: then each line has its own."""
    lines: list[MatchingLine]
    cursor: str = ""
    """For the next page; empty at the end."""


def matches(request: Matches, roots: Roots) -> MatchList:
    """List the lines that hold what some questions quote or match their expressions."""
    scope = _scope(roots, request)
    queries = [query for query in scope.queries if query.reads_text]
    question = ("matches", *request.texts, request.path, astuple(request.keep), request.limit)
    start = offset_of(request.cursor, question, scope.version)
    found = matches_of(scope.searches, queries, rooted=not scope.root)
    lines = [*dict.fromkeys((place.path, place.line) for place in found)]
    shown = [_matching_line(scope, queries, *place) for place in lines[start : start + request.limit]]
    after = cursor_of(start + len(shown), question, scope.version) if start + len(shown) < len(lines) else ""
    return MatchList(scope.root, shown, after)


def _matching_line(scope: _Scope, queries: Sequence[Query], path: str, line: int) -> MatchingLine:
    from assay.search.text_matches import cut_at_matches  # not for most searches

    root = "" if scope.root else max((one for one in scope.snapshots if path.startswith(f"{one}/")), key=len)
    snapshot, inside = scope.snapshots[root], path.removeprefix(f"{root}/")
    text = text_of_lines(snapshot, numbers_in(snapshot, inside).tolist(), line, line).rstrip("\r\n")[:_WIDEST]
    return MatchingLine(inside, line, max((cut_at_matches(text, query) for query in queries), key=len), root)
