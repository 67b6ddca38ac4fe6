"""Know the folders that may be searched, each with an index that is kept up to date while clients search.

A place is a path below a folder that is served, or the URL of a repository. Its index is that of the innermost checkout
or served folder around it, so that one repository has one index however it is asked about.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock

from platformdirs import user_cache_path

from assay.corpus.addresses import CloneRules, is_url
from assay.corpus.left_out_names import VERSION_CONTROL
from assay.corpus.walked_files import as_utf8
from assay.corpus.worktrees import is_checkout
from assay.errors import InputError, some_of
from assay.operations.indexes import clone_of, location_of
from assay.operations.roots import NotServed, Place
from assay.serve.reader import RootReader, RootsReader, StillIndexing, Waits
from assay.serve.served_roots import FixedRoots, RootSource, ServedRoots, short_names
from assay.serve.writer import Pace, Upkeep
from assay.settings import Settings

_NAMED = 5
"""Served folders in an error message."""
_MAX_CLONES = 4
"""Repositories that are cloned at a time; more wait in their client."""


class Session:
    """The served roots, each with its settings, and their readers."""

    def __init__(  # noqa: PLR0913  what is served, and how
        self,
        roots: Mapping[Path, Settings] | RootSource,
        *,
        elsewhere: Settings = Settings(),  # noqa: B008  frozen
        clones: CloneRules = CloneRules(),  # noqa: B008  frozen
        waits: Waits = Waits(),  # noqa: B008  frozen
        most: int = 16,
        is_kept: bool = False,
        by_name: bool = False,
    ) -> None:
        """Serve folders, and repositories by URL as far as clones are allowed; keep the last `most` of these open.

        Clones and checkouts inside a folder are searched with the settings for `elsewhere`, not with those of a root.
        With `is_kept`, another process writes the indexes of the folders, which are only read here. With `by_name`, a
        path begins with the name of its folder wherever it can be read so.
        """
        self.source: RootSource = FixedRoots(roots) if isinstance(roots, Mapping) else roots
        self._rules, self._waits, self._most = clones, waits, most
        # an index that was given a place is of its own root alone
        self._elsewhere = replace(elsewhere, index=replace(elsewhere.index, location="", refresh=True))
        self._engines: OrderedDict[Path, RootReader] = OrderedDict()
        self._clones: dict[str, Upkeep[Path]] = {}
        self._lock = Lock()
        self._path_names: tuple[ServedRoots, list[Path | None], Mapping[str, str], re.Pattern[str]] | None = None
        self._is_kept, self._by_name_first = is_kept, by_name
        self.everything = RootsReader(self.source, waits, is_kept=is_kept)

    @property
    def roots(self) -> Mapping[Path, Settings]:
        """Return the folders that are served now, each with its settings."""
        return self.source.current().settings

    @property
    def are_several(self) -> bool:
        """Return whether more than one folder is served, or a list of them."""
        served = self.source.current()
        return served.is_list or len(served.settings) > 1

    @property
    def names(self) -> Mapping[Path, str]:
        """Return the name of each served folder, including those that cannot be searched yet, and of each clone."""
        served = self.source.current()
        clones = {clone.last: url for url, clone in self._clones.items() if clone.last}
        return {**short_names((*served.settings, *served.missing, *served.coming)), **clones}

    def without_paths(self, text: str) -> str:
        """Return a text for strangers, in which served folders are replaced by their names, and other paths by `~`."""
        if "/" not in text and "\\" not in text:
            return text
        served, clones = self.source.current(), [clone.last for clone in list(self._clones.values())]
        if self._path_names is None or self._path_names[0] is not served or self._path_names[1] != clones:
            self._path_names = (served, clones, *_finder_of_paths(self.names, served.settings))
        names, paths = self._path_names[2:]
        return names.get(text) or paths.sub(lambda found: names[found[0]], text)

    def place(self, target: str = "") -> Place:
        """Return the place of a path or URL; what is not served is refused, even behind a symbolic link."""
        if is_url(target):
            root = self._clone(target)
            return Place(self._engine(root, self._elsewhere))
        served, path = self._served_path(target)
        if not VERSION_CONTROL.isdisjoint(path.relative_to(served).parts):
            raise NotServed(f"'{target}' belongs to version control, which is not served")
        root = next(folder for folder in (path, *path.parents) if folder == served or is_checkout(folder))
        settings = self.roots[served]
        engine = self._engine(root, settings if root == served else self._elsewhere)
        inside = path.relative_to(root).as_posix()
        return Place(engine, "" if inside == "." else inside)

    def making(self) -> tuple[str, int, int] | None:
        """Return a root whose first index is being built, with its numbers of files done and of all files."""
        with self._lock:
            engines = list(self._engines.values())
        return next(((engine.root.name, *making) for engine in engines if (making := engine.making)), None)

    def _served_path(self, target: str) -> tuple[Path, Path]:
        """Return the served root of a path, and the path with every link resolved."""
        if not target and self.are_several:
            raise InputError(f"several folders are served; name one as path: {self._root_names()}")
        try:
            whole = Path(target).resolve() if Path(target).is_absolute() else None
            pairs = [(root, whole or (root / target).resolve()) for root in self.roots]
            own = [path for root, path in pairs if path.is_relative_to(root)]
            found = (self._by_name_first and self._by_name(target)) or self._innermost(own) or self._by_name(target)
            found = found or self._innermost({path for _, path in pairs})  # by a link into another root
        except (OSError, ValueError, RuntimeError):  # too long, no text, links in a circle, not readable
            raise NotServed(f"cannot read the path '{target}'") from None
        if not own and found is None:
            raise NotServed(f"'{target}' is outside of what is served: {self._root_names()}")
        if found is None:
            raise NotServed(f"no such file or folder: '{target}'; paths are relative to {self._root_names()}")
        return found

    def _innermost(self, paths: Collection[Path]) -> tuple[Path, Path] | None:
        """Return the one of some paths that exists in the innermost root, and that root; or None."""
        there = [path for path in paths if path.exists()]
        roots = self.roots.keys()
        inner = [(next(filter(roots.__contains__, (path, *path.parents)), None), path) for path in there]
        held = [(root, path) for root, path in inner if root is not None]
        return max(held, key=lambda pair: len(pair[0].parts), default=None)

    def _by_name(self, target: str) -> tuple[Path, Path] | None:
        """Return the root and the path of a text that begins with the name of a served folder; or None."""
        called = {name: root for root, name in self.names.items() if f"{target}/".startswith(f"{name}/")}
        if not called and sum(root.name == target.partition("/")[0] for root in self.roots) > 1:
            raise NotServed(f"'{target}' is in several folders: begin it with one of {self._root_names()}")
        for name, root in sorted(called.items(), reverse=True):
            path = (root / target.removeprefix(name).lstrip("/")).resolve()
            if root in self.roots and path.is_relative_to(root) and path.exists():
                return root, path
        return None

    def _root_names(self) -> str:
        return some_of(self.roots, _NAMED) or "nothing"

    def _clone(self, url: str) -> Path:
        try:
            self._rules.check(url)
        except InputError as error:
            raise NotServed(str(error)) from None
        with self._lock:
            clone = self._clones.get(url) or self._new_clone(url)
            known, run = clone.last, self._begin_clone(clone)
        if run is None:
            assert known is not None
            return known
        try:
            return run.result(self._waits.first_s)
        except TimeoutError:
            if known is not None:
                return known
            raise StillIndexing(f"'{url}' is being cloned; ask again in a minute") from None

    def _new_clone(self, url: str) -> Upkeep[Path]:
        """Return an upkeep that clones in its own thread, so that a host that does not answer blocks no other clone."""
        self._clones = {each: clone for each, clone in self._clones.items() if clone.is_running or clone.last}
        write = lambda: clone_of(url, options=self._rules.git_options(url))  # noqa: E731
        return self._clones.setdefault(url, Upkeep("clone", write, Pace(self._waits.clone_s, fraction=math.inf)))

    def _begin_clone(self, clone: Upkeep[Path]) -> Future[Path] | None:
        is_full = sum(each.is_running for each in self._clones.values()) >= _MAX_CLONES
        if is_full and clone.is_due:
            raise StillIndexing(f"{_MAX_CLONES} other repositories are being cloned; ask again in a minute")
        return clone.ask()

    def _engine(self, root: Path, settings: Settings) -> RootReader:
        with self._lock:
            engine = self._engines.pop(root, None)
            served = self.source.current()
            kept = root in served.generations or (self._is_kept and root in served.settings)
            if engine is None or engine.settings != settings:
                engine = RootReader(root, settings, self._waits, is_kept=kept)
            self._engines[root] = engine
            while len(self._engines) > self._most:
                self._engines.popitem(last=False)
            return engine


def _finder_of_paths(
    names: Mapping[Path, str], settings: Mapping[Path, Settings]
) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Return the public name of each path, and an expression that finds these paths in a text, the longest first."""
    indexes = (location_of(root, each) for root, each in settings.items() if each.index.location)
    own = (user_cache_path("assay"), Path.home(), *indexes)
    known = {as_utf8(str(path)): "~" for path in own if len(path.parts) > 1}
    known |= {as_utf8(str(path)): name for path, name in names.items()}
    either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return known, re.compile(rf"(?<![\w/.-])(?:{either})(?![\w.-])")
