"""Collect what a ranking is learned from: the features of every candidate of judged queries.

A candidate's target is its best grade times the square root of the fraction of its lines that answer, so that long
chunks do not pay. Each query is also put to a repository that does not hold its answer, and so are questions of
other fields, which none holds: that is what *nothing relevant* looks like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import names_in
from assay.corpus.chunk import parse
from assay.corpus.languages import BY_EXTENSION
from assay.corpus.walk import walk
from assay.corpus.walked_files import Skipped, read
from assay.encode.view import chunk_vectors
from assay.errors import InputError
from assay.io import rows
from assay.io.fields import Fields
from assay.measure.line_spans import Entry, Span
from assay.operations.past_commits import past_until
from assay.protocols import Encoder, Say
from assay.search.declared_names import unit_of
from assay.search.hybrid import LearnedSearcher
from assay.search.list_order import ListEvidence, QuestionTerms, evidence_of
from assay.search.path_filters import PROSE
from assay.search.question import Question, Speller
from assay.search.ranking import RankingName, ranking_name
from assay.search.relevance import query_features
from assay.search.retrievers import Array
from assay.search.text_features import text_features
from assay.settings import Settings
from assay.store.snapshot import Snapshot
from assay.truth import truth_formats
from assay.truth.following import without_commit
from assay.truth.ground_truth import qrels_of
from assay.truth.target_places import resolved
from assay.truth.truth_check import check
from assay.values import Chunk, Mode, Problem, Query

_HISTORIES = 3  # of so many queries, one is asked without
_FOREIGN_PARTS = 8  # one of which each repository is searched with
_BOTH = "_both"
_AT = "@"
SUFFIXES = ("_docs", _BOTH)
"""`gin_docs.csv` holds queries about the documentation of the repository `gin`, `gin_both.csv` about all of it."""
_SIDES: Mapping[Mode, tuple[Mode, ...]] = {"code": ("code",), "docs": ("docs",), "all": ("code", "docs")}


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One query with the lines that answer it."""

    repository: str
    query: Query
    """With mode `all` if code and documentation are asked for together."""
    entries: tuple[Entry, ...]

    @property
    def group(self) -> str:
        """Who is held out together: all that one writer wrote, else what is about one repository."""
        writer = self.query.tags.get("writer", "")
        return f"writer {writer}" if writer else self.repository.partition(_AT)[0]

    @property
    def is_mined(self) -> bool:
        """Say whether a commit asks: learned from, but no measure of how people ask."""
        return self.query.tags.get("source") == "history"

    @property
    def names_files(self) -> bool:
        """Say whether its answers are whole files."""
        right = [entry.span for entry in self.entries if entry.grade]
        return bool(right) and not any(span.start for span in right)


@dataclass(frozen=True, slots=True)
class RankingExample:
    """One query with the features of its candidates among code or among documentation."""

    judged: JudgedQuery
    ranking: RankingName
    """Of code, documentation or single functions: a query about code and documentation is an example of each."""
    rows: Array
    """(candidates, features)."""
    spans: tuple[Span, ...]
    """(candidates) where each stands."""
    targets: Array
    """(candidates) how good an answer each is, 0 for wrong ones."""
    query_row: Array
    """(query features)."""
    question: Question
    listed: ListEvidence
    """Of all candidates; its support once the first stage has scored them."""
    units: NDArray[np.intp]
    """(candidates) a number each for what is one unit."""

    def only(self, candidates: Sequence[int]) -> RankingExample:
        """Return the example with some of its candidates."""
        spans = tuple(self.spans[at] for at in candidates)
        kept = {name: getattr(self, name)[candidates] for name in ("rows", "targets", "units")}
        return replace(self, spans=spans, listed=self.listed.only(candidates), **kept)


@dataclass(frozen=True, slots=True)
class RankingExamples:
    """Queries put to their own repository, and to those that cannot answer them."""

    own: tuple[RankingExample, ...]
    foreign: tuple[RankingExample, ...]
    """Those that another repository answers, and those that none does, whose repository is nothing."""

    def of(self, ranking: RankingName) -> RankingExamples:
        """Return the examples that are ordered by one ranking."""
        return RankingExamples(
            tuple(one for one in self.own if one.ranking == ranking),
            tuple(one for one in self.foreign if one.ranking == ranking),
        )


def judged_queries(files: Sequence[Path], checkouts: Path) -> list[JudgedQuery]:
    """Read ground truths; the corpus of `NAME.csv`, `NAME_docs.csv`, `NAME_both.csv` is the folder `checkouts/NAME`.

    `NAME@STATE` is another state of the repository `NAME`, and is held out with it.
    """
    queries = [query for file in files for query in _judged_in(file, checkouts)]
    names = {one.repository for one in queries}
    if len(names) < 2:
        found = f"of '{min(names)}' alone" if names else "in no file"
        raise InputError(f"found judged queries {found}; give the ground truths of two repositories or more")
    return queries


def foreign_queries(files: Sequence[Path]) -> list[JudgedQuery]:
    """Read questions that no repository answers: files with the columns `query` and `writer`."""
    problems: list[Problem] = []
    found = []
    for file in files:
        for row, values in rows.objects(file, problems):
            fields = Fields(values, f"in row {row} of '{file}'")
            tags = {"writer": fields.text("writer", "")}
            found.append(JudgedQuery("", Query(f"{file.stem} {row}", fields.text("query"), tags=tags), ()))
    if problems:
        raise InputError(str(problems[0]))
    return found


def _judged_in(file: Path, checkouts: Path) -> Iterator[JudgedQuery]:
    stem = file.name.partition(".")[0]
    name = next((stem.removesuffix(suffix) for suffix in SUFFIXES if stem.endswith(suffix)), stem)
    root = checkouts / name
    if not root.is_dir():
        raise InputError(f"'{file}' names the repository '{name}', and there is no folder '{root}'")
    reading = truth_formats.read(file)
    pinned = reading.truth.commit
    queries = tuple(without_commit(query) if pinned else query for query in reading.truth.queries)
    reading = replace(reading, truth=replace(reading.truth, commit="", queries=queries))  # the folder is taken as it is
    missing = [problem for problem in check(reading, root).problems if problem not in reading.problems]
    if missing:
        hint = f"; is '{root}' at commit {pinned[:12]}?" if pinned else ""
        raise InputError(f"{missing[0]} ({len(missing):,} such targets in '{file.name}'){hint}")
    qrels = qrels_of(resolved(reading, root).truth)
    for query in qrels.queries:
        entries = tuple(qrels.entries[query.id])
        mode = query.mode if query.mode != "all" or stem.endswith(_BOTH) else _mode(entries)
        yield JudgedQuery(name, replace(query, mode=mode), entries)


def _mode(entries: Sequence[Entry]) -> Mode:
    """Return `docs` for a query that prose alone answers."""
    languages = {BY_EXTENSION.get(entry.span.path.rpartition(".")[2], "") for entry in entries if entry.grade}
    return "docs" if languages and languages <= PROSE else "code"


def gather(  # noqa: PLR0913, PLR0917  what is searched, with what, and who hears of it
    queries: Sequence[JudgedQuery],
    checkouts: Path,
    encoder: Encoder,
    dictionary: Callable[[], frozenset[str]],
    say: Say,
    foreign: Sequence[JudgedQuery] = (),
) -> RankingExamples:
    """Search every checkout with its own queries, with those of another one, and with some that none answers."""
    names = sorted({one.repository for one in queries})
    own: list[RankingExample] = []
    unanswered: list[RankingExample] = []
    for number, name in enumerate(names):
        snapshot = snapshot_of(checkouts / name, encoder)
        searcher = LearnedSearcher(snapshot, encoder, past=past_until(checkouts / name, "", Settings()))
        speller = Speller(snapshot, dictionary)
        elsewhere = names[(number + len(names) // 2) % len(names)]
        asked = [one for one in queries if one.repository == name]
        own += _asked(searcher, speller, asked)
        strangers = [replace(one, entries=()) for one in queries if one.repository == elsewhere]
        strangers += foreign[number % _FOREIGN_PARTS :: _FOREIGN_PARTS]
        unanswered += _asked(searcher, speller, strangers)
        say(f"{name}: {len(snapshot):,} chunks")
    return RankingExamples(tuple(own), tuple(unanswered))


def _asked(searcher: LearnedSearcher, speller: Speller, queries: Sequence[JudgedQuery]) -> Iterator[RankingExample]:
    """Collect the examples of some queries, every third without a history: many a folder has none."""
    without = replace(searcher, past=None)
    for number, one in enumerate(queries):
        yield from _examples(without if number % _HISTORIES == _HISTORIES - 1 else searcher, speller, one)


def snapshot_of(root: Path, encoder: Encoder) -> Snapshot:
    """Chunk and encode a checkout in memory, as an index does."""
    chunks: list[Chunk] = []
    facts: list[str] = []
    for entry in walk(root).files:
        text = read(root, entry)
        if not isinstance(text, Skipped):
            parsed = parse(entry.path, text, linked=True)
            chunks += parsed.chunks
            facts += parsed.facts or [""] * len(parsed.chunks)
    return Snapshot.of(chunks, chunk_vectors(encoder, chunks), facts, [list(names_in(each)) for each in facts])


def _examples(searcher: LearnedSearcher, speller: Speller, judged: JudgedQuery) -> Iterator[RankingExample]:
    """Collect the features of every candidate of one query, those of the second stage for all of them too."""
    query = replace(judged.query, text=speller.corrected(judged.query.text))
    found = searcher.look_up(query, searcher.encoder.encode([query.text], "query")[0])
    for side in _SIDES[query.mode]:
        candidates = searcher.candidates(replace(query, mode=side), found)
        chunks = [found.snapshot.chunk(number) for number in candidates.numbers.tolist()]
        rows = np.hstack((candidates.rows, text_features(searcher.token_similarity, found, chunks)))
        spans = tuple(Span(chunk.path, chunk.start_line, chunk.end_line) for chunk in chunks)
        targets = np.array([worth_of(span, judged.entries) for span in spans], dtype=np.float32)
        units: dict[tuple[str, ...], int] = {}
        unit = [units.setdefault(unit_of(chunk) if chunk.symbol else (chunk.id,), len(units)) for chunk in chunks]
        evidence = evidence_of(QuestionTerms(found.question, found.term_weights), chunks)
        listed = ListEvidence(evidence, candidates.files, np.zeros(len(chunks)))
        query_row, name = query_features(found), ranking_name(found.snapshot, side)
        yield RankingExample(
            judged, name, rows, spans, targets, query_row, found.question, listed, np.array(unit, np.intp)
        )


def worth_of(span: Span, entries: Sequence[Entry]) -> float:
    """Return what a candidate is worth as an answer."""
    right = [entry for entry in entries if entry.grade and entry.span.overlaps(span)]
    if not right:
        return 0.0
    return max(entry.grade for entry in right) * math.sqrt(max(_shared(span, entry.span) for entry in right))


def _shared(span: Span, answer: Span) -> float:
    """Return the fraction of a candidate's lines that an answer holds; of a whole file, all."""
    if not answer.start:
        return 1.0
    lines = min(span.end, answer.end) - max(span.start, answer.start) + 1
    return lines / (span.end - span.start + 1)
