"""Answer questions to a session: search, counts of what is found, status, rank.

MCP and HTTP differ in how they write these down and in nothing else.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import get_args

import numpy as np

from assay.assemble.answer import Answer, joint_answer, queries_of, repositories_in
from assay.assemble.many_roots import repository_name
from assay.assemble.workspace import JointSearch, joint_searches
from assay.errors import DamagedIndex, InputError, nearest
from assay.rank.rankers import best_first, ranker_of
from assay.search.display import grouped
from assay.search.display import terms_to_mark as terms_asked
from assay.search.index_changes import Differences
from assay.serve.engine import WorkspaceView
from assay.serve.responses import TELLING, Detail, FoundAnswer, Size, answer_type, cost, offset_of, sized, text_cost
from assay.serve.responses import cursor as cursor_of
from assay.serve.session import ServedPlace, Session, check_globs
from assay.serve.turns import turn
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import KINDS, Mode, Program, Query, Ranked, Task

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


def holdings(snapshot: Snapshot) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many living chunks there are of each language and each kind, most first, but for those without one."""
    languages: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for part, live in snapshot.parts:
        file, kind = (part.file, part.kind) if live is None else (part.file[live], part.kind[live])
        for language, count in zip(part.languages, np.bincount(file, minlength=len(part.languages)), strict=True):
            languages[language] += int(count)
        for name, count in zip(KINDS, np.bincount(kind, minlength=len(KINDS)), strict=True):
            kinds[name] += int(count)
    return _most_first(languages), _most_first(kinds)


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in counts.most_common() if name and count}


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


@dataclass(frozen=True, slots=True)
class _PagedQuestion:
    """A question about some roots, and how much of its answer is wanted."""

    root: str
    """Empty for several."""
    snapshots: Mapping[str, Snapshot]
    """By the root that hits have."""
    version: str
    page: Page
    question: tuple[object, ...]
    queries: tuple[Query, ...] = ()

    @property
    def start(self) -> int:
        """How many hits came before this page."""
        return offset_of(self.page.cursor, self.question, self.version)

    @property
    def depth(self) -> int:
        """How many hits to look for: one more than are shown, to know of more."""
        return min(self.start + self.page.k + 1, DEEPEST)

    def page_of(self, answer: Answer) -> FoundAnswer:
        """Return what the page holds of an answer."""
        start, page = self.start, self.page
        corrected, notes = list(answer.corrected), list(answer.notes)
        problems = list(map(str, answer.problems[:_LISTED]))
        aside = sum(tokens(json.dumps(each)) for each in ([*corrected, answer.language], notes, problems) if each)
        size = Size(
            page.budget,
            terms_asked(answer.corrected or tuple(query.text for query in self.queries)),
            explain=page.explain,
            aside=aside,
            detail=page.detail,
            queries=self.queries,
            cost=text_cost if page.is_text else cost,
            lines=_LINES_FOR_MODELS if page.is_text else TELLING,
        )
        wanted = answer.hits[start : start + page.k]
        if page.is_text and not any(query.reads_text for query in self.queries):  # else each hit holds what is sought
            wanted = wanted[: worth_showing([hit.score for hit in wanted])]
        shown, taken = sized(wanted, size, self.snapshots)
        more = len(answer) > start + taken and start + taken < DEEPEST
        after = cursor_of(start + taken, self.question, self.version) if more else ""
        matches = answer.matches
        return FoundAnswer(
            self.root,
            shown,
            answer.relevant,
            answer.stale,
            after,
            corrected,
            notes,
            answer.language,
            problems,
            answer.truncated,
            -1 if matches is None else len(matches),
            -1 if matches is None else len({place.path for place in matches}),
        )


def worth_showing(scores: Sequence[float]) -> int:
    """Return of how many hits a model should read: those after a clear answer are for who asks for the next page."""
    return max(sum(score >= _LIKELY * scores[0] for score in scores), _LEAST_SHOWN)


def search(session: Session, texts: Sequence[str], path: str, *, keep: SearchFilter, page: Page) -> FoundAnswer:
    """Return the best hits of some questions, united, in one place; of several served folders, in all or some."""
    if len(texts) > MOST_QUERIES:
        raise InputError(f"{len(texts)} queries were given; at most {MOST_QUERIES} are asked at once")
    keep = replace(keep, repositories=keep.repositories + repositories_in(texts))
    if path and keep.repositories:
        raise InputError("repo keeps to some of the served folders, and path names one: leave one of them out")
    question = ("search", *texts, path, astuple(keep), page.is_grouped)
    if keep.repositories or (not path and session.are_several):
        return _search_all(session, texts, keep, page, question)
    place = session.place(path)
    queries = checked_queries(texts, place.globs(keep.globs), keep)
    view = place.engine.view()
    asked = _paged(place, view, page, question, tuple(queries))
    searches = joint_searches([view.workspace])
    with turn(searches, queries):
        answer = _answer(searches, queries, asked)
        return asked.page_of(replace(answer, stale=answer.stale or view.stale))


def _search_all(
    session: Session, texts: Sequence[str], keep: SearchFilter, page: Page, question: tuple[object, ...]
) -> FoundAnswer:
    """Return the best hits of some questions in every served folder that is kept."""
    check_globs((*keep.globs, *keep.repositories))
    queries = checked_queries(texts, keep.globs, keep)
    view = session.everything.view(keep.repositories)
    asked = _PagedQuestion("", view.snapshots(), view.version, page, question, tuple(queries))
    with turn(view.searches, queries):
        answer = _answer(view.searches, queries, asked, rooted=True)
        return asked.page_of(replace(answer, problems=view.problems + answer.problems, truncated=view.truncated))


def _paged(
    place: ServedPlace, view: WorkspaceView, page: Page, question: tuple[object, ...], queries: tuple[Query, ...] = ()
) -> _PagedQuestion:
    return _PagedQuestion(place.engine.name, {"": view.workspace.snapshot}, view.version, page, question, queries)


def status(session: Session, path: str) -> Status:
    """Return what the index of a place holds, without changing it; files are listed, and read where they may differ."""
    engine = session.place(path).engine
    held = engine.last_view
    index = engine.index
    standing, damage, every = None, "", None
    try:
        standing = index.standing()
        every = index.snapshot() if standing else None
    except DamagedIndex as found:
        damage = str(found)
    report, differing = (standing.report, standing.stale) if standing else (None, Differences())
    skipped = report.skipped if report else ()
    reasons = Counter(
        "a copy of another file" if each.reason.startswith("a copy of ") else each.reason for each in skipped
    )
    size = index.size_bytes() if report else 0
    languages, kinds = ({}, {}) if every is None else holdings(every)
    return Status(
        root=engine.name,
        indexed=report is not None,
        files=report.files if report else 0,
        chunks=report.chunks if report else 0,
        encoder=index.encoder.name,
        location=index.location,
        size_mb=round((size or 0) / 1e6, 1),
        checked_s=-1.0 if engine.checked_s is None else round(engine.checked_s, 1),
        left_out=dict(reasons.most_common(_LISTED)),
        examples=[f"{each.path}: {each.reason}" for each in skipped[:_LISTED]],
        notes=len(report.notes) if report else 0,
        added=len(differing.added),
        changed=len(differing.changed),
        removed=len(differing.removed),
        stale=_differing_names(differing),
        updated_s=round(max(time.time() - standing.updated_s, 0.0), 1) if standing else -1.0,
        damage=damage,
        rebuilt=held.report.rebuilt_because if held else "",
        languages=languages,
        kinds=kinds,
    )


def _differing_names(differing: Differences) -> list[str]:
    named = [f"{field.name}: {path}" for field in fields(differing) for path in getattr(differing, field.name)]
    return named[:_LISTED]


def rank(programs: Sequence[str], prompt: str = "", entry_point: str = "") -> Order:
    """Return candidate programs for one task, best first, by reading them alone."""
    if not 1 <= len(programs) <= MOST_PROGRAMS:
        raise InputError(f"{len(programs)} programs were given; wanted 1 to {MOST_PROGRAMS}")
    chosen = ranker_of()
    task = Task("task", prompt, entry_point)
    given = [Program(task.id, source, str(number)) for number, source in enumerate(programs)]
    return Order(chosen.name, [_placed(each) for each in best_first(chosen.rank(task, given))])


def _placed(ranked: Ranked) -> PlacedCandidate:
    fault = "" if ranked.fault is None else str(ranked.fault)
    return PlacedCandidate(int(ranked.program.id), round(float(ranked.score), 4), fault, ranked.line)


def checked_queries(texts: Sequence[str], paths: Sequence[str], keep: SearchFilter) -> list[Query]:
    """Return questions with what is kept, all of it checked."""
    mode: Mode | None = next((one for one in get_args(Mode) if one == keep.mode), None)
    if keep.mode and mode is None:
        raise InputError(f"unknown mode '{keep.mode}'; {nearest(keep.mode, get_args(Mode))}")
    return queries_of(texts, mode=mode, languages=keep.languages, paths=paths, kinds=keep.kinds)


def _answer(
    searches: Sequence[JointSearch], queries: Sequence[Query], asked: _PagedQuestion, *, rooted: bool = False
) -> Answer:
    """Return hits in an order that every page sees: what only a deeper search finds comes after the first ones."""
    first = joint_answer(searches, queries, _FIRST, rooted=rooted)
    hits = grouped(first.hits) if asked.page.is_grouped else list(first.hits)
    if len(hits) < asked.depth and len(first) >= _FIRST:
        known = {hit.chunk.id for hit in first}
        deeper = [hit for hit in joint_answer(searches, queries, DEEPEST, rooted=rooted) if hit.chunk.id not in known]
        hits = grouped(first.hits, deeper) if asked.page.is_grouped else [*hits, *deeper]
    return replace(first, hits=tuple(hits[: asked.depth]))


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
    keep = replace(keep, repositories=keep.repositories + repositories_in(texts))
    if path and keep.repositories:
        raise InputError("repo keeps to some of the served folders, and path names one: leave one of them out")
    several = bool(keep.repositories) or (not path and session.are_several)
    if several:
        check_globs((*keep.globs, *keep.repositories))
        queries = checked_queries(texts, keep.globs, keep)
        searches: Sequence[JointSearch] = session.everything.view(keep.repositories).searches
    else:
        place = session.place(path)
        queries = checked_queries(texts, place.globs(keep.globs), keep)
        searches = joint_searches([place.engine.view().workspace])
    with turn(searches, queries):
        chunks = [hit.chunk for hit in joint_answer(searches, queries, DEEPEST, rooted=several)]
    return FacetCounts(
        len(chunks),
        _counts(repository_name(chunk.root) for chunk in chunks) if several else {},
        _counts(chunk.language for chunk in chunks),
        _counts(chunk.kind for chunk in chunks),
    )


def _counts(values: Iterable[str]) -> dict[str, int]:
    return {value: count for value, count in Counter(values).most_common(_MOST_VALUES) if value}
