"""Options, tasks and rankers that the commands of `assay rank` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import options
from assay.cli.options import ClusterOptions
from assay.errors import InputError
from assay.io.terminal import say
from assay.parameters import Options, flag, option, shared

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Ranker
    from assay.rank.dataset.rows import Dataset
    from assay.values import Task

_ASKING = ("budget", "rate", "in_flight", "records", "replay", "no_cache")
"""Options that say something which only a model can heed."""


class RankerOptions(Options):
    """What rankers may do: run programs, ask models."""

    allow_execution: bool = flag("--allow-execution", "Let rankers that run programs do so, each program in a sandbox.")
    where: ClusterOptions = shared(ClusterOptions)
    budget: str = options.budget("rankers of the kind chat:MODEL may")
    rate: str = options.rate("they ask of a model")
    in_flight: int | None = option("--in-flight N", "Questions to models at a time.  [default: 8]", least=1)
    records: Path | None = option(
        "--records FILE",
        "Where the replies of models go; what stands there is not asked again.  [default: rank-records.jsonl]",
        kind="file",
    )
    replay: bool = flag("--replay", "Ask no model: take all replies from the records.")
    no_cache: bool = flag(
        "--no-cache",
        "Do not use replies to other commands: ask, and pay, again; what stands in --records is never asked again.",
    )


def tasks_of(path: Path | None) -> tuple[Task, ...] | None:
    """Return the tasks of a file, None where none is given."""
    if path is None:
        return None
    from assay.programs.tasks.task_file import read_tasks

    return read_tasks(path).tasks


@contextmanager
def rankers(specs: Sequence[str], may: RankerOptions) -> Iterator[tuple[list[Ranker], Callable[[], tuple[str, ...]]]]:
    """Give the rankers of some specs, and what says what programs can import where they run.

    A sandbox is open, here or on a cluster, where one runs programs and may.
    """
    from assay.operations.open_rankers import open_models
    from assay.operations.open_runner import open_runner
    from assay.programs.modules.imports import importable
    from assay.rank.rankers import asks, executes, rankers_of

    cluster, runs = may.where.cluster, may.allow_execution and any(map(executes, specs))
    if cluster and not runs:
        raise InputError("--on is for rankers that run programs: --ranker examples or agreement, --allow-execution")
    asking: dict[str, Any] = {name: value for name in _ASKING if (value := getattr(may, name))}
    with ExitStack() as stack:
        models, runner = None, None
        modules: Callable[[], tuple[str, ...]] = tuple
        if any(map(asks, specs)):
            models = stack.enter_context(open_models(say, **{"records": Path("rank-records.jsonl"), **asking}))
        elif asking:
            name = next(iter(asking)).replace("_", "-")
            raise InputError(f"--{name} is for rankers that ask a model: --ranker chat:PROVIDER:MODEL")
        if runs:
            opened: ProgramRunner = stack.enter_context(open_runner(say, cluster))
            runner, modules = opened, partial(importable, opened)
        made = rankers_of(specs, runner, models)
        names = [ranker.name for ranker in made]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise InputError(f"two of the rankers are the same, '{twice}': name each once")
        yield made, modules


def labelled(
    samples: Path, outcomes: Path, tasks: Sequence[Task] | None, stop: str
) -> tuple[Dataset, tuple[Task, ...]]:
    """Return samples joined with what assay exec found out about them, and their tasks."""
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
