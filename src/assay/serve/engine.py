"""One root and its index, kept up to date while any number of threads ask.

One thread writes; readers have a snapshot and wait for the writer a little, in case it is quick, and then no longer.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread

from assay.assemble.commits import History
from assay.assemble.indexes import AnyIndex, index_of
from assay.assemble.workspace import Workspace, last_workspace, open_workspace
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, StorageError
from assay.search.folder_index import IndexReport
from assay.settings import Settings

KEPT_FRESH_S = 0.1
"""So often an index is looked for that another process keeps: all that answer are to say the same."""
_AGAIN_S = 0.05
"""Between two looks whether another process has made an index."""


class StillIndexing(AssayError):
    """There is no clone or index yet, and one is being made."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long things may take, in seconds."""

    fresh_s: float = 1.0
    """A root whose files were looked at so recently is not looked at again."""
    refresh_s: float = 0.5
    """How long answers wait for changed files to be indexed, from when that began, before they come from before."""
    first_s: float = 45.0
    """How long an answer waits for a clone, and for an index where there is none."""
    clone_s: float = 300.0
    """A clone that was fetched so recently is not fetched again."""
    fraction: float = 0.1
    """Of the time, at most, that goes into looking at the files of all served roots."""


def as_kept(settings: Settings) -> Settings:
    """Return the settings with which an index is read that another process keeps up to date."""
    return replace(settings, index=replace(settings.index, refresh=False))


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace as it is right now."""

    workspace: Workspace
    report: IndexReport
    """What the index holds, from when the files were last looked at."""
    version: str
    """Another one whenever something else is searched, and the same in every process that searches the same."""
    stale: bool = False
    """Changed files are still being indexed; the next answer may know more."""


class Engine:
    """One root, its index open; any number of threads may ask."""

    def __init__(self, root: Path, settings: Settings, waits: Waits, *, kept: bool = False) -> None:
        """Take a root and its settings; one that is `kept` is indexed by another process, and only read here."""
        self.root, self.settings = root, settings
        self._reads = as_kept(settings) if kept else settings
        self._kept = kept
        self._waits = replace(waits, fresh_s=KEPT_FRESH_S) if kept else waits
        self._lock = Lock()
        self._view: WorkspaceView | None = None
        self._writing: Future[WorkspaceView] | None = None
        self._checked = -float("inf")
        self._verified = kept  # by who writes it
        self._began = 0.0
        self._progress = (0, 0)

    @cached_property
    def history(self) -> History:
        """The commits of the root's repository, not indexed before somebody asks."""
        return History(self.root, self.settings)

    @property
    def name(self) -> str:
        """The root as text, whatever bytes its name is made of."""
        return as_utf8(str(self.root))

    @property
    def checked_s(self) -> float | None:
        """How long ago the files were looked at; None where they never were."""
        return time.monotonic() - self._checked if self._checked > 0 else None

    @property
    def index(self) -> AnyIndex:
        """Return the index as it compares with the files, opened or not."""
        held = self._view
        return held.workspace.index if held and not self._kept else index_of(self.root, self.settings)

    @property
    def last_view(self) -> WorkspaceView | None:
        """What was there when the files were last looked at, without looking; None where they never were."""
        return self._view

    @property
    def making(self) -> tuple[int, int] | None:
        """How many files of how many are in a first index that is being made; None when none is."""
        return self._progress if self._view is None and self._writing is not None else None

    def view(self) -> WorkspaceView:
        """Return the index, up to date where that is quick; raise `StillIndexing` where there is none yet."""
        with self._lock:
            if self._view is not None and self._view.workspace.index.torn():
                self._view = None
            if self._view is None and self._writing is None:
                self._view = self._last_good()
            held, writing = self._view, self._writing
            if writing is None and (held is None or time.monotonic() - self._checked >= self._waits.fresh_s):
                writing = self._begin(held)
        if writing is None:
            assert held is not None
            return held
        try:
            return writing.result(self._waits.first_s if held is None else self._left_s())
        except TimeoutError:
            if held is not None:
                return replace(held, stale=True)
            done, total = self._progress
            far = f", {done:,} of {total:,} files" if total else ""
            raise StillIndexing(f"the index of '{self.root.name}' is being made{far}; ask again in a minute") from None

    def _left_s(self) -> float:
        """Return how long an answer waits for what is being indexed: half a second in all, not each one anew."""
        return max(0.0, self._began + self._waits.refresh_s - time.monotonic())

    def _begin(self, held: WorkspaceView | None) -> Future[WorkspaceView]:
        writing: Future[WorkspaceView] = Future()
        self._writing, self._began = writing, time.monotonic()
        Thread(target=self._write, args=(held, writing), name=f"index {self.root.name}", daemon=True).start()
        return writing

    def _write(self, held: WorkspaceView | None, writing: Future[WorkspaceView]) -> None:
        started = time.monotonic()
        try:
            made = self._refreshed(held)
        except BaseException as error:  # noqa: BLE001  it is raised where it was asked
            with self._lock:
                self._writing = None
            writing.set_exception(error)
            return
        with self._lock:
            self._view, self._checked, self._writing = made, started, None
        writing.set_result(made)
        with suppress(StorageError):  # out of reach just now: the next one verifies
            if not self._verified and made.workspace.index.check():  # after the answer, for it reads every byte
                self._checked = -float("inf")  # the next question has the index rebuilt
            self._verified = True

    def _last_good(self) -> WorkspaceView | None:
        """Return what was written last, as it is, so that nobody waits for what changed; None where it is no use."""
        workspace = last_workspace(self.root, self._reads)
        return _view_of(workspace, workspace.report) if workspace else None

    def _refreshed(self, held: WorkspaceView | None) -> WorkspaceView:
        """Return what is there now; while nothing changed the same workspace, which knows words and filters by then."""
        if held is None:
            workspace = self._first()
            return _view_of(workspace, workspace.report)
        workspace, report = held.workspace.refresh(self._count)
        report = replace(report, rebuilt_because=report.rebuilt_because or held.report.rebuilt_because)
        return replace(held, report=report) if workspace is held.workspace else _view_of(workspace, report)

    def _first(self) -> Workspace:
        """Return the root with its first index: made here, or waited for where another process makes it."""
        if not self._kept:
            return open_workspace(self.root, self.settings, progress=self._count)
        ends = time.monotonic() + self._waits.first_s
        while (workspace := last_workspace(self.root, self._reads)) is None:
            if time.monotonic() >= ends:
                raise StillIndexing(f"the index of '{self.root.name}' is being made; ask again in a minute")
            time.sleep(_AGAIN_S)
        return workspace

    def _count(self, _stage: str, done: int, total: int) -> None:
        self._progress = (done, total)


def _view_of(workspace: Workspace, report: IndexReport) -> WorkspaceView:
    """Return the view of a workspace, whose snapshot is fixed now: its index may be refreshed at any time."""
    return WorkspaceView(workspace, report, workspace.snapshot.state)
