"""Agents, entries and changes of their files to text: the table of all, a block to paste, a diff in colour."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import click

from assay.errors import InputError, MissingExtra
from assay.io.terminal import harmless, say, wants_color
from assay.serve.agents import edit_journal
from assay.serve.agents.agent import NAME, Agent, Entry, SettingsPlaces
from assay.serve.agents.agent_files import resolved
from assay.serve.agents.agents_table import AGENTS
from assay.serve.agents.configured import SettingsEdit, entry_in, format_of

_COLORS = {"+": "green", "-": "red", "@": "cyan"}

_LONG = 400
"""Characters of a line above which the piece of it that changes is shown instead."""
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
    file = Path(next((file for place in agent.places().values() for file in place.files), ""))
    written: str = format_of(file).put("", [*agent.keys, NAME], entry)
    return written.rstrip("\n")


def show(change: SettingsEdit) -> None:
    """Print the diff of a change, and say what is odd about it."""
    for note in change.notes:
        say(note)
    for row in diff(change) if change.real else ():
        named = row.startswith(("--- ", "+++ "))
        styled = click.style(harmless(row), fg=None if named else _COLORS.get(row[:1]), bold=named or None)
        click.echo(styled, color=wants_color())


def diff(change: SettingsEdit) -> list[str]:
    """Return the lines of a change, as `diff -u` has them."""
    before, after = change.before or "", change.after or ""
    old, new = _lines(before), _lines(after)
    real = resolved(change.file)
    leads = "" if real == change.file.absolute() else f" -> {real}"
    names = [
        "/dev/null" if text is None else f"{side}/{str(change.file).lstrip('/')}{leads}"
        for side, text in (("a", change.before), ("b", change.after))
    ]
    rows = [row.rstrip("\n") for row in unified_diff(old, new, names[0], names[1])]
    if all(len(row) <= _LONG for row in rows):
        return rows
    piece = edit_journal.step(before, after)
    parts = (("-", piece.removed), ("+", piece.added))
    head = [f"--- {names[0]}", f"+++ {names[1]}", f"@@ character {piece.at:,} of a long line @@"]
    return head + [f"{sign}{line[:_LONG]}" for sign, text in parts for line in text.splitlines()]


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each with an end; one that lacks it says so, as `diff` does."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return [f"{line}\n" for line in lines]


def _rows(project: Path) -> Iterator[tuple[str, str, str, str]]:
    machine = SettingsPlaces.here()
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
