"""`assay rank sample`: let a model write programs for tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted
from assay.io.terminal import say, say_problems
from assay.parameters import Options, argument, flag, option, verbose
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from assay.rank.sampling.sample import SamplingCost, SamplingPlan, SamplingTally
    from assay.values import Task


class RankSampleOptions(Options):
    """Options of `assay rank sample`."""

    tasks: Path = argument()
    spec: str = option("--model SPEC", "The model: chat:MODEL or completions:MODEL.", required=True)
    out: Path = options.out_file("samples", "samples.jsonl")
    fresh: bool = options.fresh()
    n: int = option("--n N", "Samples per task.", least=1, default=10)
    temperature: float = option("--temperature T", "The sampling temperature.", least=0, default=0.8)
    top_p: float = option("--top-p P", "The probability mass to sample from.", least=0, most=1, default=0.95)
    max_tokens: int = option("--max-tokens N", "Most tokens of a sample.", least=1, default=512)
    batch: int = option("--batch N", "Samples per request.", least=1, default=10)
    in_flight: int | None = option("--in-flight N", "Concurrent requests.  [default: 8]", least=1)
    template: str = option(
        "--template NAME|FILE",
        "How tasks are put: plain, few-shot, apps, or a file with {prompt}, {entry_point}, {format}, … in it.",
        default="plain",
    )
    shots: Path | None = option("--shots FILE", "Tasks with references; some are shown, solved, before each task.")
    shot_count: int | None = option("--shot-count N", "With --shots: how many.  [default: 1]", least=1)
    strip_examples: bool = flag("--strip-examples", "Leave the examples out of the texts of tasks.")
    no_logprobs: bool = flag("--no-logprobs", "Do not ask for log-probabilities, which some endpoints refuse.")
    seed: int = option("--seed N", "The random seed; not every endpoint uses it.", default=0)
    stop: str | None = option(
        "--stop RULE", "Where completions end: human-eval, codeparrot, evalplus or none.  [default: human-eval]"
    )
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", least=1)
    price: tuple[float, float] | None = option(
        "--price IN OUT", "USD per million tokens, to print the cost.", count=2, least=0
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    RankSampleOptions, example="assay rank sample HumanEval.jsonl --model chat:gpt-4o-mini --n 20 --out samples.jsonl"
)
def sample(given: RankSampleOptions) -> int:
    """Let a model write programs for TASKS, as many of each as asked for.

    chat:MODEL and completions:MODEL ask an OpenAI-compatible endpoint: the environment variables ASSAY_API_BASE (else
    OPENAI_BASE_URL) and ASSAY_API_KEY (else OPENAI_API_KEY) hold its address and key. A model on this
    machine is asked through a server of that protocol: llama.cpp, vLLM or Ollama. An answer is on disk as soon as it is
    there, and is not asked for again. FILE is what assay exec and assay rank read.

    Exits 0 if each task has its samples, 1 if the model refused some prompts.
    """
    from assay.programs.tasks.task_file import read_tasks
    from assay.rank.sampling.endpoint import SamplingOptions
    from assay.rank.sampling.sample import sample as run
    from assay.rank.sampling.sample import sampler, spent

    chosen = read_tasks(given.tasks).tasks[: given.limit_tasks]
    plan, model = _plan(given, chosen), sampler(given.spec)
    plan.sent_stop(model)
    if given.fresh:
        start_fresh(given.out)
    sampling = SamplingOptions(given.n, given.temperature, given.top_p, given.max_tokens, given.seed)
    sampling = replace(sampling, logprobs=not given.no_logprobs)
    with progress() as watch:
        tally = run(chosen, model, sampling, given.out, plan, report=watch)
    say_problems(tally.problems, every=given.verbose)
    click.echo("\n".join(_summary(spent(given.out), tally, given)))
    say(f"written to {given.out}")
    return 1 if tally.problems else 0


def _plan(given: RankSampleOptions, tasks: Sequence[Task]) -> SamplingPlan:
    """Return how questions are put and sent."""
    from assay.programs.tasks.task_file import read_tasks
    from assay.rank.sampling.prompts import FewShots, load_template
    from assay.rank.sampling.sample import SamplingPlan

    shots = None
    if given.shot_count and not given.shots:
        raise InputError("--shot-count says how many of --shots are shown: give --shots FILE, or leave it out")
    if given.shots:
        shots = FewShots(read_tasks(given.shots).tasks, given.shot_count or 1, sampled=tasks, seed=given.seed)
    template = load_template(given.template)
    return SamplingPlan(template, shots, given.strip_examples, given.stop or "", given.batch, given.in_flight or 0)


def _summary(took: SamplingCost, tally: SamplingTally, given: RankSampleOptions) -> Iterator[str]:
    """Yield what the file took so far, and how fast this run was."""
    price = given.price
    tokens = f"{took.prompt_tokens:,} tokens in, {took.completion_tokens:,} out"
    if not took.prompt_tokens and not took.completion_tokens:
        tokens, price = "the endpoint does not say how many tokens", None
    cost = f", {took.cost(price):.4f} in the unit of --price" if price else ""
    yield f"{counted(took.samples, 'sample')} in {counted(took.requests, 'request')}: {tokens}{cost}"
    if tally.samples:
        yield f"{counted(tally.samples, 'sample')} in {tally.seconds:.1f} s: {tally.rate:,.1f} samples a second"
    if not given.no_logprobs and took.scored < took.samples:
        yield f"{took.samples - took.scored:,} of {took.samples:,} have no log-probability: the model gave none"
