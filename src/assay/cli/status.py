"""`assay status`: a folder in, what its index holds, leaves out and lags behind in, without changing it.

Every byte of the index is read, for that takes 33 ms where it has 230 MB: *whole* is what was found, not what is hoped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.options import Chosen

if TYPE_CHECKING:
    from assay.assemble import AnyIndex
    from assay.search.index_report import Standing


@click.command(short_help="Show what an index holds, leaves out and lags behind in.")
@click.argument("path", default=".", metavar="[PATH]")
@options.form("text", "json")
@options.with_settings
@click.pass_context
def status(context: click.Context, path: str, form: str, chosen: Chosen) -> None:
    """Show what the index of PATH holds, leaves out and lags behind in.

    Files that were left out are counted by reason, stale ones by what happened to them: added, changed or removed
    since. With -v each is named, and so are files whose grammar failed. Nothing is changed.

    Leaves with 0 when there is an index and all of it is as it was written, 1 when there is none, 2 when it is
    damaged or cannot be read.
    """
    from assay.assemble import index_of, root_of
    from assay.cli.workspaces import say
    from assay.errors import StorageError
    from assay.search.checked import anew

    root = root_of(path)
    index = index_of(root, chosen.settings(root))
    try:
        standing = index.standing()
        damage = index.check() if standing else ""
    except StorageError as error:
        standing, damage = None, str(error)
    if form == "json":
        _echo_json(index, standing, damage)
    elif standing and not damage:
        click.echo(_text(index, standing, verbose=chosen.verbose), nl=False)
    if damage:
        step = "" if "--index" in damage else f"; {anew(path, chosen.location)} makes it anew"
        say(f"the index of '{path}' is not whole: {damage}{step}")
        context.exit(2)
    if standing is None:
        say(f"no index of '{path}' yet: {anew(path, chosen.location)}")
        context.exit(1)


def _facts(index: AnyIndex, standing: Standing) -> dict[str, Any]:
    from datetime import UTC, datetime

    from assay.cli.workspaces import facts

    size = index.size_bytes()
    return {
        **facts(index, standing.report),
        "encoder": standing.encoder,
        **({} if size is None else {"size_mb": round(size / 1e6, 1)}),
        "format": standing.form,
        "updated": datetime.fromtimestamp(standing.updated_s, UTC).isoformat(timespec="seconds"),
    }


def _echo_json(index: AnyIndex, standing: Standing | None, damage: str) -> None:
    from assay.cli.answer import dumps

    about: dict[str, Any] = {"root": str(index.root), "location": index.location}
    if standing and not damage:
        left_out = [{"path": each.path, "reason": each.reason} for each in standing.report.skipped]
        about = {**_facts(index, standing), "stale": asdict(standing.stale), "left_out": left_out}
        about |= {"notes": dict(standing.report.notes), "rebuild_because": standing.rebuild_because}
    about |= {"indexed": standing is not None, "whole": bool(standing and not damage), "damage": damage}
    click.echo(dumps(about))


def _text(index: AnyIndex, standing: Standing, *, verbose: bool) -> str:
    from assay.cli.workspaces import counted

    facts = {**_facts(index, standing), "whole": "yes, every byte was read"}
    rows = [f"{name.replace('_', ' '):<10}{value}" for name, value in facts.items()]
    for what, paths in asdict(standing.stale).items():
        if paths:
            rows.append(f"{'stale':<10}{counted(len(paths), 'file')} {what} since")
            rows += [f"{'':<12}{path}" for path in paths if verbose]
    if not standing.stale:
        rows.append(f"{'stale':<10}no file")
    if standing.rebuild_because:
        rows.append(f"{'stale':<10}all of it: {standing.rebuild_because}")
    rows += _group("left out", {each.path: each.reason for each in standing.report.skipped}, verbose=verbose)
    rows += _group("noted", standing.report.notes, verbose=verbose)
    return "\n".join(rows) + "\n"


def _group(title: str, said: Mapping[str, str], *, verbose: bool) -> list[str]:
    """Return how many files each thing was said of, the most frequent first, and their names if asked for."""
    from assay.cli.workspaces import counted

    rows = []
    for kind, count in Counter(map(_kind, said.values())).most_common():
        rows.append(f"{title:<10}{counted(count, 'file')}: {kind}")
        rows += [f"{'':<12}{path}: {text}" for path, text in sorted(said.items()) if verbose and _kind(text) == kind]
    return rows


def _kind(text: str) -> str:
    """Return what is said without what is of the one file alone: another's name, its size."""
    return re.sub(r"^(a copy of) .*", r"\1 another", re.sub(r"^[\d.]+ MB, ", "", text))
