"""`assay truth convert`: convert ground truth to another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.errors import InputError, counted
from assay.io.terminal import say, say_problems
from assay.parameters import Options, argument, flag, option, verbose

if TYPE_CHECKING:
    from assay.truth.ground_truth import Truth

_FORM = "[default: what its name or content says]"


class TruthConvertOptions(Options):
    """Options of `assay truth convert`."""

    source: Path = argument("IN")
    target: Path = argument("OUT")
    form: str = option("--from FORM", f"The format of IN.  {_FORM}")
    to: str = option("--to FORM", f"The format of OUT.  {_FORM}")
    corpus: Path | None = option(
        "--corpus FOLDER",
        "The checkout that IN speaks of, where symbols become lines; or CodeSearchNet's corpus files, whose functions "
        "its annotations name by URL.",
    )
    match: int = option(
        "--match GRADE",
        "Keep only pairs that a judge gave GRADE or more, with their queries and documents.  [default: all]",
        least=0,
        default=0,
        show=False,
    )
    lossy: bool = flag("--lossy", "Drop what OUT cannot hold, and say what that is.")
    split: bool = flag("--split", "Make OUT a folder with a file for each repository and commit.")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


@command(TruthConvertOptions, example="assay truth convert truth.csv truth.jsonl")
def convert(given: TruthConvertOptions) -> None:
    """Convert the ground truth IN to another format, OUT.

    Formats are jsonl (Assay's own, which can hold everything), octocode, semble, trec, beir, cosqa, cosqaplus,
    csn, and swebench, which is read only. What OUT cannot hold is an error without --lossy. Rows of IN that cannot
    be used are counted. Most formats hold no symbols (path::Class.method); --corpus turns them into lines at the
    commit of IN. CodeSearchNet's annotations become a ground truth with its code by --corpus FILES; --match 3 makes
    the 399 pairs of 95 queries on which CoSQA+ tests models.

    Exits 0 if OUT is written, 2 on an error.
    """
    from assay.truth.formats.csn_corpus import at_least, joined
    from assay.truth.target_places import resolved
    from assay.truth.truth_formats import read, write

    reading = read(given.source, given.form)
    if given.corpus:
        reading = (joined if _holds_functions(given.corpus) else resolved)(reading, given.corpus)
    if given.match:
        reading = at_least(reading, given.match)
    to = given.to or ("jsonl" if given.split else "")
    dropped = dict.fromkeys(
        loss
        for truth, path in _parts(reading.truth, given.target, to, split=given.split)
        for loss in write(truth, path, to, lossy=given.lossy)
    )
    if given.verbose:
        say_problems(reading.problems, every=True)
    truth = reading.truth
    held = {"query": truth.queries, "judgment": truth.judgments, "document": truth.documents}
    counts = ", ".join(counted(len(values), thing) for thing, values in held.items())
    click.echo(f"{counts} ({counted(len(reading.problems), 'problem')}) written to {given.target}")
    if dropped:
        say(f"dropped: {', '.join(dropped)}")


def _holds_functions(corpus: Path) -> bool:
    """Say whether a corpus is CodeSearchNet's files and not a checkout."""
    from assay.truth.truth_formats import UnknownFormat, form_of

    try:
        return form_of(corpus) == "csncorpus"
    except UnknownFormat:
        return False


def _parts(truth: Truth, target: Path, to: str, *, split: bool) -> list[tuple[Truth, Path]]:
    """Return what to write where."""
    from assay.truth.formats.swebench import by_checkout
    from assay.truth.truth_formats import ending_of

    if not split:
        return [(truth, target)]
    if target.is_file():
        raise InputError(f"'{target}' is a file; --split makes a folder")
    return [(part, target / f"{part.name}{ending_of(to)}") for part in by_checkout(truth)]
