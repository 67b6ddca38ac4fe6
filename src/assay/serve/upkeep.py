"""Keep indexes up to date, by events of the file system or by polling, and report each update.

What the system tells of changes only says when to look. Each update lists all files and compares, as any refresh does:
whatever was told twice, late or never, an update ends equal to a fresh index. All files are looked at now and then
besides, for network drives tell nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, printable
from assay.operations.indexes import AnyIndex
from assay.protocols import Say, Stop
from assay.search.folder_index import IndexReport
from assay.search.index_changes import UNSURE_NS
from assay.serve.watcher import NoWatch, Watcher

_TICK_S = 1.0
_BLIND_S = 0.1
_IGNORED = ("ignored by ", "in an ignored folder")
_SETTLES_S = 1.25 * UNSURE_NS / 1e9

Tell = Callable[["WatchedIndex", IndexReport], None]
"""Called after the first look, and after each update that changed something."""


@dataclass(frozen=True, slots=True)
class UpkeepPace:
    """How often things are done, in seconds."""

    look_s: float = 60.0
    """All files are looked at so often though nothing was told."""
    poll_s: float = 2.0
    """The same where the system tells nothing at all."""
    share: float = 0.02
    """Looking takes at most this much of the time; where nothing is told ten times as much."""
    again_s: float = 5.0
    """After what went wrong."""
    longest_quiet_s: float = 5.0
    """Updates that take long wait for as long a pause in the changes, but no longer than this."""


@dataclass(eq=False)
class WatchedIndex:
    """One index, and what is known of its root."""

    index: AnyIndex
    folders: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    stamp: tuple[int, int] | None = None
    """Which folder the root was when it was last looked at: one that went and came back is another."""
    due: float = 0.0
    """When it is to be looked at whatever is told."""
    seconds: float = 0.0
    """What looking took."""
    trouble: str = ""
    said: bool = False
    """Whether a word was said since the start, or since something went wrong."""

    @property
    def root(self) -> Path:
        """Its root."""
        return self.index.root

    def concerns(self, path: str) -> bool:
        """Say whether a change at a path may change the index."""
        return path.rpartition("/")[0] in self.folders and path not in self.ignored

    def moved(self) -> bool:
        """Say whether the root is another folder than it was, or gone, or back."""
        return _stamp(self.root) != self.stamp


class Upkeep:
    """Keeps indexes up to date until it is told to stop."""

    def __init__(
        self,
        indexes: Sequence[AnyIndex],
        tell: Tell,
        say: Say,
        *,
        pace: UpkeepPace = UpkeepPace(),
        watch: Callable[[Sequence[Path], Collection[str]], Watcher] = Watcher,
    ) -> None:
        """Take indexes, whom to tell of updates and of trouble, how often to look, and what tells of changes."""
        self._all = [WatchedIndex(index) for index in indexes]
        self._tell, self._say, self._pace, self._watch = tell, say, pace, watch
        self._watcher: Watcher | None = None
        self._polling = False

    def run(self, stop: Stop) -> None:
        """Work until `stop` is set; an update that has begun is finished."""
        with ExitStack() as keeping:
            for each in self._all:
                keeping.enter_context(each.index.keeping())
            keeping.callback(self._forget)
            while not stop.is_set():
                self._subscribe()
                self._look(stop)
                if self._blind():
                    time.sleep(_BLIND_S)  # a folder went while it was to be watched
                elif self._watcher is None or self._watcher.folders == self._folders():
                    self._wait(stop)
                else:
                    self._forget()

    def _folders(self) -> frozenset[str]:
        return frozenset().union(*(each.folders for each in self._all))

    def _subscribe(self) -> None:
        """Have changes told from now on; whatever happened before is found by looking at everything."""
        if self._watcher is not None or self._polling:
            return
        try:
            self._watcher = self._watch([each.root for each in self._all], self._folders())
        except FileNotFoundError:
            pass
        except NoWatch as error:
            self._polling = True
            wanted = "to be told of changes, raise fs.inotify.max_user_watches and max_user_instances and start again"
            self._say(f"the system watches no more folders ({error}): looking at all files instead; {wanted}")
        for each in self._all:
            each.due = 0.0

    def _blind(self) -> bool:
        """Say whether changes are neither told nor looked for at the moment."""
        return self._watcher is None and not self._polling

    def _forget(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def _look(self, stop: Stop) -> None:
        for each in self._all:
            if time.monotonic() >= each.due and not stop.is_set():
                self._update(each)

    def _update(self, each: WatchedIndex) -> None:
        """Bring one index up to date; what goes wrong is said once and tried again."""
        each.stamp = _stamp(each.root)
        try:
            report = each.index.refresh()
        except Exception as error:  # noqa: BLE001  the next change may be none that trips it
            self._fail(each, str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}")
        else:
            self._took(each, report)

    def _fail(self, each: WatchedIndex, trouble: str) -> None:
        if trouble != each.trouble:
            self._say(f"{each.root}: {printable(trouble)}; trying again")
        each.trouble, each.said, each.due = trouble, False, time.monotonic() + self._pace.again_s
        if each.stamp is None:
            each.folders = frozenset()

    def _took(self, each: WatchedIndex, report: IndexReport) -> None:
        news = not each.said or bool(report.changed or report.rebuilt_because)
        each.trouble, each.said, each.seconds = "", True, report.seconds
        root = str(each.root)
        each.folders = frozenset(f"{root}/{folder}".rstrip("/") for folder in report.folders)
        ignored = (skipped.path for skipped in report.skipped if skipped.reason.startswith(_IGNORED))
        each.ignored = frozenset(f"{root}/{path}".rstrip("/") for path in ignored)
        least_s, tenfold = (self._pace.poll_s, 10) if self._polling else (self._pace.look_s, 1)
        pause_s = max(least_s, each.seconds / self._pace.share / tenfold)
        # what changed so lately is not trusted yet: see index_changes
        each.due = time.monotonic() + (_SETTLES_S if news else pause_s)
        if news:
            self._tell(each, report)

    def _wait(self, stop: Stop) -> None:
        """Wait until something is to be done, and note what."""
        while not stop.is_set():
            paths = self._next(stop)
            for each in self._all:
                if each.moved() or any(map(each.concerns, paths)):
                    each.due = 0.0
            if self._watcher and (not paths.isdisjoint(self._watcher.folders) or any(e.moved() for e in self._all)):
                self._forget()  # a folder may be another one by the same name
            if self._blind() or any(time.monotonic() >= each.due for each in self._all):
                return

    def _next(self, stop: Stop) -> set[str]:
        """Return the paths that were told of, after a tick at most; where nothing is told, none."""
        if self._watcher is not None:
            quiet_s = min(max(each.seconds for each in self._all), self._pace.longest_quiet_s)
            return self._watcher.wait(_TICK_S, quiet_s, stop)
        time.sleep(min(_TICK_S, self._pace.poll_s))
        return set()


def _stamp(root: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(root)  # noqa: PTH116  half the time of Path.stat
    except OSError:
        return None
    return found.st_dev, found.st_ino
