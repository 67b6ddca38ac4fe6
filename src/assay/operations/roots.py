"""Define what operations search: a root, a place in it, and all open roots.

A server keeps roots open for many clients, the command line for one question; operations know only these protocols.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from assay.errors import InputError
from assay.operations.requests import MAX_GLOB_CHARS, MAX_GLOBS
from assay.search.path_filters import as_glob
from assay.settings import Settings
from assay.values import Problem

if TYPE_CHECKING:
    from assay.operations.commits import History
    from assay.operations.indexes import AnyIndex
    from assay.operations.joint_search import JointSearch
    from assay.operations.workspace import Workspace
    from assay.search.folder_index import IndexReport
    from assay.store.snapshot import Snapshot


class NotServed(InputError):
    """The requested path does not exist, or lies outside of what is served."""


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace at one moment."""

    workspace: Workspace
    report: IndexReport
    """What the index held when the files were last checked."""
    version: str
    """Changes whenever the searched content does; the same in every process that searches the same."""
    stale: bool = False
    """Whether changed files are still being indexed; the next answer may include them."""


@dataclass(frozen=True, slots=True)
class RootsView:
    """Some served roots at one moment."""

    searches: tuple[JointSearch, ...]
    problems: tuple[Problem, ...]
    truncated: bool
    """Whether some roots are still being indexed for the first time."""
    version: str
    """Changes whenever the searched content does; the same in every process that searches the same."""

    def snapshots(self) -> dict[str, Snapshot]:
        """Return the snapshot of each root, by the name that its hits have."""
        return {member.name: member.snapshot for each in self.searches for member in each.members}


class Reader(Protocol):
    """One root with its index open."""

    root: Path
    settings: Settings
    last_view: WorkspaceView | None

    @property
    def name(self) -> str:
        """The root as a text."""

    @property
    def history(self) -> History:
        """The commits of its repository."""

    @property
    def index(self) -> AnyIndex:
        """Its index, opened or not, to compare it with the files."""

    @property
    def checked_s(self) -> float | None:
        """Seconds since the files were last checked."""

    def view(self) -> WorkspaceView:
        """Return the root at this moment."""


class AllReader(Protocol):
    """All roots, searched as one."""

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return those that globs allow, at this moment."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a request: a root, and the part of it to search."""

    reader: Reader
    inside: str = ""
    """A file or folder below the root, or empty for all of it."""

    def globs(self, within: Collection[str] = ()) -> tuple[str, ...]:
        """Return globs that keep to this place, and to others relative to it."""
        check_globs(within)
        if not self.inside:
            return tuple(within)
        here = "/" + escape(self.inside)
        keeping = [f"{here}/{_below(glob)}" for glob in within if not glob.startswith("!")]
        return (*(keeping or [here]), *(f"!{here}/{_below(glob[1:])}" for glob in within if glob.startswith("!")))


class Roots(Protocol):
    """The open roots."""

    @property
    def everything(self) -> AllReader:
        """All of them, to be searched as one."""

    @property
    def roots(self) -> Mapping[Path, Settings]:
        """The folders, each with its settings."""

    @property
    def are_several(self) -> bool:
        """Whether more than one folder is open."""

    def place(self, target: str = "") -> Place:
        """Return the place of a path or URL; raise NotServed if it is not served."""


def check_globs(globs: Collection[str]) -> None:
    """Refuse too many or too long globs."""
    if len(globs) > MAX_GLOBS or any(len(glob) > MAX_GLOB_CHARS for glob in globs):
        raise InputError(f"at most {MAX_GLOBS} globs of {MAX_GLOB_CHARS} characters are allowed")


def _below(glob: str) -> str:
    """Return a glob as it applies below a folder: one without a slash matches any file there."""
    glob = as_glob(glob)
    anywhere = "/" not in glob.rstrip("/")
    return f"**/{glob}" if anywhere else str(PurePosixPath(glob.lstrip("/").removeprefix("./")))
