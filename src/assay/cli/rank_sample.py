"""`assay rank sample`: tasks and a model in, programs that it writes for them out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli import options
from assay.cli.command import COUNT, FILE, PATH, argument, command, option, verbose


@dataclass(frozen=True, slots=True)
class RankSampleOptions:
    """Options of `assay rank sample`."""

    tasks: Path = argument(type=PATH)
    spec: str = option(
        "--model", required=True, metavar="SPEC", help="The model: chat:MODEL, completions:MODEL or hf:FOLDER."
    )
    out: Path = option(
        "--out",
        type=FILE,
        default=Path("samples.jsonl"),
        metavar="FILE",
        help="Where samples go; an interrupted run continues there.",
    )
    fresh: bool = options.fresh()
    n: int = option("--n", type=COUNT, default=10, metavar="N", help="Samples per task.")
    temperature: float = option(
        "--temperature", type=click.FloatRange(min=0), default=0.8, metavar="T", help="The sampling temperature."
    )
    top_p: float = option(
        "--top-p", type=click.FloatRange(0, 1), default=0.95, metavar="P", help="The probability mass to sample from."
    )
    max_tokens: int = option("--max-tokens", type=COUNT, default=512, metavar="N", help="Most tokens of a sample.")
    batch: int = option("--batch", type=COUNT, default=10, metavar="N", help="Samples per request.")
    seed: int = option("--seed", default=0, metavar="N", help="The random seed; not every endpoint uses it.")
    stop: str = option(
        "--stop",
        default="human-eval",
        metavar="RULE",
        help="Where completions end: human-eval, codeparrot, evalplus or none.",
    )
    limit_tasks: int | None = option("--limit-tasks", type=COUNT, metavar="N", help="Use only the first N tasks.")
    price: tuple[float, float] | None = option(
        "--price",
        nargs=2,
        type=click.FloatRange(min=0),
        metavar="IN OUT",
        help="USD per million tokens, to print the cost.",
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    RankSampleOptions,
    example="assay rank sample HumanEval.jsonl --model chat:gpt-4o-mini --n 20 --out samples.jsonl",
)
def sample(given: RankSampleOptions) -> None:
    """Let a model write programs for TASKS, as many of each as asked for.

    chat:MODEL and completions:MODEL ask an OpenAI-compatible endpoint: the environment variables ASSAY_API_BASE (else
    OPENAI_BASE_URL) and ASSAY_API_KEY (else OPENAI_API_KEY) hold its address and key. hf:FOLDER is a causal language
    model of transformers on this machine. What was paid for is on disk before the next question is asked, and is not
    asked again. FILE is what assay exec and assay rank read.
    """
    from assay.cli.progress import progress
    from assay.cli.workspaces import say
    from assay.errors import counted
    from assay.programs.tasks.task_formats import read
    from assay.rank.sampling.sample import SamplingOptions, sampler
    from assay.rank.sampling.sample import sample as sampled
    from assay.runs.record import start_fresh

    chosen = read(given.tasks).tasks[: given.limit_tasks]
    if given.fresh:
        start_fresh(given.out)
    asked = SamplingOptions(given.n, given.temperature, given.top_p, given.max_tokens, given.seed)
    with progress() as watch:
        took = sampled(chosen, sampler(given.spec), asked, given.out, batch=given.batch, stop=given.stop, report=watch)
    price = given.price
    tokens = f"{took.prompt_tokens:,} tokens in, {took.completion_tokens:,} out"
    if not took.prompt_tokens and not took.completion_tokens:
        tokens, price = "the endpoint does not say how many tokens", None
    cost = f", {took.cost(price):.4f} in the unit of --price" if price else ""
    click.echo(f"{counted(took.samples, 'sample')} in {counted(took.requests, 'request')}: {tokens}{cost}")
    say(f"written to {given.out}")
