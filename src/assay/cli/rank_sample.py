"""`assay rank sample`: tasks and a model in, programs that it writes for them out."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Let a model write programs for tasks.")
@click.argument("tasks", type=click.Path(path_type=Path))
@click.option("--model", "spec", required=True, metavar="SPEC", help="chat:MODEL, completions:MODEL or hf:FOLDER.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("samples.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where samples go; a run that was interrupted goes on there.",
)
@click.option("--n", type=click.IntRange(min=1), default=10, show_default=True, help="Samples of a task.")
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=0.8, show_default=True, help="How freely it writes."
)
@click.option("--top-p", type=click.FloatRange(0, 1), default=0.95, show_default=True, help="The share it draws from.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=512, show_default=True, help="Tokens of a sample.")
@click.option("--batch", type=click.IntRange(min=1), default=10, show_default=True, help="Samples asked for at a time.")
@click.option("--seed", type=int, default=0, show_default=True, help="Sent along; not every endpoint heeds it.")
@click.option("--stop", default="human-eval", show_default=True, metavar="RULE", help="What ends a completion.")
@click.option("--limit-tasks", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option(
    "--price", nargs=2, type=click.FloatRange(min=0), metavar="IN OUT", help="Of a million tokens, to say the cost."
)
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def sample(
    tasks: Path,
    spec: str,
    out: Path,
    n: int,
    temperature: float,
    top_p: float,
    max_tokens: int,
    batch: int,
    seed: int,
    stop: str,
    limit_tasks: int | None,
    price: tuple[float, float] | None,
) -> None:
    """Let a model write programs for TASKS, as many of each as asked for.

    chat:MODEL and completions:MODEL ask an OpenAI-compatible endpoint: its address is ASSAY_API_BASE, else
    OPENAI_BASE_URL, and its key OPENAI_API_KEY, all of the environment. hf:FOLDER is a causal language model of
    transformers on this machine. What was paid for is on disk before the next question is asked, and is not asked
    again. FILE is what assay exec and assay rank read.
    """
    from assay.cli.progress import progress
    from assay.cli.workspaces import counted, say
    from assay.rank.making.sample import Asked, sampler
    from assay.rank.making.sample import sample as sampled
    from assay.sandbox.tasks.files import read

    chosen = read(tasks).tasks[:limit_tasks]
    asked = Asked(n, temperature, top_p, max_tokens, seed)
    with progress() as watch:
        took = sampled(chosen, sampler(spec), asked, out, batch=batch, stop=stop, report=watch)
    tokens = f"{took.prompt_tokens:,} tokens in, {took.completion_tokens:,} out"
    if not took.prompt_tokens and not took.completion_tokens:
        tokens, price = "the endpoint does not say how many tokens", None
    cost = f", {took.cost(price):.4f} in the unit of --price" if price else ""
    click.echo(f"{counted(took.samples, 'sample')} in {counted(took.requests, 'request')}: {tokens}{cost}")
    say(f"written to {out}")
