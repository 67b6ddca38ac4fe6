"""Answer questions to a session: search, counts of what is found, status, rank.

MCP and HTTP differ in how they write these down and in nothing else.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from assay.errors import DamagedIndex, InputError, nearest
from assay.operations.answer import Answer, joint_answer, queries_of, repositories_in
from assay.operations.many_roots import repository_name
from assay.operations.workspace import JointSearch, joint_searches
from assay.rank.rankers import best_first, ranker_of
from assay.search.display import grouped
from assay.search.display import terms_to_mark as terms_asked
from assay.search.index_changes import Differences
from assay.serve.responses import TELLING, Detail, FoundAnswer, Size, answer_type, cost, offset_of, sized, text_cost
from assay.serve.responses import cursor as cursor_of
from assay.serve.session import Session, check_globs
from assay.serve.turns import turn
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import KINDS, Mode, Problem, Program, Query, Task

LEAST_BUDGET = 500
USUAL_BUDGET = 4000
DEEPEST = 200
"""Hits of one question that can be paged through."""
_FIRST = 30
"""Hits that one search finds; its ranking reads the texts of so many."""
MOST_QUERIES = 10
MOST_HITS = 100
MOST_PROGRAMS = 1000
_LISTED = 20
_LIKELY = 0.25
"""Of the first hit's probability; what is less likely is left for the next page of a text."""
_LEAST_SHOWN = 3
_LINES_FOR_MODELS = (4, 2)
"""Telling lines of each hit for a model, which reads the unit next if these say that it is right."""


def _holdings(snapshot: Snapshot) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many living chunks there are of each language and each kind, most first, but for those without one."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for part, live in snapshot.parts:
        rows = slice(None) if live is None else live
        columns: tuple[Any, Any] = ((part.languages, part.file[rows]), (KINDS, part.kind[rows]))
        for counted, (names, numbers) in zip(counts, columns, strict=True):
            for name, count in zip(names, np.bincount(numbers, minlength=len(names)).tolist(), strict=True):
                counted[name] += count
    languages, kinds = ({name: n for name, n in each.most_common() if name and n} for each in counts)
    return languages, kinds


@dataclass(frozen=True, slots=True)
class Page:
    """How much of an answer is wanted."""

    k: int = 10
    budget: int = USUAL_BUDGET
    cursor: str = ""
    explain: bool = False
    """Whether the parts of each score are wanted."""
    detail: Detail = "full"
    is_text: bool = False
    """Whether the answer is written as text, which is shorter than JSON."""
    is_grouped: bool = False
    """Whether the best member of a type stands for the others."""

    def __post_init__(self) -> None:
        """Refuse what holds nothing, and what holds too much."""
        if not 1 <= self.k <= MOST_HITS:
            raise InputError(f"k is {self.k}; wanted 1 to {MOST_HITS}")
        if self.budget < LEAST_BUDGET:
            raise InputError(f"the budget is {self.budget} tokens; wanted {LEAST_BUDGET} or more")


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What to keep of a place."""

    mode: str = ""
    languages: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    """Globs of the served folders to search, by name or path; one that starts with `!` leaves out."""


@answer_type
class Status:
    """What an index holds and leaves out."""

    root: str
    indexed: bool
    """False: nobody has searched this root yet; a search makes the index."""
    files: int
    chunks: int
    encoder: str
    location: str
    size_mb: float
    checked_s: float
    """Seconds since this server looked at the files; -1 where it has not."""
    left_out: dict[str, int]
    """Files and folders that are not indexed, counted by reason."""
    examples: list[str]
    """Some of them, as path: reason."""
    notes: int
    """Files that were cut by lines, as their grammar failed."""
    added: int
    """Files that are not in the index yet; the next search sees to these and to what changed or is gone."""
    changed: int
    """Files whose text is no longer what the index holds."""
    removed: int
    """Files of the index that are gone."""
    stale: list[str]
    """Some of these, as what: path."""
    updated_s: float
    """Seconds since the index was last written; -1 where there is none."""
    damage: str
    """What is wrong with the stored index, or empty; the next search rebuilds it."""
    rebuilt: str
    """Why this server made the index anew, or empty."""
    languages: dict[str, int]
    """Chunks of each language, most first; empty where it is not indexed, or the index lies in a database."""
    kinds: dict[str, int]
    """Chunks of each kind of unit, likewise."""


@answer_type
class PlacedCandidate:
    """A candidate program in its place."""

    index: int
    """Which of the programs that were given, from 0."""
    score: float
    """Comparable among these programs only."""
    fault: str
    """How it most likely fails, or correct; empty without an opinion."""
    line: int
    """Where it most likely breaks; -1 where no line is to blame."""


@answer_type
class Order:
    """Candidate programs, the most likely right one first; none was run."""

    ranker: str
    programs: list[PlacedCandidate]


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


def _scope(session: Session, texts: Sequence[str], path: str, keep: SearchFilter) -> _Scope:
    """Return one place, or every served folder that is kept, with the questions that keep to it."""
    repositories = keep.repositories + repositories_in(texts)
    if path and repositories:
        raise InputError("repo keeps to some of the served folders, and path names one: leave one of them out")
    if repositories or (not path and session.are_several):
        check_globs((*keep.globs, *repositories))
        queries = _checked_queries(texts, keep.globs, keep)
        every = session.everything.view(repositories)
        return _Scope("", every.searches, every.snapshots(), every.version, queries, every.problems, every.truncated)
    place = session.place(path)
    queries = _checked_queries(texts, place.globs(keep.globs), keep)
    view = place.engine.view()
    searches, snapshots = joint_searches([view.workspace]), {"": view.workspace.snapshot}
    return _Scope(place.engine.name, searches, snapshots, view.version, queries, stale=view.stale)


def search(session: Session, texts: Sequence[str], path: str, *, keep: SearchFilter, page: Page) -> FoundAnswer:
    """Return the best hits of some questions, united, in one place; of several served folders, in all or some."""
    if len(texts) > MOST_QUERIES:
        raise InputError(f"{len(texts)} queries were given; at most {MOST_QUERIES} are asked at once")
    scope = _scope(session, texts, path, keep)
    question = ("search", *texts, path, astuple(keep), page.is_grouped)
    start = offset_of(page.cursor, question, scope.version)
    with turn(scope.searches, scope.queries):
        answer = _answer(scope, min(start + page.k + 1, DEEPEST), is_grouped=page.is_grouped)  # one to know of more
        hits = answer.hits[start : start + page.k]
        reads_text = any(query.reads_text for query in scope.queries)
        if page.is_text and not reads_text:  # else each hit holds what is sought
            hits = hits[: worth_showing([hit.score for hit in hits])]
        shown, taken = sized(hits, _size(answer, scope.queries, page), scope.snapshots)
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


def _size(answer: Answer, queries: Sequence[Query], page: Page) -> Size:
    beside = ([*answer.corrected, answer.language], answer.notes, _named(answer.problems))
    return Size(
        page.budget,
        terms_asked(answer.corrected or tuple(query.text for query in queries)),
        explain=page.explain,
        aside=sum(tokens(json.dumps(each)) for each in beside if each),
        detail=page.detail,
        queries=queries,
        cost=text_cost if page.is_text else cost,
        lines=_LINES_FOR_MODELS if page.is_text else TELLING,
    )


def _named(problems: Sequence[Problem]) -> list[str]:
    return list(map(str, problems[:_LISTED]))


def worth_showing(scores: Sequence[float]) -> int:
    """Return of how many hits a model should read: those after a clear answer are for who asks for the next page."""
    return max(sum(score >= _LIKELY * scores[0] for score in scores), _LEAST_SHOWN)


def status(session: Session, path: str) -> Status:
    """Return what the index of a place holds, without changing it; files are listed, and read where they may differ."""
    engine = session.place(path).engine
    held = engine.last_view
    index = engine.index
    standing, damage, languages, kinds = None, "", dict[str, int](), dict[str, int]()
    try:
        standing = index.standing()
        if standing and (every := index.snapshot()) is not None:
            languages, kinds = _holdings(every)
    except DamagedIndex as found:
        damage = str(found)
    report, differing = (standing.report, standing.stale) if standing else (None, Differences())
    skipped = report.skipped if report else ()
    reasons = Counter(re.sub("^a copy of .*", "a copy of another file", each.reason) for each in skipped)
    return Status(
        root=engine.name,
        indexed=report is not None,
        files=report.files if report else 0,
        chunks=report.chunks if report else 0,
        encoder=index.encoder.name,
        location=index.location,
        size_mb=round((index.size_bytes() or 0) / 1e6, 1) if report else 0.0,
        checked_s=-1.0 if engine.checked_s is None else round(engine.checked_s, 1),
        left_out=dict(reasons.most_common(_LISTED)),
        examples=[f"{each.path}: {each.reason}" for each in skipped[:_LISTED]],
        notes=len(report.notes) if report else 0,
        **{each.name: len(getattr(differing, each.name)) for each in fields(differing)},
        stale=[f"{each.name}: {path}" for each in fields(differing) for path in getattr(differing, each.name)][
            :_LISTED
        ],
        updated_s=round(max(time.time() - standing.updated_s, 0.0), 1) if standing else -1.0,
        damage=damage,
        rebuilt=held.report.rebuilt_because if held else "",
        languages=languages,
        kinds=kinds,
    )


def rank(programs: Sequence[str], prompt: str = "", entry_point: str = "") -> Order:
    """Return candidate programs for one task, best first, by reading them alone."""
    if not 1 <= len(programs) <= MOST_PROGRAMS:
        raise InputError(f"{len(programs)} programs were given; wanted 1 to {MOST_PROGRAMS}")
    chosen = ranker_of()
    task = Task("task", prompt, entry_point)
    candidates = [Program(task.id, source, str(number)) for number, source in enumerate(programs)]
    placed = [
        PlacedCandidate(int(each.program.id), round(float(each.score), 4), str(each.fault or ""), each.line)
        for each in best_first(chosen.rank(task, candidates))
    ]
    return Order(chosen.name, placed)


def _checked_queries(texts: Sequence[str], paths: Sequence[str], keep: SearchFilter) -> list[Query]:
    """Return questions with what is kept, all of it checked."""
    mode: Mode | None = next((one for one in get_args(Mode) if one == keep.mode), None)
    if keep.mode and mode is None:
        raise InputError(f"unknown mode '{keep.mode}'; {nearest(keep.mode, get_args(Mode))}")
    return queries_of(texts, mode=mode, languages=keep.languages, paths=paths, kinds=keep.kinds)


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


def facet_counts(session: Session, texts: Sequence[str], path: str, keep: SearchFilter) -> FacetCounts:
    """Count the best hits of some questions, in one place or in every served folder that is kept."""
    scope = _scope(session, texts, path, keep)
    with turn(scope.searches, scope.queries):
        chunks = [hit.chunk for hit in joint_answer(scope.searches, scope.queries, DEEPEST, rooted=not scope.root)]
    repositories = {} if scope.root else _counts(repository_name(chunk.root) for chunk in chunks)
    languages, kinds = _counts(chunk.language for chunk in chunks), _counts(chunk.kind for chunk in chunks)
    return FacetCounts(len(chunks), repositories, languages, kinds)


def _counts(values: Iterable[str]) -> dict[str, int]:
    return {value: count for value, count in Counter(values).most_common(_MOST_VALUES) if value}
