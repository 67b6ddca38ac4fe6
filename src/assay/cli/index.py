"""`assay index`: folders in, their indexes made or brought up to date."""

from __future__ import annotations

import click

from assay.cli import options
from assay.cli.options import Chosen


@click.command(short_help="Make an index, or bring it up to date.")
@click.argument("roots", nargs=-1, metavar="[PATH]...")
@options.form("text", "json")
@options.with_settings
@click.pass_context
def index(context: click.Context, roots: tuple[str, ...], form: str, chosen: Chosen) -> None:
    """Make an index, or bring it up to date.

    A search does this by itself; this does it beforehand, and reads all of an index to make it anew where it is
    damaged. Each PATH is a folder or the URL of a git repository; without one it is the current folder.

    Leaves with 0 when there is something to search, 1 when there is nothing, 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.workspaces import about, open_roots, summary

    opened = open_roots(roots or (".",), chosen, check=True)
    if form == "json":
        click.echo(dumps(about(opened)))
    else:
        for one in opened:
            click.echo(f"{one.typed}: {summary(one.workspace.report)}")
    context.exit(0 if all(one.workspace.report.files for one in opened) else 1)
