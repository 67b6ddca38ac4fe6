"""Index the messages of a root's commits, with the files that they changed, beside its index.

It is brought up to date when a search wants it, and at first while files are indexed, by a process of its own. Where it
cannot be had, a search answers by the files alone, and `status` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from assay.corpus.git_history import history_state
from assay.corpus.worktrees import checkout_around
from assay.errors import AssayError, counted
from assay.search.commit_index import CommitIndex
from assay.search.past_changes import VOTING_COMMITS, PastChanges
from assay.settings import Settings
from assay.store.index_location import is_bucket, past_location
from assay.store.snapshot import Snapshot


class PastCommits:
    """The commits of one root, opened when they are first needed, or the reason why there are none."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self._root, self._is_writer = root, settings.index.refresh
        self._index = CommitIndex(root, past_location(root), VOTING_COMMITS)
        self._state = ""
        self.why_not = _why_none(root, settings)
        """Why there are no commits to search, or empty."""

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """Return the newest commits, indexing new ones; if another process is indexing, its last ones."""
        if self.why_not:
            return None
        try:
            self._state = self._now()
            return self._index.snapshot() if self._is_writer else self._index.last()
        except (AssayError, OSError) as error:
            self.why_not = str(error)
            return None

    def is_current(self) -> bool:
        """Return whether nothing was committed since the last snapshot, as far as there was one."""
        if "snapshot" in vars(self) and not self.why_not:
            with suppress(AssayError, OSError):
                return self._now() == self._state
        return True

    def summary(self) -> str:
        """Return what is indexed of the history, without changing it, or why nothing is."""
        if self.why_not:
            return f"none: {self.why_not}"
        try:
            state, known = history_state(self._root), self._index.last()
        except (AssayError, OSError):  # the error names the folder, which the users of a server may not know
            return "none: git cannot read it, and assay log says why"
        held = f"{counted(len(known), 'commit')} with files" if known else "none yet; a search reads it"
        return f"{held}; a shallow clone, which lacks the older ones" if " " in state else held

    @contextmanager
    def made_beside(self) -> Iterator[None]:
        """Index all commits in another process while the body runs, if none are indexed yet."""
        from assay.search.index_build import can_fork, forked  # what parses is loaded where something is indexed

        wait: Callable[[], None] | None = None
        if not self.why_not and self._is_writer and can_fork():
            with suppress(AssayError, OSError):
                wait = forked(self._make) if self._index.folder.open() is None else None
        try:
            yield
        finally:
            if wait:
                wait()

    def _make(self) -> None:
        with suppress(AssayError, OSError):  # which come again where it is asked
            self._index.snapshot()

    def _now(self) -> str:
        return history_state(self._root) if self._is_writer else self._index.folder.catalog()


def past_until(root: Path, commit: str, settings: Settings) -> PastChanges | None:
    """Return the index of a repository's commits up to one of them or to the newest; None if none are read."""
    if _why_none(root, settings):
        return None
    return PastChanges({"": VOTING_COMMITS.in_memory(root, commit or "HEAD")})


def _why_none(root: Path, settings: Settings) -> str:
    if settings.search.ranking != "learned":
        return f"not read where search.ranking is '{settings.search.ranking}'"
    if is_bucket(settings.index.location):
        return "not read where the index is in a bucket"
    is_bare = (root / "HEAD").is_file() and (root / "objects").is_dir()
    if not is_bare and checkout_around(root) is None:
        return "not in a git repository"
    return ""
