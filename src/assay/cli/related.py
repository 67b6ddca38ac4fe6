"""`assay related`: list what calls the unit at a place or of a name, what it calls, its tests, and what is alike."""

from __future__ import annotations

import re
from pathlib import Path

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.io.terminal import say
from assay.operations.requests import print_budget, print_limit
from assay.parameters import Options, argument, flag, form, shared


class RelatedOptions(Options):
    """Options of `assay related`."""

    place: str = argument("FILE:LINE|NAME")
    root: str = argument("[PATH]", default=".")
    limit: int | None = print_limit("places of each group")
    form: str = form("text", "json", "jsonl", "vimgrep")
    budget: int | None = print_budget()
    explained: bool = flag("--explain", "Print every line that calls, and how alike the similar units are.")
    no_refresh: bool = options.no_refresh()
    chosen: SettingsOptions = shared(SettingsOptions)


@command(RelatedOptions, example="assay related Task.retry")
def related(given: RelatedOptions) -> int:
    """List the callers, callees and tests of the unit at FILE:LINE or of a NAME, and similar code.

    The unit is the whole function, method or type around the line, or the one that declares the name, in the folder
    PATH, by default the current folder. Of several declarations of a name the best is taken; the output says of how
    many. Calls are read from the code and resolved by file, import and receiver; a name that several definitions have
    says so. A line of prose has similar text only.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.related_output import related_output
    from assay.cli.typed_paths import parsed_place, path_below
    from assay.cli.workspaces import PATIENCE_S, open_roots
    from assay.operations.answer import related_answer
    from assay.search.declared_names import typed_names

    is_name = typed_names(given.place).asked and not re.search(r":\d", given.place) and not Path(given.place).is_file()
    file, line = (Path(), 0) if is_name else parsed_place(given.place)
    opened = open_roots(
        [given.root], given.chosen, limit=given.limit, refresh=not given.no_refresh, patience_s=PATIENCE_S
    )
    name, path = (given.place, "") if is_name else ("", path_below(opened[0].index.root, file, given.root))
    named = given.form in {"text", "vimgrep"}
    answer = related_answer(opened[0], path, line, opened[0].settings.search.limit, name, named=named)
    click.echo(related_output(answer, name or f"{path}:{line}", opened, given), nl=False)
    if not answer:
        say("nothing found")
    return 0 if answer else 1
