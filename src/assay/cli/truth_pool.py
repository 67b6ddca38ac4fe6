"""`assay truth pool`: the answers of several systems in, what nobody judged out; and labels back in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.bench.corpus import Corpus
    from assay.bench.pool import Pool, Run
    from assay.bench.truth import Truth
    from assay.measure.lines import Span
    from assay.types import Problem

_FILE = click.Path(path_type=Path)


@click.command(short_help="Gather what nobody judged yet.")
@click.argument("file", type=_FILE)
@click.argument("runs", type=_FILE, nargs=-1, metavar="[RUN]...")
@click.option("--depth", type=click.IntRange(min=1), default=10, show_default=True, metavar="K", help="Of each run.")
@options.corpus
@click.option(
    "--out", type=_FILE, metavar="OUT", help="Write the pool as .jsonl or .csv; with --labels, the ground truth."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What draws the order.")
@click.option("--labels", type=_FILE, metavar="POOL", help="Read a pool that was labelled.")
@click.option("--judge", default="", metavar="NAME", help="Who labelled it, where its rows do not say.")
@options.source
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Show each problem; show the traceback of an error.")
@click.pass_context
def pool(
    context: click.Context,
    file: Path,
    runs: tuple[Path, ...],
    depth: int,
    corpus: Path | None,
    out: Path | None,
    seed: int,
    labels: Path | None,
    judge: str,
    source: str,
    form: str,
    verbose: bool,
) -> None:
    """Gather what the first K results of each RUN hold that the ground truth in FILE does not judge.

    The pairs of query and text are written to OUT, shuffled and without a word of who found them: that goes to
    OUT's name with .sources.jsonl, which is not for the judge. Fill in grade (0 is wrong, the higher the better)
    and reason, in some rows or all, and read them back:

    assay truth pool FILE --labels POOL --judge NAME --out NEW

    Leaves with 0 when there is something to judge or labels were read, 1 when there was nothing, 2 on an error.
    """
    from assay.bench.files import read

    if bool(runs) == bool(labels):
        raise InputError("give RUN files to pool, or --labels POOL to read a pool back")
    reading = read(file, source)
    if labels:
        told, problems = _label(reading.truth, labels, judge, out)
    else:
        told, problems = _gather(reading.truth, runs, corpus, out, depth=depth, seed=seed)
    problems = [*reading.problems, *problems]
    _say(told, problems, form, verbose=verbose)
    context.exit(0 if told.get("to_judge", told.get("labels")) else 1)


def _label(truth: Truth, labels: Path, judge: str, out: Path | None) -> tuple[dict[str, Any], list[Problem]]:
    from assay.bench.files import write
    from assay.bench.labels import read_labels

    if out is None:
        raise InputError("--labels needs --out NEW: where to write the ground truth with them")
    reading = read_labels(truth, labels, judge)
    write(reading.truth, out)
    new = len(reading.truth.judgments) - len(truth.judgments)
    told = {"labels": new, "judgments": len(reading.truth.judgments), "written": str(out)}
    return told, list(reading.problems)


def _gather(
    truth: Truth, files: tuple[Path, ...], corpus: Path | None, out: Path | None, *, depth: int, seed: int
) -> tuple[dict[str, Any], list[Problem]]:
    from assay.bench.labels import write_pool
    from assay.bench.places import resolved
    from assay.bench.pool import pool as gather
    from assay.bench.scores import expected
    from assay.bench.truth import Reading

    problems: list[Problem] = []
    runs = _runs(truth, files, problems)
    searched = _searched(truth, corpus)
    lines = resolved(replace(truth, commit=""), searched.root) if searched else Reading(truth)
    right = expected(lines.truth)
    found = gather(right, runs, depth, _texts(truth, searched), seed=seed)
    told = _counts(found, depth)
    if out is not None:
        told |= {"sources": str(write_pool(found, out)), "written": str(out)}
    return told, [*problems, *lines.problems, *right.problems, *found.problems]


def _searched(truth: Truth, corpus: Path | None) -> Corpus | None:
    """Return the checkout that the targets are looked up in; documents come with the ground truth."""
    from assay.bench.corpus import cached, checkout_of, corpus_of

    return None if truth.documents else corpus_of(truth, checkout_of(truth, corpus), cached())


def _runs(truth: Truth, files: tuple[Path, ...], problems: list[Problem]) -> dict[str, Run]:
    """Return each run by its file's name, or its path where names repeat; files of documents get the documents' ids."""
    from assay.bench.corpus import file_names
    from assay.bench.runs import read_any

    names = [file.stem for file in files]
    named = zip(file_names(truth.documents), truth.documents, strict=True)
    ids = {name: document.path or document.id for name, document in named}
    runs: dict[str, Run] = {}
    for file in files:
        ranked, found = read_any(file)
        problems += found
        name = str(file) if names.count(file.stem) > 1 else file.stem
        runs[name] = {query: [_of_document(span, ids) for span, _ in results] for query, results in ranked.items()}
    return runs


def _of_document(span: Span, ids: Mapping[str, str]) -> Span:
    return replace(span, path=ids.get(span.path, span.path))


def _texts(truth: Truth, searched: Corpus | None) -> Callable[[Span], str]:
    """Return what gives the text of a place."""
    from assay.bench.corpus import text_of

    documents = {document.path or document.id: document.text for document in truth.documents}
    return lambda span: text_of(searched, span) if searched else documents.get(span.path, "")


def _counts(found: Pool, depth: int) -> dict[str, Any]:
    shares = {name: round(share, 4) for name, share in found.shares.items()}
    counts = {"depth": depth, "found": found.found, "judged": found.judged, "together": found.together}
    return {**counts, "to_judge": len(found.pairs), "judged_share": shares}


def _say(told: dict[str, Any], problems: list[Problem], form: str, *, verbose: bool) -> None:
    from assay.cli.answer import dumps

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
