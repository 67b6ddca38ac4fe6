"""Add three lines for agents to a file of instructions, and remove them.

The lines stand between two marks, which are comments of Markdown, so that a second install finds and updates them. What
somebody wrote around them is not touched.
"""

from __future__ import annotations

from pathlib import Path

from assay.errors import InputError
from assay.io.files import check_writable
from assay.serve.agents import edits
from assay.serve.agents.agents import Agent, SettingsPlaces
from assay.serve.agents.edits import EditRecord, SettingsEdit, read, resolved
from assay.serve.agents.jsonc import MARK

BEGIN = "<!-- assay: written by `assay install`, removed by `assay install --undo` -->"
END = "<!-- /assay -->"
LINES = (
    "- MCP tool `search` (server assay): where or how something is done, asked in words; `read` returns a whole unit.",
    "- `assay grep PATTERN` in a shell takes the flags of grep and lists every match, declarations first.",
    '- `assay related FILE:LINE`: callers, callees and tests, before a change; `assay log "why"`: commits by meaning.',
)
"""What an agent reads: which tool is for which question."""


def add_lines(file: Path, head: str) -> SettingsEdit:
    """Return the edit that adds the lines to a file, or updates those that are there."""
    text = read(file)
    before = text or ""
    place = _find_block(file, before)
    newline = _newline(before[place[0] : place[1]] if place else before)
    block = newline.join((BEGIN, *LINES, END))
    if place:
        after = before[: place[0]] + block + before[place[1] :]
    else:
        start = before if before.removeprefix(MARK) else before + head
        after = start + _gap(start, newline) + block + newline
    if after == text:
        return SettingsEdit(file, text, text)
    check_writable(file)
    last = edits.recall(resolved(file)) if place else None
    return SettingsEdit(file, text, after, edits.recorded(file, text, after, {"lines": [*LINES]}, last))


def remove_lines(file: Path, head: str) -> SettingsEdit:
    """Return the edit that removes the lines: the text before, or without only the lines if others changed it."""
    text, record = read(file), edits.recall(resolved(file))
    place = _find_block(file, text or "")
    if text is None or not place:
        return SettingsEdit(file, text, text)
    check_writable(file)
    after = record.undone(text) if record else None
    if record and after is not None:
        return SettingsEdit(file, text, None if record.new and not after else after, record, undoes=True)
    left = _without(text, *place)
    is_empty = left.strip() in {"", head.strip()} and (record is None or record.new)
    note = (f"{file} has other changes since: only the lines between the marks are removed",) if record else ()
    known = record or EditRecord(str(resolved(file)), {})
    return SettingsEdit(file, text, None if is_empty else left, known, undoes=True, notes=note)


def has_lines(file: Path) -> bool:
    """Return whether a file has the lines."""
    return _find_block(file, read(file) or "") is not None


def _find_block(file: Path, text: str) -> tuple[int, int] | None:
    """Return where the marked lines begin and end, or None; raise InputError if one mark has no partner."""
    start = text.find(BEGIN)
    end = text.find(END, max(start, 0))
    if (start < 0) != (end < 0):
        raise InputError(f"{file} has one of the marks '{BEGIN}' and '{END}' without the other: remove it by hand")
    return (start, end + len(END)) if start >= 0 else None


def _newline(text: str) -> str:
    """Return the line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, newline: str) -> str:
    """Return what separates a text from the lines: an empty line."""
    if not text.removeprefix(MARK) or text.endswith(newline * 2):
        return ""
    return newline if text.endswith("\n") else newline * 2


def _without(text: str, start: int, end: int) -> str:
    """Return a text without the lines, their line end and the empty line before them."""
    newline = _newline(text[start:end])
    tail = text[end:].removeprefix(newline)
    head = text[:start]
    return (head.removesuffix(newline) if head.endswith(newline * 2) else head) + tail


def instructions_of(agent: Agent, scope: str, machine: SettingsPlaces, project: Path) -> tuple[Path, str] | None:
    """Return the instructions file of an agent and how a new one starts, or None if the agent has none there.

    Lines that an install wrote stay where they are, though a file that is read before it has come since.
    """
    known = agent.instructions.get(scope)
    if known is None:
        return None
    files = [project / machine.path(each) for each in known.files]
    existing = [file for file in files if file.is_file()]
    new = project / machine.path(known.new or known.files[0])
    return next(filter(has_lines, existing), next(iter(existing), new)), known.head
