"""`assay train ranking`: train the weights of the learned ranking from judged queries."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import click

from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.parameters import Options, argument, option, verbose
from assay.settings import changed


class TrainRankingOptions(Options):
    """What the ranking is learned from, and where its weights go."""

    truths: tuple[Path, ...] = argument("TRUTH...", required=True)
    checkouts: Path = option(
        "--checkouts FOLDER",
        "Where the repositories are: NAME.csv and NAME_docs.csv are about FOLDER/NAME.",
        required=True,
    )
    foreign: tuple[Path, ...] = option(
        "--foreign FILE", "Questions that no repository answers, in the columns query and writer. Repeatable."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    encoder: str = option("--encoder SPEC", "The encoder to search with.", default="static:default")
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainRankingOptions,
    example="assay train ranking benchmarks/truth/*.csv --foreign benchmarks/truth/foreign/learned.csv "
    "--checkouts CHECKOUTS --out weights",
)
def ranking(given: TrainRankingOptions) -> None:
    """Train the weights of the learned ranking from judged queries.

    TRUTH is a ground truth of one repository, in any format that assay truth reads; a query is about documentation if
    prose alone answers it. The figures are cross-validated: each query is scored by weights that were learned on the
    other repositories, so give two or more. What is written was learned from all of them.

    A truth that names whole files teaches the order of the list alone. Use the weights with --set
    search.weights=FOLDER. The example, with benchmarks/truth/manners/*.csv and the files of semble's benchmark, makes
    the shipped weights.
    """
    from assay.train.settings import RankingSettings, extra_of

    with extra_of("train ranking"):
        from assay.train.ranking import train_ranking
    settings = changed(RankingSettings(encoder=given.encoder), given.changes)
    trained, table = train_ranking(
        given.truths, given.checkouts, given.out, settings, print_line, foreign=given.foreign
    )
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
    click.echo(f"written to {given.out}; use it with --set search.weights={given.out}")
