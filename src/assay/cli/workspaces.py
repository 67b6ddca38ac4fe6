"""Open the workspaces of the command line, and print notes about their indexes to stderr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from assay.cli.options import SettingsOptions
from assay.cli.progress import progress
from assay.errors import InputError, counted
from assay.io.terminal import say
from assay.operations.indexes import AnyIndex, root_of
from assay.operations.workspace import OpenedRoots, RootOpening, Workspace, open_many
from assay.search.folder_index import IndexReport
from assay.settings import Settings
from assay.store.place import default_location, holds_many, is_bucket

PATIENCE_S = 0.5
"""How long a search waits for another process to bring an index up to date before it takes it as it was."""

_NAMED = 10


def open_roots(
    paths: Sequence[str],
    chosen: SettingsOptions,
    *,
    limit: int | None = None,
    refresh: bool = True,
    patience_s: float | None = None,
    check_all: bool = False,
) -> list[Workspace]:
    """Open every root with the settings that the options ask for, and say what is odd about its index."""
    how = RootOpening(
        lambda root: chosen.settings(root, limit=limit),
        refresh=refresh,
        patience_s=patience_s,
        check_all=check_all,
        strict=True,
    )
    return list(_open(paths, chosen, how).workspaces)


def _open(paths: Sequence[str], chosen: SettingsOptions, how: RootOpening) -> OpenedRoots:
    with progress() as watch:
        opened = open_many(paths, replace(how, progress=watch))
    for workspace in opened.workspaces:
        explain(workspace, verbose=chosen.verbose)
    return opened


def folders_of(roots: Sequence[str], chosen: SettingsOptions, verb: str) -> list[Path]:
    """Return the folders that were named, each once, without one the current folder; one index is of one of them."""
    folders = list(dict.fromkeys(map(root_of, roots or (".",))))
    if chosen.location and len(folders) > 1 and not holds_many(chosen.location):
        raise InputError(f"--index names one index, and several paths were given: {verb} them one by one")
    return folders


def served_roots(roots: Sequence[str], chosen: SettingsOptions) -> dict[Path, Settings]:
    """Return the roots to serve with their settings: folders, and those that stand for what is in a bucket."""
    folders = folders_of([path for path in roots if not is_bucket(path)], chosen, "serve") if _any_folder(roots) else []
    served = {root: chosen.settings(root) for root in folders}
    for place in filter(is_bucket, roots):
        from assay.operations.published import published_roots

        served |= published_roots(place, chosen.settings(Path(place)))
    return served


def _any_folder(roots: Sequence[str]) -> bool:
    return not roots or not all(map(is_bucket, roots))


def some_of(names: Iterable[object]) -> str:
    """Return names in a row, of many only the first and how many more there are."""
    every = list(map(str, names))
    more = f" and {len(every) - _NAMED:,} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more


def summary(report: IndexReport) -> str:
    """Return what an index holds and what was done to it, as one line."""
    done = [f"{number} {what}" for what, number in report.changed.counts().items() if number]
    changed = f" ({', '.join(done)})" if done else ""
    described = f", {report.described:,} described" if report.described else ""
    held = f"{counted(report.files, 'file')}, {counted(report.chunks, 'chunk')}{described}"
    return f"{held}{changed} in {report.seconds:.2f} s"


def about(opened: Sequence[Workspace], *, brief: bool = False) -> dict[str, Any]:
    """Return the indexes of some roots as JSON has them: their sums, then each; in brief only one that is alone."""
    roots = list(map(as_dict, opened))
    sums = {key: sum(root[key] for root in roots) for key in ("files", "chunks")}
    return {**sums, **({} if brief and len(roots) > 1 else {"roots": roots})}


def facts(index: AnyIndex, report: IndexReport) -> dict[str, Any]:
    """Return which index it is and what it holds, as JSON has it."""
    return {
        "root": str(index.root),
        "location": index.location,
        "encoder": index.encoder.name,
        "files": report.files,
        "chunks": report.chunks,
        **({"described": report.described} if report.described else {}),
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
        "stale": report.stale,
        "seconds": round(report.seconds, 3),
    }


def explain(workspace: Workspace, *, verbose: bool = False) -> None:
    """Say what a reader should know about an index before trusting an answer; in full, also what was done to it."""
    path, report = workspace.name, workspace.report
    if workspace.note:
        say(workspace.note)
    if report.rebuilt_because:
        say(f"index of '{path}' rebuilt: {report.rebuilt_because}")
    if report.busy:
        say(f"files of '{path}' changed and another process is indexing them; this is from before")
    if report.unwritten:
        say(f"{report.unwritten}; files of '{path}' changed, and this is from before")
    if not report.files:
        say(f"nothing to search in '{path}': {_empty(report)}")
    if verbose:
        say(summary(report))


def _empty(report: IndexReport) -> str:
    if not report.skipped:
        return "it holds no file"
    first = report.skipped[0]
    return f"none of its files has text to index ({len(report.skipped)} left out, '{first.path}': {first.reason})"


def parsed_place(place: str) -> tuple[str, int]:
    """Take `FILE:LINE` apart; a column or a range after the line, as compilers print them, is passed over."""
    found = re.fullmatch(r"(.+?):(\d+)(?:[:-]\d+)*:?", place)
    if not found or not int(found[2]):
        raise InputError(
            f"'{place}' is neither a place nor a name: give FILE:LINE or NAME, as in src/main.py:12, Task.retry"
        )
    return found[1], int(found[2])


def root_and_file(typed: str) -> tuple[str, str]:
    """Return the root that a PATH means, and of a file its path below that root.

    The root of a file is the nearest folder above it that has an index or is a repository, else its own folder.
    """
    if not Path(typed).is_file():
        return typed, ""
    file = Path(typed).resolve()
    above = (folder for folder in file.parents if (folder / ".git").exists() or default_location(folder).exists())
    root = next(above, file.parent)
    return str(root) if Path(typed).is_absolute() else os.path.relpath(root), file.relative_to(root).as_posix()


def roots_and_globs(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the roots that PATHs mean, and where they are files of one root the globs that keep to these."""
    places = list(map(root_and_file, paths))
    roots, files = list(dict.fromkeys(root for root, _ in places)), [file for _, file in places if file]
    if files and (len(roots) > 1 or len(files) < len(places)):
        raise InputError(f"files and folders cannot be searched together: {some_of(paths)}; name files of one folder")
    return roots, tuple(f"./{escape(file)}" for file in files)
