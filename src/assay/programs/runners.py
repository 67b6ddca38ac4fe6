"""Open a runner for programs: the sandbox of this machine, or workers of a cluster with one cage each.

A worker has one cage, of the kind that the machine gives which started the run: so a run goes on here and there alike,
and a machine that cannot give that kind is named. What else it says decides about outcomes as the tests do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple
from functools import partial
from typing import Any

from assay.cage.cage import CagePool
from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.programs.modules.imports import importable
from assay.programs.modules.install import EquippedRunner, install_missing_modules
from assay.programs.requests import RunnerOptions
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.protocols import Say
from assay.runs.record import digest
from assay.runs.worker_pool import About, NamedWork, PoolRunner, open_pool
from assay.settings import ClusterSettings

OVERHEAD_MB = 150
"""What a worker takes besides the programs that it runs."""


def cage_work(kind: str, limits: Limits, *, allow_unsafe: bool = False) -> NamedWork[Job, Ended]:
    """Return the work of a pool that runs programs."""
    settings = {"kind": kind, "limits": asdict(limits), "allow_unsafe": allow_unsafe}
    return NamedWork(
        "assay.programs.runners:open_worker",
        settings,
        pack_job,
        lambda values: Ended(*values),
        lambda job, detail: Ended(job.id, ended="broken", detail=detail),
    )


def about_cage(pool: CagePool) -> About:
    """Return what must be equal on all machines that run programs of one run."""
    found = importable(pool)
    return {
        "sandbox": pool.name,
        "guarantees": "; ".join(pool.guarantees),
        "modules of programs": f"{len(found):,} ({digest(found)[:12]})",
    }


class CageWorker:
    """One cage of a pool."""

    def __init__(self, pool: CagePool) -> None:
        self._pool = pool

    def about(self) -> About:
        """Describe it."""
        return about_cage(self._pool)

    def do(self, items: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run jobs, one after another."""
        return [astuple(ended) for ended in self._pool.run([_job(item) for item in items])]

    def close(self) -> None:
        """End it."""
        self._pool.close()


def open_worker(kind: str, limits: Mapping[str, Any], allow_unsafe: bool) -> CageWorker:  # noqa: FBT001  a setting
    """Open the cage of a worker."""
    return CageWorker(open_sandbox(kind, Limits(**limits), 1, allow_unsafe=allow_unsafe))


def pack_job(job: Job) -> tuple[Any, ...]:
    """Return a job as plain values; equal tests remain one object within a batch."""
    return job.id, job.candidate, job.judge, job.stdin, asdict(job.limits) if job.limits else None, job.modules


def _job(values: Sequence[Any]) -> Job:
    name, candidate, judge, stdin, limits, modules = values
    return Job(name, candidate, judge, stdin, Limits(**limits) if limits else None, tuple(modules))


def open_pool_runner(  # noqa: PLR0913  each is one thing
    cluster: ClusterSettings,
    say: Say,
    kind: str = "",
    limits: Limits = Limits(),  # noqa: B008  # frozen
    *,
    workers: int = 0,
    allow_unsafe: bool = False,
) -> PoolRunner[Job, Ended]:
    """Start workers of a cluster that run programs in the kind of sandbox that works on this machine."""
    with open_sandbox(kind, limits, 1, allow_unsafe=allow_unsafe) as own:
        name, guarantees, expected = own.name, own.guarantees, about_cage(own)
    work, memory_mb = cage_work(name, limits, allow_unsafe=allow_unsafe), limits.memory_mb + OVERHEAD_MB
    pool = open_pool(cluster, work, expected, say, most=workers, memory_mb=memory_mb)
    return PoolRunner(name, pool, guarantees)


def open_runner(say: Say, cluster: ClusterSettings | None = None) -> CagePool | PoolRunner[Job, Ended]:
    """Open the strongest working sandbox, with one cage per core of this machine or a cluster, and report its kind."""
    runner = open_pool_runner(cluster, say) if cluster else open_sandbox(workers=os.cpu_count() or 1)
    say(f"programs run in the sandbox '{runner.name}'")
    return runner


@contextmanager
def open_equipped_runner(
    options: RunnerOptions, reading: TaskFile, samples: Samples, say: Say
) -> Iterator[EquippedRunner]:
    """Open a sandbox with the modules that samples import, and report its guarantees."""
    cluster, workers, install = options.where.cluster, options.workers or 0, options.install
    if cluster and install:
        raise InputError("--install does not reach the machines of a cluster: install there what programs import")
    opened: Callable[..., CagePool | PoolRunner[Job, Ended]]
    if cluster:
        opened = partial(open_pool_runner, cluster, say, options.kind, options.limits, workers=workers)
    else:
        opened = partial(open_sandbox, options.kind, options.limits, workers or os.cpu_count() or 1)
    opened = partial(opened, allow_unsafe=options.allow_unsafe)
    with install_missing_modules(opened, reading, samples, say, install=install, allow=options.allow) as equipped:
        say(f"sandbox {equipped.runner.name}: {'; '.join(equipped.runner.guarantees)}")
        yield equipped
