"""Programs to a file of outcomes, one a program in their order, which goes on where it was cut off.

A run that was killed leaves, once it is continued, the file that an uninterrupted one leaves. Undecided programs have
no fault and are counted as such. Rows that other programs decide are written undecided, and decided once all have run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.execute import executions, settled
from assay.programs.modules.importable import changes
from assay.programs.reference_limits import Timeouts
from assay.runs.record import Batches, begin, read_lines, refuse, rewrite
from assay.types import Outcome, Program, Task

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner
    from assay.protocols import Progress

_NAMES = tuple(field.name for field in fields(Outcome))


@dataclass(frozen=True, slots=True)
class ExecuteSettings:
    """What decides about the outcomes of a campaign, as the manifest says it."""

    tasks: str
    """A hash of the tasks as they were read, and so below."""
    samples: str
    form: str
    stop: str
    sandbox: str
    limits: Limits
    guarantees: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    """Distributions that programs were given, each as `NAME==VERSION`."""
    importable: tuple[str, ...] = field(default=(), metadata={"changes": changes})
    """All that programs find there, and their Python, likewise."""
    timeouts: Timeouts = ()
    """Limits that follow from references, where they do."""
    every_test: bool = False
    """Whether tests go on after a wrong answer."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One line of the file: an outcome, and how often its program was sampled."""

    outcome: Outcome
    n: int

    def record(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self.outcome), "n": self.n}


def load(file: Path) -> Iterator[OutcomeRow]:
    """Yield the rows of a file of outcomes."""
    for number, record in enumerate(read_lines(file), 1):
        try:
            fault = None if record["fault"] is None else Fault(record["fault"])
            told = {name: record[name] for name in _NAMES if name in record}
            suspected = Fault(told["suspected"]) if told.get("suspected") else None
            yield OutcomeRow(Outcome(**{**told, "fault": fault, "suspected": suspected}), record["n"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}:{number}: no outcome ({error!r}); give another --out") from error


def execute_to_file(  # noqa: PLR0913  # each is one thing
    tasks: Iterable[Task],
    programs: Sequence[Program],
    runner: ProgramRunner,
    out: Path,
    *,
    settings: ExecuteSettings,
    missing: Mapping[str, str] | None = None,
    seed: int = 0,
    report: Progress | None = None,
) -> list[OutcomeRow]:
    """Run what is not on disk yet and return all rows; the file and its manifest lie at `out`.

    `missing` says which modules the sandbox has not and what brings each: outcomes of programs that fail for
    want of one name it.
    """
    begin(out, settings, "outcomes", seed=seed, corpus=(settings.tasks, settings.samples))
    rows, missing = _resumed(out, programs), missing or {}
    known = {(each.task_id, each.source): row.outcome for each, row in zip(programs, rows, strict=False)}
    rest, tasks = programs[len(rows) :], tuple(tasks)
    ran = executions(
        tasks,
        rest,
        runner,
        limits=settings.limits,
        every_test=settings.every_test,
        distribution_of=lambda module: missing.get(module, ""),
        known=known,
    )
    with Batches(out) as lines:
        for program, one in zip(rest, ran, strict=True):
            rows.append(OutcomeRow(_explained(one.outcome, missing), program.n))
            lines.add(rows[-1].record())
            if report:
                report("programs", len(rows), len(programs))
    decided = settled(tasks, [row.outcome for row in rows], runner, limits=settings.limits)
    if decided != [row.outcome for row in rows]:
        rows = [replace(row, outcome=outcome) for row, outcome in zip(rows, decided, strict=True)]
        rewrite(out, (row.record() for row in rows))
    return rows


def _explained(outcome: Outcome, missing: Mapping[str, str]) -> Outcome:
    """Return an outcome that says what brings a module that is missing."""
    if outcome.missing not in missing:
        return outcome
    brings = f"{missing[outcome.missing]} brings it, and --install installs what is allowed"
    return replace(outcome, detail=f"no module {outcome.missing}: {brings}")


def _resumed(out: Path, programs: Sequence[Program]) -> list[OutcomeRow]:
    """Return the rows that are on disk, which have to be those of the first programs."""
    rows = list(load(out))
    same = all(
        (row.outcome.task_id, row.outcome.program_id, row.n) == (program.task_id, program.id, program.n)
        for row, program in zip(rows, programs, strict=False)
    )
    if not same or len(rows) > len(programs):
        refuse(out, "outcomes", ["programs"])
    return rows
