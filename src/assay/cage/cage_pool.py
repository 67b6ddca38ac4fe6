"""A plan to some cages that run programs side by side; the work is handed out by `assay.runs.local`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from assay.cage.cage import Cage, CagePlan
from assay.cage.limits import Ended, Job
from assay.runs.local import LocalRunner

if TYPE_CHECKING:
    from assay.protocols import Runner

    ProgramRunner: TypeAlias = Runner[Job, Ended]
    """What runs programs, wherever that is."""

CagePool: TypeAlias = LocalRunner[Job, Ended]


def open_pool(plan: CagePlan, workers: int) -> CagePool:
    """Return so many cages, each of which starts with its first job."""
    return LocalRunner(plan.kind.name, [Cage(plan) for _ in range(workers)], plan.kind.guarantees)
