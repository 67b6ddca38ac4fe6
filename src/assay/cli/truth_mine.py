"""`assay truth mine`: extract ground truth from the history, documentation and tests of a repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted
from assay.io.terminal import say
from assay.parameters import Options, argument, flag, option, verbose
from assay.truth.choices import SOURCES

if TYPE_CHECKING:
    from assay.truth.mine import MinedTruth


class TruthMineOptions(Options):
    """Options of `assay truth mine`."""

    repository: str = argument("REPO")
    out: Path | None = option("--out FILE", "Where the ground truth goes: .jsonl or .csv.  [default: NAME.jsonl]")
    sources: tuple[str, ...] = option("--from", "A source of queries. Repeatable.  [default: all]", choices=SOURCES)
    at: str = option("--at COMMIT", "Ask about the code at COMMIT, from the commits after it.")
    limit: int = option("--limit N", "Most queries of each source.", least=1, default=200)
    seed: int = option("--seed N", "The random seed that draws functions and tests.", default=0)
    lossy: bool = flag("--lossy", "Drop what the format of FILE cannot hold.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(TruthMineOptions, example="assay truth mine . --limit 100 --out truth.jsonl")
def mine(given: TruthMineOptions) -> int:
    """Extract ground truth from a repository, without a language model.

    history: the title of a commit is a query for the functions that it changed, as they were at an earlier commit,
    so what is searched cannot contain the answer. docs: the first sentence of a function's documentation is a query
    for that function. tests: the name of a test is a query for the function that it tests. The lines that contain
    such a query are hidden from every index that `assay bench` builds.

    REPO is a folder with its history; a shallow clone has almost none. FILE ends in .jsonl, which can hold
    everything, or in .csv.

    Exits 0 if there is a query, 1 if there is none, 2 on an error.
    """
    from assay.corpus.addresses import is_url
    from assay.truth.ground_truth import Truth
    from assay.truth.mine import MineOptions
    from assay.truth.mine import mine as mined_from
    from assay.truth.truth_formats import form_to, write

    if is_url(given.repository):
        raise InputError(f"'{given.repository}' is a URL: clone it with all its history, then give the folder")
    root = Path(given.repository).resolve()
    path = given.out or Path(f"{root.name or 'root'}.jsonl")
    form = form_to(path, Truth(path.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        mined = mined_from(root, MineOptions(given.sources or SOURCES, given.at, given.limit, given.seed), watch)
    for note in mined.notes:
        say(note)
    if mined.truth.queries:
        if dropped := write(mined.truth, path, form, lossy=given.lossy):
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {path}")
    click.echo("\n".join(_summary(mined)))
    return 0 if mined.truth.queries else 1


def _summary(mined: MinedTruth) -> Iterator[str]:
    """Yield what was found and what was left out, a source a line and a reason a line."""
    at = f" at {mined.truth.commit[:12]}" if mined.truth.commit else ""
    yield f"{counted(len(mined.truth.queries), 'query')}, {counted(len(mined.truth.judgments), 'answer')}{at}"
    for source, reasons in mined.left_out.items():
        kinds = Counter(query.tags["kind"] for query in mined.truth.queries if query.tags["source"] == source)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        yield f"{source}: {counted(kinds.total(), 'query')}{f' ({listed})' if listed else ''}"
        for reason, count in reasons.items():
            yield f"  {count:>6} left out: {reason}"
