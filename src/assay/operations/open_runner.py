"""Open the sandbox that programs run in, with what they import as far as that is allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from assay.cage.cage import CagePool
from assay.cage.job import Ended, Job
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.operations.worker_pools import open_program_crew
from assay.programs.modules.install import EquippedRunner, install_missing_modules
from assay.programs.run_samples import RunnerOptions
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.protocols import Say
from assay.runs.worker_pool import PoolRunner
from assay.settings import ClusterSettings


def open_runner(say: Say, cluster: ClusterSettings | None = None) -> CagePool | PoolRunner[Job, Ended]:
    """Open the strongest sandbox that this machine gives, one cage a core here or of a cluster; say which it is."""
    runner = open_program_crew(cluster, say) if cluster else open_sandbox(workers=os.cpu_count() or 1)
    say(f"programs run in the sandbox '{runner.name}'")
    return runner


@contextmanager
def open_equipped_runner(
    chosen: RunnerOptions, reading: TaskFile, samples: Samples, say: Say
) -> Iterator[EquippedRunner]:
    """Open a sandbox in which the programs of samples find what they import, and say what it guarantees."""
    if chosen.cluster and chosen.install:
        raise InputError("--install does not reach the machines of a cluster: install there what programs import")
    opened: Callable[..., CagePool | PoolRunner[Job, Ended]]
    if chosen.cluster:
        opened = partial(open_program_crew, chosen.cluster, say, chosen.kind, chosen.limits, workers=chosen.workers)
    else:
        opened = partial(open_sandbox, chosen.kind, chosen.limits, chosen.workers or os.cpu_count() or 1)
    opened = partial(opened, allow_unsafe=chosen.allow_unsafe)
    with install_missing_modules(opened, reading, samples, say, install=chosen.install, allow=chosen.allow) as equipped:
        say(f"sandbox {equipped.runner.name}: {'; '.join(equipped.runner.guarantees)}")
        yield equipped
