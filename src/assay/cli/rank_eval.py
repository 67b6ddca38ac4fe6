"""`assay rank eval`: programs with their outcomes and rankers in, what each order is worth out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli import options
from assay.cli.command import COUNT, argument, command, form, option, shared, verbose
from assay.cli.rank_parts import labelled, rankers, tasks_of, tell
from assay.cli.ranker_options import RankerOptions


@dataclass(frozen=True, slots=True)
class RankEvalOptions:
    """Options of `assay rank eval`."""

    samples: Path = argument()
    outcomes: Path = argument()
    tasks: Path | None = options.tasks()
    specs: tuple[str, ...] = option("--ranker SPEC", "A ranker to measure. Repeatable.  [default: consensus]")
    may: RankerOptions = shared(RankerOptions)
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,5")
    sizes: str = option("--pool N,…", "Sizes of pools of samples.  [default: all samples of a task]")
    draws: int = option("--draws N", "Pools drawn from each task.", type=COUNT, default=5)
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", type=COUNT)
    stop: str = options.stop()
    seed: int = option("--seed N", "The random seed that draws the pools.", default=0)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(
    RankEvalOptions, example="assay rank eval samples.jsonl outcomes.jsonl --ranker consensus --k 1,5", name="eval"
)
def eval(given: RankEvalOptions) -> None:  # noqa: A001  # the command's name
    """Measure an order of the programs: pass@k and exec@k of the k ranked first, beside unranked.

    OUTCOMES is what assay exec wrote about SAMPLES. Programs with equal scores count as the mean over their orders.
    'unique' is with duplicates removed. Intervals are 95% bootstrap intervals over tasks; gains are paired by task.
    A program that does nothing scores on exec@k, so pass@k is always shown with it.

    With --pool 3,10 rankers get pools of 3 and of 10 samples, drawn from those of a task. Tasks with fewer are left
    out and counted.
    """
    from assay.cli.progress import progress
    from assay.cli.rank_eval_text import evaluation_as_json, text
    from assay.errors import InputError
    from assay.io.terminal import dumps
    from assay.measure.passk import ks_of
    from assay.rank.dataset.rows import by_task
    from assay.rank.evaluate_rankers import EvaluationOptions, evaluate

    plan = EvaluationOptions(ks_of(given.ks), ks_of(given.sizes) if given.sizes else (0,), given.draws, given.seed)
    if len(set(given.specs)) != len(given.specs):
        raise InputError("a ranker is named twice; name each once")
    data, known = labelled(given.samples, given.outcomes, tasks_of(given.tasks), given.stop)
    examples = data.examples
    if given.limit_tasks is not None:
        kept = set(list(by_task(examples))[: given.limit_tasks])
        examples = tuple(each for each in examples if each.task_id in kept)
    with rankers(given.specs or ("consensus",), given.may) as made, progress() as watch:
        found = evaluate(known, examples, made, plan, report=watch)
    tell(data.problems, verbose=given.verbose)
    click.echo(dumps(evaluation_as_json(found)) if given.form == "json" else "\n".join(text(found)))
