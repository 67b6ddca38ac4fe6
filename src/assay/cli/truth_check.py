"""`assay truth check`: check ground truth against its checkout, and follow what has moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.errors import counted, printable
from assay.io.terminal import dumps
from assay.parameters import Options, argument, form, option, verbose

if TYPE_CHECKING:
    from assay.truth.ground_truth import TruthFile
    from assay.truth.target_places import TruthCheck


class TruthCheckOptions(Options):
    """Options of `assay truth check`."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    commit: str = option("--commit COMMIT", "The commit that FILE is about, if it names none.")
    fix: Path | None = option("--fix OUT", "Write a copy of FILE whose places are right at HEAD.")
    source: str = options.source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show moved lines, too; show the traceback of an error.")


@command(TruthCheckOptions, example="assay truth check truth.jsonl --corpus checkout")
def check(given: TruthCheckOptions) -> int:
    """Check the ground truth in FILE, row by row, and its targets against the checkout in FOLDER.

    Every file, range of lines and symbol must exist at the commit that FILE is about; the work tree is not changed.
    What moved, changed or was removed between that commit and HEAD is reported, but is not an error, because a
    benchmark searches that commit. --fix writes a copy that is about HEAD: it follows moved lines, and changed ones
    as far as possible (review these), and leaves out what is gone or was wrong.

    Exits 0 if all is well, 1 if there are problems, 2 on an error or if nothing can be used.
    """
    from assay.bench.system import checkout_of
    from assay.truth import target_places as checks
    from assay.truth.truth_formats import read, write

    reading = read(given.file, given.source)
    if given.commit:
        reading = replace(reading, truth=replace(reading.truth, commit=given.commit))
    checked = checks.check(reading, checkout_of(reading.truth, given.corpus))
    if given.fix:
        write(checks.repinned(reading.truth, checked), given.fix)
    if given.form == "json":
        click.echo(dumps(_facts(reading, checked)))
    else:
        click.echo("\n".join(map(printable, _text(reading, checked, given.fix, verbose=given.verbose))))
    return 1 if checked.problems else 0


def _facts(reading: TruthFile, checked: TruthCheck) -> dict[str, Any]:
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


def _text(reading: TruthFile, checked: TruthCheck, fix: Path | None, *, verbose: bool) -> Iterator[str]:
    yield from map(str, checked.problems)
    yield from (str(drift) for drift in checked.drift if verbose or drift.state != "moved")
    yield from (f"{path}: changed in the work tree and not committed" for path in checked.uncommitted)
    where = f" at {checked.commit[:12]}" if checked.commit else ""
    if not checked.looked and not reading.truth.documents:
        where = "; no file was looked at: give --corpus FOLDER"
    held = f"{counted(len(reading.truth.queries), 'query')}, {counted(checked.targets, 'target')}"
    yield f"{held}: {counted(len(checked.problems), 'problem')}{where}"
    if checked.drift:
        states = Counter(drift.state for drift in checked.drift)
        counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
        hint = "" if fix else " (--fix OUT follows them)"
        yield f"{counts} between {checked.commit[:12]} and HEAD {checked.head[:12]}{hint}"
    if fix:
        yield f"written to {fix}, at {checked.head[:12]}"
