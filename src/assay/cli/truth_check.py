"""`assay truth check`: a ground truth and its checkout in, what is wrong with it and what has moved since out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.errors import printable

if TYPE_CHECKING:
    from assay.bench.check import Checked
    from assay.bench.truth import Reading


@click.command(short_help="Find what is not where it should be.")
@click.argument("file", type=click.Path(path_type=Path))
@options.corpus
@click.option("--commit", default="", metavar="COMMIT", help="The commit that FILE speaks of, where it does not say.")
@click.option("--fix", type=click.Path(path_type=Path), metavar="OUT", help="Write FILE as it is at HEAD.")
@options.source
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Show moved lines, too; show the traceback of an error.")
@click.pass_context
def check(
    context: click.Context,
    file: Path,
    corpus: Path | None,
    commit: str,
    fix: Path | None,
    source: str,
    form: str,
    verbose: bool,
) -> None:
    """Check the ground truth in FILE, row by row, and its targets against the checkout in FOLDER.

    Every file, range of lines and symbol must be there at the commit that FILE speaks of; the work tree is not
    touched. What moved, changed or went between that commit and HEAD is told, and is no problem: a benchmark searches
    the commit. --fix writes a copy that speaks of HEAD: moved lines are followed, changed ones too as far as they
    can be, and want a look; what is gone or was broken is left out.

    Leaves with 0 when all is well, 1 when there are problems, 2 on an error or when nothing can be used.
    """
    from assay.bench import check as checks
    from assay.bench.corpus import checkout_of
    from assay.bench.files import read, write
    from assay.cli.answer import dumps

    reading = read(file, source)
    if commit:
        reading = replace(reading, truth=replace(reading.truth, commit=commit))
    checked = checks.check(reading, file, checkout_of(reading.truth, corpus))
    if fix:
        write(checks.repinned(reading.truth, checked), fix)
    if form == "json":
        click.echo(dumps(_facts(reading, checked)))
    else:
        click.echo("\n".join(map(printable, _text(reading, checked, fix, verbose=verbose))))
    context.exit(1 if checked.problems else 0)


def _facts(reading: Reading, checked: Checked) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "name": reading.truth.name,
        "queries": len(reading.truth.queries),
        "judgments": len(reading.truth.judgments),
        "documents": len(reading.truth.documents),
        "targets": checked.targets,
        "checked": checked.looked,
        "commit": checked.commit,
        "head": checked.head,
        "problems": [asdict(problem) for problem in checked.problems],
        "drift": [asdict(drift) for drift in checked.drift],
        "uncommitted": list(checked.uncommitted),
    }


def _text(reading: Reading, checked: Checked, fix: Path | None, *, verbose: bool) -> Iterator[str]:
    yield from map(str, checked.problems)
    yield from (str(drift) for drift in checked.drift if verbose or drift.state != "moved")
    yield from (f"{path}: changed in the work tree and not committed" for path in checked.uncommitted)
    yield _summary(reading, checked)
    if checked.drift:
        states = Counter(drift.state for drift in checked.drift)
        told = ", ".join(f"{count:,} {state}" for state, count in states.items())
        hint = "" if fix else " (--fix OUT follows them)"
        yield f"{told} between {checked.commit[:12]} and HEAD {checked.head[:12]}{hint}"
    if fix:
        yield f"written to {fix}, at {checked.head[:12]}"


def _summary(reading: Reading, checked: Checked) -> str:
    from assay.cli.workspaces import counted

    truth = reading.truth
    held = f"{counted(len(truth.queries), 'query')}, {counted(checked.targets, 'target')}"
    where = f" at {checked.commit[:12]}" if checked.commit else ""
    if not checked.looked and not truth.documents:
        where = "; no file was looked at: give --corpus FOLDER"
    return f"{held}: {counted(len(checked.problems), 'problem')}{where}"
