"""The command `assay judge run`."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import ClusterOptions, PairSampleOptions
from assay.cli.progress import lines_of
from assay.io.terminal import dumps, say
from assay.parameters import Options, argument, flag, form, option, shared, verbose
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.judge.campaign import Tally
    from assay.judge.pairs import Pair, SampledPairs
    from assay.values import Problem

_MOST_NAMED = 10
"""Problems that are named without -v; the others are counted."""


class JudgeRunOptions(Options):
    """Options of `assay judge run`."""

    pairs: Path = argument()
    queries: Path | None = option("--queries FILE", "The texts of the query ids in PAIRS.")
    corpus: Path | None = option("--corpus FILE", "The texts of the code ids in PAIRS.")
    sampling: PairSampleOptions = shared(PairSampleOptions)
    kind: str = option(
        "--judge NAME",
        "Who judges: agents with a language model, signals without one, or signals:FOLDER with weights that assay "
        "train judge wrote.",
        default="agents",
    )
    chats: tuple[str, ...] = option(
        "--chat SPEC",
        "The model, PROVIDER:MODEL, or batch:PROVIDER:MODEL for batches at half price, which may take hours. "
        "Repeatable: a second one has to agree, a third decides.",
    )
    config: str = option(
        "--config NAME", "Which agents: all, single, ps+fa, ps+tpg+fa, ps+tpg+te+fa, ps+tpg+sim+fa.", default="all"
    )
    screener: str = option(
        "--screener NAME",
        "signals or signals:FOLDER: screen without a model, which saves these calls.  [default: the model]",
    )
    encoder: str = options.signals_encoder(
        "--encoder", "An encoder, such as onnx:FOLDER, whose cosine signals goes by."
    )
    prior: float = options.signals_prior("--prior", "The fraction of pairs that match, which signals expects.")
    votes: int = option("--votes N", "Votes per pair; the majority wins.", least=1, default=1)
    max_tries: int = option("--max-tries N", "Repairs of a test program.", least=0, default=3)
    budget: str = options.budget("to")
    rate: str = options.rate("asked of a model")
    allowed: bool = flag("--allow-execution", "Let signals run code on the examples in its query, in a sandbox.")
    workers: int = option("--workers N", "Pairs judged at a time.", least=1, default=8)
    sandbox: str = options.sandbox()
    timeout: float | None = options.timeout("a test case")
    where: ClusterOptions = shared(ClusterOptions)
    install: bool = flag("--install", "Install missing modules of allowed distributions.")
    allow: Path | None = options.allow()
    no_cache: bool = flag("--no-cache", "Do not use replies of other campaigns: ask, and pay, again.")
    prompts: Path | None = option("--prompts FOLDER", "Use the prompt files in FOLDER.  [default: those that ship]")
    out: Path = options.out_file("records", "records.jsonl")
    fresh: bool = options.fresh()
    retry: bool = flag("--retry", "Judge undecided pairs again.")
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(JudgeRunOptions, example="assay judge run pairs.jsonl --judge signals --out records.jsonl")
def run(given: JudgeRunOptions) -> int:
    """Label each of PAIRS with 1 if the code answers the query and 0 if not, with the reason.

    PAIRS is JSON lines with query_id, query, code_id and code; JSON lines of ids with --queries and --corpus; or
    the JSON list of CoSQA. Every question and answer is written to FILE as it comes, then one verdict per pair.

    Exits 0 if done, 1 if it stopped before the end or nothing could be decided, 2 on an error, 3 if no machine of
    the cluster is left.
    """
    from assay.judge.campaign import run_in_waves
    from assay.judge.pairs import Pair, notes, read_sample
    from assay.judge.records import cut
    from assay.operations.open_judge import JudgeOptions, open_judge

    sample = given.sampling.draw()

    def chosen() -> SampledPairs:
        return read_sample(given.pairs, sample, queries=given.queries, corpus=given.corpus)

    total = chosen().total
    if given.fresh:
        start_fresh(given.out)
    if cut(given.out):
        say(f"the last line of {given.out} was cut: what it said is done again")
    problems: list[str] = []
    tallies: deque[Tally] = deque(maxlen=1)
    is_noted = False

    def name_problem(problem: Problem) -> None:
        problems.append(str(problem))
        if given.verbose or len(problems) <= _MOST_NAMED:
            say(problems[-1])

    def noted_pairs() -> Iterator[Pair | Problem]:
        nonlocal is_noted
        for pair in chosen().pairs:
            for note in notes(pair) if isinstance(pair, Pair) and not is_noted else ():
                name_problem(note)
            yield pair
        is_noted = True  # a later wave goes through them again

    taken = {name: getattr(given, name) for name in JudgeOptions.__slots__ if name != "cluster"}
    judge_options = JudgeOptions(**taken, cluster=given.where.cluster)
    with (
        open_judge(judge_options, given.out, say) as factory,
        lines_of(lambda: tallies[-1].line(total) if tallies else f"judging {total:,} pairs: no verdict yet"),
    ):
        tally = run_in_waves(
            noted_pairs,
            factory.judge_of,
            given.out,
            later=factory.later,
            say=say,
            settings=replace(factory.settings, sample=str(sample)),
            workers=given.workers,
            retry=given.retry,
            report=tallies.append,
            told=name_problem,
        )
    return _print(given, tally, total, problems)


def _print(given: JudgeRunOptions, tally: Tally, total: int, problems: Sequence[str]) -> int:
    """Print what the run came to, and return its status."""
    if not given.verbose and len(problems) > _MOST_NAMED:
        say(f"{len(problems) - _MOST_NAMED:,} more problems; -v names them")
    fields = {**_tally_as_json(tally), "out": str(given.out)}
    first = problems[0] if problems else ""
    click.echo(dumps(fields) if given.form == "json" else "\n".join(_text(tally, total, first)))
    if given.out.exists():
        say(f"written to {given.out}")
    is_open = tally.judged == tally.undecided and (tally.judged or not tally.before)
    return 1 if tally.stopped or is_open else 0


def _tally_as_json(tally: Tally) -> dict[str, object]:
    counts = {
        name: getattr(tally, name) for name in ("judged", "before", "problems", "undecided", "unpriced", "stopped")
    }
    grades = {"match": tally.grades[1], "non_match": tally.grades[0]}
    return {**counts, **grades, "paths": dict(tally.paths), "cost": round(tally.cost, 6)}


def _text(tally: Tally, total: int, problem: str) -> Iterator[str]:
    from assay.errors import lasting

    if tally.judged:
        yield f"{tally.grades[1]:,} match, {tally.grades[0]:,} do not, {tally.undecided:,} undecided"
        yield f"by {', '.join(f'{name} {count:,}' for name, count in tally.paths.most_common())}"
    elif not tally.before:
        yield f"no pair could be judged: {problem or tally.stopped}"
    if tally.before:
        yield f"{tally.before:,} had a verdict before"
    if tally.problems:
        yield f"{tally.problems:,} cannot be judged"
    cost = "cost unknown" if tally.unpriced == tally.judged else f"${tally.cost:.4f}"
    if tally.judged:
        yield f"{cost}, {lasting(tally.judged / tally.rate)}, {tally.rate:.1f} pairs a second"
    if tally.undecided:
        yield "--retry judges undecided pairs again"
    if tally.stopped:
        left = total - tally.before - tally.judged - tally.problems
        yield f"stopped: {tally.stopped}; {left:,} pairs are left, and the same command goes on with them"
