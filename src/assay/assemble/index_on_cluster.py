"""Roots to indexes made on a cluster: many repositories one a task, or one whose texts a transformer encodes there.

A single root is read, cut and written here, and only its encoder is elsewhere. What a table of words encodes takes
less time than carrying it to another machine, so that is refused and not ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from assay.assemble.indexes import is_quick, location_of, remembered
from assay.assemble.open_crew import open_crew
from assay.assemble.repository_member import IndexEnd, Repository, repository_work
from assay.assemble.workspace import NamedRoot, Workspace, named_roots, open_workspace
from assay.encode.encoder_member import PoolEncoder, encoder_work
from assay.errors import InputError
from assay.protocols import Progress, Say
from assay.runs.worker_pool import PoolRunner
from assay.settings import ClusterSettings, Settings
from assay.types import Problem

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
    roots = named_roots(paths, settings_of)
    if len(roots) == 1:
        return [_encoded_there(roots[0], cluster, say, gpus, progress)], []
    crew = open_crew(cluster, repository_work(), {}, say, memory_mb=_MEMORY_MB, gpus=gpus)
    opened: list[Workspace] = []
    problems: list[Problem] = []
    with PoolRunner("ray", crew) as runner:
        jobs = (Repository(str(each.root), _placed(each)) for each in roots)
        for number, (each, end) in enumerate(zip(roots, runner.run(jobs), strict=True), 1):
            found = _as_seen_here(each, end)
            opened += [found] if isinstance(found, Workspace) else []
            problems += [found] if isinstance(found, Problem) else []
            if progress:
                progress("repositories", number, len(roots))
    return opened, problems


def _encoded_there(
    named: NamedRoot, cluster: ClusterSettings, say: Say, gpus: float, progress: Progress | None
) -> Workspace:
    """Index one root here, with its texts encoded on the cluster."""
    spec = named.settings.encoder.spec
    if is_quick(spec) or spec.startswith("api:"):
        why = "asks a server" if spec.startswith("api:") else "takes seconds on one machine"
        raise InputError(
            f"--on ray has nothing to do for one repository and the encoder '{spec}', which {why}: leave it out, or "
            "name several repositories"
        )
    crew = open_crew(cluster, encoder_work(spec), None, say, memory_mb=_MEMORY_MB, gpus=gpus)
    with PoolRunner("ray", crew) as runner:
        encoder = remembered(PoolEncoder(runner, crew.assemble()))
        opened = open_workspace(named.root, named.settings, progress=progress, check_all=True, encoder=encoder)
    return replace(opened, name=named.name)


def _placed(named: NamedRoot) -> Settings:
    """Return settings that say where the index goes: the cache of another machine may be another folder."""
    settings = named.settings
    location = settings.index.location or str(location_of(named.root, settings))
    return replace(settings, index=replace(settings.index, location=location))


def _as_seen_here(named: NamedRoot, end: IndexEnd) -> Workspace | Problem:
    """Return the index that another machine wrote, as this one sees it."""
    if isinstance(end, str):
        return Problem(named.name, end)
    try:
        seen = open_workspace(named.root, named.settings, refresh=False)
    except InputError:
        seen = None
    if seen is None or (seen.report.files, seen.report.chunks) != (end.files, end.chunks):
        return Problem(
            named.name, "its index was written where this machine does not see it: all need the same file system"
        )
    return replace(seen, report=end, name=named.name)
