"""`assay candidates`: choose the pairs worth judging."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options, tables
from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import counted
from assay.io.terminal import dumps, say_problems
from assay.parameters import Options, argument, flag, form, option, verbose
from assay.report.document import Number
from assay.runs.draw_sample import SampleDraw

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.operations.choose_pairs import PairChoice


class CandidatesOptions(Options):
    """What the command line says."""

    queries: Path = argument()
    corpus: Path = argument()
    specs: tuple[str, ...] = option(
        "--encoder SPEC", "An encoder whose cosine counts. Repeatable.  [default: static:default]"
    )
    k: int = option("-k", "--k N", "Code snippets per query.", least=1, default=20)
    testable: bool = flag("--testable", "Keep only Python functions that have a parameter and return a value.")
    labels: Path | None = option("--labels FILE", "Also print what each rank is worth by these labels.")
    sample: int | None = options.sample("Take N queries at random, the same ones for the same --seed.")
    seed: int = option("--seed N", "The random seed of --sample.", default=0)
    out: Path = options.out_file("pairs", "candidates.jsonl")
    fresh: bool = options.fresh()
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(CandidatesOptions, example="assay candidates queries.jsonl corpus.jsonl --k 50 --out pairs.jsonl")
def candidates(given: CandidatesOptions) -> None:
    """Write the K code snippets of CORPUS nearest to each of QUERIES, by the mean cosine of several encoders.

    QUERIES and CORPUS are ground truth of any format (the same file twice if it holds both), JSON lines of id and
    query or of id and code, lines of text with one query each, or a folder of code, whose functions are the code
    snippets. `assay judge run` reads the output.

    It also prints which fraction of each encoder's own candidates the mean of all chose, and with --labels (ground
    truth, or records of assay judge run) how many snippets are right at each rank, which helps to choose K.
    """
    from assay.operations.choose_pairs import choose_pairs

    with progress() as watch:
        choice = choose_pairs(
            (given.queries, given.corpus),
            given.out,
            given.specs,
            k=given.k,
            testable=given.testable,
            labels=given.labels,
            sample=SampleDraw(given.sample or 0, given.seed),
            fresh=given.fresh,
            report=lambda problems: say_problems(problems, every=given.verbose),
            progress=watch,
        )
    fields = _as_dict(choice, given.out)
    click.echo(dumps(fields) if given.form == "json" else "\n".join(_text(fields)))


def _as_dict(choice: PairChoice, out: Path) -> dict[str, Any]:
    """Return what was chosen, as JSON has it."""
    kinds = {} if choice.kinds is None else {"testable": choice.kinds.get("testable", 0), "kinds": choice.kinds}
    counts = choice.counts
    return {
        **{name: getattr(choice, name) for name in ("queries", "asked", "codes", "twins")},
        **kinds,
        "pairs": counts.pairs,
        "before": counts.before,
        "overlap": dict(counts.overlap),
        "out": str(out),
        **({"depths": choice.depths.as_dict()} if choice.depths else {}),
    }


def _text(fields: Mapping[str, Any]) -> Iterator[str]:
    twins = f", {fields['twins']:,} of them with the text of another" if fields["twins"] else ""
    drawn = f", {fields['asked']:,} of them drawn" if fields["asked"] < fields["queries"] else ""
    yield f"{counted(fields['queries'], 'query')}{drawn}, {counted(fields['codes'], 'code')}{twins}"
    if "kinds" in fields:
        why = ", ".join(f"{kind} {count:,}" for kind, count in fields["kinds"].items() if kind != "testable")
        fraction = fields["testable"] / fields["codes"]
        yield f"testable: {fields['testable']:,} ({fraction:.1%}); left out: {why or 'none'}"
    before = f", {counted(fields['before'], 'query')} of them done before" if fields["before"] else ""
    yield f"{counted(fields['pairs'], 'pair')} written to {fields['out']}{before}"
    yield "share of an encoder's own candidates that the mean of all chose, too:"
    width = max(map(len, fields["overlap"]))
    yield from (f"  {name:<{width}}  {share:.3f}" for name, share in fields["overlap"].items())
    if "depths" in fields:
        yield from _depths(fields["depths"])


def _depths(fields: Mapping[str, Any]) -> Iterator[str]:
    ranks = fields["ranks"]
    gone = f", beside {fields['gone']:,} whose code is not in this corpus" if fields["gone"] else ""
    yield f"{fields['known']:,} right pairs are known{gone}"
    shown = (row for row in ranks if row["rank"] <= 5 or not row["rank"] % 5 or row is ranks[-1])
    names = ("rank", "right", "judged", "pairs", "rate", "found")
    rows = ((*(row[name] for name in names[:4]), Number(row["rate"]), Number(row["found"])) for row in shown)
    yield from tables.lines(names, rows, "  ")
