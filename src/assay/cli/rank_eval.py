"""`assay rank eval`: programs with their outcomes and rankers in, what each order is worth out."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import options
from assay.cli.rank_parts import (
    allow_option,
    labelled,
    rankers,
    stop_option,
    tasks_of,
    tasks_option,
    tell,
    verbose_option,
)


@click.command(name="eval", short_help="Measure orders: ranked pass@k beside unranked.")
@click.argument("samples", type=click.Path(path_type=Path))
@click.argument("outcomes", type=click.Path(path_type=Path))
@tasks_option
@click.option(
    "--ranker", "specs", multiple=True, metavar="SPEC", help="A ranker to measure. Repeatable.  [default: consensus]"
)
@allow_option
@click.option("--k", "ks", default="1,5", show_default=True, metavar="K,…", help="The k of pass@k and exec@k.")
@click.option("--pool", "sizes", default="", metavar="N,…", help="Samples of a pool.  [default: all there are]")
@click.option("--draws", type=click.IntRange(min=1), default=5, show_default=True, help="Pools drawn of each task.")
@click.option("--limit-tasks", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@stop_option
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which pools are drawn.")
@options.form("text", "json")
@verbose_option
def eval(  # noqa: A001  # the command's name
    samples: Path,
    outcomes: Path,
    tasks: Path | None,
    specs: tuple[str, ...],
    allowed: bool,
    ks: str,
    sizes: str,
    draws: int,
    limit_tasks: int | None,
    stop: str,
    seed: int,
    form: str,
    verbose: bool,
) -> None:
    """Say what an order of the programs is worth: pass@k and exec@k of the k ranked first, beside those unranked.

    OUTCOMES is what assay exec wrote about SAMPLES. Programs with equal scores count as the mean over their orders.
    'unique' is with duplicates removed. Intervals are 95% bootstrap intervals over tasks; gains are paired by task.
    exec@k can be had by programs that do nothing, so it never stands without pass@k.

    With --pool 3,10 rankers get pools of 3 and of 10 samples, drawn from those of a task. Tasks with fewer are left
    out and counted.
    """
    from assay.cli.answer import dumps
    from assay.cli.progress import progress
    from assay.cli.rank_eval_text import text, told
    from assay.errors import InputError
    from assay.measure.passk import ks_of
    from assay.rank.evaluate import Plan, evaluate
    from assay.rank.rows.data import by_task

    plan = Plan(ks_of(ks), ks_of(sizes) if sizes else (0,), draws, seed)
    if len(set(specs)) != len(specs):
        raise InputError("a ranker is named twice; name each once")
    data, known = labelled(samples, outcomes, tasks_of(tasks), stop)
    examples = data.examples
    if limit_tasks is not None:
        kept = set(list(by_task(examples))[:limit_tasks])
        examples = tuple(each for each in examples if each.task_id in kept)
    with rankers(specs or ("consensus",), allowed=allowed) as made, progress() as watch:
        found = evaluate(known, examples, made, plan, report=watch)
    tell(data.problems, verbose=verbose)
    click.echo(dumps(told(found)) if form == "json" else "\n".join(text(found)))
