"""Offer `assay.execute` and `assay.rank`: run programs, or order them without running them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from assay.cage.job import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.operations.open_rankers import open_models
from assay.programs.execute import execute as execute_in
from assay.programs.shown_examples import examples_in
from assay.protocols import Progress
from assay.rank.rankers import asks, best_first, executes, ranker_of
from assay.values import Outcome, Program, Ranked, Task

Programs = str | Program | Iterable[str | Program]
"""Programs to run or to rank; a text is the source of one, for the only task."""


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
    r"""Run programs against the tests of their tasks, each in a sandbox, and return one outcome a program, in order.

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
    known = [tasks] if isinstance(tasks, Task) else list(tasks)
    given = _programs(programs, known)
    limits = Limits() if timeout_s is None else Limits().with_cpu(timeout_s)
    known = [task if task.tests else replace(task, tests=examples_in(task)) for task in known]
    outcomes = []
    with open_sandbox(sandbox, limits, workers or os.cpu_count() or 1, allow_unsafe=allow_unsafe) as opened:
        for outcome in execute_in(known, given, opened, limits=limits):
            outcomes.append(outcome)
            if progress:
                progress("programs", len(outcomes), len(given))
    return outcomes


def rank(  # noqa: PLR0913  what a user may choose
    task: str | Task,
    programs: Programs,
    *,
    ranker: str = "consensus",
    allow_execution: bool = False,
    budget: str = "",
    seed: int = 0,
) -> list[Ranked]:
    r"""Return candidate programs for a task, best first, each with how it likely fails and why.

    A text is the prompt of a task. `ranker` is a spec: `consensus`, `neural:FOLDER`, `chat:PROVIDER:MODEL` (which
    spends no more than `budget`, as `5usd`), and those that run programs in a sandbox, `examples` and `agreement`,
    which need `allow_execution`. Scores compare programs of one task only.

    >>> import assay
    >>> add, sub = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
    >>> best, *rest = assay.rank("Add two numbers.", [add, add.replace("a", "x"), sub, add])
    >>> len(rest), best.score >= rest[-1].score
    (3, True)
    """
    wanted = Task("task", task) if isinstance(task, str) else task
    given = _programs(programs, [wanted])
    with ExitStack() as stack:
        runner = models = None
        if allow_execution and executes(ranker):
            runner = stack.enter_context(open_sandbox(workers=os.cpu_count() or 1))
        if asks(ranker):
            models = stack.enter_context(open_models(lambda _: None, budget=budget))
        elif budget:
            raise InputError("a budget is for rankers that ask a model: ranker='chat:PROVIDER:MODEL'")
        return best_first(ranker_of(ranker, runner, models).rank(wanted, given), seed=seed)


def _programs(programs: Programs, tasks: Sequence[Task]) -> list[Program]:
    """Return programs, those given as texts numbered from 0 and for the only task."""
    given = [programs] if isinstance(programs, str | Program) else list(programs)
    if len(tasks) != 1 and any(isinstance(each, str) for each in given):
        raise InputError(
            f"a text is a program of one task, not of {len(tasks)}: say which with assay.Program(task_id, …)"
        )
    known = {task.id for task in tasks}
    found = [Program(tasks[0].id, each, str(n)) if isinstance(each, str) else each for n, each in enumerate(given)]
    stray = next((each for each in found if each.task_id not in known), None)
    if stray:
        raise InputError(f"a program is for the task '{stray.task_id}', which is not among the tasks")
    return found
