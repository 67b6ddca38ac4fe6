"""`assay index`: folders in, their indexes made or brought up to date."""

from __future__ import annotations

from dataclasses import dataclass

import click

from assay.cli.command import argument, command, form, shared
from assay.cli.options import SettingsOptions


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of `assay index`."""

    roots: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    form: str = form("text", "json")
    chosen: SettingsOptions = shared(SettingsOptions)


@command(IndexOptions, example="assay index .")
def index(given: IndexOptions) -> int:
    """Build or update an index.

    A search does this by itself. This command does it beforehand, reads all of an index, and rebuilds it if it is
    corrupt. Each PATH is a folder or the URL of a git repository, by default the current folder.

    Exits 0 if there is something to search, 1 if there is nothing, 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.workspaces import about, open_roots, summary

    opened = open_roots(given.roots or (".",), given.chosen, check_all=True)
    if given.form == "json":
        click.echo(dumps(about(opened)))
    else:
        for one in opened:
            click.echo(f"{one.name}: {summary(one.report)}")
    return 0 if all(one.report.files for one in opened) else 1
