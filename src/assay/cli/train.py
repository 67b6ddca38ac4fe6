"""`assay train`: data in, a part of the product that was learned from it out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.encode.pairs import Pair

TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"


@click.group(short_help="Train a part on data of your own.")
def train() -> None:
    """Train a part on data of your own."""


@train.command(short_help="Train a static encoder.")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="Where to write it.")
@click.option("--from-environment", is_flag=True, help="Learn from installed packages and the standard library.")
@click.option("--repository", "roots", multiple=True, metavar="PATH", help="Learn from a repository. Repeatable.")
@click.option(
    "--pairs", "files", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="Learn from FILE."
)
@click.option("--teacher", default=TEACHER, show_default=True, metavar="SPEC", help="The encoder to distil first.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change one setting. Repeatable.")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def encoder(
    out: Path,
    from_environment: bool,
    roots: tuple[str, ...],
    files: tuple[Path, ...],
    teacher: str,
    changes: tuple[str, ...],
) -> None:
    """Train a static encoder: a table of words that needs nothing but numpy to be used.

    It learns from documented functions, from sections below their headings, and from any other pairs: FILE holds
    one JSON object a line with a query, the code that answers it, and the source it comes from. One source in
    twelve is held out, and the figures are of those.

    Use it with --encoder static:FOLDER.
    """
    from assay.assemble import train_encoder, train_settings

    settings = train_settings(changes)
    pairs = list(_pairs(roots, files, settings.left_out, from_environment=from_environment))
    if not pairs:
        raise InputError("nothing to learn from: give --from-environment, --repository PATH or --pairs FILE")
    scores = train_encoder(pairs, teacher, out, settings, lambda line: click.echo(line, err=True))
    click.echo(f"{'held out':<12}MRR    95% interval")
    for score in scores:
        click.echo(f"{score.system:<12}{score.mrr:.3f}  {score.low:.3f}-{score.high:.3f}")
    click.echo(f"written to {out}; use it with --encoder static:{out}")


def _pairs(
    roots: tuple[str, ...], files: tuple[Path, ...], left_out: tuple[str, ...], *, from_environment: bool
) -> Iterator[Pair]:
    from assay.assemble import root_of
    from assay.encode.pairs import read_pairs
    from assay.search.harvest import environment, harvest, repository

    sources = [repository(root_of(root)) for root in roots]
    if from_environment:
        sources += environment()
    yield from harvest(sources, left_out=left_out)
    yield from chain.from_iterable(map(read_pairs, files))
