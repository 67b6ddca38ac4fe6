"""`assay candidates`: queries and a corpus in, the pairs worth judging out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.protocols import Encoder
    from assay.types import Chunk, Problem

_SHOWN = 5
_FILE = click.Path(path_type=Path)


@click.command(short_help="Choose the pairs worth judging.")
@click.argument("queries", type=_FILE)
@click.argument("corpus", type=_FILE)
@click.option("--encoder", "specs", multiple=True, metavar="SPEC", help="Repeatable.  [default: static:default]")
@click.option(
    "-k", "--k", "k", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Codes of a query."
)
@click.option("--testable", is_flag=True, help="Only Python functions with a parameter that return a value.")
@click.option("--labels", type=_FILE, metavar="FILE", help="Say what each depth is worth by these labels.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("candidates.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where pairs go; what was interrupted goes on there.",
)
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name every problem; show the traceback of an error.")
def candidates(
    queries: Path,
    corpus: Path,
    specs: tuple[str, ...],
    k: int,
    testable: bool,
    labels: Path | None,
    out: Path,
    form: str,
    verbose: bool,
) -> None:
    """Write the K codes of CORPUS nearest to each of QUERIES, by the mean of the cosines of several encoders.

    QUERIES and CORPUS are ground truth of any form, the same file twice where it holds both; JSON lines of id and
    query, or of id and code; a line of text a query; a folder of code, whose functions then are the codes. What is
    written is what `assay judge run` reads.

    It says which share of each encoder's own candidates the mean of all chose, too; with --labels (ground truth, or
    records of assay judge run) how many codes are right at each rank, by which to choose K.
    """
    from assay.cli.answer import dumps
    from assay.cli.candidates_read import codes_of, labels_of, queries_of
    from assay.cli.progress import progress
    from assay.judge import depths
    from assay.judge.candidates import Sources
    from assay.judge.candidates import candidates as choose
    from assay.records import read
    from assay.search.dense import exhaustive

    problems: list[Problem] = []
    asked, codes = queries_of(queries, problems), codes_of(corpus, problems)
    told: dict[str, Any] = {"queries": len(asked), "codes": len(codes), "twins": _twins(codes)}
    if testable:
        codes = _filtered(codes, told)
    _say(problems, verbose=verbose)
    encoders = _encoders(specs or ("static:default",))
    with progress() as watch:
        found = choose(Sources(asked, codes, encoders, k, exhaustive), out, watch)
    told |= {"pairs": found.pairs, "before": found.before, "overlap": dict(found.overlap), "out": str(out)}
    if labels:
        told["depths"] = depths.depths(read(out), labels_of(labels), {code.id for code in codes}).told()
    click.echo(dumps(told) if form == "json" else "\n".join(_text(told)))


def _encoders(specs: Sequence[str]) -> dict[str, Encoder]:
    """Return the encoders by spec; those that are slower than a look-up remember what they encoded."""
    from assay.assemble import encoder_of
    from assay.settings import EncoderSettings, Settings

    return {spec: encoder_of(Settings(encoder=EncoderSettings(spec=spec))) for spec in specs}


def _filtered(codes: Sequence[Chunk], told: dict[str, Any]) -> list[Chunk]:
    from assay.judge.testable import testable

    filtered = testable(codes)
    told |= {"testable": len(filtered.codes), "kinds": filtered.kinds}
    return list(filtered.codes)


def _twins(codes: Sequence[Chunk]) -> int:
    return len(codes) - len({code.text for code in codes})


def _say(problems: Sequence[Problem], *, verbose: bool) -> None:
    from assay.cli.workspaces import say

    for problem in problems if verbose else problems[:_SHOWN]:
        say(str(problem))
    if len(problems) > _SHOWN and not verbose:
        say(f"{len(problems) - _SHOWN:,} more problems (-v shows them)")


def _text(told: Mapping[str, Any]) -> Iterator[str]:
    from assay.cli.workspaces import counted

    twins = f", {told['twins']:,} of them with the text of another" if told["twins"] else ""
    yield f"{counted(told['queries'], 'query')}, {counted(told['codes'], 'code')}{twins}"
    if "kinds" in told:
        why = ", ".join(f"{kind} {count:,}" for kind, count in told["kinds"].items() if kind != "testable")
        yield f"testable: {told['testable']:,} ({told['testable'] / told['codes']:.1%}); left out: {why or 'none'}"
    before = f", {counted(told['before'], 'query')} of them done before" if told["before"] else ""
    yield f"{counted(told['pairs'], 'pair')} written to {told['out']}{before}"
    yield "share of an encoder's own candidates that the mean of all chose, too:"
    width = max(map(len, told["overlap"]))
    yield from (f"  {name:<{width}}  {share:.3f}" for name, share in told["overlap"].items())
    if "depths" in told:
        yield from _depths(told["depths"])


def _depths(told: Mapping[str, Any]) -> Iterator[str]:
    from assay.judge.depths import sparkline

    ranks = told["ranks"]
    gone = f", beside {told['gone']:,} whose code is not in this corpus" if told["gone"] else ""
    yield f"{told['known']:,} right pairs are known{gone}"
    yield f"  right at each rank   {sparkline(row['rate'] for row in ranks)}"
    yield f"  found down to it     {sparkline(row['found'] for row in ranks)}"
    yield f"{'rank':>6}{'right':>9}{'judged':>9}{'pairs':>9}{'rate':>8}{'found':>8}"
    for row in ranks:
        if row["rank"] <= 5 or not row["rank"] % 5 or row is ranks[-1]:
            yield (
                f"{row['rank']:>6}{row['right']:>9,}{row['judged']:>9,}{row['pairs']:>9,}"
                f"{row['rate']:>8.3f}{row['found']:>8.3f}"
            )
