"""Agents, entries and changes of their files to text: the table of all, a block to paste, a diff in colour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.text import wants_color
from assay.cli.workspaces import say
from assay.errors import InputError, MissingExtra
from assay.serve.agents import jsonc
from assay.serve.agents.agent import NAME, Agent, Entry, Machine
from assay.serve.agents.configured import Change, diff, entry_in, leads_to
from assay.serve.agents.table import AGENTS

_COLORS = {"+": "green", "-": "red", "@": "cyan"}

_MOST_PARTS = 5
"""Folders and names of a path that are shown."""

_HINTS = """\
assay install --agent NAME                 show what would change in the project's file, ask, write
assay install --agent NAME --scope user    the same with the file of the user
assay install --agent NAME --undo          take it back
assay install --print                      the block to paste, for an agent that is not listed"""


def table(project: Path) -> str:
    """Return every agent with its files, and how to go on."""
    rows = [("agent", "", "file of the project", "file of the user"), *_rows(project)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", _HINTS])


def block(agent: Agent, entry: Entry) -> str:
    """Return an entry with what stands around it, in the language of the agent's file."""
    files = [file for place in agent.places().values() for file in place.files]
    keys = [*agent.keys, NAME]
    if not any(file.endswith(".toml") for file in files):
        return jsonc.put("", keys, entry).rstrip("\n")
    from assay.serve.agents import tomls

    return tomls.put("", keys, entry).rstrip("\n")


def show(change: Change) -> None:
    """Print the diff of a change, and say what is odd about it."""
    if change.real and (real := leads_to(change.file)):
        say(f"{change.file} leads to {real}")
    for note in change.notes:
        say(note)
    for row in diff(change) if change.real else ():
        named = row.startswith(("--- ", "+++ "))
        styled = click.style(_harmless(row), fg=None if named else _COLORS.get(row[:1]), bold=named or None)
        click.echo(styled, color=wants_color())


def _rows(project: Path) -> Iterator[tuple[str, str, str, str]]:
    machine = Machine.here()
    for agent in AGENTS:
        files = {scope: machine.file(place, project) for scope, place in agent.places().items()}
        named = {scope: f"{_short(file, project)}{_mark(agent, file)}" for scope, file in files.items()}
        yield agent.name, "found" if machine.has(agent) else "", named.get("project", ""), named.get("user", "")


def _mark(agent: Agent, file: Path) -> str:
    """Return what is to be said of a file."""
    try:
        return " (set up)" if entry_in(file, [*agent.keys, NAME]) is not None else ""
    except (InputError, OSError):
        return " (unreadable)"
    except MissingExtra:  # what changes the file is not installed; the table needs nothing
        return ""


def _short(file: Path, project: Path) -> str:
    """Return a path as people say it."""
    if file.is_relative_to(project):
        return str(file.relative_to(project))
    parts = ("~", *file.relative_to(Path.home()).parts) if file.is_relative_to(Path.home()) else file.parts
    return str(Path(*parts) if len(parts) <= _MOST_PARTS else Path(*parts[:3], "…", parts[-1]))


def _harmless(text: str) -> str:
    """Return a line in which nothing moves a cursor or changes a colour; tabs and line ends stay."""
    return "".join(letter if letter.isprintable() or letter in "\t\n" else repr(letter)[1:-1] for letter in text)
