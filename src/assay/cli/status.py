"""Print what an index holds, leaves out and lags behind in, without changing it: `assay status`.

Every byte of the index is read, for that takes 33 ms where it has 230 MB: *whole* is what was found, not what is hoped.
Of an index in a bucket the copies are read, of which there is one of each file then, and the answer says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.errors import DamagedIndex, counted
from assay.io.terminal import dumps, say
from assay.parameters import Options, argument, form, shared

if TYPE_CHECKING:
    from assay.operations.indexes import AnyIndex
    from assay.search.folder_index import Freshness


class StatusOptions(Options):
    """Options of `assay status`."""

    path: str = argument("[PATH]", default=".")
    form: str = form("text", "json")
    chosen: SettingsOptions = shared(SettingsOptions)


@command(StatusOptions, example="assay status . -v")
def status(given: StatusOptions) -> int:
    """Show what the index of PATH holds, what it leaves out, and what changed since.

    Files that were left out are counted by reason, stale files by what happened to them: added, changed or removed.
    With -v each is named, and so are files whose grammar failed. Nothing is written.

    Exits 0 if there is an index and it is intact, 1 if there is none, 2 if it is corrupt or cannot be read.
    """
    from assay.operations.published import indexes_at
    from assay.store.place import holds_many

    found = [(name, index, *_looked_at(index)) for name, index in indexes_at(given.path, given.chosen.settings)]
    if given.form == "json":
        abouts = [_about(*one[1:]) for one in found]
        click.echo(dumps({"roots": abouts} if holds_many(given.path) else abouts[0]))
    else:
        texts = [
            _text(index, standing, verbose=given.chosen.verbose)
            for _, index, standing, damage in found
            if standing and not damage
        ]
        click.echo("\n".join(texts), nl=False)
    return max(_explained(name, index, standing, damage, given) for name, index, standing, damage in found)


def _looked_at(index: AnyIndex) -> tuple[Freshness | None, str]:
    """Return how an index stands against the files, and what is damaged."""
    try:
        standing = index.standing()
        return standing, index.check() if standing else ""
    except DamagedIndex as error:
        return None, str(error)


def _explained(name: str, index: AnyIndex, standing: Freshness | None, damage: str, given: StatusOptions) -> int:
    """Say what is wrong with an index, and what to do; return the exit status that says so."""
    from assay.search.retrievers import rebuild_command
    from assay.store.place import is_bucket

    path, location = ("PATH", index.location) if is_bucket(given.path) else (given.path, given.chosen.location)
    if damage:
        say(f"the index of '{name}' is corrupt: {damage}; {rebuild_command(path, location)} rebuilds it")
        return 2
    if standing is None:
        say(f"no index of '{name}' yet: {rebuild_command(path, location)}")
        return 1
    return 0


def _facts(index: AnyIndex, standing: Freshness) -> dict[str, Any]:
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


def _about(index: AnyIndex, standing: Freshness | None, damage: str) -> dict[str, Any]:
    about: dict[str, Any] = {"root": str(index.root), "location": index.location}
    if standing and not damage:
        left_out = [{"path": each.path, "reason": each.reason} for each in standing.report.skipped]
        about = {
            **_facts(index, standing),
            "stale": asdict(standing.stale) if standing.is_compared else None,
            "left_out": left_out,
        }
        about |= {"notes": dict(standing.report.notes), "rebuild_because": standing.rebuild_because}
    return about | {"indexed": standing is not None, "whole": bool(standing and not damage), "damage": damage}


def _text(index: AnyIndex, standing: Freshness, *, verbose: bool) -> str:

    facts = {**_facts(index, standing), "whole": f"yes, {index.verified}"}
    rows = [f"{name.replace('_', ' '):<10}{value}" for name, value in facts.items()]
    for what, paths in asdict(standing.stale).items():
        if paths:
            rows.append(f"{'stale':<10}{counted(len(paths), 'file')} {what} since")
            rows += [f"{'':<12}{path}" for path in paths if verbose]
    if not standing.stale:
        rows.append(f"{'stale':<10}{'no file' if standing.is_compared else 'not known: it is read as it is'}")
    if standing.rebuild_because:
        rows.append(f"{'stale':<10}all of it: {standing.rebuild_because}")
    rows += _group("left out", {each.path: each.reason for each in standing.report.skipped}, verbose=verbose)
    rows += _group("noted", standing.report.notes, verbose=verbose)
    return "\n".join(rows) + "\n"


def _group(title: str, said: Mapping[str, str], *, verbose: bool) -> list[str]:
    """Return how many files each thing was said of, the most frequent first, and their names if asked for."""
    rows = []
    for kind, count in Counter(map(_kind, said.values())).most_common():
        rows.append(f"{title:<10}{counted(count, 'file')}: {kind}")
        rows += [f"{'':<12}{path}: {text}" for path, text in sorted(said.items()) if verbose and _kind(text) == kind]
    return rows


def _kind(text: str) -> str:
    """Return what is said without what is of the one file alone: another's name, its size."""
    return re.sub(r"^(a copy of) .*", r"\1 another", re.sub(r"^[\d.]+ MB, ", "", text))
