"""Tell a writer when files change: by events of the file system, or by polling if its limits are reached.

Each folder is watched by itself where the system can, so that what a walk does not enter, such as builds, installed
packages and `.git`, neither wakes anybody up nor uses up the system's limit on watches. All files are looked at now and
then besides, because network drives report nothing.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from assay.operations.indexes import AnyIndex
from assay.protocols import Say, Stop
from assay.search.folder_index import IndexReport
from assay.search.index_changes import UNSURE_NS
from assay.serve.writer import Pace, Writer, WrittenRoot

_QUIET_MS = 200
_MAX_QUIET_MS = 5000
"""The longest pause in changes to wait for; shorter updates wait for as long as they take."""
_MAX_DELAY_MS = 2000
"""Changes that never pause are reported after so long."""
_TICK_S = 1.0
_BLIND_S = 0.1
_EACH_FOLDER = sys.platform == "linux"  # elsewhere the system watches whole trees
_IGNORED = ("ignored by ", "in an ignored folder")
_SETTLES_S = 1.25 * UNSURE_NS / 1e9
"""A change so recent is not trusted yet: see `index_changes`."""

WATCHING = Pace(idle_s=60.0, fraction=0.02, most_s=math.inf, settles_s=_SETTLES_S)
POLLING = replace(WATCHING, idle_s=2.0, fraction=0.2)


def watch_indexes(
    indexes: Sequence[AnyIndex], on_news: Callable[[Path, IndexReport], object], say: Say, stop: Stop
) -> None:
    """Keep indexes up to date while files change, until `stop` is set; other processes leave writing to this one."""
    with ExitStack() as keeping:
        for index in indexes:
            keeping.enter_context(index.keeping())
        changes = keeping.enter_context(closing(Changes(say)))
        roots = [WrittenRoot(index.root, partial(_same, index), WATCHING) for index in indexes]
        Writer(roots, say, on_news=on_news).run(changes.wait, stop)


def _same(index: AnyIndex) -> AnyIndex:
    return index  # another one would wait for this one


class NoWatch(Exception):
    """The system watches no further folders."""


class Watcher:
    """Watches some folders of some roots from its creation on."""

    def __init__(self, roots: Sequence[Path], folders: Collection[str]) -> None:
        """Start watching; raise FileNotFoundError if a folder is gone, and NoWatch at the limits of the system."""
        self.folders = frozenset(folders)
        paths = sorted(folder for folder in folders if _is_text(folder)) if _EACH_FOLDER else list(map(str, roots))
        try:
            # With its last argument true it would pass over its limits, too, without a word.
            self._notify = RustNotify(paths, False, False, 0, not _EACH_FOLDER, False)
        except FileNotFoundError:
            raise
        except (OSError, WatchfilesRustInternalError) as error:
            raise NoWatch(str(error).partition(" about ")[0].rstrip(".")) from error

    def wait(self, quiet_s: float, stop: Stop) -> set[str]:
        """Wait a moment for changes, and then until they pause; return their paths, if any."""
        quiet_ms = max(_QUIET_MS, min(int(1000 * quiet_s), _MAX_QUIET_MS))
        events = self._notify.watch(_MAX_DELAY_MS + quiet_ms, quiet_ms, int(1000 * _TICK_S), stop)
        return set() if isinstance(events, str) else {path for _, path in events}

    def close(self) -> None:
        """Stop watching."""
        self._notify.close()


def _is_text(folder: str) -> bool:
    """Return whether the library accepts a name; changes in others are found when all files are checked."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return True


class _WatchedPaths(NamedTuple):
    """The paths of a root in which changes count, by its last report."""

    report: IndexReport | None = None
    folders: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()


class Changes:
    """Requests a check of roots when the system reports changes in them that matter by their last report."""

    def __init__(
        self, say: Say, watcher: Callable[[Sequence[Path], Collection[str]], Watcher] = Watcher, polling: Pace = POLLING
    ) -> None:
        """Keep a function that reports a limit of the system, a watcher, and the interval of polling."""
        self._say, self._new_watcher, self._polling = say, watcher, polling
        self._watcher: Watcher | None = None
        self._is_polling = False
        self._paths: dict[Path, _WatchedPaths] = {}
        self._stamps: dict[Path, tuple[int, int] | None] = {}

    def wait(self, roots: Sequence[WrittenRoot], stop: Stop) -> None:
        """Wait for changes, and request checks of their roots; if watching starts again, of all."""
        moved = [each for each in roots if self._has_moved(each)]
        if moved:
            self.close()  # a folder may be another one by the same name
        if self._is_watching(roots):
            paths = set[str]() if moved else self._next(roots, stop)
            for each in roots:
                if each in moved or any(self._concerns(path, each) for path in paths):
                    each.look_now()
            if self._watcher and not paths.isdisjoint(self._watcher.folders):
                self.close()

    def close(self) -> None:
        """Stop watching."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def _has_moved(self, each: WrittenRoot) -> bool:
        """Record the last check; return whether a root is another folder than before, or gone, or back."""
        stamp, known = _stamp(each.root), self._paths.get(each.root, _WatchedPaths())
        if each.last is not None and each.last is not known.report:
            known = _paths_of(str(each.root), each.last)
        self._paths[each.root] = known if stamp else _WatchedPaths(known.report)
        before, self._stamps[each.root] = self._stamps.get(each.root, stamp), stamp
        return before != stamp

    def _concerns(self, path: str, each: WrittenRoot) -> bool:
        watched = self._paths[each.root]
        return path.rpartition("/")[0] in watched.folders and path not in watched.ignored

    def _is_watching(self, roots: Sequence[WrittenRoot]) -> bool:
        """Start watching roots that are not watched yet; earlier changes are found by a check of all files."""
        folders = frozenset[str]().union(*(each.folders for each in self._paths.values()))
        if self._is_polling or (self._watcher and self._watcher.folders == folders):
            return True
        self.close()
        try:
            self._watcher = self._new_watcher([each.root for each in roots], folders)
        except FileNotFoundError:
            time.sleep(_BLIND_S)  # a folder went while it was to be watched
        except NoWatch as error:
            self._is_polling = True
            advice = "to receive changes, raise fs.inotify.max_user_watches and max_user_instances and start again"
            self._say(f"the system watches no more folders ({error}): looking at all files instead; {advice}")
        for each in roots:
            each.pace = self._polling if self._is_polling else each.pace
            each.look_now()
        return False

    def _next(self, roots: Sequence[WrittenRoot], stop: Stop) -> set[str]:
        """Return the paths that changed, after a tick at most; none if there are no reports."""
        if self._watcher is not None:
            return self._watcher.wait(max(each.took_s for each in roots), stop)
        time.sleep(min(_TICK_S, self._polling.idle_s))
        return set()


def _paths_of(root: str, report: IndexReport) -> _WatchedPaths:
    """Return the folders that were walked, and what is ignored in them."""
    ignored = (skipped.path for skipped in report.skipped if skipped.reason.startswith(_IGNORED))
    folders = frozenset(f"{root}/{folder}".rstrip("/") for folder in report.folders)
    return _WatchedPaths(report, folders, frozenset(f"{root}/{path}".rstrip("/") for path in ignored))


def _stamp(root: Path) -> tuple[int, int] | None:
    """Return a stamp that changes if a folder is removed and created again; None if there is none."""
    try:
        found = os.stat(root)  # noqa: PTH116  half the time of Path.stat
    except OSError:
        return None
    return found.st_dev, found.st_ino
