"""Rank and run programs: open the rankers of specs, and the samples that they learn from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError, counted
from assay.operations.hits import answer_type, as_text
from assay.operations.requests import Candidates
from assay.programs.extraction import program_of
from assay.programs.requests import ReadingOptions
from assay.programs.samples import Samples, references, say_edits
from assay.programs.samples import read as read_samples
from assay.protocols import Progress, Ranker, Say
from assay.rank.rankers import best_first, executes, ranker_of, rankers_of
from assay.rank.rankers import read as read_pools
from assay.rank.requests import DataRequest, RankerOptions
from assay.runs.record import sole_writer, start_fresh
from assay.values import Outcome, Problem, Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.programs.tasks.task_file import TaskFile
    from assay.rank.datasets import Dataset

Programs = str | Program | Iterable[str | Program]
"""Programs to run or to rank; a text is the source of a program of the only task."""


def execute(  # noqa: PLR0913  what a user may choose
    tasks: Task | Iterable[Task],
    programs: Programs,
    *,
    sandbox: str = "",
    timeout_s: float | None = None,
    workers: int | None = None,
    allow_unsafe: bool = False,
    progress: Progress | None = None,
) -> list[Outcome]:
    r"""Run programs against the tests of their tasks, each in a sandbox; return one outcome per program, in order.

    The sandbox is the strongest that the machine offers, or the one named; `timeout_s` is processor time. A task
    without tests is tested by the examples that its prompt shows. A program's failure is its outcome, never an
    exception; where the machinery failed, the outcome has no fault. Raises `assay.InputError` for tests that cannot be
    read, and where no sandbox can be had.

    >>> import assay
    >>> task = assay.Task("add", "Add two numbers.", "add", tests=(assay.Call((1, 2), 3),))
    >>> right, wrong = assay.execute(task, ["def add(a, b):\n    return a + b", "def add(a, b):\n    return a - b"])
    >>> right.fault.value, wrong.fault.value, wrong.got
    ('correct', 'IntSmallError', '-1')
    """
    from assay.cage.limits import Limits
    from assay.cage.open_cage import open_sandbox
    from assay.programs.execute import execute as execute_in
    from assay.programs.shown_examples import examples_in

    known = [tasks] if isinstance(tasks, Task) else list(tasks)
    candidates = _programs(programs, known)
    limits = Limits() if timeout_s is None else Limits().with_cpu(timeout_s)
    known = [task if task.tests else replace(task, tests=examples_in(task)) for task in known]
    outcomes = []
    with open_sandbox(sandbox, limits, workers or os.cpu_count() or 1, allow_unsafe=allow_unsafe) as opened:
        for outcome in execute_in(known, candidates, opened, limits=limits):
            outcomes.append(outcome)
            if progress:
                progress("programs", len(outcomes), len(candidates))
    return outcomes


def rank(
    task: str | Task, programs: Programs, *, ranker: str = "consensus", allow_execution: bool = False, seed: int = 0
) -> list[Ranked]:
    r"""Rank candidate programs for a task, best first, each with its probability, likely fault and line.

    A text is the prompt of a task. `ranker` is a spec: `consensus`, `neural:FOLDER`, and those that run programs in a
    sandbox, `examples` and `agreement`, which need `allow_execution`. Scores compare programs of one task only.

    >>> import assay
    >>> add, sub = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
    >>> best, *rest = assay.rank("Add two numbers.", [add, add.replace("a", "x"), sub, add])
    >>> len(rest), best.score >= rest[-1].score
    (3, True)
    """
    problem = Task("task", task) if isinstance(task, str) else task
    candidates = _programs(programs, [problem])
    options = RankerOptions(allow_execution=allow_execution)
    with open_rankers([ranker], options, lambda _: None) as ((opened,), _):
        return best_first(opened.rank(problem, candidates), seed=seed)


def _programs(programs: Programs, tasks: Sequence[Task]) -> list[Program]:
    """Return programs, those given as texts numbered from 0 and for the only task."""
    given = [programs] if isinstance(programs, str | Program) else list(programs)
    if len(tasks) != 1 and any(isinstance(each, str) for each in given):
        raise InputError(
            f"a text is a program of one task, not of {len(tasks)}: say which with assay.Program(task_id, …)"
        )
    known = {task.id for task in tasks}
    found = [_program(tasks[0], each, str(n)) if isinstance(each, str) else each for n, each in enumerate(given)]
    stray = next((each for each in found if each.task_id not in known), None)
    if stray:
        raise InputError(f"a program is for the task '{stray.task_id}', which is not among the tasks")
    return found


def _program(task: Task, text: str, name: str) -> Program:
    made = program_of(text, task.entry_point)
    return Program(task.id, made.source, name, edits=made.edits)


@contextmanager
def open_rankers(
    specs: Sequence[str], options: RankerOptions, say: Say
) -> Iterator[tuple[list[Ranker], Callable[[], tuple[str, ...]]]]:
    """Open the rankers of some specs; return them, and what programs can import where they run.

    A sandbox is open, here or on a cluster, where one runs programs and may.
    """
    cluster, runs = options.where.cluster, options.allow_execution and any(map(executes, specs))
    if cluster and not runs:
        raise InputError("--on is for rankers that run programs: --ranker examples or agreement, --allow-execution")
    with ExitStack() as stack:
        runner: ProgramRunner | None = None
        modules: Callable[[], tuple[str, ...]] = tuple
        if runs:
            from assay.programs.modules.imports import importable
            from assay.programs.runners import open_runner

            opened: ProgramRunner = stack.enter_context(open_runner(say, cluster))
            runner, modules = opened, partial(importable, opened)
        rankers = rankers_of(specs, runner)
        names = [ranker.name for ranker in rankers]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise InputError(f"two of the rankers are the same, '{twice}': name each once")
        yield rankers, modules


def tasks_of(path: Path | None) -> tuple[Task, ...] | None:
    """Return the tasks of a file, None where none is given."""
    from assay.programs.tasks.task_file import read_tasks

    return read_tasks(path).tasks if path else None


def labelled(
    samples: Path, outcomes: Path, tasks: Sequence[Task] | None, how: ReadingOptions, say: Say
) -> tuple[Dataset, tuple[Task, ...]]:
    """Return samples joined with the outcomes that assay exec found, and their tasks."""
    from assay.programs.run_samples import load
    from assay.rank.datasets import examples_of

    if not outcomes.is_file():
        raise InputError(f"no such file: '{outcomes}'; make it with assay exec TASKS SAMPLES --out {outcomes.name}")
    pools = read_pools(samples, tasks, how)
    say_edits(pools.programs, say)
    examples = examples_of(pools.tasks, pools.programs, (row.outcome for row in load(outcomes)))
    if not examples.examples:
        first = f": {examples.problems[0]}" if examples.problems else ""
        raise InputError(f"none of the programs in '{samples}' has an outcome in '{outcomes}'{first}")
    return replace(examples, problems=(*pools.problems, *examples.problems)), pools.tasks


@dataclass(frozen=True, slots=True)
class SampleOutcomes:
    """The samples of a file with their outcomes, and what could not be used."""

    tasks: TaskFile
    samples: Samples
    outcomes: Sequence[Outcome]
    failing: Mapping[str, str]
    """Tasks whose own reference solution fails, and how."""
    problems: Sequence[Problem]


def run_for_dataset(request: DataRequest, say: Say, progress: Progress | None = None) -> SampleOutcomes:
    """Run the samples of a dataset and the references of its tasks; a run that was cut off resumes."""
    from assay.programs.run_samples import Timeouts, load, ready_tasks, run_samples, with_limits
    from assay.programs.runners import open_equipped_runner
    from assay.rank.datasets import failing_references

    reading, samples = _load_samples(request)
    say_edits(samples.programs, say)
    for what in ("references", "outcomes") if request.fresh else ():
        start_fresh(_beside(request.out, what))
    known = [row.outcome for row in load(request.outcomes)] if request.outcomes else []
    check = not request.keep_failing
    if request.outcomes and not check:
        if request.runner.where.cluster:
            raise InputError("nothing is left to run with --outcomes and --keep-failing: leave --on out")
        return SampleOutcomes(reading, samples, known, {}, samples.problems)
    with open_equipped_runner(request.runner, reading, samples, say) as room:
        ready = ready_tasks(reading, room, progress)
        timeouts: Timeouts = ()
        if request.runner.by_reference:
            ready, timeouts = with_limits(ready, room, _beside(request.out, "outcomes"))
        own, limits, every = references(ready.tasks), request.runner.limits, not request.first_failure

        def ran(some: Samples, what: str) -> list[Outcome]:
            file = _beside(request.out, what)
            with sole_writer(file):
                rows = run_samples(
                    reading, ready, some, room, file, limits, progress, timeouts=timeouts, every_test=every
                )
                return [row.outcome for row in rows]

        if check and own.problems:
            say(f"{counted(len(own.problems), 'task')} without a reference to check")
        failing = failing_references(ran(own, "references")) if check and own.programs else {}
        outcomes = known if request.outcomes else ran(samples, "outcomes")
    return SampleOutcomes(reading, samples, outcomes, failing, (*ready.problems, *samples.problems))


def _load_samples(request: DataRequest) -> tuple[TaskFile, Samples]:
    """Return the samples and the tasks that have some; a limit of tasks leaves the others out."""
    from assay.programs.run_samples import with_programs
    from assay.programs.tasks.task_file import read_tasks

    reading = read_tasks(request.tasks)
    most = len(reading.tasks) if request.limit_tasks is None else request.limit_tasks
    tasks, beyond = reading.tasks[:most], reading.tasks[most:]
    samples = read_samples(request.samples, tasks, request.reading, beyond=beyond)
    if not samples.programs:
        raise InputError(f"there is no program to learn from{f': {samples.problems[0]}' if samples.problems else ''}")
    if request.outcomes and not request.outcomes.is_file():
        raise InputError(f"no such file: '{request.outcomes}'; leave --outcomes out to run the samples now")
    reading = with_programs(replace(reading, tasks=tasks), samples)
    problems = list(samples.problems)
    if samples.unknown:
        problems.append(
            Problem(request.samples.name, f"{samples.unknown:,} samples are of tasks that are not in TASKS")
        )
    return reading, replace(samples, problems=tuple(problems))


def _beside(out: Path, what: str) -> Path:
    return out.with_name(f"{out.name}.{what}.jsonl")


@answer_type
class PlacedCandidate:
    """A candidate program at its rank."""

    index: int
    """Its position among the programs that were given, from 0."""
    score: float
    """A score that compares these programs only."""
    probability: float
    """An estimate of the probability that it is right; the order also prefers what differs from the programs before."""
    fault: str
    """Its most likely fault, or correct; empty if unknown."""
    line: int
    """The line that is most likely wrong; -1 if none is."""


@answer_type
class Order:
    """Candidate programs, the best one to try first; none was run."""

    ranker: str
    programs: list[PlacedCandidate]


def rank_candidates(request: Candidates) -> Order:
    """Rank candidate programs for one task by reading them; none is run."""
    chosen = ranker_of()
    task = Task("task", request.prompt, request.entry_point)
    candidates = [Program(task.id, source, str(number)) for number, source in enumerate(request.programs)]
    placed = []
    for each in best_first(chosen.rank(task, candidates)):
        score, chance, fault = round(each.score, 4), each.probability or 0.0, str(each.fault or "")
        placed.append(PlacedCandidate(int(each.program.id), score, chance, fault, each.line))
    return Order(chosen.name, placed)


@as_text.register
def _(answer: Order) -> str:
    rows = []
    for place, each in enumerate(answer.programs, 1):
        scored = f"program {each.index}: {each.score:.3f} ({each.probability:.2f}) {each.fault}"
        rows.append(f"{place}. {scored}{f', line {each.line}' if each.line > 0 else ''}".rstrip())
    return "\n".join(rows)
