"""`assay train encoder`: documented code in, a static encoder that was learned from it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import PATH, command, flag, option, verbose
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.encode.training_pairs import TrainingPair

TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class TrainEncoderOptions:
    """Options of `assay train encoder`."""

    out: Path = option("--out", type=PATH, required=True, metavar="FOLDER", help="Where the encoder goes.")
    from_environment: bool = flag("--from-environment", help="Learn from installed packages and the standard library.")
    roots: tuple[str, ...] = option(
        "--repository", multiple=True, metavar="PATH", help="Learn from a repository. Repeatable."
    )
    files: tuple[Path, ...] = option(
        "--pairs", type=PATH, multiple=True, metavar="FILE", help="Learn from the pairs in FILE. Repeatable."
    )
    teacher: str = option("--teacher", default=TEACHER, metavar="SPEC", help="The encoder to distill first.")
    changes: tuple[str, ...] = option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Change one setting. Repeatable."
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainEncoderOptions,
    example="assay train encoder --from-environment --repository . --out encoder",
)
def encoder(given: TrainEncoderOptions) -> None:
    """Train a static encoder: a table of words that needs nothing but numpy to be used.

    It learns from documented functions, from sections below their headings, and from any other pairs: FILE holds
    one JSON object a line with a query, the code that answers it, and the source it comes from. One source in
    twelve is held out, and the figures are of those.

    Use it with --encoder static:FOLDER.
    """
    from assay.assemble.training import train_encoder, train_settings

    settings = train_settings(given.changes)
    pairs = list(_pairs(given.roots, given.files, settings.left_out, from_environment=given.from_environment))
    if not pairs:
        raise InputError("nothing to learn from: give --from-environment, --repository PATH or --pairs FILE")
    scores = train_encoder(pairs, given.teacher, given.out, settings, lambda line: click.echo(line, err=True))
    click.echo(f"{'held out':<12}MRR    95% interval")
    for score in scores:
        click.echo(f"{score.system:<12}{score.mrr:.3f}  {score.low:.3f}-{score.high:.3f}")
    click.echo(f"written to {given.out}; use it with --encoder static:{given.out}")


def _pairs(
    roots: tuple[str, ...], files: tuple[Path, ...], left_out: tuple[str, ...], *, from_environment: bool
) -> Iterator[TrainingPair]:
    from assay.assemble.indexes import root_of
    from assay.encode.training_pairs import read_pairs
    from assay.search.harvest import environment, harvest, repository

    sources = [repository(root_of(root)) for root in roots]
    if from_environment:
        sources += environment()
    yield from harvest(sources, left_out=left_out)
    yield from chain.from_iterable(map(read_pairs, files))
