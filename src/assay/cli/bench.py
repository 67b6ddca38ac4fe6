"""`assay bench`: measure systems on ground truth, with a status for CI."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from assay.cli.adapter import command
from assay.cli.options import GateOptions, UnseenOptions
from assay.cli.progress import progress
from assay.io.terminal import say
from assay.parameters import Options, argument, flag, form, option, shared, verbose

WRITTEN = ("results.json", "RESULTS.md", "report.html")


class BenchCommandOptions(Options):
    """Options of `assay bench`."""

    what: str = argument(default=".")
    corpus: Path | None = option("--corpus FOLDER", "The checkout that WHAT is about.")
    systems: tuple[str, ...] = option("--system [NAME=]SPEC", "A system to measure. Repeatable.")
    changes: tuple[str, ...] = option("--set NAME.KEY=VALUE", "Set an option of a system. Repeatable.")
    measures: tuple[str, ...] = option(
        "--measure NAME", "A measure, such as MRR or Hit@5; the first one decides. Repeatable."
    )
    k: int | None = option("-k", "--limit N", "Results per query.  [default: 20]", least=1)
    timeout_s: float | None = option("--timeout S", "Most seconds of a query.  [default: 30]", least=0.1)
    threshold: float | None = option(
        "--threshold SCORE", "Leave out results that score below this.  [default: keep all]"
    )
    all_pairs: bool = flag(
        "--all-pairs",
        "Test every two systems, not only variants against their base and other systems against one another.",
    )
    form_of: str = option("--from FORM", "The format of WHAT.  [default: found by its contents]")
    only: tuple[str, ...] = option("--only GLOB", "Run only systems whose name matches GLOB. Repeatable.")
    out: Path = option(
        "--out FOLDER",
        "Where answers and results go; answers that are there are used again.",
        kind="folder",
        default="assay-bench",
    )
    judging: UnseenOptions = shared(UnseenOptions)
    fresh: bool = flag("--fresh", "Ask everything again; earlier answers are moved to FOLDER/runs.old.")
    gating: GateOptions = shared(GateOptions)
    form: str = form("text", "json")
    verbose: bool = verbose("Show each question; show the traceback of an error.")


@command(BenchCommandOptions, example="assay bench matrix.toml --fail-under Hit@5=0.70")
def bench(given: BenchCommandOptions) -> int:
    """Measure how well code search answers, with intervals, tests, latency and memory.

    WHAT is a repository, whose own history then is the ground truth (the default: the current folder), a file of
    ground truth, or a matrix file (.toml) that names query sets, systems and variants. Without --system it
    asks Assay itself and BM25; other tools are asked by command:

    \b
        assay bench queries.csv --corpus . --system assay \\
            --system 'rg=cmd:rg --sort path -n -i -w -e {regex} {corpus}' \\
            --set rg.merge=10 --set rg.order=count

    With --judge-unseen a judge also labels unjudged answers; figures with its labels are shown beside the others.

    Exits 0 if all gates hold, 1 if one does not, 2 if nothing could be measured.
    """  # noqa: D301  what click reads
    from assay.bench import experiment, gates
    from assay.bench.results import as_text
    from assay.cli.bench_plan import plan_of, text, unseen_of

    gating = given.gating
    gate = gates.gates_of(gating.floors, gating.baseline, fail_if_worse=gating.fail_if_worse)
    plan = plan_of(Path(given.what), given, [each.measure for each in gate.floors]).only(given.only)
    with progress() as watch:
        setting = experiment.Setting(
            given.out, say, watch, f"assay {shlex.join(sys.argv[1:])}", unseen_of(given.judging)
        )
        held = experiment.run(plan, setting, fresh=given.fresh)
    click.echo(as_text(held) if given.form == "json" else text(held, questions=given.verbose), nl=given.form == "json")
    failed = gates.failures(held, gate, say)
    say(f"written to {given.out}: {', '.join(name for name in WRITTEN if (given.out / name).exists())}")
    return 1 if failed else 0
