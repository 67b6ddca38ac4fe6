"""`assay truth mine`: a repository in, ground truth from its own history, documentation and tests out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.bench.mine.told import SOURCES
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.bench.mine.mine import Mined


@click.command(short_help="Make ground truth of a repository.")
@click.argument("repository", metavar="REPO")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write.  [default: NAME.jsonl]")
@click.option(
    "--from", "sources", multiple=True, type=click.Choice(SOURCES), help="What to mine. Repeatable.  [default: all]"
)
@click.option("--at", default="", metavar="COMMIT", help="Pin this commit, and ask what came after it.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True, help="Queries of each source.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which functions and tests are drawn.")
@click.option("--lossy", is_flag=True, help="Drop what the format of FILE cannot hold.")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def mine(
    context: click.Context,
    repository: str,
    out: Path | None,
    sources: tuple[str, ...],
    at: str,
    limit: int,
    seed: int,
    lossy: bool,
) -> None:
    """Make ground truth of a repository, without a language model.

    History: what a commit is called asks for the functions that it changed. The repository is pinned to a commit
    before those, so that no answer is known to what is searched. Docs: the first sentence of a documentation asks
    for its function. Tests: the name of a test asks for the function that it tests. The lines that hold such a
    question are hidden from every index that `assay bench` makes.

    REPO is a folder with its history; a shallow clone has next to none. FILE ends in .jsonl, which holds everything,
    or in .csv.

    Leaves with 0 when there is a query, 1 when there is none, 2 on an error.
    """
    from assay.bench.files import form_to, write
    from assay.bench.mine.mine import Options
    from assay.bench.mine.mine import mine as mined_from
    from assay.bench.truth import Truth
    from assay.cli.progress import progress
    from assay.cli.workspaces import say
    from assay.corpus.clone import is_url

    if is_url(repository):
        raise InputError(f"'{repository}' is a URL: clone it with all its history, then give the folder")
    root = Path(repository).resolve()
    path = out or Path(f"{root.name or 'root'}.jsonl")
    form = form_to(path, Truth(path.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        mined = mined_from(root, Options(sources or SOURCES, at, limit, seed), watch)
    for note in mined.notes:
        say(note)
    if mined.truth.queries:
        dropped = write(mined.truth, path, form, lossy=lossy)
        if dropped:
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {path}")
    for line in _told(mined):
        click.echo(line)
    context.exit(0 if mined.truth.queries else 1)


def _told(mined: Mined) -> Iterator[str]:
    """Yield what was found and what was left out, a source a line and a reason a line."""
    from assay.cli.workspaces import counted

    at = f" at {mined.truth.commit[:12]}" if mined.truth.commit else ""
    yield f"{counted(len(mined.truth.queries), 'query')}, {counted(len(mined.truth.judgments), 'answer')}{at}"
    for source, reasons in mined.left_out.items():
        kinds = Counter(query.tags["kind"] for query in mined.truth.queries if query.tags["source"] == source)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        yield f"{source}: {counted(kinds.total(), 'query')}{f' ({listed})' if listed else ''}"
        for reason, count in reasons.items():
            yield f"  {count:>6} left out: {reason}"
