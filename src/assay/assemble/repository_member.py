"""Repositories indexed by a crew: a path and settings in, what its index holds out; each is one item of work.

Nothing of an index travels: it is written where the settings say by the machine that made it, so all machines have to
see the same files. The machine that started the run looks whether it sees what was written.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.runs.worker_pool import About, NamedWork
from assay.search.index_report import IndexReport
from assay.settings import Settings


@dataclass(frozen=True, slots=True)
class Repository:
    """One to index."""

    path: str
    """A folder, absolute, or the URL of a git repository."""
    settings: Settings


IndexEnd = IndexReport | str
"""What an index holds, or why there is none."""


def repository_work() -> NamedWork[Repository, IndexEnd]:
    """Return what makes the workers of a crew index repositories."""
    settings = {"folder": str(Path.cwd())}
    return NamedWork("assay.assemble.repository_member:open_member", settings, pickle.dumps, pickle.loads, _broken)


class RepositoryMember:
    """What indexes where a worker is."""

    def about(self) -> About:
        """Say nothing that the code does not say."""
        return {}

    def do(self, items: Sequence[Any]) -> list[bytes]:
        """Index repositories, one after another; one that cannot be indexed is no reason to stop."""
        return [pickle.dumps(_indexed(pickle.loads(item))) for item in items]  # noqa: S301  of a crew of one code

    def close(self) -> None:
        """End it."""


def open_member(folder: str) -> RepositoryMember:
    """Open what indexes; relative names in settings are those of the folder where the run was started."""
    os.chdir(folder)
    return RepositoryMember()


def _indexed(repository: Repository) -> IndexEnd:
    from assay.assemble.workspace import open_workspaces

    try:
        return open_workspaces([repository.path], lambda _: repository.settings, check_all=True)[0].report
    except (AssayError, OSError) as error:
        return str(error)


def _broken(repository: Repository, detail: str) -> IndexEnd:  # noqa: ARG001  whoever asked knows which
    return detail
