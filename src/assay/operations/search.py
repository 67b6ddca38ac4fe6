"""Search what is open, and count what is found.

Command line, HTTP and MCP take the same request, and differ in how they write the answer down and in nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, replace
from threading import Lock
from typing import NamedTuple

from assay.errors import InputError
from assay.operations.answer import Answer, joint_answer, repositories_in
from assay.operations.indexes import is_quick
from assay.operations.places import Roots, check_globs
from assay.operations.requests import Facets, Question, Search
from assay.operations.sizing import TELLING, FoundAnswer, Size, answer_type, cost, offset_of, sized, text_cost
from assay.operations.sizing import cursor as cursor_of
from assay.operations.workspace import JointSearch, joint_searches, repository_name
from assay.search.display import grouped, worth_showing
from assay.search.display import terms_to_mark as terms_asked
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import Problem, Query

DEEPEST = 200
"""Hits of one question that can be paged through."""
_FIRST = 30
"""Hits that one search finds; its ranking reads the texts of so many."""
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
    texts, keep = request.texts, request.keep
    repositories = keep.repo + repositories_in(texts)
    if request.path and repositories:
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


def search(request: Search, roots: Roots, *, is_text: bool = False) -> FoundAnswer:
    """Return the best hits of some questions, united, in one place; of several roots, in all or some.

    With `is_text`, the answer is written as text for a model: what is unlikely is left for the next page.
    """
    scope = _scope(roots, request)
    question = ("search", *request.texts, request.path, astuple(request.keep), request.group)
    start = offset_of(request.cursor, question, scope.version)
    with turn(scope.searches, scope.queries):
        answer = _answer(
            scope, min(start + request.limit + 1, DEEPEST), is_grouped=request.group
        )  # one to know of more
        hits = answer.hits[start : start + request.limit]
        reads_text = any(query.reads_text for query in scope.queries)
        if is_text and not reads_text:  # else each hit holds what is sought
            hits = hits[: worth_showing([hit.score for hit in hits])]
        shown, taken = sized(hits, _size(answer, scope.queries, request, is_text=is_text), scope.snapshots)
    more = len(answer) > start + taken and start + taken < DEEPEST
    matches = answer.matches
    return FoundAnswer(
        scope.root,
        shown,
        **{name: getattr(answer, name) for name in ("relevant", "stale", "language", "truncated")},
        cursor=cursor_of(start + taken, question, scope.version) if more else "",
        corrected=list(answer.corrected),
        notes=list(answer.notes),
        problems=_named(answer.problems),
        matches=-1 if matches is None else len(matches),
        matched_files=-1 if matches is None else len({place.path for place in matches}),
    )


def _size(answer: Answer, queries: Sequence[Query], request: Search, *, is_text: bool) -> Size:
    beside = ([*answer.corrected, answer.language], answer.notes, _named(answer.problems))
    return Size(
        request.budget,
        terms_asked(answer.corrected or tuple(query.text for query in queries)),
        explain=request.explain,
        aside=sum(tokens(json.dumps(each)) for each in beside if each),
        detail=request.detail,
        queries=queries,
        cost=text_cost if is_text else cost,
        lines=_LINES_FOR_MODELS if is_text else TELLING,
    )


def _named(problems: Sequence[Problem]) -> list[str]:
    return list(map(str, problems[:_LISTED]))


def _answer(scope: _Scope, depth: int, *, is_grouped: bool) -> Answer:
    """Return hits in an order that every page sees: what only a deeper search finds comes after the first ones."""
    first = joint_answer(scope.searches, scope.queries, _FIRST, rooted=not scope.root)
    hits = grouped(first.hits) if is_grouped else list(first.hits)
    if len(hits) < depth and len(first) >= _FIRST:
        known = {hit.chunk.id for hit in first}
        every = joint_answer(scope.searches, scope.queries, DEEPEST, rooted=not scope.root)
        deeper = [hit for hit in every if hit.chunk.id not in known]
        hits = grouped(first.hits, deeper) if is_grouped else [*hits, *deeper]
    return replace(
        first,
        hits=tuple(hits[:depth]),
        stale=first.stale or scope.stale,
        problems=scope.problems + first.problems,
        truncated=scope.truncated,
    )


_MOST_VALUES = 250


@answer_type
class FacetCounts:
    """How many of the best hits there are of each repository, language and kind, most first."""

    counted: int
    """Hits that were counted."""
    repositories: dict[str, int]
    """By name; empty where one folder was searched."""
    languages: dict[str, int]
    kinds: dict[str, int]


def facets(request: Facets, roots: Roots) -> FacetCounts:
    """Count the best hits of some questions, in one place or in every root that is kept."""
    scope = _scope(roots, request)
    with turn(scope.searches, scope.queries):
        chunks = [hit.chunk for hit in joint_answer(scope.searches, scope.queries, DEEPEST, rooted=not scope.root)]
    repositories = {} if scope.root else _counts(repository_name(chunk.root) for chunk in chunks)
    languages, kinds = _counts(chunk.language for chunk in chunks), _counts(chunk.kind for chunk in chunks)
    return FacetCounts(len(chunks), repositories, languages, kinds)


def _counts(values: Iterable[str]) -> dict[str, int]:
    return {value: count for value, count in Counter(values).most_common(_MOST_VALUES) if value}
