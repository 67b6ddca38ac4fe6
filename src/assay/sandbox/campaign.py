"""Tasks and programs in, one outcome a program out, in their order, on disk as they come.

Programs of a task with the same text run once. What is on disk already is not run again, so a campaign that was killed
goes on where it was and leaves the file that an uninterrupted one leaves. Undecided programs have no fault and are
counted as such.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import records
from assay.errors import InputError
from assay.faults import Fault
from assay.sandbox.imports import imported
from assay.sandbox.limits import Ended, Job, Limits
from assay.sandbox.tasks.expected import Runs
from assay.sandbox.verdict import job_of, outcome_of
from assay.types import Outcome, Program, Task

if TYPE_CHECKING:
    from assay.protocols import Progress

_BATCH = 64
_BATCH_S = 2.0
_LONGEST = 12_000_000
"""Characters of a program that is run; JSON of the next larger ones is more than a message may be."""
_NAMES = tuple(field.name for field in fields(Outcome))


@dataclass(frozen=True, slots=True)
class Settings:
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


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the file: an outcome, and how often its program was sampled."""

    outcome: Outcome
    n: int

    def record(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self.outcome), "n": self.n}


def load(file: Path) -> Iterator[Row]:
    """Yield the rows of a file of outcomes."""
    for number, record in enumerate(records.read(file), 1):
        try:
            fault = None if record["fault"] is None else Fault(record["fault"])
            told = {name: record[name] for name in _NAMES if name in record}
            yield Row(Outcome(**{**told, "fault": fault}), record["n"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}:{number}: no outcome ({error!r}); give another --out") from error


def run(  # noqa: PLR0913  # each is one thing
    tasks: Iterable[Task],
    programs: Sequence[Program],
    sandbox: Runs,
    out: Path,
    *,
    settings: Settings,
    missing: Mapping[str, str] | None = None,
    seed: int = 0,
    report: Progress | None = None,
) -> list[Row]:
    """Run what is not on disk yet and return all rows; the file and its manifest lie at `out`.

    `missing` says which modules the sandbox has not and what brings each: outcomes of programs that fail for
    want of one name it.
    """
    of = {task.id: task for task in tasks}
    rows = _resumed(out, programs, settings)
    _write_manifest(out, settings, seed)
    waiting: list[Row] = []
    written = time.monotonic()
    try:
        for row in _rows(of, programs, tuple(rows), sandbox, settings.limits, missing or {}):
            rows.append(row)
            waiting.append(row)
            if len(waiting) >= _BATCH or time.monotonic() - written > _BATCH_S:
                records.append(out, [each.record() for each in waiting])
                waiting, written = [], time.monotonic()
            if report:
                report("programs", len(rows), len(programs))
    finally:
        records.append(out, [each.record() for each in waiting])
    return rows


def manifest_of(out: Path) -> Path:
    """Return where the manifest of a file of outcomes lies."""
    return out.with_name(f"{out.name}.manifest.json")


def _rows(  # noqa: PLR0913, PLR0917  # each is one thing
    of: Mapping[str, Task],
    programs: Sequence[Program],
    done: Sequence[Row],
    sandbox: Runs,
    limits: Limits,
    missing: Mapping[str, str],
) -> Iterator[Row]:
    """Yield the rows of the programs that are not done, each text of a task run once."""
    known = {(program.task_id, program.source): row.outcome for program, row in zip(programs, done, strict=False)}
    rest = programs[len(done) :]
    ended = sandbox.run(_jobs(of, rest, set(known), limits))
    for program in rest:
        task, key = of[program.task_id], (program.task_id, program.source)
        if key not in known:
            outcome = refused(task, program) or _told(task, program, next(ended), missing)
            known[key] = replace(outcome, sandbox=sandbox.name)
        yield Row(replace(known[key], program_id=program.id), program.n)


def _jobs(
    of: Mapping[str, Task], programs: Iterable[Program], seen: set[tuple[str, str]], limits: Limits
) -> Iterator[Job]:
    for program in programs:
        key = (program.task_id, program.source)
        if key not in seen:
            seen.add(key)
            if refused(of[program.task_id], program) is None:
                yield job_of(of[program.task_id], program, limits=limits)


def _told(task: Task, program: Program, ended: Ended, missing: Mapping[str, str]) -> Outcome:
    """Return an outcome; what a program says is missing counts where it is, and where the program imports it."""
    lacks = {module: missing[module] for module in imported(program.source) & missing.keys()}
    outcome = outcome_of(task, program, ended, distribution_of=lambda module: lacks.get(module, ""))
    if not outcome.missing:
        return outcome
    why = f"no module {outcome.missing}: {lacks[outcome.missing]} brings it, and --install installs what is allowed"
    return replace(outcome, detail=why)


def refused(task: Task, program: Program) -> Outcome | None:
    """Return the outcome of a program that cannot or need not be run, None where it has to be."""
    if not task.tests:
        return Outcome(task.id, program.id, None, detail="the task has no tests that say anything")
    if len(program.source) > _LONGEST:
        size = f"{len(program.source) / 1e6:.1f} MB"
        return Outcome(task.id, program.id, None, detail=f"not run: {size} of text, more than {_LONGEST / 1e6:.0f} MB")
    if "\0" in program.source:
        line = program.source[: program.source.index("\0")].count("\n") + 1
        return Outcome(task.id, program.id, Fault.SYNTAX_ERROR, line, "source code cannot contain null bytes")
    try:
        program.source.encode()
    except UnicodeEncodeError as error:
        line = program.source[: error.start].count("\n") + 1
        return Outcome(task.id, program.id, Fault.SYNTAX_ERROR, line, f"not UTF-8 text: {error.reason}")
    return None


def _resumed(out: Path, programs: Sequence[Program], settings: Settings) -> list[Row]:
    """Return the rows that are on disk; those of another campaign are an error, never written over."""
    rows = list(load(out))
    if not rows:
        return rows
    changed = _changed(manifest_of(out), settings)
    if changed:
        raise InputError(f"{out} holds outcomes of another run: {', '.join(changed)} differ; give another --out")
    same = all(
        (row.outcome.task_id, row.outcome.program_id, row.n) == (program.task_id, program.id, program.n)
        for row, program in zip(rows, programs, strict=False)
    )
    if not same or len(rows) > len(programs):
        raise InputError(f"{out} holds outcomes of other programs; give another --out")
    return rows


def _changed(file: Path, settings: Settings) -> list[str]:
    """Return which settings differ from those of a manifest."""
    try:
        before = json.loads(file.read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return ["the settings, for there is no manifest beside it, that"]
    now = json.loads(json.dumps(asdict(settings)))
    return sorted(name for name in now if before.get(name) != now[name])


def _write_manifest(out: Path, settings: Settings, seed: int) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    told = records.manifest(settings, seed=seed, corpus=(settings.tasks, settings.samples))
    fresh = out.with_name(f"{out.name}.manifest.new")
    fresh.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    fresh.replace(manifest_of(out))
