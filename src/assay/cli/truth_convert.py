"""`assay truth convert`: a ground truth in one format in, the same in another out; what would be lost is said first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.bench.truth import Reading, Truth

_FORM = "[default: what its name or content says]"


@click.command(short_help="Translate between formats.")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--from", "form", default="", metavar="FORM", help=f"The format of IN.  {_FORM}")
@click.option("--to", "to", default="", metavar="FORM", help=f"The format of OUT.  {_FORM}")
@click.option("--lossy", is_flag=True, help="Drop what OUT cannot hold, and say what that is.")
@click.option("--split", is_flag=True, help="Make OUT a folder with a file for each repository and commit.")
@click.option("-v", "--verbose", is_flag=True, help="Show each problem; show the traceback of an error.")
def convert(source: Path, target: Path, form: str, to: str, lossy: bool, split: bool, verbose: bool) -> None:
    """Translate the ground truth IN to OUT.

    Formats are jsonl (ours: it holds everything), octocode, trec, beir, cosqa, cosqaplus, csn, and swebench, which is
    read only. What OUT cannot hold is an error without --lossy. Rows of IN that cannot be used are counted.

    Leaves with 0 when OUT is written, 2 on an error.
    """
    from assay.bench.files import read, write
    from assay.cli.workspaces import say

    reading = read(source, form)
    to = to or ("jsonl" if split else "")
    dropped = dict.fromkeys(
        loss
        for truth, path in _parts(reading.truth, target, to, split=split)
        for loss in write(truth, path, to, lossy=lossy)
    )
    if verbose:
        for problem in reading.problems:
            say(str(problem))
    click.echo(f"{_summary(reading)} written to {target}")
    if dropped:
        say(f"dropped: {', '.join(dropped)}")


def _parts(truth: Truth, target: Path, to: str, *, split: bool) -> list[tuple[Truth, Path]]:
    """Return what to write where."""
    from assay.bench.files import ending_of
    from assay.bench.formats.swebench import by_checkout

    if not split:
        return [(truth, target)]
    if target.is_file():
        raise InputError(f"'{target}' is a file; --split makes a folder")
    return [(part, target / f"{part.name}{ending_of(to)}") for part in by_checkout(truth)]


def _summary(reading: Reading) -> str:
    from assay.cli.workspaces import counted

    truth = reading.truth
    held = {"query": truth.queries, "judgment": truth.judgments, "document": truth.documents}
    told = ", ".join(counted(len(values), thing) for thing, values in held.items())
    return f"{told} ({counted(len(reading.problems), 'problem')})"
