"""Open one root and its index, and build the searcher of its settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from assay.errors import InputError, StorageError, UnwritableIndex, counted
from assay.operations.corpus_search import CorpusSearch, check
from assay.operations.indexes import AnyIndex, index_of, index_out_of_memory
from assay.operations.past_commits import PastCommits
from assay.protocols import Progress
from assay.search import retrievers
from assay.search.folder_index import IndexReport
from assay.search.past_changes import PastChanges
from assay.settings import Settings
from assay.store.index_location import is_bucket
from assay.store.snapshot import Snapshot


@dataclass(frozen=True)
class Workspace:
    """One root with its index open, which does not change: a refreshed index is another workspace."""

    index: AnyIndex
    report: IndexReport
    settings: Settings = field(default_factory=Settings)
    name: str = ""
    """The name that was given to the root."""
    note: str = ""
    """Notes on how it was opened."""

    @cached_property
    def past(self) -> PastCommits:
        """Return the commits of the root."""
        return PastCommits(self.index.root, self.settings)

    @cached_property
    def snapshot(self) -> Snapshot:
        """Return the snapshot that is searched."""
        return self.index.snapshot()

    @cached_property
    def corpus_search(self) -> CorpusSearch:
        """Return the search of this root alone."""
        past = self.past.snapshot
        said = None if past is None else PastChanges({"": past})
        return CorpusSearch(self.snapshot, self.index.encoder, self.settings.search, self.guard, said)

    @cached_property
    def guard(self) -> retrievers.IndexGuard:
        """Return the guard that reports damage of the index."""
        location = self.index.location
        is_copied = is_bucket(location)
        where = location if self.settings.index.location or is_copied else ""
        path = str(self.index.root) if self.settings.index.refresh and self.index.root.is_dir() else "PATH"
        return retrievers.IndexGuard(self.index.check, retrievers.rebuild_command(path, where), is_copied)

    def refresh(self, progress: Progress | None = None) -> tuple[Workspace, IndexReport]:
        """Bring the index up to date; return the workspace to search from now on, this one if nothing changed."""
        try:
            report = self.index.refresh(progress, replaces=False)
        except StorageError as refusal:
            if is_bucket(self.index.location):  # what was read of it is here, and from before
                report = replace(self.report, unwritten=str(refusal))
                before = replace(self, report=report)
                vars(before)["snapshot"] = self.snapshot
                return before, report
            report = _as_before(self.index, refusal)
        same = self.index.snapshot() is self.snapshot and report.stale == self.report.stale and self.past.is_current()
        return (self if same else replace(self, report=report)), report


def notes_of(workspace: Workspace) -> Iterator[str]:
    """Yield what a reader should know about an index before trusting an answer."""
    path, report = workspace.name, workspace.report
    if workspace.note:
        yield workspace.note
    if report.rebuilt_because:
        yield f"index of '{path}' rebuilt: {report.rebuilt_because}"
    if report.busy:
        yield f"files of '{path}' changed and another process is indexing them; this is from before"
    if report.unwritten:
        yield f"{report.unwritten}; files of '{path}' changed, and this is from before"
    if not report.files:
        yield f"nothing to search in '{path}': {_empty(report)}"


def _empty(report: IndexReport) -> str:
    if not report.skipped:
        return "it has no files"
    first = report.skipped[0]
    return f"none of its files has text to index ({len(report.skipped)} left out, '{first.path}': {first.reason})"


def summary(report: IndexReport) -> str:
    """Return on one line what an index holds and how it was updated."""
    done = [f"{number} {what}" for what, number in report.changed.counts().items() if number]
    changed = f" ({', '.join(done)})" if done else ""
    described = f", {report.described:,} described" if report.described else ""
    held = f"{counted(report.files, 'file')}, {counted(report.chunks, 'chunk')}{described}"
    left_out = f", {len(report.skipped):,} left out" if report.skipped else ""
    return f"{held}{left_out}{changed} in {report.seconds:.2f} s"


def open_workspace(  # noqa: PLR0913  how it is brought up to date
    root: Path,
    settings: Settings,
    *,
    refresh: bool = True,
    progress: Progress | None = None,
    patience_s: float | None = None,
    check_all: bool = False,
) -> Workspace:
    """Open a root with its index up to date, or as it is if it is not to be refreshed.

    With a patience, it is as it was where another process is still bringing it up to date after that. With
    `check_all`, every byte of it is read before, and a refresh rebuilds what is damaged. Otherwise, where nothing can
    be written, it is as it was, too, and its report says so; where there is none in the user's cache, it is built in
    memory, and the workspace's note says so.
    """
    check(settings.search)
    if check_all and not settings.index.refresh:
        raise InputError("index.refresh is false, and nothing is indexed then: leave that setting out")
    index = index_of(root, settings)
    if check_all:
        index.check()
    if not refresh:
        report = index.status()
        if report is None:
            raise InputError(f"no index of '{root}' yet: leave out --no-refresh, or run assay index")
        return Workspace(index, report, settings)
    past = PastCommits(root, settings)
    try:
        with past.made_beside():
            report = index.refresh(progress, patience_s=patience_s, replaces=check_all)
        return Workspace(index, report, settings)
    except StorageError as refusal:
        if check_all:
            raise
        if not isinstance(refusal, UnwritableIndex) or settings.index.location or index.last() is not None:
            return Workspace(index, _as_before(index, refusal), settings)
        index = index_out_of_memory(root, settings, refusal)
        note = f"{refusal}; until then each index is built in memory, and gone afterwards"
        return Workspace(index, index.refresh(progress), settings, note=note)


def _as_before(index: AnyIndex, refusal: StorageError) -> IndexReport:
    """Return what an index that cannot be written holds, and whether files changed since; refuse if it is unusable."""
    try:
        standing = index.standing()
    except StorageError:
        raise refusal from None
    if standing is None or standing.rebuild_because:
        raise refusal
    return replace(standing.report, unwritten=str(refusal) if standing.stale else "")


def last_workspace(root: Path, settings: Settings) -> Workspace | None:
    """Open a root with its index as it was last written; None if there is none that can be used."""
    check(settings.search)
    index = index_of(root, settings)
    report = index.last()
    return Workspace(index, report, settings) if report else None
