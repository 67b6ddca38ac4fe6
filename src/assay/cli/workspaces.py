"""Paths as they were typed to workspaces ready to be searched, and a word on standard error about what is odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from assay.assemble import AnyIndex, Workspace, open_workspace, root_of
from assay.cli.options import Chosen
from assay.cli.progress import progress
from assay.corpus.clone import is_url
from assay.errors import InputError, printable
from assay.search.index import Report
from assay.settings import Settings


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace, its settings, and what it was called."""

    typed: str
    workspace: Workspace
    settings: Settings


PATIENCE_S = 0.5
"""How long a search waits for another process to bring an index up to date before it takes it as it was."""


def open_roots(
    typed: Sequence[str],
    chosen: Chosen,
    *,
    limit: int | None = None,
    refresh: bool = True,
    patience_s: float | None = None,
    check: bool = False,
    asked: bool = False,
) -> list[Opened]:
    """Open every root, each once; all is checked before any index is made. `asked` says that a question came first."""
    roots: dict[Path, str] = {}
    if "" in typed:
        raise InputError("a PATH is empty: name a folder, or . for the current one")
    for path in typed:
        roots.setdefault(root_of(path, refresh=refresh, asked=asked), path)
    if chosen.location and len(roots) > 1:
        raise InputError("--index names one index, and several paths were given: take them one by one")
    settings = {root: chosen.settings(root, limit=limit) for root in roots}
    opened = []
    for root, path in roots.items():
        with progress() as watch:
            workspace = open_workspace(
                root, settings[root], refresh=refresh, progress=watch, patience_s=patience_s, check=check
            )
        opened.append(Opened(str(root) if is_url(path) else path, workspace, settings[root]))
        _tell(path, workspace.report, verbose=chosen.verbose)
    return opened


def say(message: str) -> None:
    """Write one line to standard error."""
    click.echo(f"assay: {printable(message)}", err=True)


def summary(report: Report) -> str:
    """Return what an index holds and what was done to it, as one line."""
    done = [f"{number} {what}" for what, number in report.changed.counts().items() if number]
    changed = f" ({', '.join(done)})" if done else ""
    held = f"{counted(report.files, 'file')}, {counted(report.chunks, 'chunk')}"
    return f"{held}{changed} in {report.seconds:.2f} s"


def counted(number: int, thing: str) -> str:
    """Return a number with its thing, in the plural where it is not one."""
    many = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def about(opened: Sequence[Opened]) -> dict[str, Any]:
    """Return the indexes of some roots as JSON has them: their sums, then each."""
    roots = [as_dict(one.workspace) for one in opened]
    return {**{key: sum(root[key] for root in roots) for key in ("files", "chunks")}, "roots": roots}


def facts(index: AnyIndex, report: Report) -> dict[str, Any]:
    """Return which index it is and what it holds, as JSON has it."""
    return {
        "root": str(index.root),
        "location": index.location,
        "encoder": index.encoder.name,
        "files": report.files,
        "chunks": report.chunks,
    }


def as_dict(workspace: Workspace) -> Mapping[str, Any]:
    """Return the index of one root as JSON has it."""
    index, report = workspace.index, workspace.report
    return {
        **facts(index, report),
        **report.changed.counts(),
        "skipped": len(report.skipped),
        "notes": len(report.notes),
        "rebuilt_because": report.rebuilt_because,
        "seconds": round(report.seconds, 3),
    }


def _tell(path: str, report: Report, *, verbose: bool) -> None:
    """Say what a reader should know about an index before trusting an answer."""
    if report.rebuilt_because:
        say(f"index of '{path}' rebuilt: {report.rebuilt_because}")
    if report.busy:
        say(f"files of '{path}' changed and another process is indexing them; this is from before")
    if not report.files:
        say(f"nothing to search in '{path}': {_empty(report)}")
    if verbose:
        say(summary(report))


def _empty(report: Report) -> str:
    if not report.skipped:
        return "it holds no file"
    first = report.skipped[0]
    return f"none of its files has text to index ({len(report.skipped)} left out, '{first.path}': {first.reason})"
