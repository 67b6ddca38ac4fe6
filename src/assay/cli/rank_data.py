"""Commands that make training data of rankers, and train one: `assay rank data`, `mix`, `sample`, `train`, `tables`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.bench.requests import RankTablesRequest
from assay.cli.adapter import command
from assay.cli.progress import print_line, progress
from assay.errors import InputError, counted, lasting, nearest, rate_text
from assay.io.files import dumps
from assay.io.terminal import say, say_problems
from assay.rank.requests import DataRequest, MixRequest, SampleRequest, TrainRequest
from assay.report.plain_text import as_text, table_lines
from assay.runs.record import start_fresh
from assay.settings import changed
from assay.values import Problem

if TYPE_CHECKING:
    from assay.rank.datasets import Example
    from assay.rank.sample import SamplingCost, SamplingPlan, SamplingTally
    from assay.values import Task


@command(DataRequest, example="assay rank data MBPP.jsonl samples.jsonl --out data.parquet")
def data(request: DataRequest) -> None:
    """Run SAMPLES against the tests of TASKS and write a dataset: each program with how it fails.

    Tasks are split, never programs: all programs of one task are in one split. Every validation task has a correct
    program among its samples. Tasks whose own reference solution fails are dropped and named.

    The outcomes are kept beside PLACE, so an interrupted run continues. --first-failure ends a program's tests where
    its label is sure, which is enough to learn from; --outcomes takes what 'assay exec' wrote.
    """
    from assay.operations.rank import run_for_dataset
    from assay.rank import datasets
    from assay.rank.datasets import examples_of, split, without, without_examples

    datasets.check_place(request.out)
    split((), valid=request.valid, test=request.test)
    with progress() as watch:
        ran = run_for_dataset(request, say, watch)
    for name, why in ran.failing.items():
        say(f"{name} is dropped: its own reference fails ({why})")
    task_ids = {task.id for task in without(ran.tasks.tasks, ran.failing)}
    dataset = examples_of(
        ran.tasks.tasks, [each for each in ran.samples.programs if each.task_id in task_ids], ran.outcomes
    )
    say_problems([*ran.problems, *dataset.problems], every=request.verbose)
    if not dataset.examples:
        raise InputError("no program is left to learn from: every reference fails, or no program has an outcome")
    rows = split(dataset.examples, valid=request.valid, test=request.test, seed=request.seed)
    if request.strip_examples:
        rows = [replace(row, prompt=without_examples(row.prompt)) for row in rows]
    datasets.write(request.out, rows)
    _show(rows, request.form)
    say(f"{counted(len(rows), 'program')} written to {request.out}")


def _show(rows: Sequence[Example], form: str) -> None:
    """Print how many programs fail how."""
    from assay.rank import fault_tables

    sides = fault_tables.sides(rows)
    if form == "json":
        click.echo(dumps({"splits": fault_tables.tables_as_json(sides)}))
    else:
        click.echo("\n\n".join("\n".join(table_lines(table, indent="")) for table in fault_tables.tables(sides)))


@command(MixRequest, example="assay rank mix mbpp.parquet apps.jsonl --out mixed.parquet")
def mix(request: MixRequest) -> None:
    """Mix datasets into one: mixed-large has all rows, mixed-small as many as one of them has.

    DATA are datasets in any format that is read here: JSON lines, .parquet, or a folder in the format of
    CodeRanker's code. With a single one, this command converts it to the format of PLACE. Tasks keep their split; a
    task that would be in two splits is an error.
    """
    from assay.rank import datasets
    from assay.rank.datasets import leaks
    from assay.rank.datasets import mix as mix_rows

    datasets.check_place(request.out)
    sets = {}
    for file in request.files:
        if str(file) in sets:
            raise InputError(f"'{file}' is named twice")
        dataset = datasets.read(file)
        say_problems(dataset.problems, every=request.verbose)
        sets[str(file)] = _requested_rows(request, file, dataset.examples)
    rows = mix_rows(sets, request.size, seed=request.seed)
    if leaked := leaks(rows):
        what = f"{counted(len(leaked), 'task')} would be in two splits ({', '.join(leaked[:3])})"
        raise InputError(f"{what}: make the data sets with one --seed")
    datasets.write(request.out, rows)
    _show(rows, request.form)
    say(f"{counted(len(rows), 'program')} written to {request.out}")


def _requested_rows(request: MixRequest, file: Path, rows: Sequence[Example]) -> list[Example]:
    """Return the rows of a dataset for the requested models, with the requested prompts."""
    from assay.rank.datasets import fewer_tasks, without_examples

    known = sorted({row.model for row in rows})
    for name in request.models:
        if name not in known:
            raise InputError(f"'{file}' has no program of the model '{name}'; {nearest(name, known)}")
    rows = fewer_tasks(
        [row for row in rows if not request.models or row.model in request.models], request.train, request.seed
    )
    return [replace(row, prompt=without_examples(row.prompt)) for row in rows] if request.strip_examples else list(rows)


@command(SampleRequest, example="assay rank sample HumanEval.jsonl --model openai:gpt-4o-mini --n 9 --out drawn.jsonl")
def sample(request: SampleRequest) -> int:
    """Let a model write programs for TASKS, as many of each as asked for.

    A SPEC is as for every model: openai:MODEL at OpenAI or at ASSAY_API_BASE, openai:MODEL@http://HOST:PORT/v1 at any
    server of its protocol, such as llama.cpp, vLLM or Ollama; ?as=NAME names the place, so that another port or host
    goes on with the same file. An answer is on disk as soon as it is there, and is not asked for again. FILE is what
    assay exec and assay rank read.

    Exits 0 if each task has its samples, 1 if the model refused some prompts.
    """
    from assay import plugins
    from assay.llm.endpoint import PROVIDERS
    from assay.programs.tasks.task_file import read_tasks

    if (provider := request.spec.partition(":")[0]) in PROVIDERS:
        plugins.find("chat", provider)  # which says what brings it
    from assay.rank.sample import sample as run
    from assay.rank.sample import spent
    from assay.rank.samplers import sampler

    tasks = read_tasks(request.tasks).tasks[: request.limit_tasks]
    plan, model = _plan(request, tasks), sampler(request.spec, completes=request.completes)
    plan.sent_stop(model)
    if request.fresh:
        start_fresh(request.out)
    sampling = replace(request.sampling, logprobs=not request.no_logprobs)
    with progress() as watch:
        tally = run(tasks, model, sampling, request.out, plan, report=watch)
    say_problems(tally.problems, every=request.verbose)
    click.echo("\n".join(_sampling_text(spent(request.out), tally, request)))
    say(f"written to {request.out}")
    return 1 if tally.problems else 0


def _plan(request: SampleRequest, tasks: Sequence[Task]) -> SamplingPlan:
    """Return the plan of sampling: how prompts are built and sent."""
    from assay.programs.tasks.task_file import read_tasks
    from assay.rank.sample import SamplingPlan
    from assay.rank.samplers import FewShots, load_template

    shots = None
    if request.shot_count and not request.shots:
        raise InputError("--shot-count says how many of --shots are shown: give --shots FILE, or leave it out")
    if request.shots:
        shots = FewShots(read_tasks(request.shots).tasks, request.shot_count or 1, sampled=tasks, seed=request.seed)
    template = load_template(request.template)
    return SamplingPlan(
        template, shots, request.strip_examples, request.stop or "", request.batch, request.in_flight or 0
    )


def _sampling_text(took: SamplingCost, tally: SamplingTally, request: SampleRequest) -> Iterator[str]:
    """Yield what the file has taken so far, and how fast this run was."""
    tokens = f"{took.prompt_tokens:,} tokens in, {took.completion_tokens:,} out"
    if not took.prompt_tokens and not took.completion_tokens:
        tokens = "the endpoint does not say how many tokens"
    yield f"{counted(took.samples, 'sample')} in {counted(took.requests, 'request')}: {tokens}"
    if tally.samples:
        yield f"{counted(tally.samples, 'sample')} in {lasting(tally.seconds)}: {rate_text(tally.rate)}"
    if not request.no_logprobs and took.scored < took.samples:
        yield f"{took.samples - took.scored:,} of {took.samples:,} have no log-probability: the model gave none"


@command(TrainRequest, example="assay rank train data.parquet --task T --out runs/ternary")
def train(request: TrainRequest) -> None:
    """Train a neural ranker: a transformer that reads a task and a program, and predicts how the program fails.

    DATA are files that 'assay rank data' wrote, with rows to learn from and rows to validate on. They are read line by
    line, and only their tokens are kept in memory. MODEL is any encoder or decoder, by its name on the hub or its
    folder. The tasks are those of the paper: B is right or wrong, T tells wrong answers from errors, I and E tell the
    kinds of wrong answers and of errors, E+L also tells the line.

    --recipe paper trains as the paper does; the default also weighs tasks alike and stops when nothing gets better. The
    settings are in docs/ranking.md.

    Use it with --ranker neural:FOLDER. Beside the ranker, FOLDER has the figures of each step in log.jsonl.
    """
    from assay.rank.neural_data import RECIPES, NeuralSettings
    from assay.train.settings import extra_of

    base = request.base.removeprefix("hf:")
    settings = changed(NeuralSettings(base=base, task=request.task, **RECIPES[request.recipe]), request.changes)
    for file in request.files:
        if not file.exists():
            raise InputError(f"no such file: '{file}'")
    with extra_of("training a ranker"):
        from assay.encode.hub import check_is_there
    check_is_there(settings.base)  # before a library of seconds is loaded
    with extra_of("training a ranker"):
        from assay.train.neural import train as run
    found = run(
        _examples(request.files, every=request.verbose), request.out, settings, print_line, resume=request.resume
    )
    click.echo("held out: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    click.echo(f"written to {request.out}; use it with --ranker neural:{request.out}")


@command(RankTablesRequest, example="assay rank tables table6 --learn apps.jsonl --base microsoft/codebert-base")
def tables(request: RankTablesRequest) -> int:
    """Make tables and figures of the paper on CodeRanker; without TABLE, list them with what each takes.

    FILE is what assay rank data wrote. Rankers learn from its split train, are chosen on valid, each for the programs
    of one model; a table is about another split, or about the programs of --test. The rankers that a table needs are
    trained by commands that are printed; none is trained twice, and a training that was cut off goes on. FOLDER gets
    a file a table, and tables.html with all of them. --base takes several for table17.

    Exits 0 if each table was made, 2 if one could not be.
    """
    from assay.bench.papers import coderanker
    from assay.cli.main import guarded, run_shown

    if not request.tables:
        click.echo("\n".join(f"{name:<9}{about}\n{'':<9}{needs}" for name, (about, needs) in coderanker.TABLES.items()))
        return 0
    names = coderanker.chosen(request.tables)
    run = partial(run_shown, is_dry=request.is_dry, is_quiet=True)
    study = coderanker.study_of(request, run, progress)

    def make(name: str) -> None:
        click.echo(f"# {name}: {coderanker.TABLES[name][0]}")
        if report := coderanker.make(name, study):
            click.echo(as_text(report), nl=False)

    return max(guarded(partial(make, name), verbose=request.verbose) for name in names)


def _examples(files: Sequence[Path], *, every: bool) -> Iterator[Example]:
    """Yield the rows of all files, and report those that cannot be used."""
    from assay.rank.datasets import stream

    for file in files:
        problems = list[Problem]()
        yield from stream(file, problems)
        say_problems(problems, every=every)
