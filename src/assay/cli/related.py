"""`assay related`: a place in a file in, what calls the unit there, what it calls, its tests, and what is alike out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli import options
from assay.cli.command import COUNT, argument, command, flag, form, option, shared
from assay.cli.options import SettingsOptions
from assay.errors import InputError
from assay.store.bucket_place import is_bucket


@dataclass(frozen=True, slots=True)
class RelatedOptions:
    """Options of `assay related`."""

    place: str = argument("FILE:LINE")
    root: str = argument("[PATH]", default=".")
    limit: int | None = option(
        "-k", "--limit", type=COUNT, metavar="N", help="Print at most N places of each group.  [default: 10]"
    )
    form: str = form("text", "json", "jsonl", "vimgrep")
    budget: int | None = option("--budget", type=COUNT, metavar="N", help="Print at most N tokens, in whole lines.")
    explained: bool = flag("--explain", help="Print every line that calls, and how alike the similar units are.")
    no_refresh: bool = options.no_refresh()
    chosen: SettingsOptions = shared(SettingsOptions)


@command(RelatedOptions, example="assay related src/app.py:42")
def related(given: RelatedOptions) -> int:
    """List the callers, callees and tests of the unit at FILE:LINE, and similar code.

    The unit is the whole function, method or type around the line, in the folder PATH, by default the current
    folder. Calls are read from the code and resolved by file, import and receiver; a name that several definitions
    have says so. A line of prose has similar text only.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.assemble.related_answer import related_answer
    from assay.cli.related_output import RelatedOutput
    from assay.cli.workspaces import PATIENCE_S, open_roots, say

    file, line = _parsed(given.place)
    opened = open_roots(
        [given.root], given.chosen, limit=given.limit, refresh=not given.no_refresh, patience_s=PATIENCE_S
    )
    path = _below(opened[0].index.root, file, given.root)
    named = given.form in {"text", "vimgrep"}
    answer = related_answer(opened[0], path, line, opened[0].settings.search.limit, named=named)
    output = RelatedOutput(answer, f"{path}:{line}", opened, given.budget, explain=given.explained)
    click.echo(output.written(given.form), nl=False)
    if not answer:
        say("nothing found")
    return 0 if answer else 1


def _parsed(place: str) -> tuple[Path, int]:
    """Take `FILE:LINE` apart; a column or a range after the line, as compilers print them, is passed over."""
    found = re.fullmatch(r"(.+?):(\d+)(?:[:-]\d+)*:?", place)
    if not found or not int(found[2]):
        raise InputError(f"'{place}' is not a place: give FILE:LINE, such as src/main.py:12")
    return Path(found[1]), int(found[2])


def _below(root: Path, file: Path, typed: str) -> str:
    """Return the path of a file as the index of a root has it."""
    if is_bucket(typed):
        return file.as_posix()
    if not file.is_file():
        raise InputError(f"no such file: '{file}'")
    absolute = file.resolve()
    if not absolute.is_relative_to(root):
        raise InputError(f"'{file}' is not below '{typed}': name its folder after FILE:LINE")
    return absolute.relative_to(root).as_posix()
