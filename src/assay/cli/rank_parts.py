"""What the commands of `assay rank` share: tasks, rankers with the sandbox that some need, and what is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.cli.ranker_options import AskingOptions, RankerOptions
    from assay.protocols import Ranker
    from assay.rank.asking.model_ranker import RankingModels
    from assay.rank.dataset.rows import Dataset
    from assay.values import Problem, Task

_TOLD = 5
"""Problems that are named; the rest is counted."""


def tasks_of(path: Path | None) -> tuple[Task, ...] | None:
    """Return the tasks of a file, None where none is given."""
    if path is None:
        return None
    from assay.programs.tasks.task_file import read_tasks

    return read_tasks(path).tasks


@contextmanager
def rankers(specs: Sequence[str], may: RankerOptions) -> Iterator[list[Ranker]]:
    """Give the rankers of some specs; a sandbox is open, here or on a cluster, where one runs programs and may."""
    with rankers_and_modules(specs, may) as (made, _):
        yield made


@contextmanager
def rankers_and_modules(
    specs: Sequence[str], may: RankerOptions
) -> Iterator[tuple[list[Ranker], Callable[[], tuple[str, ...]]]]:
    """Give rankers likewise, and what says what programs can import where they run."""
    from assay.assemble.open_runner import open_runner
    from assay.errors import InputError
    from assay.io.terminal import say
    from assay.programs.modules.imports import importable
    from assay.rank.rankers import executes, rankers_of

    cluster, runs = may.where.cluster, may.allow_execution and any(map(executes, specs))
    if cluster and not runs:
        raise InputError("--on is for rankers that run programs: --ranker examples or agreement, --allow-execution")
    with ExitStack() as stack:
        models = stack.enter_context(_models(specs, may.asking))
        if not runs:
            yield _distinct(rankers_of(specs, None, models)), tuple
            return
        runner: ProgramRunner = stack.enter_context(open_runner(say, cluster))
        yield _distinct(rankers_of(specs, runner, models)), partial(importable, runner)


def _distinct(made: list[Ranker]) -> list[Ranker]:
    """Return rankers, no two of them the same however they are written."""
    from assay.errors import InputError

    names = [ranker.name for ranker in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two of the rankers are the same, '{twice}': name each once")
    return made


@contextmanager
def _models(specs: Sequence[str], asking: AskingOptions) -> Iterator[RankingModels | None]:
    """Give what opens models, if a ranker asks one."""
    from assay.assemble.open_rankers import open_models
    from assay.errors import InputError
    from assay.io.terminal import say
    from assay.rank.rankers import asks

    if any(map(asks, specs)):
        with open_models(asking.chat_options(), say) as models:
            yield models
        return
    if asking.first_given:
        raise InputError(f"{asking.first_given} is for rankers that ask a model: --ranker chat:PROVIDER:MODEL")
    yield None


def labelled(
    samples: Path, outcomes: Path, tasks: Sequence[Task] | None, stop: str
) -> tuple[Dataset, tuple[Task, ...]]:
    """Return samples joined with what assay exec found out about them, and their tasks."""
    from dataclasses import replace

    from assay.errors import InputError
    from assay.programs.run_samples import load
    from assay.rank.dataset.rows import examples_of
    from assay.rank.pools import read

    if not outcomes.is_file():
        raise InputError(f"no such file: '{outcomes}'; make it with assay exec TASKS SAMPLES --out {outcomes.name}")
    pools = read(samples, tasks, stop=stop)
    made = examples_of(pools.tasks, pools.programs, (row.outcome for row in load(outcomes)))
    if not made.examples:
        first = f": {made.problems[0]}" if made.problems else ""
        raise InputError(f"none of the programs in '{samples}' has an outcome in '{outcomes}'{first}")
    return replace(made, problems=(*pools.problems, *made.problems)), pools.tasks


def tell(problems: Iterable[Problem], *, verbose: bool) -> None:
    """Name the first problems and count the others."""
    from assay.io.terminal import say

    problems = list(problems)
    for problem in problems if verbose else problems[:_TOLD]:
        say(str(problem))
    if len(problems) > _TOLD and not verbose:
        say(f"{len(problems) - _TOLD:,} more problems; -v names them")
