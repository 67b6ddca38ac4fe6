"""`assay train ranking`: judged queries and their checkouts in, a folder of weights for the learned ranking out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click

from assay.cli.command import PATH, argument, command, option, verbose


@dataclass(frozen=True, slots=True)
class TrainRankingOptions:
    """What the ranking is learned from, and where its weights go."""

    truths: tuple[Path, ...] = argument("TRUTH...", nargs=-1, required=True, type=PATH)
    checkouts: Path = option(
        "--checkouts",
        type=PATH,
        required=True,
        metavar="FOLDER",
        help="Where the repositories are: NAME.csv and NAME_docs.csv are about FOLDER/NAME.",
    )
    foreign: tuple[Path, ...] = option(
        "--foreign",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Questions that no repository answers, in the columns query and writer. Repeatable.",
    )
    out: Path = option("--out", type=PATH, required=True, metavar="FOLDER", help="Where the weights go.")
    encoder: str = option("--encoder", default="static:default", metavar="SPEC", help="The encoder to search with.")
    changes: tuple[str, ...] = option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Change one setting of the training. Repeatable."
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainRankingOptions,
    example="assay train ranking benchmarks/truth/*.csv --foreign benchmarks/truth/foreign/learned.csv "
    "--checkouts CHECKOUTS --out weights",
)
def ranking(chosen: TrainRankingOptions) -> None:
    """Train the weights of the learned ranking from judged queries.

    TRUTH is a ground truth of one repository, in any format that assay truth reads; a query is about documentation if
    prose alone answers it. The figures are cross-validated: each query is scored by weights that were learned on the
    other repositories, so give two or more. What is written was learned from all of them.

    A truth that names whole files teaches the order of the list alone. Use the weights with --set
    search.weights=FOLDER. The example, with benchmarks/truth/manners/*.csv and the files of semble's benchmark, makes
    the shipped weights.
    """
    from assay.settings import changed
    from assay.train.settings import RankingSettings, extra_of

    with extra_of("train ranking"):
        from assay.train.ranking import train_ranking
    settings = changed(RankingSettings(encoder=chosen.encoder), chosen.changes)
    trained, table = train_ranking(chosen.truths, chosen.checkouts, chosen.out, settings, _say, foreign=chosen.foreign)
    for one in trained:
        click.echo(f"{one.name}: {one.queries:,} queries of {len(one.repositories)} repositories, cross-validated")
        click.echo(f"{'':<12}mean   95% interval")
        for figure in one.figures:
            click.echo(f"{figure.name:<12}{figure.value:<7.3f}{figure.low:.3f} to {figure.high:.3f}")
        for which, rejected in (("another repository", one.rejected), ("no repository", one.foreign_rejected)):
            if rejected is not None:
                click.echo(f"of questions that {which} answers, {rejected:.1%} are rejected")
    click.echo("beside plain orders, Hit@5 / MRR")
    for group, of in groupby(table, key=lambda one: one.group):
        said = ", ".join(f"{one.system} {one.figures[0].value:.3f} / {one.figures[1].value:.3f}" for one in of)
        click.echo(f"{group}: {said}")
    click.echo(f"written to {chosen.out}; use it with --set search.weights={chosen.out}")


def _say(line: str) -> None:
    click.echo(line, err=True)
