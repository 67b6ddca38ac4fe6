"""`assay truth pool`: the answers of several systems in, what nobody judged out; and labels back in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.command import COUNT, argument, command, form, option, verbose
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.truth.ground_truth import Truth, TruthFile
    from assay.truth.judging_pool import Pool
    from assay.values import Problem

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class TruthPoolOptions:
    """Options of `assay truth pool`."""

    file: Path = argument()
    runs: tuple[Path, ...] = argument("[RUN]...")
    depth: int = option("--depth K", "Use the first K results of each run.", type=COUNT, default=10)
    corpus: Path | None = options.corpus()
    out: Path | None = option("--out OUT", "Write the pool as .jsonl or .csv; with --labels, the ground truth.")
    seed: int = option("--seed N", "The random seed of the order.", default=0)
    labels: Path | None = option("--labels POOL", "Read labels from a filled-in pool.")
    judge: str = option("--judge NAME", "The judge, if the rows of POOL name none.")
    source: str = options.source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


@command(TruthPoolOptions, example="assay truth pool truth.jsonl a.trec b.trec --out pool.jsonl")
def pool(given: TruthPoolOptions) -> int:
    """Collect those of the first K results of each RUN that the ground truth in FILE does not judge.

    The pairs of query and text are written to OUT, shuffled and without the systems that found them, which go to
    OUT with .sources.jsonl added: do not show it to the judge. Fill in grade (0 is wrong, the higher the better)
    and reason, in some rows or all, and read them back:

    assay truth pool FILE --labels POOL --judge NAME --out NEW

    Exits 0 if there is something to judge or labels were read, 1 if there was nothing, 2 on an error.
    """
    from assay.truth.truth_formats import read

    if bool(given.runs) == bool(given.labels):
        raise InputError("give RUN files to pool, or --labels POOL to read a pool back")
    reading = read(given.file, given.source)
    if given.labels:
        told, problems = _label(reading.truth, given.labels, given.judge, given.out)
        problems = [*reading.problems, *problems]
    else:
        told, problems = _gather(reading, given.runs, given.corpus, given.out, depth=given.depth, seed=given.seed)
    _say(told, problems, given.form, verbose=given.verbose)
    return 0 if told.get("to_judge", told.get("labels")) else 1


def _label(truth: Truth, labels: Path, judge: str, out: Path | None) -> tuple[dict[str, Any], list[Problem]]:
    from assay.truth.judging_pool import read_labels
    from assay.truth.truth_formats import write

    if out is None:
        raise InputError("--labels needs --out NEW: where to write the ground truth with them")
    reading = read_labels(truth, labels, judge)
    write(reading.truth, out)
    new = len(reading.truth.judgments) - len(truth.judgments)
    told = {"labels": new, "judgments": len(reading.truth.judgments), "written": str(out)}
    return told, list(reading.problems)


def _gather(
    reading: TruthFile, files: tuple[Path, ...], corpus: Path | None, out: Path | None, *, depth: int, seed: int
) -> tuple[dict[str, Any], list[Problem]]:
    from assay.bench.query_sets import pool_runs
    from assay.truth.judging_pool import write_pool

    found = pool_runs(reading, files, corpus, depth=depth, seed=seed)
    told = _counts(found, depth)
    if out is not None:
        told |= {"sources": str(write_pool(found, out)), "written": str(out)}
    return told, list(found.problems)


def _counts(found: Pool, depth: int) -> dict[str, Any]:
    shares = {name: round(share, 4) for name, share in found.shares.items()}
    counts = {"depth": depth, "found": found.found, "judged": found.judged, "together": found.together}
    return {**counts, "to_judge": len(found.pairs), "judged_share": shares}


def _say(told: dict[str, Any], problems: list[Problem], form: str, *, verbose: bool) -> None:
    from assay.io.terminal import dumps

    if form == "json":
        click.echo(dumps({**told, "problems": [str(problem) for problem in problems]}))
        return
    if problems:
        click.echo(f"{len(problems):,} problems{':' if verbose else ' (-v shows them)'}", err=True)
        for problem in problems if verbose else ():
            click.echo(f"  {problem}", err=True)
    if "labels" in told:
        click.echo(f"{told['labels']:,} labels read; {told['judgments']:,} judgments written to {told['written']}")
        return
    click.echo(f"found by the first {told['depth']} of any run  {told['found']:>8,}")
    click.echo(f"judged already                    {told['judged']:>8,}")
    click.echo(f"of nearly the same lines          {told['together']:>8,}")
    click.echo(f"to be judged                      {told['to_judge']:>8,}")
    width = max(map(len, told["judged_share"]))
    for name, share in told["judged_share"].items():
        click.echo(f"  {name:<{width}}  judged@{told['depth']} {share:.3f}")
    if "written" in told:
        click.echo(f"written to {told['written']}; who found what is in {told['sources']}, which is not for the judge")
