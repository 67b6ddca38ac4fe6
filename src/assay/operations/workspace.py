"""Open roots and their indexes, and build the searcher that their settings describe.

Roots whose settings and encoder are the same are one corpus: one set of statistics, one ranking, one verdict, in the
time of one root of their size. Their answers need no merging then, which by rank loses a third of them
(docs/results.md).

One that is damaged is found out when the pass breaks over it; the others are asked again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import NamedTuple

from assay.corpus.addresses import is_url
from assay.errors import AssayError, DamagedIndex, InputError, StorageError, UnwritableIndex, counted, some_of
from assay.operations.corpus_search import CorpusSearch, check
from assay.operations.indexes import AnyIndex, index_of, index_out_of_memory, root_of
from assay.operations.past_commits import PastCommits
from assay.protocols import Progress
from assay.search import retrievers
from assay.search.folder_index import IndexReport
from assay.search.past_changes import PastChanges
from assay.search.path_filters import kept_and_left_out
from assay.settings import SearchSettings, Settings
from assay.store.place import holds_many, is_bucket, located
from assay.store.snapshot import Snapshot
from assay.values import Problem


@dataclass(frozen=True)
class Workspace:
    """One root, its index open. What it searches stays the same; a refreshed index is another workspace."""

    index: AnyIndex
    report: IndexReport
    settings: Settings = field(default_factory=Settings)
    name: str = ""
    """What the root was called by whoever named it."""
    note: str = ""
    """What is odd about how it was opened, for whoever named it."""

    @cached_property
    def past(self) -> PastCommits:
        """Return what the commits of the root say of its files."""
        return PastCommits(self.index.root, self.settings)

    @cached_property
    def snapshot(self) -> Snapshot:
        """Return what is searched."""
        return self.index.snapshot()

    @cached_property
    def corpus_search(self) -> CorpusSearch:
        """Return what searches this root alone."""
        past = self.past.snapshot
        said = None if past is None else PastChanges({"": past})
        return CorpusSearch(self.snapshot, self.index.encoder, self.settings.search, self.guard, said)

    @cached_property
    def guard(self) -> retrievers.IndexGuard:
        """Return what tells who reads the index that it is damaged."""
        location = self.index.location
        is_copied = is_bucket(location)
        where = location if self.settings.index.location or is_copied else ""
        path = str(self.index.root) if self.settings.index.refresh and self.index.root.is_dir() else "PATH"
        return retrievers.IndexGuard(self.index.check, retrievers.rebuild_command(path, where), is_copied)

    def refresh(self, progress: Progress | None = None) -> tuple[Workspace, IndexReport]:
        """Bring the index up to date; return what to search from now on, this one if that did not change."""
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
        return "it holds no file"
    first = report.skipped[0]
    return f"none of its files has text to index ({len(report.skipped)} left out, '{first.path}': {first.reason})"


def summary(report: IndexReport) -> str:
    """Return what an index holds and what was done to it, as one line."""
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
    """Return a root with its index up to date, or as it is when not to be refreshed.

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
    """Return what an index that cannot be written holds, and whether files changed since; refuse where it is no use."""
    try:
        standing = index.standing()
    except StorageError:
        raise refusal from None
    if standing is None or standing.rebuild_because:
        raise refusal
    return replace(standing.report, unwritten=str(refusal) if standing.stale else "")


def last_workspace(root: Path, settings: Settings) -> Workspace | None:
    """Return a root with its index as it was last written; None where there is none, or none to go on from."""
    check(settings.search)
    index = index_of(root, settings)
    report = index.last()
    return Workspace(index, report, settings) if report else None


@dataclass(frozen=True)
class JointSearch:
    """Some workspaces that are searched in one pass."""

    members: tuple[Workspace, ...]
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    """Of roots that had to be left out."""

    @cached_property
    def corpus_search(self) -> CorpusSearch:
        """Return what searches them; one alone knows words and filters from before."""
        if len(self.members) == 1:
            return self.members[0].corpus_search
        first = self.members[0]
        snapshot = Snapshot.joined({member.name: member.snapshot for member in self.members})
        guard = retrievers.IndexGuard(self._damage, "assay index PATH")
        pasts = {member.name: past for member in self.members if (past := member.past.snapshot) is not None}
        said = PastChanges(pasts) if pasts else None
        return CorpusSearch(snapshot, first.index.encoder, first.settings.search, guard, said)

    def without_damaged(self) -> JointSearch:
        """Return the same without the damaged ones, which it names; raise DamagedIndex where that leaves none."""
        damage = {member.name: member.index.check() for member in self.members}
        problems = [
            Problem(member.name, f"the index is corrupt: {damage[member.name]}; {member.guard.rebuild} rebuilds it")
            for member in self.members
            if damage[member.name]
        ]
        whole = tuple(member for member in self.members if not damage[member.name])
        if not whole or not problems:
            raise DamagedIndex("; ".join(map(str, problems)) or "an index changed while it was read; ask again")
        return JointSearch(whole, (*self.problems, *problems))

    def _damage(self) -> str:
        """Return what is damaged of any member."""
        return next((found for member in self.members if (found := member.index.check())), "")


def joint_searches(workspaces: Sequence[Workspace]) -> list[JointSearch]:
    """Return what searches some workspaces in as few passes as their settings allow."""
    if len(workspaces) == 1:
        return [JointSearch(tuple(workspaces))]
    groups: dict[tuple[str, SearchSettings], list[Workspace]] = {}
    for workspace in workspaces:
        search = replace(workspace.settings.search, limit=1, excerpt_lines=1)  # of printing
        groups.setdefault((workspace.index.encoder.name, search), []).append(workspace)
    return [JointSearch(tuple(group)) for group in groups.values()]


_NAMED = 3
"""Roots that are named in an error as examples."""


class OpenedRoots(NamedTuple):
    """The roots that can be searched, and why others cannot."""

    workspaces: tuple[Workspace, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class RootOpening:
    """How roots are opened."""

    settings_of: Callable[[Path], Settings]
    refresh: bool = True
    progress: Progress | None = None
    patience_s: float | None = None
    hint: bool = False
    """Whether paths stood after a question, so that a missing one may be a word of it."""
    check_all: bool = False
    """Whether every byte of an index is read before, and what is damaged rebuilt."""
    strict: bool = False
    """Whether the first root that cannot be opened is an error."""
    repositories: tuple[str, ...] = ()
    """Globs of the names or paths of those to open, as `kept_repositories` takes them."""


def roots_in(places: Iterable[str]) -> list[str]:
    """Return the roots that places name, each a file with one root a line or a glob of folders."""
    return [root for place in places for root in _roots_at(place)]


def _roots_at(place: str) -> list[str]:
    path = Path(place).expanduser()
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the roots in '{place}': {error}") from error
        roots = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        found = "no root in it: write one folder or URL a line"
    elif path.is_dir():
        raise InputError(f"--roots '{place}' is one folder: give '{place}/*' for those in it, or the folder as PATH")
    else:
        found_by_glob = glob(str(path), recursive=True)  # noqa: PTH207  of any folder, as it was typed
        roots = sorted(folder for folder in found_by_glob if Path(folder).is_dir())
        found = "no folder matches, and there is no such file"
    if not roots:
        raise InputError(f"--roots '{place}': {found}")
    return roots


def kept_repositories(roots: Sequence[str], globs: Sequence[str]) -> list[str]:
    """Return the roots whose name or whole path matches a glob, or all; one that starts with `!` leaves out."""

    def is_called(root: str, names: Sequence[str]) -> bool:
        return any(
            fnmatchcase(repository_name(root), one) or fnmatchcase(root, one) or _ends(root, one) for one in names
        )

    wanted, unwanted = kept_and_left_out(globs)
    return [root for root in roots if (not wanted or is_called(root, wanted)) and not is_called(root, unwanted)]


def _ends(root: str, glob: str) -> bool:
    """Say whether as many folders at the end of a path as a glob names match it."""
    return "/" in glob and fnmatchcase("/".join(Path(root).parts[-1 - glob.count("/") :]), glob)


def repository_name(root: str) -> str:
    """Return what people call a root: the last part of its path or URL."""
    if is_url(root):
        return root.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    return Path(root).name or Path(root).resolve().name or root


def open_many(paths: Sequence[str], how: RootOpening) -> OpenedRoots:
    """Open every root that can be opened, each once; raise what is wrong with the first where none can.

    Each path is a folder, the URL of a git repository, or a place in a bucket, whose repositories are read as they are
    and come last. All that can be is checked before any index is made.
    """
    opened: list[Workspace] = []
    errors: dict[str, AssayError] = {}
    places = [] if how.check_all else [path for path in paths if is_bucket(path)]
    folders = [path for path in paths if path not in places]
    for each in named_roots(kept_repositories(folders, how.repositories), how, errors):
        with _noting(each.name, how, errors):
            opened.append(open_root(each, how))
    for place in places:
        with _noting(place, how, errors):
            opened += _published(place, how, errors)
    if not opened:
        raise next(iter(errors.values()), None) or _none_kept(folders, how.repositories)
    return OpenedRoots(tuple(opened), tuple(Problem(name, str(error)) for name, error in errors.items()))


def _none_kept(folders: Sequence[str], globs: Sequence[str]) -> InputError:
    names = some_of(map(repository_name, folders), _NAMED)
    there = f": there are {names}" if names else ""
    return InputError(f"no repository is left by --repo {' '.join(globs)}{there}")


@contextmanager
def _noting(name: str, how: RootOpening, errors: dict[str, AssayError]) -> Iterator[None]:
    """Keep what goes wrong with a root, unless every root has to be opened."""
    try:
        yield
    except AssayError as error:
        if how.strict:
            raise
        errors[name] = error


class NamedRoot(NamedTuple):
    """A root, what it was called by whoever named it, and its settings."""

    root: Path
    name: str
    settings: Settings


def named_roots(paths: Sequence[str], how: RootOpening, errors: dict[str, AssayError] | None = None) -> list[NamedRoot]:
    """Return every folder and clone, each once; what is wrong with some is added to the errors."""
    roots: dict[Path, str] = {}
    found, errors = [], {} if errors is None else errors
    for path in paths:
        with _noting(path, how, errors):
            if not path:
                raise InputError("a PATH is empty: name a folder, or . for the current one")
            roots.setdefault(root_of(path, refresh=how.refresh, hint=how.hint), path)
    for root, path in roots.items():
        with _noting(path, how, errors):
            found.append(NamedRoot(root, str(root) if is_url(path) else path, how.settings_of(root)))
    locations = [(each.settings.index.location, each.root) for each in found if each.settings.index.location]
    single = [located(location, root) for location, root in locations if not holds_many(location)]
    if len(set(single)) < len(single):
        raise InputError("--index names one index, and several paths were given: take them one by one")
    return found


def _published(place: str, how: RootOpening, errors: dict[str, AssayError]) -> Iterator[Workspace]:
    """Open the repositories of a place in a bucket, or the one that it names, as they are there."""
    from assay.operations.published import fetched_ahead, published  # not for a search in a folder

    settings = how.settings_of(Path(place))
    check(settings.search)
    found = published(place, settings, lambda names: kept_repositories(names, how.repositories))
    for name, index in fetched_ahead(found):
        with _noting(name, how, errors):
            yield open_root(NamedRoot(index.root, name, settings), how, index)


def open_root(each: NamedRoot, how: RootOpening, index: AnyIndex | None = None) -> Workspace:
    """Open one root; an `index` that lies in a bucket is read as it is there."""
    if index is not None:
        check(each.settings.search)
        return Workspace(index, index.refresh(), each.settings, name=each.name)
    try:
        workspace = open_workspace(
            each.root,
            each.settings,
            refresh=how.refresh,
            progress=how.progress,
            patience_s=how.patience_s,
            check_all=how.check_all,
        )
    except DamagedIndex as damage:
        rebuild = retrievers.rebuild_command(str(each.root), each.settings.index.location)
        raise DamagedIndex(f"{damage}; {rebuild} rebuilds it") from damage
    return replace(workspace, name=each.name)
