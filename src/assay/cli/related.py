"""`assay related`: list what calls the unit at a place or of a name, what it calls, its tests, and what is alike."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.errors import InputError, printable
from assay.io.terminal import dumps, say
from assay.operations.requests import print_budget, print_limit
from assay.parameters import Options, argument, flag, form, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.operations.answer import RelatedAnswer
    from assay.operations.workspace import Workspace
    from assay.search.related import RelatedCode, RelatedPlace


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
    or file PATH, by default the current folder. Of several declarations of a name the best is taken; the output says
    of how many. Calls are read from the code and resolved by file, import and receiver; a name that several
    definitions have says so. A line of prose has similar text only.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.workspaces import PATIENCE_S, open_roots, parsed_place, path_below, root_and_file
    from assay.operations.answer import related_answer
    from assay.search.declared_names import typed_names

    is_name = typed_names(given.place).asked and not re.search(r":\d", given.place) and not Path(given.place).is_file()
    file, line = (Path(), 0) if is_name else parsed_place(given.place)
    root, inside = root_and_file(given.root)
    opened = open_roots([root], given.chosen, limit=given.limit, refresh=not given.no_refresh, patience_s=PATIENCE_S)
    name, path = (given.place, inside) if is_name else ("", path_below(opened[0].index.root, file, root))
    named = given.form in {"text", "vimgrep"}
    answer = related_answer(opened[0], path, line, opened[0].settings.search.limit, name, named=named)
    click.echo(_output(answer, name or f"{path}:{line}", opened, given), nl=False)
    if not answer:
        say("nothing found")
    return 0 if answer else 1


def _output(answer: RelatedAnswer, place: str, opened: Sequence[Workspace], given: RelatedOptions) -> str:
    """Return what to print; with a budget, as many places of each group as that holds."""
    from assay.terms import tokens

    code, budget = answer.code, given.budget
    most = max(map(len, code.groups.values()))
    for count in range(most, 0, -1):
        groups = {name: places[:count] for name, places in code.groups.items()}
        found = _written(replace(code, groups=groups), place, opened, given)
        if budget is None or tokens(found) <= budget:
            return found
    if most:
        raise InputError(f"a budget of {budget} tokens does not hold one place of each group; give it more")
    return _written(code, place, opened, given)


def _written(code: RelatedCode, place: str, opened: Sequence[Workspace], given: RelatedOptions) -> str:
    from assay.cli.workspaces import about
    from assay.search.related import GROUPS, related_text

    if given.form == "text":
        return related_text(code, explain=given.explained)
    if given.form == "json":
        groups = {str(group): [_row(place, "group") for place in code.groups[group]] for group in GROUPS}
        first: dict[str, Any] = {"place": place, "subject": _row(code.subject, "group"), **groups, "total": code.total}
        note = {"note": code.note} if code.note else {}
        return dumps({**first, **note, "index": about(opened, brief=given.budget is not None)}) + "\n"
    every = [each for group in GROUPS for each in code.groups[group]]
    if given.form == "jsonl":
        return "".join(dumps(_row(each)) + "\n" for each in every)
    return "".join(f"{printable(each.path)}:{each.line}:1:{each.group}: {_place_remark(each)}\n" for each in every)


def _place_remark(place: RelatedPlace) -> str:
    name = place.name or place.kind
    among = f" (one of {place.among} definitions of that name)" if place.among > 1 else ""
    return f"{printable(name)}{among}: {printable(place.text)}" if place.text else f"{printable(name)}{among}"


def _row(place: RelatedPlace, *left_out: str) -> dict[str, Any]:
    """Return a place as JSON has it (docs/formats.md)."""
    from assay.operations.related import related_unit
    from assay.operations.sizing import as_row

    return as_row(related_unit(place, explain=True), *left_out)
