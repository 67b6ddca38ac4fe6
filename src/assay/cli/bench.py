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
    from assay.bench.unseen import Unseen

WRITTEN = ("results.json", "RESULTS.md", "report.html")


@click.command(short_help="Measure code search, with statistics.")
@click.argument("what", default=".")
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FOLDER", help="The checkout that WHAT speaks of.")
@click.option("--system", "systems", multiple=True, metavar="[NAME=]SPEC", help="A system to ask. Repeatable.")
@click.option("--set", "changes", multiple=True, metavar="NAME.KEY=VALUE", help="An option of a system. Repeatable.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="A measure; the first decides. Repeatable.")
@click.option("-k", "--limit", "k", type=click.IntRange(min=1), metavar="N", help="Results of a query.  [default: 20]")
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=0.1), metavar="S", help="Seconds that a query may take."
)
@click.option(
    "--from", "form_of", default="", metavar="FORM", help="How WHAT is written.  [default: what it looks like]"
)
@click.option("--only", multiple=True, metavar="GLOB", help="Ask only systems called like this. Repeatable.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("assay-bench"),
    show_default=True,
    metavar="FOLDER",
    help="Where answers and results go; what is there is not asked again.",
)
@options.unseen
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
    changes: tuple[str, ...],
    measures: tuple[str, ...],
    k: int | None,
    timeout_s: float | None,
    form_of: str,
    only: tuple[str, ...],
    out: Path,
    fresh: bool,
    floors: tuple[str, ...],
    baseline: Path | None,
    fail_if_worse: bool,
    form: str,
    judging: options.Judging,
) -> None:
    """Measure how well code search answers, with intervals, tests, latency and memory.

    WHAT is a repository, whose own history then is the ground truth (the default: the current folder), a file of
    ground truth, or a matrix file (.toml) that names sets of queries, systems and variants. Without --system it
    asks Assay itself and BM25; other tools are asked by command:

    \b
        assay bench queries.csv --corpus . --system assay \\
            --system 'rg=cmd:rg --sort path -n -i -w -e {regex} {corpus}' \\
            --set rg.merge=10 --set rg.order=count

    With --judge-unseen a judge labels unjudged answers, too; figures with its labels stand beside those of people.

    Leaves with 0 when all gates hold, 1 when one does not, 2 when nothing could be measured.
    """  # noqa: D301  what click reads
    from assay.bench import experiment, gates, results
    from assay.cli.bench_plan import Asked, plan_of
    from assay.cli.bench_text import text
    from assay.cli.progress import progress
    from assay.cli.workspaces import say

    least = [gates.floor(each) for each in floors]
    if fail_if_worse and baseline is None:
        raise InputError("--fail-if-worse needs --baseline FILE: the results.json of an earlier run")
    before = results.load(baseline) if baseline else None
    asked = Asked(corpus, form_of, systems, changes, measures, k, timeout_s)
    plan = plan_of(Path(what), asked, [each.measure for each in least]).only(only)
    with progress() as watch:
        setting = experiment.Setting(out, say, watch, f"assay {shlex.join(sys.argv[1:])}", _unseen(judging))
        held = experiment.run(plan, setting, fresh=fresh)
    click.echo(json.dumps(held, ensure_ascii=False) if form == "json" else text(held), nl=form == "json")
    failed = list(gates.fallen(held, least))
    for change in gates.changes(held, before) if before else ():
        say(str(change))
        failed += [f"significantly worse than the baseline: {change}"] if change.worse and fail_if_worse else []
    if least or fail_if_worse:
        failed += gates.unmeasured(held)
    for line in failed:
        say(line)
    say(f"written to {out}: {', '.join(name for name in WRITTEN if (out / name).exists())}")
    context.exit(1 if failed else 0)


def _unseen(judging: options.Judging) -> Unseen | None:
    """Return who judges what nobody did; what that takes is loaded where it is wanted."""
    if not judging.spec and not judging.budget:
        return None
    from assay.cli.bench_unseen import unseen_of

    return unseen_of(judging)
