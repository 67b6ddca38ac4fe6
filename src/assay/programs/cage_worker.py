"""Run programs on the workers of a pool: each opens a cage, and jobs travel as plain values.

A worker has one cage, of the kind that the machine gives which started the run: so a run goes on here and there alike,
and a machine that cannot give that kind is named. What else it says decides about outcomes as the tests do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from assay.cage.cage import CagePool
from assay.cage.job import Ended, Job, Limits
from assay.cage.open_cage import open_sandbox
from assay.programs.modules.imports import importable
from assay.runs.record import digest
from assay.runs.worker_pool import About, NamedWork

OVERHEAD_MB = 150
"""What a worker takes besides the programs that it runs."""


def cage_work(kind: str, limits: Limits, *, allow_unsafe: bool = False) -> NamedWork[Job, Ended]:
    """Return what makes the workers of a pool run programs."""
    settings = {"kind": kind, "limits": asdict(limits), "allow_unsafe": allow_unsafe}
    return NamedWork(
        "assay.programs.cage_worker:open_worker",
        settings,
        pack_job,
        lambda values: Ended(*values),
        lambda job, detail: Ended(job.id, ended="broken", detail=detail),
    )


def about_cage(pool: CagePool) -> About:
    """Return what has to be equal wherever programs of one run are run."""
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
        """Say what it is."""
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
    """Return a job as plain values; equal tests stay one object within a batch."""
    return job.id, job.candidate, job.judge, job.stdin, asdict(job.limits) if job.limits else None, job.modules


def _job(values: Sequence[Any]) -> Job:
    name, candidate, judge, stdin, limits, modules = values
    return Job(name, candidate, judge, stdin, Limits(**limits) if limits else None, tuple(modules))
