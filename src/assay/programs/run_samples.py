"""Tasks and samples to outcomes in a file: tests are made and sifted, then programs run, each text once.

What is missing of the tests is what the references answer; tests that show nothing are left out. All that decides about
the outcomes goes into their manifest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from assay.cage.limits import Limits
from assay.programs.drop_vacuous import drop_vacuous_tests
from assay.programs.modules.install_missing import EquippedRunner
from assay.programs.outcome_file import ExecuteSettings, OutcomeRow, execute_to_file
from assay.programs.reference_limits import Timeouts, limited, measured
from assay.programs.samples import Samples
from assay.programs.tasks.expected import with_expected_outputs
from assay.programs.tasks.task_file import TaskFile
from assay.runs.record import is_begun, stored_settings
from assay.runs.run_manifest import digest
from assay.settings import ClusterSettings

if TYPE_CHECKING:
    from assay.protocols import Progress


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """Where programs run, and with what."""

    kind: str = ""
    """A sandbox by name; empty is the strongest that this machine gives."""
    workers: int = 0
    """0 is one a core."""
    timeout_s: float | None = None
    """Processor time of a program."""
    by_reference: bool = False
    """Whether it follows from what the reference of each task takes; `timeout_s` is for tasks without one."""
    allow_unsafe: bool = False
    install: bool = False
    allow: Path | None = None
    """A file with more of what may be installed."""
    cluster: ClusterSettings | None = None
    """Where programs run, if not on this machine."""

    @property
    def limits(self) -> Limits:
        """The limits; wall time is the backstop and grows with processor time."""
        return Limits() if self.timeout_s is None else Limits().with_cpu(self.timeout_s)


def ready_tasks(reading: TaskFile, room: EquippedRunner, report: Progress | None = None) -> TaskFile:
    """Return tasks with the tests that can say something about programs."""
    kept = user_cache_path("assay") / "sandbox" / "answers" / digest(room.importable)
    expected = with_expected_outputs(reading, room.runner, report, kept=kept)
    return drop_vacuous_tests(expected, room.runner, report)


def with_limits(ready: TaskFile, room: EquippedRunner, out: Path) -> tuple[TaskFile, Timeouts]:
    """Return tasks whose limits follow from their references, and these limits; a run that goes on keeps its own."""
    before = (stored_settings(out) or {}).get("timeouts") if is_begun(out) else None
    timeouts = tuple((str(task), float(limit)) for task, limit in before or ()) or measured(ready.tasks, room.runner)
    return replace(ready, tasks=limited(ready.tasks, timeouts)), timeouts


def run_samples(  # noqa: PLR0913, PLR0917  each is one thing
    reading: TaskFile,
    ready: TaskFile,
    samples: Samples,
    room: EquippedRunner,
    out: Path,
    limits: Limits,
    report: Progress | None = None,
    *,
    timeouts: Timeouts = (),
    every_test: bool = True,
) -> list[OutcomeRow]:
    """Run samples against the tasks that are ready, of those that were read, going on where a run was cut off."""
    settings = ExecuteSettings(
        tasks=digest((*reading.tasks, *reading.inputs.items())),
        samples=digest(enumerate(samples.programs)),
        form=reading.form,
        stop=samples.stop,
        sandbox=room.runner.name,
        limits=limits,
        guarantees=room.runner.guarantees,
        installed=room.installed,
        importable=room.importable,
        timeouts=timeouts,
        every_test=every_test,
    )
    return execute_to_file(
        ready.tasks, samples.programs, room.runner, out, settings=settings, missing=room.missing, report=report
    )
