"""`assay related`: a place in a file in, the chunks that have to do with it out."""

from __future__ import annotations

import re
from pathlib import Path

import click

from assay.cli import options
from assay.cli.options import Chosen
from assay.errors import InputError


@click.command(short_help="Find what has to do with a place.")
@click.argument("place", metavar="FILE:LINE")
@click.argument("root", default=".", metavar="[PATH]")
@options.limit
@options.form("text", "json", "jsonl", "vimgrep")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Print at most N tokens, in whole lines.")
@click.option("--full", is_flag=True, help="Print whole hits, not their most telling lines.")
@click.option("--explain", is_flag=True, help="Print what each score is made of.")
@options.no_refresh
@options.with_settings
@click.pass_context
def related(
    context: click.Context,
    place: str,
    root: str,
    limit: int | None,
    form: str,
    budget: int | None,
    full: bool,
    explain: bool,
    no_refresh: bool,
    chosen: Chosen,
) -> None:
    """Find what has to do with the unit at FILE:LINE.

    The hits are what it calls, what calls it, and what is like it, in the folder PATH; without one in the
    current folder.

    Leaves with 0 when something was found, 1 when nothing was, 2 on an error.
    """
    from assay.cli.answer import Look, find_related
    from assay.cli.workspaces import PATIENCE_S, open_roots, say

    file, line = _parsed(place)
    (opened,) = open_roots([root], chosen, limit=limit, refresh=not no_refresh, patience_s=PATIENCE_S)
    answer = find_related(opened, _below(opened.workspace.index.root, file, root), line, form)
    click.echo(answer.written(Look(form, budget, full=full, explain=explain)), nl=False, color=True)
    if not answer:
        say("nothing found")
    context.exit(0 if answer else 1)


def _parsed(place: str) -> tuple[Path, int]:
    """Take `FILE:LINE` apart; a column or a range after the line, as compilers print them, is passed over."""
    found = re.fullmatch(r"(.+?):(\d+)(?:[:-]\d+)*:?", place)
    if not found or not int(found[2]):
        raise InputError(f"'{place}' is no place: give FILE:LINE, such as src/main.py:12")
    return Path(found[1]), int(found[2])


def _below(root: Path, file: Path, typed: str) -> str:
    """Return the path of a file as the index of a root has it."""
    if not file.is_file():
        raise InputError(f"no such file: '{file}'")
    absolute = file.resolve()
    if not absolute.is_relative_to(root):
        raise InputError(f"'{file}' is not below '{typed}': name its folder after FILE:LINE")
    return absolute.relative_to(root).as_posix()
