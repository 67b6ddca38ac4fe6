"""What faces share: the folders that may be searched, and an index of each that is kept up to date while they ask.

A place is a path below a folder that is served, or the URL of a repository. Its index is that of the innermost checkout
or served folder around it, so that one repository has one index however it is asked about. One thread a root writes;
readers have a snapshot and wait for a writer a little, in case it is quick, and then no longer.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from threading import Lock, Thread

from assay.assemble import Workspace, last_workspace, open_workspace, root_of
from assay.corpus.clone import is_url
from assay.corpus.files import shown
from assay.errors import AssayError, InputError
from assay.protocols import Searcher
from assay.search.hybrid import Corpus
from assay.search.index import Report
from assay.settings import Settings

_MOST_GLOBS, _LONGEST_GLOB = 100, 500
_MOST_CLONING = 4
"""Repositories that are cloned at once; more wait in their client."""


class StillIndexing(AssayError):
    """There is no clone or index yet, and one is being made."""


class NotServed(InputError):
    """What was asked about is not there, or lies outside of what is served."""


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


@dataclass(frozen=True, slots=True)
class Place:
    """What was asked about: an engine, and the part of its root to keep to."""

    engine: Engine
    inside: str = ""
    """A file or folder below the root, or empty for all of it."""

    def globs(self, asked: Collection[str] = ()) -> tuple[str, ...]:
        """Return what keeps to this place and to some globs, which are relative to it."""
        if len(asked) > _MOST_GLOBS or any(len(glob) > _LONGEST_GLOB for glob in asked):
            raise InputError(f"at most {_MOST_GLOBS} globs of {_LONGEST_GLOB} characters are taken")
        if not self.inside:
            return tuple(asked)
        here = "/" + _literal(self.inside)
        wanted = [f"{here}/{_below(glob)}" for glob in asked if not glob.startswith("!")]
        return (*(wanted or [here]), *(f"!{here}/{_below(glob[1:])}" for glob in asked if glob.startswith("!")))


@dataclass(frozen=True, slots=True)
class View:
    """A workspace as it is right now."""

    workspace: Workspace
    searcher: Searcher
    corpus: Corpus
    report: Report
    """What the index holds, from when the files were last looked at."""
    version: str = field(default_factory=partial(token_hex, 8))
    """Another one whenever something else is searched."""
    stale: bool = False
    """Changed files are still being indexed; the next answer may know more."""


class Engine:
    """One root, its index open; any number of threads may ask."""

    def __init__(self, root: Path, settings: Settings, waits: Waits) -> None:
        self.root, self.settings = root, settings
        self._waits = waits
        self._lock = Lock()
        self._view: View | None = None
        self._writing: Future[View] | None = None
        self._checked = -float("inf")
        self._verified = False
        self._began = 0.0
        self._progress = (0, 0)

    @property
    def name(self) -> str:
        """The root as text, whatever bytes its name is made of."""
        return shown(str(self.root))

    @property
    def checked_s(self) -> float | None:
        """How long ago the files were looked at; None where they never were."""
        return time.monotonic() - self._checked if self._checked > 0 else None

    @property
    def held(self) -> View | None:
        """What was there when the files were last looked at, without looking; None where they never were."""
        return self._view

    @property
    def making(self) -> tuple[int, int] | None:
        """How many files of how many are in a first index that is being made; None when none is."""
        return self._progress if self._view is None and self._writing is not None else None

    def view(self) -> View:
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

    def _begin(self, held: View | None) -> Future[View]:
        writing: Future[View] = Future()
        self._writing, self._began = writing, time.monotonic()
        Thread(target=self._write, args=(held, writing), name=f"index {self.root.name}", daemon=True).start()
        return writing

    def _write(self, held: View | None, writing: Future[View]) -> None:
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
        if not self._verified and made.workspace.index.check():  # after the answer, for it reads every byte
            self._checked = -float("inf")  # the next question has the index made anew
        self._verified = True

    def _last_good(self) -> View | None:
        """Return what was written last, as it is, so that nobody waits for what changed; None where it is no use."""
        workspace = last_workspace(self.root, self.settings)
        return _viewed(workspace, workspace.report) if workspace else None

    def _refreshed(self, held: View | None) -> View:
        """Return what is there now; while nothing changed the same workspace, which knows words and filters by then."""
        if held is None:
            workspace = open_workspace(self.root, self.settings, progress=self._told)
            return _viewed(workspace, workspace.report)
        index = held.workspace.index
        report = index.refresh(self._told)
        report = replace(report, rebuilt_because=report.rebuilt_because or held.report.rebuilt_because)
        if index.corpus() is held.corpus:
            return replace(held, report=report)
        return _viewed(Workspace(index, report, self.settings), report)

    def _told(self, _stage: str, done: int, total: int) -> None:
        self._progress = (done, total)


def _viewed(workspace: Workspace, report: Report) -> View:
    return View(workspace, workspace.searcher, workspace.index.corpus(), report)


class Session:
    """The roots that are served, each with its settings, and their engines."""

    def __init__(
        self,
        roots: Mapping[Path, Settings],
        *,
        schemes: Collection[str] = ("https",),
        waits: Waits = Waits(),
        most: int = 16,
    ) -> None:
        """Serve some folders, and repositories whose URLs have one of some schemes; keep the `most` asked last open."""
        self.roots = {root.resolve(): settings for root, settings in roots.items()}
        self._schemes, self._waits, self._most = tuple(schemes), waits, most
        self._engines: OrderedDict[Path, Engine] = OrderedDict()
        self._clones: dict[str, tuple[float, Path]] = {}
        self._cloning: dict[str, Future[Path]] = {}
        self._lock = Lock()

    def place(self, asked: str = "") -> Place:
        """Return the place of a path or URL; what is not served is refused, wherever a symbolic link hides it."""
        if is_url(asked):
            root = self._clone(asked)
            return Place(self._engine(root, self._elsewhere(next(iter(self.roots.values()), Settings()))))
        served, path = self._served(asked)
        root = next(folder for folder in (path, *path.parents) if folder == served or _is_checkout(folder))
        settings = self.roots[served]
        engine = self._engine(root, settings if root == served else self._elsewhere(settings))
        inside = path.relative_to(root).as_posix()
        return Place(engine, "" if inside == "." else inside)

    def making(self) -> tuple[str, int, int] | None:
        """Return a root whose first index is being made, with how many files of how many are in it."""
        with self._lock:
            engines = list(self._engines.values())
        return next(((engine.root.name, *making) for engine in engines if (making := engine.making)), None)

    def _served(self, asked: str) -> tuple[Path, Path]:
        """Return the served root that holds a path, and the path with every link followed."""
        if not asked and len(self.roots) > 1:
            raise InputError(f"several folders are served, say which as path: {self._named()}")
        try:
            given = [Path(asked)] if Path(asked).is_absolute() else [root / asked for root in self.roots]
            paths = [path.resolve() for path in given]
            held = [(root, path) for path in paths for root in self.roots if path.is_relative_to(root)]
            held.sort(key=lambda pair: -len(pair[0].parts))
            found = next((pair for pair in held if pair[1].exists()), None) or self._by_name(asked)
        except (OSError, ValueError, RuntimeError):  # too long, no text, links in a circle, not readable
            raise NotServed(f"'{asked}' is no path that can be read") from None
        if not held and found is None:
            raise NotServed(f"'{asked}' is outside of what is served: {self._named()}")
        if found is None:
            raise NotServed(f"no such file or folder: '{asked}'; paths are relative to {self._named()}")
        return found

    def _by_name(self, asked: str) -> tuple[Path, Path] | None:
        """Return what a path means that begins with the name of a served folder; None where that is nothing."""
        name, _, rest = asked.partition("/")
        roots = [root for root in self.roots if name and root.name == name]
        if len(roots) > 1:
            raise NotServed(f"'{name}' is the name of several folders: give the whole path, of {self._named()}")
        paths = [(root, (root / rest.lstrip("/")).resolve()) for root in roots]
        return next(((root, path) for root, path in paths if path.is_relative_to(root) and path.exists()), None)

    def _named(self) -> str:
        return ", ".join(map(str, self.roots)) or "nothing"

    def _clone(self, url: str) -> Path:
        scheme = url.partition("://")[0] if "://" in url else "ssh"
        if scheme not in self._schemes:
            allowed = " or ".join(self._schemes)
            raise NotServed(f"'{url}' is not served: {f'give a URL of {allowed}' if allowed else 'cloning is off'}")
        with self._lock:
            known = self._clones.get(url)
            if known and time.monotonic() - known[0] < self._waits.clone_s:
                return known[1]
            cloning = self._cloning.get(url) or self._begin_clone(url)
        try:
            return cloning.result(self._waits.first_s)
        except TimeoutError:
            if known:
                return known[1]
            raise StillIndexing(f"'{url}' is being cloned; ask again in a minute") from None

    def _begin_clone(self, url: str) -> Future[Path]:
        """Clone in a thread of its own: a host that never ends its answer holds up nobody who asks for other things."""
        if len(self._cloning) >= _MOST_CLONING:
            raise StillIndexing(f"{_MOST_CLONING} other repositories are being cloned; ask again in a minute")
        cloning = self._cloning[url] = Future[Path]()
        Thread(target=self._write_clone, args=(url, cloning), name="clone", daemon=True).start()
        return cloning

    def _write_clone(self, url: str, cloning: Future[Path]) -> None:
        try:
            root = root_of(url)
        except BaseException as error:  # noqa: BLE001  it is raised where it was asked
            with self._lock:
                del self._cloning[url]
            cloning.set_exception(error)
            return
        with self._lock:
            self._clones[url] = (time.monotonic(), root)
            del self._cloning[url]
        cloning.set_result(root)

    def _elsewhere(self, settings: Settings) -> Settings:
        """Return settings for another root: an index that was given a place is of its own root alone."""
        return replace(settings, index=replace(settings.index, location=""))

    def _engine(self, root: Path, settings: Settings) -> Engine:
        with self._lock:
            engine = self._engines.pop(root, None) or Engine(root, settings, self._waits)
            self._engines[root] = engine
            while len(self._engines) > self._most:
                self._engines.popitem(last=False)
            return engine


def _is_checkout(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False


def _literal(path: str) -> str:
    """Return a path as a glob that matches it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _below(glob: str) -> str:
    """Return a glob as it is below a folder: one without a slash is of any file there."""
    anywhere = "/" not in glob.rstrip("/")
    return f"**/{glob}" if anywhere else str(PurePosixPath(glob.lstrip("/").removeprefix("./")))
