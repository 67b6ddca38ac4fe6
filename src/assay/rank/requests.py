"""Declare the parameters of the commands that order programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.programs.requests import ReadingOptions, RunnerOptions, first_failure
from assay.runs import options
from assay.runs.options import ClusterOptions, GateOptions

_EVERY = "Name every problem; show the traceback of an error."


def strip_examples() -> Any:
    """Declare the option that removes examples from prompts."""
    return flag("--strip-examples", "Leave the example tests out of the prompts.")


class RankerOptions(Request):
    """Options for rankers that run programs."""

    allow_execution: bool = flag("--allow-execution", "Let rankers that run programs do so, each program in a sandbox.")
    where: ClusterOptions = shared(ClusterOptions)


class OrderRequest(Request):
    """Order candidate programs: best first."""

    samples: Path = argument()
    tasks: Path | None = options.tasks()
    spec: str = option("--ranker SPEC", "The ranker.", default="consensus")
    may: RankerOptions = shared(RankerOptions)
    by: str = option(
        "--order WHAT",
        "score: the ranker's order; probability: by how likely each program is right by itself.",
        choices=("score", "probability"),
        default="score",
    )
    most: int | None = option("--k K", "Print only the K best programs of each task.  [default: all]", least=1)
    reading: ReadingOptions = shared(ReadingOptions)
    form: str = form("text", "json", "jsonl")
    out: Path | None = option("--out FILE", "Also write the order to FILE.", kind="file")
    seed: int = option("--seed N", "The random seed that orders equal scores.", default=0)
    verbose: bool = verbose(_EVERY)


class EvalRequest(Request):
    """Measure orders: ranked pass@k beside unranked."""

    samples: Path = argument()
    outcomes: Path = argument()
    tasks: Path | None = options.tasks()
    specs: tuple[str, ...] = option("--ranker SPEC", "A ranker to measure. Repeatable.  [default: consensus]")
    may: RankerOptions = shared(RankerOptions)
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,5")
    sizes: str = option("--pool N,…", "Sizes of pools of samples.  [default: all samples of a task]")
    draws: int = option("--draws N", "Pools drawn from each task.", least=1, default=5)
    limit_tasks: int | None = options.limit_tasks()
    reading: ReadingOptions = shared(ReadingOptions)
    seed: int = option("--seed N", "The random seed that draws the pools.", default=0)
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class CompareRequest(Request):
    """Compare rankers over datasets, models and prompts."""

    matrix: Path = argument()
    out: Path = option("--out FOLDER", "Where orders and results go.", kind="folder", default="assay-rank")
    fresh: bool = flag("--fresh", "Rank everything again; earlier orders are moved to FOLDER/runs.old.")
    all_pairs: bool = flag("--all-pairs", "Test every two rankers, not only each against the unranked order.")
    gating: GateOptions = shared(GateOptions)
    may: RankerOptions = shared(RankerOptions)
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class DataRequest(Request):
    """Make a dataset from samples."""

    tasks: Path = argument()
    samples: Path = argument()
    out: Path = option("--out PLACE", "Where the dataset goes: .jsonl or .parquet.", required=True)
    outcomes: Path | None = option("--outcomes FILE", "The outcomes of SAMPLES that assay exec wrote.")
    valid: float = option("--valid FRACTION", "The fraction of tasks to validate on.", default=0.1)
    test: float = option("--test FRACTION", "The fraction of tasks to test on; 1: all, none to validate.", default=0.0)
    seed: int = option("--seed N", "The random seed that chooses these tasks.", default=0)
    strip_examples: bool = strip_examples()
    keep_failing: bool = flag("--keep-failing", "Keep tasks whose own reference fails.")
    limit_tasks: int | None = options.limit_tasks()
    reading: ReadingOptions = shared(ReadingOptions)
    fresh: bool = flag("--fresh", "Run all programs again; outcomes beside PLACE are moved aside.")
    runner: RunnerOptions = shared(RunnerOptions)
    first_failure: bool = first_failure()
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class MixRequest(Request):
    """Mix datasets into one, or convert one."""

    files: tuple[Path, ...] = argument("DATA...", required=True)
    out: Path = option("--out PLACE", "Where the dataset goes: .jsonl or .parquet.", required=True)
    size: str = option(
        "--size",
        "large: all rows; small: a random part of each, in total as many as one has.",
        choices=("large", "small"),
        default="large",
    )
    models: tuple[str, ...] = option("--model NAME", "Keep only programs of this model. Repeatable.")
    train: float = option("--train FRACTION", "The fraction of the training tasks to keep.", default=1.0)
    strip_examples: bool = strip_examples()
    seed: int = option("--seed N", "The random seed that draws the rows.", default=0)
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class SamplingOptions(Request):
    """How programs are sampled from a model."""

    n: int = option("--n N", "Samples per task.", least=1, default=10)
    temperature: float = option("--temperature T", "The sampling temperature.", least=0, default=0.8)
    top_p: float = option("--top-p P", "The probability mass to sample from.", least=0, most=1, default=0.95)
    max_tokens: int = option("--max-tokens N", "Most tokens of a sample.", least=1, default=512)
    seed: int = 0
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    """Whether log-probabilities are asked for."""


class SampleRequest(Request):
    """Sample programs for tasks from a model."""

    tasks: Path = argument()
    spec: str = option("--model SPEC", "The model, PROVIDER:MODEL or PROVIDER:MODEL@URL.", required=True)
    completes: bool = flag(
        "--complete", "Let the model go on where the prompt ends (/completions), instead of answering it in a chat."
    )
    out: Path = options.out_file("samples", "samples.jsonl")
    fresh: bool = options.fresh()
    sampling: SamplingOptions = shared(SamplingOptions)
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
    limit_tasks: int | None = options.limit_tasks()
    verbose: bool = verbose("Show the traceback of an error.")


class TrainRequest(Request):
    """Train a neural ranker."""

    files: tuple[Path, ...] = argument("DATA...", required=True)
    out: Path = option("--out FOLDER", "Where the ranker goes.", required=True)
    base: str = option("--base MODEL", "The model to start from.", default="microsoft/codebert-base")
    task: str = option("--task", "What it learns to predict.", default="T", choices=("B", "T", "I", "E", "E+L"))
    recipe: str = option(
        "--recipe", "The settings that --set changes.", default="default", choices=("default", "paper")
    )
    changes: tuple[str, ...] = options.changes()
    resume: bool = flag("--resume", "Continue an interrupted run.")
    verbose: bool = verbose(_EVERY)
