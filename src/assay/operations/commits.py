"""Answer a question about the past with commits, and print a commit.

A commit is as good as its best part, its message or what it changed in one file. Without a question, the commits that a
filter keeps come newest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from assay.corpus.git_history import commit_ids
from assay.errors import InputError
from assay.operations.corpus_search import CorpusSearch, check
from assay.operations.found_commit import FoundCommit
from assay.operations.hits import answer_type
from assay.operations.indexes import build_of, encoder_of
from assay.protocols import Progress
from assay.search.commit_index import MAX_COMMITS, CommitIndex
from assay.search.display import lines, lines_with_terms, terms_to_mark, window
from assay.search.history import MAX_FILES, WHOLE_COMMITS, CommitFilter, changed_files
from assay.search.query_filters import queries_of, query_words
from assay.search.reference_table import numbers_in
from assay.search.retrievers import IndexGuard
from assay.settings import Settings
from assay.store.index_location import history_location
from assay.store.snapshot import Snapshot
from assay.terms import terms
from assay.values import Chunk, Hit, Query

_PARTS = 5
"""Hits searched per wanted commit: several may be parts of one."""
_LINES = 4
"""Changed lines of a commit that are shown, and lines of its message."""
_FIRST_LINES = 12
"""Changed lines that are shown of a commit whose id is given."""


_ID = re.compile(r"[0-9a-f]{7,64}")


@answer_type
class LogAnswer:
    """Commits, best first, or without a question the newest."""

    root: str
    """Empty if several repositories were searched: then each commit has its own."""
    commits: list[FoundCommit]
    relevant: bool
    """Whether any was found; scores of commits compare them, but are not probabilities."""
    indexed: int
    """Commits that were searched, before filters."""


class _IndexedCommits:
    """All indexed commits, and where the message of each is."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self.messages = snapshot, _messages(snapshot)

    def commit_of(self, hit: Hit, query_terms: frozenset[str]) -> FoundCommit:
        """Return the commit of a hit, with the lines of its changes that show that it is one."""
        id_, _, change = hit.chunk.path.partition("/")
        message = self.snapshot.chunk(self.messages[id_])
        files = changed_files(message)
        shown = hit.chunk if change else self._best_change(id_, files, query_terms)
        change = shown.path.partition("/")[2] if shown else ""
        about = (id_, message.signature, message.parent, message.symbol, message.doc)
        telling = tuple(_best_lines(shown, query_terms)) if shown else ()
        return FoundCommit(*about, round(hit.score, 3), files, change, telling, reason_of(message.doc, query_terms))

    def _best_change(self, id_: str, files: Sequence[str], query_terms: frozenset[str]) -> Chunk | None:
        """Return the change of a commit with the most terms of a question, if any has one."""
        changes = self._changes(id_, files) if query_terms else ()
        found = [(len(query_terms & set(terms(change.text))), change) for change in changes]
        most, best = max(found, key=itemgetter(0), default=(0, None))
        return best if most else None

    def _changes(self, id_: str, files: Sequence[str]) -> Iterator[Chunk]:
        """Yield what a commit changed in each file, in their order."""
        for file in files[:MAX_FILES]:
            yield from map(self.snapshot.chunk, numbers_in(self.snapshot, f"{id_}/{file}").tolist())

    def commits_of_id(self, id_: str) -> tuple[FoundCommit, ...]:
        """Return the commits whose id begins with a text."""
        found = [each for each in self.messages if each.startswith(id_)]
        return tuple(self._with_first_change(self.of_message(self.messages[each])) for each in found)

    def of_message(self, number: int) -> FoundCommit:
        """Return the commit of a message, without a question."""
        return self.commit_of(Hit(self.snapshot.chunk(number), 1.0), frozenset())

    def _with_first_change(self, commit: FoundCommit) -> FoundCommit:
        """Return a commit with the beginning of its first change, as nothing says which one is meant."""
        first = next(self._changes(commit.id, commit.files), None)
        if first is None:
            return commit
        shown = [line for _, line in lines(first)]
        return replace(commit, change=first.path.partition("/")[2], lines=tuple(shown[:_FIRST_LINES]))


class History:
    """The commits of one repository, indexed at the first question; each question adds the new ones."""

    def __init__(self, root: Path, settings: Settings, progress: Progress | None = None) -> None:
        check(settings.search)
        self.root, self._settings, self._progress = root, settings, progress
        self._encoder = encoder_of(settings)
        self._index = CommitIndex(root, history_location(root), WHOLE_COMMITS, self._encoder, build_of(settings))
        self._indexed: _IndexedCommits | None = None

    def search(self, question: str, keep: CommitFilter, k: int) -> LogAnswer:
        """Return the best `k` commits for a question, or without one the newest that the filters allow."""
        commits, question = self._commits(), question.strip()
        if _ID.fullmatch(question.lower()) and not question.isalpha():
            named = [*_commits_named(commits, question.lower(), keep)]
            return LogAnswer(str(self.root), named, relevant=True, indexed=len(commits.messages))
        (query,) = queries_of([question], mode="all") if question else (Query("", "", "all"),)
        _check_words(question, query)
        snapshot = replace(keep, paths=keep.paths + query.paths).keep_in(commits.snapshot)
        if not question:
            newest = _newest(self.root, commits, snapshot, k)
            return LogAnswer(str(self.root), [*newest], bool(newest), len(commits.messages))
        guard = IndexGuard(self._index.check, f"removing '{self._index.folder.location}'")
        search = CorpusSearch(snapshot, self._encoder, self._settings.search, guard)
        (hits,) = search.search([replace(query, paths=())], k * _PARTS)
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.chunk.path.partition("/")[0], hit)
        query_terms = terms_to_mark([question])
        found = [commits.commit_of(hit, query_terms) for hit in list(best.values())[:k]]
        return LogAnswer(str(self.root), found, bool(found), len(commits.messages))

    def _commits(self) -> _IndexedCommits:
        """Return all commits; the same object until something is committed."""
        snapshot = self._index.snapshot(self._progress)
        if self._indexed is None or self._indexed.snapshot is not snapshot:
            self._indexed = _IndexedCommits(snapshot)
        return self._indexed


def reason_of(body: str, query_terms: frozenset[str] = frozenset(), most: int = _LINES) -> tuple[str, ...]:
    """Return at most `most` lines of a message's body: those with most terms of a question, or the first ones."""
    every = [line for line in body.splitlines() if line.strip()]
    return tuple(every[at] for at in lines_with_terms(every, query_terms, most)) if len(every) > most else tuple(every)


def _best_lines(change: Chunk, query_terms: frozenset[str]) -> list[str]:
    every = lines(change)
    start = window(every, query_terms, _LINES)
    return [line for _, line in every[start : start + _LINES]]


def _messages(snapshot: Snapshot) -> dict[str, int]:
    found = {}
    for base, (segment, live) in zip(snapshot.bases.tolist(), snapshot.parts, strict=False):
        for number, name in enumerate(segment.ids.all()):
            if "/" not in name and (live is None or live[number]):
                found[name] = base + number
    return found


def _check_words(question: str, query: Query) -> None:
    """Refuse query words that do not apply to commits."""
    if query.kinds or query.symbols or query_words(question).of("repo"):
        raise InputError("repo:, kind: and sym: filter code, not commits: leave them out, or quote a name")


def _commits_named(commits: _IndexedCommits, id_: str, keep: CommitFilter) -> tuple[FoundCommit, ...]:
    if keep.author or keep.since or keep.until:
        raise InputError(f"'{id_}' is the id of a commit: leave out author, since and until")
    found = commits.commits_of_id(id_)
    if not found:
        raise InputError(f"no commit begins with '{id_}', of {len(commits.messages):,}; ask for what it did")
    return found


def _newest(root: Path, commits: _IndexedCommits, snapshot: Snapshot, k: int) -> tuple[FoundCommit, ...]:
    """Return the first commits that are alive in git's own order, the newest first."""
    alive = _messages(snapshot)
    ids = [id_ for id_ in commit_ids(root, MAX_COMMITS) if id_ in alive][:k]
    return tuple(commits.of_message(alive[id_]) for id_ in ids)
