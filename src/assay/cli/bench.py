"""`assay bench`: ground truth and systems in, figures with their statistics out, and a status for CI."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.bench.plan import Plan, SetSpec, SystemSpec

WRITTEN = ("results.json", "RESULTS.md", "report.html")


@click.command(short_help="Measure code search, with statistics.")
@click.argument("what", default=".")
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FOLDER", help="The checkout that WHAT speaks of.")
@click.option("--system", "systems", multiple=True, metavar="[NAME=]SPEC", help="A system to ask. Repeatable.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="A measure; the first decides. Repeatable.")
@click.option("-k", "--limit", "k", type=click.IntRange(min=1), metavar="N", help="Results of a query.  [default: 20]")
@click.option("--only", multiple=True, metavar="GLOB", help="Ask only systems called like this. Repeatable.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("assay-bench"),
    show_default=True,
    metavar="FOLDER",
    help="Where results go; a run adds to those that are there.",
)
@click.option("--fresh", is_flag=True, help="Ask everything again; earlier answers are not used.")
@click.option("--fail-under", "floors", multiple=True, metavar="MEASURE=N", help="Leave with 1 below this. Repeatable.")
@click.option(
    "--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Compare with an earlier results.json."
)
@click.option("--fail-if-worse", is_flag=True, help="Leave with 1 on a significant loss against the baseline.")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def bench(
    context: click.Context,
    what: str,
    corpus: Path | None,
    systems: tuple[str, ...],
    measures: tuple[str, ...],
    k: int | None,
    only: tuple[str, ...],
    out: Path,
    fresh: bool,
    floors: tuple[str, ...],
    baseline: Path | None,
    fail_if_worse: bool,
    form: str,
) -> None:
    """Measure how well code search answers, with intervals, tests, latency and memory.

    WHAT is a repository, whose own history then is the ground truth (the default: the current folder), a file of
    ground truth, or a matrix file (.toml) that names sets of queries, systems and variants. Without --system it
    asks Assay itself and BM25; other tools are asked by command:

        assay bench queries.csv --corpus . --system 'rg=cmd:rg -n -i -w -e {regex} {corpus}'

    Leaves with 0 when all gates hold, 1 when one does not, 2 when nothing could be measured.
    """
    from assay.bench import experiment, gates, results
    from assay.cli.bench_text import text
    from assay.cli.progress import progress
    from assay.cli.workspaces import say

    asked = [gates.floor(each) for each in floors]
    if fail_if_worse and baseline is None:
        raise InputError("--fail-if-worse needs --baseline FILE: the results.json of an earlier run")
    before = results.load(baseline) if baseline else None
    plan = _plan(what, corpus, systems, measures, k).only(only)
    with progress() as watch:
        setting = experiment.Setting(out, say, watch, command=f"assay {shlex.join(sys.argv[1:])}")
        held = experiment.run(plan, setting, fresh=fresh)
    click.echo(json.dumps(held, ensure_ascii=False) if form == "json" else text(held), nl=form == "json")
    failed = list(gates.fallen(held, asked))
    if before is not None:
        compared = gates.changes(held, before)
        for change in compared:
            say(str(change))
        failed += [
            f"significantly worse than the baseline: {each}" for each in compared if each.worse and fail_if_worse
        ]
    for line in failed:
        say(line)
    say(f"written to {out}: {', '.join(name for name in WRITTEN if (out / name).exists())}")
    context.exit(1 if failed else 0)


def _plan(what: str, corpus: Path | None, systems: tuple[str, ...], measures: tuple[str, ...], k: int | None) -> Plan:
    """Return what to measure: a matrix as it is written, else one set and the systems that were named."""
    from dataclasses import replace

    from assay.bench import matrix
    from assay.bench.plan import Plan, SystemSpec
    from assay.measure.measures import parse

    path = Path(what)
    if path.suffix == ".toml":
        if corpus:
            raise InputError("--corpus goes with a file of ground truth; a matrix names the corpus of each set")
        plan = matrix.load(path)
    else:
        plan = Plan((_set(path, corpus),), (SystemSpec("assay", "assay"), SystemSpec("bm25", "bm25")))
    if systems:
        plan = replace(plan, systems=tuple(map(_system, systems)))
    if measures:
        plan = replace(plan, measures=tuple(map(parse, measures)))
    return replace(plan, k=k) if k else plan


def _set(path: Path, corpus: Path | None) -> SetSpec:
    from assay.bench.files import form_of
    from assay.bench.plan import SetSpec

    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'; give a repository, a file of ground truth or a matrix")
    name = path.resolve().stem if path.is_file() else path.resolve().name
    try:
        return SetSpec(name, path, corpus, form=form_of(path))
    except InputError:
        if path.is_dir():
            return SetSpec(name, None, path)
        raise


def _system(text: str) -> SystemSpec:
    """Read `NAME=SPEC` or `SPEC`; a name has no colon, so a spec that holds `=` is not mistaken for one."""
    from assay.bench.plan import SystemSpec

    name, equals, spec = text.partition("=")
    if equals and ":" not in name:
        return SystemSpec(name, spec)
    kind, _, argument = text.partition(":")
    words = argument.split()
    return SystemSpec(Path(words[0]).name if kind == "cmd" and words else text, text)
