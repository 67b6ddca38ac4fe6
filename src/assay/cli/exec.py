"""`assay exec`: run programs against tests, and count how each one failed."""

from __future__ import annotations

from ast import literal_eval
from collections import Counter, defaultdict
from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.errors import counted, printable
from assay.programs.requests import ExecRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.programs.run_samples import OutcomeRow
    from assay.values import Outcome

_MAX_LISTED_REASONS = 5
"""Reasons of one kind that are listed."""
_WORST = 10
"""Tasks whose results are printed, starting with those that the fewest programs pass."""


@command(ExecRequest, example="assay exec HumanEval.jsonl samples.jsonl --out outcomes.jsonl")
def exec(request: ExecRequest) -> int:  # noqa: A001  # the command's name
    """Run the programs in SAMPLES against the tests of TASKS, each in a sandbox, and say how each one failed.

    TASKS is HumanEval, BigCodeBench, EvalPlus, MBPP, APPS, LiveCodeBench, a file or folder of pytest tests, or
    Assay's own JSON lines. SAMPLES has one row per program, with task_id and completion, solution or code, or
    question_id and code_list. FILE gets one outcome per program, in the same order.

    Exits 0 if done, 1 if nothing could be decided, 2 on an error, 3 if no machine of the cluster is left.
    """
    from assay.cli.progress import progress
    from assay.io.files import dumps
    from assay.io.terminal import say, say_problems
    from assay.measure.passk import ks_of
    from assay.programs.run_samples import run_file

    ks = ks_of(request.ks)
    with progress() as watch:
        ran = run_file(request, say, watch)
    say_problems(ran.problems, every=request.verbose)
    if unknown := ran.unknown:
        say(f"{counted(unknown, 'sample')} of tasks that are not in TASKS {'was' if unknown == 1 else 'were'} not run")
    if request.verbose:
        say_problems(ran.notes, every=True)
    elif ran.notes:
        say(
            f"{counted(len(ran.notes), 'test')} passed by a program that does nothing, and still counted; -v lists them"
        )
    figures = figures_of(ran.rows, ks)
    click.echo(dumps({**figures, "out": str(request.out)}) if request.form == "json" else "\n".join(text(figures)))
    say(f"written to {request.out}")
    if never := [row["task_id"] for row in figures["by_task"] if not row["passed"] and row["mostly"] != "undecided"]:
        reference = f"assay exec {quote(str(request.tasks))} --reference --k 1 --out reference.jsonl"
        how = f"{reference} runs the task's own solution"
        if request.reference:
            how = f"{request.out} has `expected` and `got`"
        say(f"{counted(len(never), 'task')} that no program passes: {_first(never)}; often the test is wrong: {how}")
    return 0 if sum(figures["classes"].values()) else 1


def figures_of(rows: Sequence[OutcomeRow], ks: Sequence[int], *, seed: int = 0) -> dict[str, Any]:
    """Return the figures of outcomes for JSON; each outcome counts as often as its program was sampled.

    Undecided ones are in no class, and neither pass nor run; `lacking` are those for want of a module that a known
    distribution brings, and `shared` ran in one interpreter with their tests.
    """
    from assay.faults import Fault
    from assay.measure.passk import EXEC_COUNTS, over_tasks
    from assay.measure.passk import counted as counts_of

    def at_k(rows: Sequence[OutcomeRow], is_good: Callable[[Outcome], bool]) -> list[dict[str, Any]]:
        counts = counts_of([(row.outcome.task_id, row.n, is_good(row.outcome)) for row in rows])
        return [asdict(each) for each in over_tasks(counts, ks, seed=seed)]

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
        "by_task": _by_task(rows),
        "classes": {str(fault): classes[str(fault)] for fault in Fault},
        "undecided": dict(undecided.most_common()),
        "lacking": dict(lacking.most_common()),
        "shared": _count(rows, lambda outcome: outcome.shared),
        "tuples": _count(rows, _differs_by_tuples),
        "pass@k": at_k(rows, lambda outcome: outcome.fault is Fault.CORRECT),
        "exec@k": at_k(rows, lambda outcome: outcome.runs),
        "exec@k counts": EXEC_COUNTS[not ended],
        "pass@k without undecided": at_k(decided, lambda outcome: outcome.fault is Fault.CORRECT) if undecided else [],
    }


def _count(rows: Sequence[OutcomeRow], is_one: Callable[[Outcome], bool]) -> int:
    return sum(row.n for row in rows if is_one(row.outcome))


def _differs_by_tuples(outcome: Outcome) -> bool:
    """Return whether a program's result is the expected one except for tuples and lists, which are equal in JSON."""
    if not (outcome.fault and outcome.fault.is_intent) or outcome.got == outcome.expected:
        return False
    try:
        return _as_lists(literal_eval(outcome.got)) == _as_lists(literal_eval(outcome.expected))
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # shortened, or no literal
        return False


def _as_lists(value: object) -> object:
    return [_as_lists(each) for each in value] if isinstance(value, list | tuple) else value


def _by_task(rows: Sequence[OutcomeRow]) -> list[dict[str, Any]]:
    """Return how many programs of each task passed, the fewest first, and the most frequent fault of the others."""
    from assay.faults import Fault

    counts = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        counts[row.outcome.task_id][str(row.outcome.fault or "undecided")] += row.n
    found = []
    for task, faults in counts.items():
        of, passed = faults.total(), faults.pop(str(Fault.CORRECT), 0)
        mostly = max(faults, key=faults.__getitem__, default="")
        found.append({"task_id": task, "passed": passed, "of": of, "mostly": mostly})
    return sorted(found, key=lambda row: row["passed"] / row["of"])


def text(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines for a terminal: the classes that occur, the worst tasks, the measures, and notes."""
    from assay.report.plain_text import rows_as_lines

    yield f"{counted(figures['programs'], 'program')} of {counted(figures['tasks'], 'task')}"
    rows = {**figures["classes"], "undecided": sum(figures["undecided"].values())}
    width = max((len(name) for name, count in rows.items() if count), default=0)
    for name, count in rows.items():
        if count:
            yield f"  {name.ljust(width)}  {count:>9,}  {count / figures['programs']:>6.1%}"
    tasks = [(each["task_id"], f"{each['passed']:,}/{each['of']:,}", each["mostly"]) for each in figures["by_task"]]
    yield from rows_as_lines(("task", "passed", "failed mostly by"), tasks[:_WORST], "  ")
    if len(tasks) > _WORST:
        yield f"  {len(tasks) - _WORST:,} more, the next {tasks[_WORST][1]}; --format json has all"
    for name in ("pass", "exec"):
        for each in figures[f"{name}@k"]:
            if each["tasks"]:
                shown = f"{each['value']:>9.3f}  [{each['low']:.3f}-{each['high']:.3f}]"
                yield f"  {name}@{each['k']}".ljust(width + 2) + f"  {shown}"
    yield from (f"note: {note}" for note in _notes(figures))


def _notes(figures: Mapping[str, Any]) -> Iterator[str]:
    if any(each["value"] is not None for each in figures["exec@k"]):
        yield f"exec@k counts {figures['exec@k counts']}"
    yield from _reasons(figures)
    for each in figures["pass@k"]:
        if few := each["few"]:
            yield f"{counted(len(few), 'task')} with fewer than {each['k']} samples, not in @{each['k']}: {_first(few)}"
    if figures["tuples"]:
        alike = counted(figures["tuples"], "wrong program")
        yield f"{alike} gave what was expected but for tuples and lists: is a tuple meant where `expected` has a list?"
    if figures["shared"]:
        shared = counted(figures["shared"], "program")
        yield f"{shared} ran in one interpreter with the tests (shared), where a program can lie"


def _first(names: Sequence[str]) -> str:
    return printable(", ".join(names[:_MAX_LISTED_REASONS])) + (", …" if len(names) > _MAX_LISTED_REASONS else "")


def _reasons(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield why programs are undecided, and which modules are missing."""
    undecided, lacking = (list(figures[name].items()) for name in ("undecided", "lacking"))
    for reason, count in undecided[:_MAX_LISTED_REASONS]:
        yield f"{count:,} undecided, counted as not passed: {reason}"
    if decided := [
        f"pass@{at['k']} {at['value']:.3f}" for at in figures["pass@k without undecided"] if at["value"] is not None
    ]:
        yield f"without undecided programs: {', '.join(decided)}"
    if len(undecided) > _MAX_LISTED_REASONS:
        yield f"{len(undecided) - _MAX_LISTED_REASONS:,} more reasons for undecided programs are in the file"
    for reason, count in lacking[:_MAX_LISTED_REASONS]:
        yield f"{reason} ({counted(count, 'program')})"
    if rest := sum(count for _, count in lacking[_MAX_LISTED_REASONS:]):
        yield f"{counted(rest, 'program')} lack other modules; `missing` in the file names them"
