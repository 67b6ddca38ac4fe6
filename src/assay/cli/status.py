"""`assay status`: a folder in, what its index holds and what it leaves out, without changing it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.options import Chosen

if TYPE_CHECKING:
    from assay.assemble import AnyIndex
    from assay.search.index import Report


@click.command(short_help="Show what an index holds and leaves out.")
@click.argument("path", default=".", metavar="[PATH]")
@options.form("text", "json")
@options.with_settings
@click.pass_context
def status(context: click.Context, path: str, form: str, chosen: Chosen) -> None:
    """Show what the index of PATH holds and leaves out.

    Files that were left out are counted by reason, and named with -v; so are files whose grammar failed.
    Leaves with 0 when there is an index, 1 when there is none, 2 on an error.
    """
    from assay.assemble import root_of, status_of
    from assay.cli.answer import dumps
    from assay.cli.workspaces import say

    root = root_of(path)
    index, report = status_of(root, chosen.settings(root))
    if report is None:
        say(f"no index of '{path}' yet: assay index {path}")
        context.exit(1)
    facts = _facts(index, report)
    if form == "json":
        click.echo(dumps({**facts, "left_out": _listed(report), "notes": dict(report.notes)}))
    else:
        click.echo(_text(facts, report, verbose=chosen.verbose), nl=False)


def _facts(index: AnyIndex, report: Report) -> dict[str, Any]:
    from assay.cli.workspaces import facts

    size = index.size_bytes()
    return {**facts(index, report), **({} if size is None else {"size_mb": round(size / 1e6, 1)})}


def _listed(report: Report) -> list[dict[str, str]]:
    return [{"path": each.path, "reason": each.reason} for each in report.skipped]


def _text(facts: Mapping[str, Any], report: Report, *, verbose: bool) -> str:
    rows = [f"{name.replace('_', ' '):<10}{value}" for name, value in facts.items()]
    rows += _group("left out", {each.path: each.reason for each in report.skipped}, verbose=verbose)
    rows += _group("noted", report.notes, verbose=verbose)
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
    """Return what is said without the file that it is said in relation to."""
    return re.sub(r"^(same text as) .*", r"\1 another", text)
