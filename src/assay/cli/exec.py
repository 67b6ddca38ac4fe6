"""`assay exec`: run programs against tests, and count how each one failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import ClusterOptions
from assay.errors import InputError, counted
from assay.parameters import Options, argument, flag, form, option, shared, verbose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.programs.run_samples import OutcomeRow, RunnerOptions
    from assay.programs.samples import Samples
    from assay.programs.tasks.task_file import TaskFile
    from assay.values import Outcome

EXEC_COUNTS = {
    True: "programs without an execution error on any test (Inala et al. 2022)",
    False: "programs without an execution error up to the first wrong answer, where their tests ended",
}
"""What exec@k is about, where every test was run and where not."""
_FEW = 5
"""Reasons of one kind that are named."""


class ExecOptions(Options):
    """Options of `assay exec`."""

    tasks: Path = argument()
    samples: Path | None = argument()
    out: Path = options.out_file("outcomes", "outcomes.jsonl")
    fresh: bool = options.fresh()
    workers: int | None = option("--workers N", "Programs at a time.  [default: one per core]", least=1)
    where: ClusterOptions = shared(ClusterOptions)
    kind: str = options.sandbox()
    allow_unsafe: bool = flag("--allow-unsafe", "Run even without isolation: programs can then do whatever you can.")
    timeout: float | str | None = options.timeout(
        "a program", auto="ten times what the reference takes, from 2 to 5 or four times that"
    )
    install: bool = flag("--install", "Install missing modules of allowed distributions.")
    allow: Path | None = options.allow()
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,10,100")
    first_failure: bool = flag(
        "--first-failure",
        "End a program's tests at its first wrong answer; exec@k is then about the tests up to there.",
    )
    stop: str = options.stop()
    reference: bool = flag("--reference", "Run the reference solutions of the tasks, not samples.")
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", least=1)
    source: str = option(
        "--from FORMAT", "humaneval, evalplus, mbpp, apps, own or pytest.  [default: found by its contents]"
    )
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(ExecOptions, example="assay exec HumanEval.jsonl samples.jsonl --out outcomes.jsonl")
def exec(given: ExecOptions) -> int:  # noqa: A001  # the command's name
    """Run the programs in SAMPLES against the tests of TASKS, each in a sandbox, and say how each one failed.

    TASKS is HumanEval, EvalPlus, MBPP, APPS, a file or folder of pytest tests, or Assay's own JSON lines. SAMPLES
    has one row per program, with task_id and completion, solution or code. FILE gets one outcome per program, in
    the same order.

    Exits 0 if done, 1 if nothing could be decided, 2 on an error, 3 if no machine of the cluster is left.
    """
    from assay.cli.progress import progress
    from assay.io.terminal import dumps, say, say_problems
    from assay.measure.passk import ks_of
    from assay.operations.open_runner import open_equipped_runner
    from assay.programs.run_samples import ready_tasks, run_samples, with_limits
    from assay.programs.tasks.task_file import read_tasks
    from assay.runs.record import sole_writer, start_fresh

    wanted = ks_of(given.ks)
    chosen = _runner_options(given)
    with progress() as watch:
        reading = read_tasks(given.tasks, given.source)
        reading = replace(reading, tasks=reading.tasks[: given.limit_tasks])
        if (given.samples is None) != given.reference:
            raise InputError("give either SAMPLES or --reference")
        programs = _samples(given, reading)
        if given.fresh:
            start_fresh(given.out)
        with sole_writer(given.out), open_equipped_runner(chosen, reading, programs, say) as room:
            sampled = {program.task_id for program in programs.programs}
            with_programs = replace(reading, tasks=tuple(task for task in reading.tasks if task.id in sampled))
            ready = ready_tasks(with_programs, room, watch)
            ready, timeouts = with_limits(ready, room, given.out) if chosen.by_reference else (ready, ())
            rows = run_samples(
                reading,
                ready,
                programs,
                room,
                given.out,
                chosen.limits,
                watch,
                timeouts=timeouts,
                every_test=not given.first_failure,
            )
    say_problems([*room.problems, *ready.problems, *programs.problems], every=given.verbose)
    if unknown := programs.unknown:
        say(f"{counted(unknown, 'sample')} of tasks that are not in TASKS {'was' if unknown == 1 else 'were'} not run")
    if given.verbose:
        say_problems(ready.notes, every=True)
    elif ready.notes:
        hold = "holds" if len(ready.notes) == 1 else "hold"
        say(f"{counted(len(ready.notes), 'test')} {hold} for some program that does nothing, and count; -v names them")
    figures = figures_of(rows, wanted)
    click.echo(dumps({**figures, "out": str(given.out)}) if given.form == "json" else "\n".join(text(figures)))
    say(f"written to {given.out}")
    return 0 if sum(figures["classes"].values()) else 1


def _runner_options(given: ExecOptions) -> RunnerOptions:
    from assay.programs.run_samples import RunnerOptions

    timeout_s = given.timeout if isinstance(given.timeout, float) else None
    allowed = given.allow_unsafe, given.install, given.allow
    by_reference = given.timeout == options.AUTO
    return RunnerOptions(given.kind, given.workers or 0, timeout_s, by_reference, *allowed, given.where.cluster)


def _samples(given: ExecOptions, reading: TaskFile) -> Samples:
    """Return what is run; where only the first tasks count, samples of others are no problem."""
    from assay.programs.samples import read, references

    samples = read(given.samples, reading.tasks, stop=given.stop) if given.samples else references(reading.tasks)
    if not samples.programs:
        first = f": {samples.problems[0]}" if samples.problems else ""
        raise InputError(f"there is no program to run{first}")
    return samples if given.limit_tasks is None else replace(samples, unknown=0)


def figures_of(rows: Sequence[OutcomeRow], ks: Sequence[int], *, seed: int = 0) -> dict[str, Any]:
    """Return what outcomes come to, as JSON has it; each counts as often as its program was sampled.

    Undecided ones are in no class, and neither pass nor run; `lacking` are those for want of a module that a known
    distribution brings, and `shared` ran in one interpreter with their tests.
    """
    from assay.cli.tables import nulled
    from assay.faults import Fault
    from assay.measure.passk import counted as counts_of
    from assay.measure.passk import over_tasks

    def at_k(rows: Sequence[OutcomeRow], is_good: Callable[[Outcome], bool]) -> list[dict[str, Any]]:
        counts = counts_of([(row.outcome.task_id, row.n, is_good(row.outcome)) for row in rows])
        return [nulled(asdict(each)) for each in over_tasks(counts, ks, seed=seed)]

    classes, undecided, lacking = Counter[str](), Counter[str](), Counter[str]()
    for row in rows:
        if row.outcome.fault is None:
            undecided[row.outcome.detail or "the sandbox failed"] += row.n
        else:
            classes[str(row.outcome.fault)] += row.n
        if row.outcome.missing:
            lacking[row.outcome.detail] += row.n
    ended = any(row.outcome.fault and row.outcome.fault.is_intent and row.outcome.ran_all is None for row in rows)
    decided = [row for row in rows if row.outcome.fault is not None]
    return {
        "tasks": len({row.outcome.task_id for row in rows}),
        "programs": sum(row.n for row in rows),
        "classes": {str(fault): classes[str(fault)] for fault in Fault},
        "undecided": dict(undecided.most_common()),
        "lacking": dict(lacking.most_common()),
        "shared": sum(row.n for row in rows if row.outcome.shared),
        "pass@k": at_k(rows, lambda outcome: outcome.fault is Fault.CORRECT),
        "exec@k": at_k(rows, lambda outcome: outcome.runs),
        "exec@k counts": EXEC_COUNTS[not ended],
        "pass@k without undecided": at_k(decided, lambda outcome: outcome.fault is Fault.CORRECT) if undecided else [],
    }


def text(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines for a terminal: the classes that occur, then the measures, then what is to be known of them."""
    yield f"{counted(figures['programs'], 'program')} of {counted(figures['tasks'], 'task')}"
    rows = {**figures["classes"], "undecided": sum(figures["undecided"].values())}
    width = max((len(name) for name, count in rows.items() if count), default=0)
    for name, count in rows.items():
        if count:
            yield f"  {name.ljust(width)}  {count:>9,}  {count / figures['programs']:>6.1%}"
    for name in ("pass", "exec"):
        for each in figures[f"{name}@k"]:
            if each["value"] is not None:
                shown = f"{each['value']:>9.3f}  [{each['low']:.3f}-{each['high']:.3f}]"
                yield f"  {name}@{each['k']}".ljust(width + 2) + f"  {shown}"
    yield from (f"note: {note}" for note in _notes(figures))


def _notes(figures: Mapping[str, Any]) -> Iterator[str]:
    if any(each["value"] is not None for each in figures["exec@k"]):
        yield f"exec@k counts {figures['exec@k counts']}"
    yield from _reasons(figures)
    for each in figures["pass@k"]:
        if few := each["few"]:
            named = ", ".join(few[:_FEW]) + (", …" if len(few) > _FEW else "")
            yield f"{counted(len(few), 'task')} with fewer than {each['k']} samples, not in @{each['k']}: {named}"
    if figures["shared"]:
        shared = counted(figures["shared"], "program")
        yield f"{shared} ran in one interpreter with the tests (shared), where a program can lie"


def _reasons(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield why programs are undecided, and which modules they lack."""
    undecided, lacking = (list(figures[name].items()) for name in ("undecided", "lacking"))
    for reason, count in undecided[:_FEW]:
        yield f"{count:,} undecided, counted as not passed: {reason}"
    if decided := [
        f"pass@{at['k']} {at['value']:.3f}" for at in figures["pass@k without undecided"] if at["value"] is not None
    ]:
        yield f"without undecided programs: {', '.join(decided)}"
    if len(undecided) > _FEW:
        yield f"{len(undecided) - _FEW:,} more reasons for undecided programs are in the file"
    for reason, count in lacking[:_FEW]:
        yield f"{reason} ({counted(count, 'program')})"
    if rest := sum(count for _, count in lacking[_FEW:]):
        yield f"{counted(rest, 'program')} lack other modules; `missing` in the file names them"
