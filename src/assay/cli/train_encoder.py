"""`assay train encoder`: documented code in, a static encoder that was learned from it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import FILE, PATH, command, flag, option, verbose
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.encode.examine import Score
    from assay.encode.train_settings import TableSettings
    from assay.encode.training_pairs import TrainingPair

TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"
BEFORE = "static:default"


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
    teacher: str = option(
        "--teacher", default="", show_default=TEACHER, metavar="SPEC", help="The encoder to distill first."
    )
    words: Path | None = option(
        "--join",
        type=FILE,
        metavar="FILE",
        help="Join word vectors of another model (.npz) to a table; distill nothing.",
    )
    before: str = option(
        "--from", default="", show_default=BEFORE, metavar="SPEC", help="The table that --join starts from."
    )
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

    With --join, FILE holds the words of another model as `tokens` and their vectors as `vectors`; the result has the
    words of the table that it starts from, and what both models know of them.

    Use it with --encoder static:FOLDER.
    """
    if given.words and given.teacher:
        raise InputError("--join starts from a table and reads no teacher: leave out --teacher, or --join")
    if given.before and not given.words:
        raise InputError("--from names the table that --join starts from: add --join FILE, or leave out --from")
    scores = _join(given, given.words) if given.words else _distill(given)
    click.echo(f"{'held out':<18}MRR    95% interval")
    for score in scores:
        click.echo(f"{score.system:<18}{score.mrr:.3f}  {score.low:.3f}-{score.high:.3f}")
    click.echo(f"written to {given.out}; use it with --encoder static:{given.out}")


def _distill(given: TrainEncoderOptions) -> list[Score]:
    from assay.assemble.training import train_encoder, train_settings
    from assay.encode.train_settings import TrainSettings

    settings = train_settings(TrainSettings, given.changes)
    return train_encoder(_pairs(given, settings), given.teacher or TEACHER, given.out, settings, _say)


def _join(given: TrainEncoderOptions, file: Path) -> list[Score]:
    from assay.assemble.training import join_encoder, table_of, train_settings
    from assay.encode.train_settings import JoinSettings
    from assay.encode.word_vectors import TableAndWords, read_word_vectors

    settings = train_settings(JoinSettings, given.changes)
    parts = TableAndWords(table_of(given.before or BEFORE), read_word_vectors(file))  # first: the pairs take minutes
    return join_encoder(_pairs(given, settings), parts, given.out, settings, _say)


def _pairs(given: TrainEncoderOptions, settings: TableSettings) -> list[TrainingPair]:
    """Return all pairs; without any there is nothing to do."""
    from assay.assemble.indexes import root_of
    from assay.cli.training_files import read_pairs
    from assay.encode.training_pairs import refuse_wrong_pairs
    from assay.search.harvest import environment, harvest, repository

    sources = [repository(root_of(root)) for root in given.roots]
    if given.from_environment:
        sources += environment()
    harvested = harvest(sources, left_out=settings.left_out)
    read = read_pairs(given.files, verbose=given.verbose)
    refuse_wrong_pairs(read, "a table")
    pairs = [*harvested, *read]
    if not pairs:
        raise InputError("nothing to learn from: give --from-environment, --repository PATH or --pairs FILE")
    return pairs


def _say(line: str) -> None:
    click.echo(line, err=True)
