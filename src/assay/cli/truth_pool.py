"""`assay truth pool`: collect results without a judgment, and read their labels back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.command import COUNT, argument, command, form, option, verbose
from assay.errors import InputError
from assay.io.terminal import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.truth.ground_truth import Truth
    from assay.values import Problem


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
    from assay.bench.query_sets import pool_runs
    from assay.truth.judging_pool import write_pool
    from assay.truth.truth_formats import read

    if bool(given.runs) == bool(given.labels):
        raise InputError("give RUN files to pool, or --labels POOL to read a pool back")
    reading = read(given.file, given.source)
    if given.labels:
        fields, problems = _label(reading.truth, given.labels, given.judge, given.out)
    else:
        found = pool_runs(reading, given.runs, given.corpus, depth=given.depth, seed=given.seed)
        problems = found.problems
        fields = {
            "depth": given.depth,
            "found": found.found,
            "judged": found.judged,
            "together": found.together,
            "to_judge": len(found.pairs),
            "judged_share": {name: round(part, 4) for name, part in found.shares.items()},
        }
        if given.out:
            fields |= {"sources": str(write_pool(found, given.out)), "written": str(given.out)}
    every = [*map(str, (*reading.problems, *problems))]
    if given.form == "json":
        click.echo(dumps({**fields, "problems": every}))
    else:
        if every:
            click.echo(f"{len(every):,} problems{':' if given.verbose else ' (-v shows them)'}", err=True)
        for problem in every if given.verbose else ():
            click.echo(f"  {problem}", err=True)
        click.echo("\n".join(_text(fields)))
    return 0 if fields.get("to_judge", fields.get("labels")) else 1


def _label(truth: Truth, labels: Path, judge: str, out: Path | None) -> tuple[dict[str, Any], Sequence[Problem]]:
    from assay.truth.judging_pool import read_labels
    from assay.truth.truth_formats import write

    if out is None:
        raise InputError("--labels needs --out NEW: where to write the ground truth with them")
    reading = read_labels(truth, labels, judge)
    write(reading.truth, out)
    judgments = len(reading.truth.judgments)
    counts = {"labels": judgments - len(truth.judgments), "judgments": judgments, "written": str(out)}
    return counts, reading.problems


def _text(fields: dict[str, Any]) -> Iterator[str]:
    if "labels" in fields:
        yield f"{fields['labels']:,} labels read; {fields['judgments']:,} judgments written to {fields['written']}"
        return
    yield f"found by the first {fields['depth']} of any run  {fields['found']:>8,}"
    yield f"judged already                    {fields['judged']:>8,}"
    yield f"of nearly the same lines          {fields['together']:>8,}"
    yield f"to be judged                      {fields['to_judge']:>8,}"
    width = max(map(len, fields["judged_share"]))
    for name, part in fields["judged_share"].items():
        yield f"  {name:<{width}}  judged@{fields['depth']} {part:.3f}"
    if "written" in fields:
        yield f"written to {fields['written']}; who found what is in {fields['sources']}, which is not for the judge"
