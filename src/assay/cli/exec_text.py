"""Outcomes of a campaign to what is printed of them: how many failed how, pass@k and exec@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

from assay.errors import counted as things
from assay.faults import Fault
from assay.measure.passk import AtK, counted, over_tasks
from assay.programs.run_samples import OutcomeRow

EXEC_COUNTS = {
    True: "programs without an execution error on any test (Inala et al. 2022)",
    False: "programs without an execution error up to the first wrong answer, where their tests ended",
}
"""What exec@k is about, where every test was run and where not."""
_FEW = 5
"""Reasons that are told of one kind."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What outcomes come to; each counts as often as its program was sampled."""

    tasks: int
    programs: int
    classes: Mapping[Fault, int]
    undecided: Mapping[str, int]
    """How many programs nothing was found out about, by the reason."""
    lacking: Mapping[str, int]
    """How many programs failed for want of a module that a known distribution brings, by what says so."""
    shared: int
    """How many ran in one interpreter with their tests."""
    passed: tuple[AtK, ...]
    """pass@k; undecided programs count as not passed."""
    ran: tuple[AtK, ...]
    decided: tuple[AtK, ...]
    """pass@k of the decided programs alone; empty where all are decided."""
    every_test: bool
    """Whether exec@k is about all tests of a program, rather than those up to its first wrong answer."""


def figures_of(rows: Sequence[OutcomeRow], ks: Sequence[int], *, seed: int = 0) -> Figures:
    """Count outcomes; undecided ones are in no class, and neither pass nor run."""
    classes, undecided = Counter[Fault](), Counter[str]()
    for row in rows:
        fault = row.outcome.fault
        if fault is None:
            undecided[_reason(row)] += row.n
        else:
            classes[fault] += row.n
    right = [(row.outcome.task_id, row.n, row.outcome.fault is Fault.CORRECT) for row in rows]
    running = [(row.outcome.task_id, row.n, row.outcome.runs) for row in rows]
    known = [each for each, row in zip(right, rows, strict=True) if row.outcome.fault is not None]
    return Figures(
        len({row.outcome.task_id for row in rows}),
        sum(row.n for row in rows),
        {fault: classes[fault] for fault in Fault},
        dict(undecided.most_common()),
        dict(_lacking(rows).most_common()),
        sum(row.n for row in rows if row.outcome.shared),
        over_tasks(counted(right), ks, seed=seed),
        over_tasks(counted(running), ks, seed=seed),
        over_tasks(counted(known), ks, seed=seed) if undecided else (),
        not any(row.outcome.fault and row.outcome.fault.is_intent and row.outcome.ran_all is None for row in rows),
    )


def figures_as_json(figures: Figures) -> dict[str, Any]:
    """Return all of it as JSON has it."""
    return {
        "tasks": figures.tasks,
        "programs": figures.programs,
        "classes": {str(fault): count for fault, count in figures.classes.items()},
        "undecided": dict(figures.undecided),
        "lacking": dict(figures.lacking),
        "shared": figures.shared,
        "pass@k": [_at_k(each) for each in figures.passed],
        "exec@k": [_at_k(each) for each in figures.ran],
        "exec@k counts": EXEC_COUNTS[figures.every_test],
        "pass@k without undecided": [_at_k(each) for each in figures.decided],
    }


def text(figures: Figures) -> Iterator[str]:
    """Yield lines for a terminal: the classes that occur, then the measures."""
    yield f"{things(figures.programs, 'program')} of {things(figures.tasks, 'task')}"
    undecided = sum(figures.undecided.values())
    rows = [(str(fault), count) for fault, count in figures.classes.items() if count]
    rows += [("undecided", undecided)] if undecided else []
    width = max((len(name) for name, _ in rows), default=0)
    for name, count in rows:
        yield f"  {name.ljust(width)}  {count:>9,}  {count / figures.programs:>6.1%}"
    for name, measures in (("pass", figures.passed), ("exec", figures.ran)):
        for each in measures:
            if not isnan(each.value):
                yield f"  {f'{name}@{each.k}'.ljust(width)}  {each.value:>9.3f}  [{each.low:.3f}-{each.high:.3f}]"
    yield from _notes(figures)


def _notes(figures: Figures) -> Iterator[str]:
    if any(not isnan(each.value) for each in figures.ran):
        yield f"note: exec@k counts {EXEC_COUNTS[figures.every_test]}"
    for reason, count in list(figures.undecided.items())[:_FEW]:
        yield f"note: {count:,} undecided, counted as not passed: {reason}"
    if decided := [f"pass@{each.k} {each.value:.3f}" for each in figures.decided if not isnan(each.value)]:
        yield f"note: without undecided programs: {', '.join(decided)}"
    if len(figures.undecided) > _FEW:
        yield f"note: {len(figures.undecided) - _FEW:,} more reasons for undecided programs are in the file"
    for reason, count in list(figures.lacking.items())[:_FEW]:
        yield f"note: {reason} ({things(count, 'program')})"
    if len(figures.lacking) > _FEW:
        rest = sum(list(figures.lacking.values())[_FEW:])
        yield f"note: {things(rest, 'program')} lack other modules; `missing` in the file names them"
    for each in figures.passed:
        if each.few:
            named = ", ".join(each.few[:_FEW]) + (", …" if len(each.few) > _FEW else "")
            few = things(len(each.few), "task")
            yield f"note: {few} with fewer than {each.k} samples, not in @{each.k}: {named}"
    if figures.shared:
        shared = things(figures.shared, "program")
        yield f"note: {shared} ran in one interpreter with the tests (shared), where a program can lie"


def _lacking(rows: Sequence[OutcomeRow]) -> Counter[str]:
    found = Counter[str]()
    for row in rows:
        if row.outcome.missing:
            found[row.outcome.detail] += row.n
    return found


def _reason(row: OutcomeRow) -> str:
    return row.outcome.detail or "the sandbox failed"


def _at_k(each: AtK) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in asdict(each).items()}
