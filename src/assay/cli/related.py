"""`assay related`: a place in a file in, the chunks that have to do with it out."""

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
    limit: int | None = options.limit()
    form: str = form("text", "json", "jsonl", "vimgrep")
    budget: int | None = option("--budget", type=COUNT, metavar="N", help="Print at most N tokens, in whole lines.")
    full: bool = flag("--full", help="Print whole hits, not only their most relevant lines.")
    explained: bool = flag("--explain", help="Print how each score is computed.")
    no_refresh: bool = options.no_refresh()
    chosen: SettingsOptions = shared(SettingsOptions)


@command(RelatedOptions, example="assay related src/app.py:42")
def related(given: RelatedOptions) -> int:
    """Find code related to the function or type at FILE:LINE.

    The hits are what it calls, what calls it, and what is similar, in the folder PATH, by default the current
    folder.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.assemble.search_answer import related_answer
    from assay.cli.answer import AnswerOutput, Look, explain
    from assay.cli.workspaces import PATIENCE_S, open_roots

    file, line = _parsed(given.place)
    opened = open_roots(
        [given.root], given.chosen, limit=given.limit, refresh=not given.no_refresh, patience_s=PATIENCE_S
    )
    path, look = (
        _below(opened[0].index.root, file, given.root),
        Look(given.form, given.budget, full=given.full, explain=given.explained),
    )
    answer = related_answer(opened[0], path, line, opened[0].settings.search.limit, named=look.names_root)
    click.echo(AnswerOutput(answer, (f"{path}:{line}",), opened, look).written(), nl=False, color=True)
    explain(answer, opened)
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
