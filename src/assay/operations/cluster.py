"""Index many repositories on the workers of a cluster.

Nothing of an index travels: it is written where the settings say by the machine that made it, so all machines have to
see the same files. The machine that started the run looks whether it sees what was written.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import AssayError, InputError
from assay.operations.indexes import location_of
from assay.operations.open_roots import NamedRoot, RootOpening, named_roots, open_many
from assay.operations.workspace import Workspace, open_workspace
from assay.protocols import Progress, Say
from assay.runs.worker_pool import About, NamedWork, PoolRunner, open_pool
from assay.search.folder_index import IndexReport
from assay.settings import ClusterSettings, Settings
from assay.values import Problem


class Repository(NamedTuple):
    """A repository to index."""

    path: str
    """A folder, absolute, or the URL of a git repository."""
    settings: Settings


IndexEnd = IndexReport | str
"""What an index holds, or why there is none."""


def repository_work() -> NamedWork[Repository, IndexEnd]:
    """Return the work that indexes repositories on the workers of a pool."""
    settings = {"folder": str(Path.cwd())}
    opener = "assay.operations.cluster:open_member"
    return NamedWork(opener, settings, pickle.dumps, pickle.loads, lambda _, detail: detail)


class RepositoryMember:
    """The part of a worker that indexes repositories."""

    def about(self) -> About:
        """Return an empty description: this worker needs none."""
        return {}

    def do(self, items: Sequence[Any]) -> list[bytes]:
        """Index repositories one after another; one that cannot be indexed does not stop the others."""
        return [pickle.dumps(_indexed(pickle.loads(item))) for item in items]  # noqa: S301  of a pool of one code

    def close(self) -> None:
        """End it."""


def open_member(folder: str) -> RepositoryMember:
    """Open the part of a worker; relative names in settings are those of the folder where the run was started."""
    os.chdir(folder)
    return RepositoryMember()


def _indexed(repository: Repository) -> IndexEnd:
    how = RootOpening(lambda _: repository.settings, check_all=True, strict=True)
    try:
        return open_many([repository.path], how).workspaces[0].report
    except (AssayError, OSError) as error:
        return str(error)


_MEMORY_MB = 1_500
"""What a worker reserves of its machine's memory: a repository in batches, or a model of the usual size."""


def index_on_cluster(  # noqa: PLR0913  each is one thing
    paths: Sequence[str],
    settings_of: Callable[[Path], Settings],
    cluster: ClusterSettings,
    say: Say,
    *,
    gpus: float = 0,
    progress: Progress | None = None,
) -> tuple[list[Workspace], list[Problem]]:
    """Bring indexes up to date on a cluster; return them, and what could not be indexed."""
    roots = named_roots(paths, RootOpening(settings_of, strict=True))
    if len(roots) == 1:
        raise InputError("--on ray has nothing to do for one repository: leave it out, or name several repositories")
    pool = open_pool(cluster, repository_work(), {}, say, memory_mb=_MEMORY_MB, gpus=gpus)
    opened: list[Workspace] = []
    problems: list[Problem] = []
    with PoolRunner("ray", pool) as runner:
        jobs = (Repository(str(each.root), _placed(each)) for each in roots)
        for number, (each, end) in enumerate(zip(roots, runner.run(jobs), strict=True), 1):
            found = _as_seen_here(each, end)
            (opened if isinstance(found, Workspace) else problems).append(found)  # type: ignore[arg-type]
            if progress:
                progress("repositories", number, len(roots))
    return opened, problems


def _placed(named: NamedRoot) -> Settings:
    """Return settings with the location of the index: the cache of another machine may be another folder."""
    settings = named.settings
    location = settings.index.location or str(location_of(named.root, settings))
    return replace(settings, index=replace(settings.index, location=location))


def _as_seen_here(named: NamedRoot, end: IndexEnd) -> Workspace | Problem:
    """Return the index that another machine wrote, as this machine sees it."""
    if isinstance(end, str):
        return Problem(named.name, end)
    try:
        workspace = open_workspace(named.root, named.settings, refresh=False)
    except InputError:
        workspace = None
    if workspace is None or (workspace.report.files, workspace.report.chunks) != (end.files, end.chunks):
        return Problem(
            named.name, "its index was written where this machine cannot see it: all machines need the same file system"
        )
    return replace(workspace, report=end, name=named.name)
