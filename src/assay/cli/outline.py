"""Print the signatures and headings of files: `assay outline`."""

from __future__ import annotations

from dataclasses import asdict

import click

from assay.cli.adapter import command
from assay.errors import printable
from assay.io.terminal import dumps, printable_line
from assay.operations.requests import globs_option
from assay.parameters import Options, argument, form


class OutlineOptions(Options):
    """Options of `assay outline`."""

    paths: tuple[str, ...] = argument("[PATH]...")
    file: tuple[str, ...] = globs_option()
    form: str = form("text", "jsonl")


@command(OutlineOptions, example="assay outline src --file '*.py'")
def outline(given: OutlineOptions) -> int:
    """Print what files declare: the signatures of code and the headings of prose, with their lines.

    Each PATH is a file or a folder, by default the current folder. The files are those that an index would hold.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.workspaces import listed_files
    from assay.operations.read import outline_of

    found = False
    for path, file in listed_files(given.paths, given.file):
        one = outline_of(file)
        if one is None:
            continue
        if given.form == "jsonl":
            row = {"path": path, **{key: each for key, each in asdict(one).items() if key not in {"path", "root"}}}
            click.echo(dumps(row))
        else:
            lines = (f"  {printable_line(line, clip=True)}" for line in one.signatures)
            click.echo("\n".join((*([""] if found else []), printable(path), *lines)))
        found = True
    return 0 if found else 1
