"""Tasks, programs and how each one failed in, the rows that rankers learn from out, and back from a file.

The fault is the one truth of a row; the five label sets of Inala et al. 2022 are derived from it and written beside it
for whoever reads the file without this package. On reading the fault counts. A row of a file that cannot be used is
told as FILE:ROW and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from assay import faults
from assay.faults import Fault
from assay.programs.samples import logprob_fields
from assay.types import LogProbability, Outcome, Problem, Program, Task

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """One program of a task, how it failed, and where it is to be used."""

    task_id: str
    program_id: str
    prompt: str
    source: str
    fault: Fault
    line: int = -1
    """Of the program, 1-based; -1 where no line is to blame."""
    n: int = 1
    """How often it was sampled."""
    model: str = ""
    config: str = ""
    split: str = ""
    """One of `SPLITS`, or empty."""
    ran_all: bool | None = None
    """Whether it ran all tests without an execution error, None where nobody knows."""
    logprob: LogProbability | None = None
    """How likely the model that wrote it found it, where that is known."""
    message: str = ""
    """What the exception said where it broke, its type first."""

    @property
    def runs(self) -> bool:
        """Whether exec@k counts it."""
        return not self.fault.is_execution if self.ran_all is None else self.ran_all

    def labels(self) -> dict[str, str | int]:
        """Return its class in each label set, and the line of the fifth."""
        execution, line = faults.execution_line(self.fault, self.line)
        return {
            "binary": faults.binary(self.fault),
            "ternary": faults.ternary(self.fault),
            "intent": faults.intent(self.fault),
            "execution": execution,
            "error_line": line,
        }

    def record(self) -> dict[str, Any]:
        """Return it as a file has it."""
        fields = {**asdict(self), "fault": str(self.fault), **self.labels(), **logprob_fields(self.logprob)}
        return {name: value for name, value in fields.items() if name != "logprob"}

    @property
    def program(self) -> Program:
        """Return the program as rankers take it."""
        tags = {name: value for name, value in (("model", self.model), ("config", self.config)) if value}
        return Program(self.task_id, self.source, self.program_id, self.n, tags, self.logprob)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows of a data set, in their order."""

    examples: tuple[Example, ...]
    problems: tuple[Problem, ...] = ()


def examples_of(tasks: Iterable[Task], programs: Sequence[Program], outcomes: Iterable[Outcome]) -> Dataset:
    """Join programs with their outcomes; programs about which nothing was found out are told and left out.

    Outcomes of the same programs in the same order are theirs one by one. Others are found by their id, and an id that
    stands for several outcomes that differ says nothing.
    """
    of = {task.id: task for task in tasks}
    examples: list[Example] = []
    problems: list[Problem] = []
    for program, found in zip(programs, _joined(programs, tuple(outcomes)), strict=True):
        if isinstance(found, str):
            problems.append(Problem(program.id, found))
        elif found.fault is None:
            why = f"missing module {found.missing}" if found.missing else found.detail or "the sandbox failed"
            problems.append(Problem(program.id, f"undecided, left out: {why}"))
        else:
            example = _example(of[program.task_id], program, found.fault, found.line)
            message = found.detail if found.fault.is_execution else ""
            examples.append(replace(example, ran_all=found.ran_all, message=message))
    return Dataset(tuple(examples), tuple(problems))


def without(tasks: Sequence[Task], failing: Mapping[str, str]) -> tuple[Task, ...]:
    """Return the tasks but those whose own reference fails."""
    return tuple(task for task in tasks if task.id not in failing)


def failing_references(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return the tasks whose reference does not pass their tests, each with what it showed."""
    return {
        outcome.task_id: f"{outcome.fault or 'undecided'}: {outcome.detail}".rstrip(": ")
        for outcome in outcomes
        if outcome.fault is not Fault.CORRECT
    }


def by_task(examples: Iterable[Example]) -> dict[str, list[Example]]:
    """Return the rows of each task, in their order."""
    grouped: dict[str, list[Example]] = {}
    for example in examples:
        grouped.setdefault(example.task_id, []).append(example)
    return grouped


def _joined(programs: Sequence[Program], outcomes: Sequence[Outcome]) -> list[Outcome | str]:
    """Return the outcome of each program, or why it has none."""
    names = [(program.task_id, program.id) for program in programs]
    if names == [(outcome.task_id, outcome.program_id) for outcome in outcomes]:
        return list(outcomes)
    found: dict[tuple[str, str], Outcome | str] = {}
    for outcome in outcomes:
        name = (outcome.task_id, outcome.program_id)
        known = found.setdefault(name, outcome)
        if isinstance(known, Outcome) and (known.fault, known.line) != (outcome.fault, outcome.line):
            found[name] = "several outcomes of this id differ: give each program an id of its own"
    return [found.get(name, "it has no outcome: run assay exec on these samples") for name in names]


def _example(task: Task, program: Program, fault: Fault, line: int) -> Example:
    tags = program.tags
    config = tags.get("config") or (f"temperature {tags['temperature']}" if tags.get("temperature") else "")
    return Example(
        task.id,
        program.id,
        task.prompt,
        program.source,
        fault,
        line,
        program.n,
        tags.get("model", ""),
        config,
        logprob=program.logprob,
    )
