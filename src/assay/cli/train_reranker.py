"""`assay train reranker`: documented code and judged questions in, a second stage of search that reads out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli.command import PATH, command, flag, option, verbose
from assay.errors import InputError

BASE = "hf:sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class TrainRerankerOptions:
    """Options of `assay train reranker`."""

    out: Path = option("--out", type=PATH, required=True, metavar="FOLDER", help="Where the reranker goes.")
    base: str = option(
        "--base", default=BASE, metavar="SPEC", help="The transformer to start from: hf: and a folder or hub name."
    )
    from_environment: bool = flag("--from-environment", help="Learn from installed packages and the standard library.")
    roots: tuple[str, ...] = option(
        "--repository", multiple=True, metavar="PATH", help="Learn from a repository. Repeatable."
    )
    files: tuple[Path, ...] = option(
        "--pairs", type=PATH, multiple=True, metavar="FILE", help="Learn from the pairs in FILE. Repeatable."
    )
    truths: tuple[Path, ...] = option(
        "--questions",
        type=PATH,
        multiple=True,
        metavar="TRUTH",
        help="Learn from the judged questions of a ground truth. Repeatable.",
    )
    checkouts: Path | None = option(
        "--checkouts", type=PATH, metavar="FOLDER", help="Where their repositories are: NAME.csv is about FOLDER/NAME."
    )
    changes: tuple[str, ...] = option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Change one setting of the training. Repeatable."
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainRerankerOptions,
    example="assay train reranker --from-environment --repository . --out reranker",
)
def reranker(given: TrainRerankerOptions) -> None:
    """Train a reranker: a small transformer that reads a question and a chunk of code together.

    A sentence of documentation asks for its function, which has lost that sentence, among what the learned ranking
    finds for it in the same package; FILE holds other pairs, as for assay train encoder; TRUTH holds judged questions,
    as for assay train ranking. One source in twelve is held out: its lists choose the model and say what it is worth
    beside the ranking.

    Use it with --set search.reranker=cross:FOLDER.
    """
    from assay.assemble.indexes import root_of
    from assay.assemble.training import RerankerSources, train_reranker, train_settings
    from assay.cli.training_files import read_pairs
    from assay.encode.reranker_settings import RerankerSettings
    from assay.encode.training_pairs import refuse_wrong_pairs
    from assay.search.harvest import environment, repository

    if bool(given.truths) != bool(given.checkouts):
        raise InputError("--questions and --checkouts need one another: give both, or leave out both")
    if not given.base.startswith("hf:"):
        raise InputError(f"--base is '{given.base}'; wanted hf: and a folder or a name on the hub")
    packages = [repository(root_of(root)) for root in given.roots] + (environment() if given.from_environment else [])
    pairs = read_pairs(given.files, verbose=given.verbose)
    refuse_wrong_pairs(pairs, "a reranker")
    if not (packages or pairs or given.truths):
        raise InputError(
            "nothing to learn from: give --from-environment, --repository PATH, --pairs FILE or --questions TRUTH"
        )
    sources = RerankerSources(packages, pairs, given.truths, given.checkouts or Path())
    settings = train_settings(RerankerSettings, given.changes)
    record = train_reranker(sources, given.base.removeprefix("hf:"), given.out, settings, _say)
    figures = record["held_out_figures"]
    click.echo(f"{figures['fitted']:,} held-out lists: {'MRR':>12}")
    for system, name in (("ranking", "before"), ("model", "alone"), ("both", "both")):
        click.echo(f"{system:<24}{figures[name]:>10.3f}")
    click.echo(f"written to {given.out}; use it with --set search.reranker=cross:{given.out}")


def _say(line: str) -> None:
    click.echo(line, err=True)
