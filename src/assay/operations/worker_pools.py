"""Start the workers of a cluster, and run named work on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from assay.errors import MissingExtra
from assay.protocols import Say
from assay.runs.worker_pool import (
    MOST_ITEMS,
    About,
    NamedWork,
    PoolRunner,
    SharedPoolRunner,
    WorkerPool,
    code_identity,
)
from assay.settings import ClusterSettings

if TYPE_CHECKING:
    from assay.cage.job import Ended, Job, Limits

Work = TypeVar("Work")
End = TypeVar("End")


def open_crew(  # noqa: PLR0913  each is one thing
    cluster: ClusterSettings,
    work: NamedWork[Work, End],
    expected: About | None,
    say: Say,
    *,
    most: int = 0,
    memory_mb: int = 0,
    gpus: float = 0,
    most_items: int = MOST_ITEMS,
) -> WorkerPool[Work, End]:
    """Return the workers of a cluster, at most `most`, each with so much memory and so many GPUs of its machine."""
    try:
        from assay.runs.ray_backend import RayBackend, WorkerNeeds
    except ModuleNotFoundError as error:
        raise MissingExtra("--on ray", str(error.name), "ray") from error
    place = RayBackend(cluster, work.opener, work.settings, needs=WorkerNeeds(memory_mb << 20, gpus), most=most)
    same = None if expected is None else {**code_identity(), **expected}
    return WorkerPool(place, work, same, say=say, patience_s=cluster.patience_s, most_items=most_items)


def open_program_crew(  # noqa: PLR0913  one argument a choice of the user
    cluster: ClusterSettings,
    say: Say,
    kind: str = "",
    limits: Limits | None = None,
    *,
    workers: int = 0,
    allow_unsafe: bool = False,
) -> PoolRunner[Job, Ended]:
    """Return workers that run programs in the sandbox that this machine gives, and are as it is in all that decides."""
    return PoolRunner(*_program_crew(cluster, say, kind, limits, workers=workers, allow_unsafe=allow_unsafe))


def open_shared_program_crew(
    cluster: ClusterSettings, say: Say, kind: str, limits: Limits
) -> SharedPoolRunner[Job, Ended]:
    """Return such workers for many threads."""
    return SharedPoolRunner(*_program_crew(cluster, say, kind, limits))


def _program_crew(  # noqa: PLR0913  each is one thing
    cluster: ClusterSettings,
    say: Say,
    kind: str,
    limits: Limits | None,
    *,
    workers: int = 0,
    allow_unsafe: bool = False,
) -> tuple[str, WorkerPool[Job, Ended], tuple[str, ...]]:
    from assay.cage.job import Limits
    from assay.cage.open_cage import open_sandbox
    from assay.programs.cage_worker import OVERHEAD_MB, about_cage, cage_work

    limits = limits or Limits()
    with open_sandbox(kind, limits, 1, allow_unsafe=allow_unsafe) as own:
        name, guarantees, expected = own.name, own.guarantees, about_cage(own)
    work = cage_work(name, limits, allow_unsafe=allow_unsafe)
    crew = open_crew(cluster, work, expected, say, most=workers, memory_mb=limits.memory_mb + OVERHEAD_MB)
    return name, crew, guarantees
