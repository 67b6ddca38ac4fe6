"""Search open roots, and count what is found.

Command line, Python, HTTP and MCP take the same request, and differ only in how they write the answer down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, replace
from threading import Lock
from typing import NamedTuple

from assay.errors import InputError
from assay.operations.corpus_search import DEPTHS, one_list
from assay.operations.hits import Answer, FoundUnit, cursor, offset_of
from assay.operations.joint_answer import JointAnswer, joint_answer
from assay.operations.joint_search import JointSearch, joint_searches
from assay.operations.left_out import left_out_note
from assay.operations.requests import UNBOUNDED, Question, Search
from assay.operations.roots import Roots, check_globs
from assay.operations.sections_and_commits import commits_shown, sections_shown
from assay.operations.sizing import OVERHEAD, TELLING, Size, cost, one_of_each_unit, sized, text_cost
from assay.protocols import is_quick
from assay.search.display import grouped, worth_showing
from assay.search.display import terms_to_mark as terms_asked
from assay.search.query_filters import repositories_in
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import Hit, Problem, Query

MAX_HITS = DEPTHS[-1]
"""Hits per question that can be paged through."""
_MAX_LISTED_PROBLEMS = 20
_LINES_FOR_MODELS = (4, 2)
"""Lines of each hit for a model, which reads the unit next if they look right."""
_turn = Lock()


def turn(searches: Sequence[JointSearch], queries: Sequence[Query]) -> AbstractContextManager[object]:
    """Return a context for searching: a turn if the searches only compute, else one that does not wait.

    The interpreter runs one thread at a time: threads that rank side by side hand it to one another at every array, and
    together answer a quarter fewer questions than one alone. What waits for somebody else, a reranker or a model of the
    encoder's, takes no turn, nor does what reads every text for a quoted one.
    """
    members = [search.members[0] for search in searches]
    only_compute = all(not each.settings.search.reranker and is_quick(each.index.encoder) for each in members)
    return _turn if only_compute and not any(query.reads_text for query in queries) else nullcontext()


class Scope(NamedTuple):
    """What is searched, and for what."""

    root: str
    """The root; empty for several."""
    searches: Sequence[JointSearch]
    snapshots: Mapping[str, Snapshot]
    """Snapshots, by the root that hits have."""
    version: str
    queries: Sequence[Query]
    problems: tuple[Problem, ...] = ()
    truncated: bool = False
    stale: bool = False


def scope_of(roots: Roots, request: Question) -> Scope:
    """Return one place, or all roots that the globs allow, and the queries for them."""
    texts, keep, repositories = request.texts, request.keep, repositories_asked(request)
    if request.path and keep.repo:
        raise InputError("repo filters the served folders, and path names one of them: give only one of the two")
    if repositories or (not request.path and roots.are_several):
        check_globs((*keep.file, *repositories))
        every = roots.everything.view(repositories)
        queries = keep.queries(texts)
        return Scope("", every.searches, every.snapshots(), every.version, queries, every.problems, every.truncated)
    place = roots.place(request.path)
    queries = keep.queries(texts, place.globs(keep.file))
    view = place.reader.view()
    searches, snapshots = joint_searches([view.workspace]), {"": view.workspace.snapshot}
    return Scope(place.reader.name, searches, snapshots, view.version, queries, stale=view.stale)


def repositories_asked(request: Question) -> tuple[str, ...]:
    """Return the globs of the repositories that a question searches."""
    return request.keep.repo + repositories_in(request.texts)


def search(
    request: Search, roots: Roots, *, is_text: bool = False, cost_of: Callable[[FoundUnit], int] = cost
) -> Answer:
    """Return the best hits of some questions, united: in one place, in all roots, or in some.

    `cost_of` says how many tokens of the budget a hit takes as it is written. With `is_text`, that is text for a model,
    and what is unlikely is left for the next page.
    """
    cost_of = text_cost if is_text else cost_of
    scope = scope_of(roots, request)
    question = ("search", *request.texts, request.path, astuple(request.keep), request.group)
    start = offset_of(request.cursor, question, scope.version)
    with turn(scope.searches, scope.queries):
        answer = _answer(scope, min(start + request.limit + 1, MAX_HITS), request)  # one to know of more
        hits = _page(answer.hits[start : start + request.limit], scope.queries, is_text=is_text)
        size = _size(answer, scope.queries, request, cost_of)
        shown, count = sized(hits, size, scope.snapshots)
        left = size.budget - OVERHEAD - size.aside - sum(map(size.cost, shown))
        beside = replace(answer, sections=()) if start else answer
        docs, docs_first = sections_shown(beside, size, left, scope.snapshots, is_text=is_text)
    asked = () if start or request.keep.mode else scope.queries
    commits, unread = commits_shown(hits, asked, scope.root, roots, left - sum(map(size.cost, docs)))
    more = len(answer.hits) > start + count and start + count < MAX_HITS
    return Answer(
        scope.root,
        shown,
        relevant=answer.relevant,
        stale=answer.stale,
        language=answer.language,
        truncated=scope.truncated,
        cursor=cursor(start + count, question, scope.version) if more else "",
        corrected=list(answer.corrected),
        notes=[*answer.notes, *filter(None, [unread, "" if start else _left_out(answer, scope)])],
        problems=_named(answer.problems),
        matches=_count(answer.matches),
        matched_files=_count(answer.matches and {place.path for place in answer.matches}),
        docs=docs,
        docs_first=docs_first,
        commits=commits,
    )


def _left_out(answer: JointAnswer, scope: Scope) -> str:
    return left_out_note(scope.searches, scope.queries, _count(answer.matches))


def _count(matches: Sized | None) -> int:
    return -1 if matches is None else len(matches)


def _page(hits: Sequence[Hit], queries: Sequence[Query], *, is_text: bool) -> Sequence[Hit]:
    """Return the hits of a page; for a model only those worth showing, unless each contains what is sought."""
    is_cut = is_text and not any(query.reads_text for query in queries)
    return hits[: worth_showing([hit.score for hit in hits])] if is_cut else hits


def _size(answer: JointAnswer, queries: Sequence[Query], request: Search, cost_of: Callable[[FoundUnit], int]) -> Size:
    beside = ([*answer.corrected, answer.language], answer.notes, _named(answer.problems))
    return Size(
        request.budget,
        terms_asked(answer.corrected or tuple(query.text for query in queries)),
        explain=request.explain,
        aside=sum(tokens(json.dumps(each)) for each in beside if each),
        detail=request.detail,
        queries=queries,
        cost=cost_of if request.budget < UNBOUNDED else lambda _: 0,
        lines=_LINES_FOR_MODELS if cost_of is text_cost else TELLING,
    )


def _named(problems: Sequence[Problem]) -> list[str]:
    return list(map(str, problems[:_MAX_LISTED_PROBLEMS]))


def _answer(scope: Scope, limit: int, request: Search) -> JointAnswer:
    def listed(blocks: Sequence[Sequence[Hit]]) -> list[Hit]:
        hits = grouped(*blocks) if request.group else one_list(blocks)
        return one_of_each_unit(hits, scope.snapshots)

    beside = not request.keep.mode
    found = joint_answer(scope.searches, scope.queries, limit, rooted=not scope.root, listed=listed, guesses=beside)
    return replace(found, stale=found.stale or scope.stale, problems=scope.problems + found.problems)
