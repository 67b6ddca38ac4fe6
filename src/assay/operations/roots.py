"""What operations ask about: a root that can be searched, a place in it, and all roots that are open.

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
    """What was asked about is not there, or lies outside of what is served."""


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


@dataclass(frozen=True, slots=True)
class RootsView:
    """Some served roots as they are right now."""

    searches: tuple[JointSearch, ...]
    problems: tuple[Problem, ...]
    truncated: bool
    """Whether roots are still being indexed for the first time."""
    version: str
    """Another one whenever something else is searched, and the same in every process that searches the same."""

    def snapshots(self) -> dict[str, Snapshot]:
        """Return what each root holds, by the name that its hits have."""
        return {member.name: member.snapshot for each in self.searches for member in each.members}


class Reader(Protocol):
    """One root, its index open."""

    root: Path
    settings: Settings
    last_view: WorkspaceView | None

    @property
    def name(self) -> str:
        """The root as text."""

    @property
    def history(self) -> History:
        """The commits of its repository."""

    @property
    def index(self) -> AnyIndex:
        """Its index as it compares with the files, opened or not."""

    @property
    def checked_s(self) -> float | None:
        """How long ago the files were looked at."""

    def view(self) -> WorkspaceView:
        """Return the root as it is now."""


class AllReader(Protocol):
    """All roots, searched as one."""

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return those that globs keep, as they are now."""


@dataclass(frozen=True, slots=True)
class Place:
    """What was asked about: a root, and the part of it to keep to."""

    reader: Reader
    inside: str = ""
    """A file or folder below the root, or empty for all of it."""

    def globs(self, within: Collection[str] = ()) -> tuple[str, ...]:
        """Return what keeps to this place and to some globs, which are relative to it."""
        check_globs(within)
        if not self.inside:
            return tuple(within)
        here = "/" + escape(self.inside)
        keeping = [f"{here}/{_below(glob)}" for glob in within if not glob.startswith("!")]
        return (*(keeping or [here]), *(f"!{here}/{_below(glob[1:])}" for glob in within if glob.startswith("!")))


class Roots(Protocol):
    """The roots that can be asked about."""

    @property
    def everything(self) -> AllReader:
        """All of them, to be searched as one."""

    @property
    def roots(self) -> Mapping[Path, Settings]:
        """The folders, each with its settings."""

    @property
    def are_several(self) -> bool:
        """Whether more than one folder is open."""

    def place(self, asked: str = "") -> Place:
        """Return the place of a path or URL; what may not be asked about is refused."""


def check_globs(globs: Collection[str]) -> None:
    """Refuse more or longer globs than anybody needs."""
    if len(globs) > MAX_GLOBS or any(len(glob) > MAX_GLOB_CHARS for glob in globs):
        raise InputError(f"at most {MAX_GLOBS} globs of {MAX_GLOB_CHARS} characters are allowed")


def _below(glob: str) -> str:
    """Return a glob as it is below a folder: one without a slash is of any file there."""
    glob = as_glob(glob)
    anywhere = "/" not in glob.rstrip("/")
    return f"**/{glob}" if anywhere else str(PurePosixPath(glob.lstrip("/").removeprefix("./")))
