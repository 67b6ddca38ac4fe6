"""`assay truth audit`: a ground truth in, what is wrong with it out, and one without twins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.bench.audit.finding import Audit, Finding
    from assay.bench.truth import Truth
    from assay.types import Chunk


@click.command(short_help="Find twins and contradictions.")
@click.argument("file", type=click.Path(path_type=Path))
@options.corpus
@click.option("--collapse", type=click.Path(path_type=Path), metavar="OUT", help="Write FILE with twins made one.")
@click.option("--near", is_flag=True, help="With --collapse: make near twins one, too.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.1, 1),
    default=0.8,
    show_default=True,
    metavar="SHARE",
    help="What near twins have in common of their runs of five words.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Of each finding, at most N.",
)
@options.source
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Show each problem; show the traceback of an error.")
@click.pass_context
def audit(
    context: click.Context,
    file: Path,
    corpus: Path | None,
    collapse: Path | None,
    near: bool,
    threshold: float,
    examples: int,
    source: str,
    form: str,
    verbose: bool,
) -> None:
    """Find what is wrong with the ground truth in FILE.

    Texts that are twins (equal, equal but for layout and comments, or nearly equal: SHARE of the five-token shingles
    of both in common), queries that ask the same, judgments that contradict one another, equal code judged
    differently, queries that nothing answers. Hints rest on rules of thumb and do not count. N worst examples of
    each are shown.

    With --collapse, equal documents become the first of them, with all their judgments; the highest grade wins.

    Leaves with 0 when nothing was found, 1 when something was, 2 on an error.
    """
    from assay.bench.audit.audit import audit as find
    from assay.bench.audit.audit import texts_of
    from assay.bench.files import read
    from assay.cli.answer import dumps
    from assay.cli.progress import progress

    if near and not collapse:
        raise InputError("--near says what --collapse makes one: give --collapse OUT, too")
    reading = read(file, source)
    texts = texts_of(reading.truth, _root(reading.truth, corpus))
    with progress() as report:
        found = find(reading.truth, texts, threshold=threshold, examples=examples, report=report)
    told = {"problems": [str(problem) for problem in reading.problems]}
    if collapse:
        told |= _collapse(reading.truth, texts, collapse, threshold=threshold, near=near)
    if form == "json":
        click.echo(dumps({**_as_dict(reading.truth.name, found), **told}))
    else:
        click.echo("\n".join([*_text(reading.truth.name, found), *_rest(told, verbose=verbose)]))
    context.exit(1 if any(found) else 0)


def _root(truth: Truth, corpus: Path | None) -> Path | None:
    """Return the folder whose chunks are looked at: the checkout at its commit."""
    from assay.bench.corpus import cached, corpus_of

    return corpus_of(truth, corpus, cached()).root if corpus and not truth.documents else None


def _collapse(truth: Truth, texts: tuple[Chunk, ...], out: Path, *, threshold: float, near: bool) -> dict[str, Any]:
    from assay.bench.audit.collapse import collapsed
    from assay.bench.audit.twins import twins, twins_of
    from assay.bench.files import write

    groups = twins_of(texts, threshold).near if near else twins([text.text for text in texts])
    reading = collapsed(truth, groups)
    write(reading.truth, out)
    sizes = [len(truth.documents), len(reading.truth.documents)]
    return {"collapsed": sizes, "written": str(out), "contradictions": [str(problem) for problem in reading.problems]}


def _as_dict(name: str, found: Audit) -> dict[str, Any]:
    from dataclasses import asdict

    def listed(findings: Iterator[Finding] | tuple[Finding, ...]) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(finding).items() if key != "hint"} for finding in findings]

    return {"name": name, **found.facts, "findings": listed(iter(found)), "hints": listed(found.hints)}


def _text(name: str, found: Audit) -> Iterator[str]:
    facts = found.facts
    texts = f"{facts['documents']:,} documents" if facts["documents"] else f"{facts['texts']:,} chunks of the checkout"
    looked = texts if facts["texts"] else "no corpus: give --corpus FOLDER to look for twins"
    yield f"{name}: {facts['queries']:,} queries, {facts['judgments']:,} judgments, {looked}"
    yield "grades   " + "  ".join(f"{grade}: {count:,}" for grade, count in facts["grades"].items())
    spread = facts["answers"]
    yield "answers  " + ", ".join(f"{spread[key]:g} {key}" for key in ("least", "median", "mean", "most")) + " a query"
    if len(facts["judges"]) > 1:
        for judge, told in facts["judges"].items():
            shared = f"{told['differing']:,} of {told['shared']:,} shared with others differ"
            yield f"judge    {judge or '(nobody)'}: {told['judgments']:,} judgments, mean {told['mean']:g}; {shared}"
    yield from _listed("findings", tuple(found))
    yield from _listed("hints", found.hints)


def _listed(title: str, findings: tuple[Finding, ...]) -> Iterator[str]:
    yield ""
    yield f"{title}: none" if not findings else title
    for finding in findings:
        share = f"{100 * finding.count / finding.of:.1f}%" if finding.of else ""
        yield f"  {finding.count:>7,} of {finding.of:,} ({share})  {finding.what}"
        yield from (f"{'':10}{example}" for example in finding.examples)


def _rest(told: dict[str, Any], *, verbose: bool) -> Iterator[str]:
    """Say what could not be read and what was made one."""
    if told["problems"]:
        yield ""
        yield f"{len(told['problems']):,} rows could not be used{':' if verbose else ' (-v shows them)'}"
        yield from (f"  {problem}" for problem in told["problems"] if verbose)
    if "written" in told:
        before, after = told["collapsed"]
        yield ""
        yield f"{before:,} documents made {after:,}, written to {told['written']}"
        if told["contradictions"]:
            more = ":" if verbose else " (-v shows them)"
            yield f"{len(told['contradictions']):,} judgments contradicted a twin's; the highest grade stays{more}"
            yield from (f"  {problem}" for problem in told["contradictions"] if verbose)
