"""Remind a coding agent of search by hooks in its settings, a skill and a subagent; answer its hooks.

A hook is a command that the agent runs when a session starts and before it calls a tool; what the command prints is
added to the model's context. It is quiet where Assay is not installed, and where nothing is indexed. Its input and
output are those of Claude Code, which Codex shares (https://code.claude.com/docs/en/hooks,
https://developers.openai.com/codex/hooks).
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import platformdirs

from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.io.files import check_writable
from assay.serve.agents import edits, jsonc
from assay.serve.agents.agents import StartCommand
from assay.serve.agents.edits import EditRecord, SettingsEdit, read, recall, resolved
from assay.store.index_location import MANIFEST, default_location

START = (
    "Assay indexes this repository. For where or how something is done, ask in words: the tool `search` of the MCP "
    'server `assay` if it is listed, else `assay search "WORDS"`. For a name or a text, `assay grep PATTERN` takes the '
    "flags of grep and lists every match, declarations first."
)
BEFORE_TOOL = (
    "Assay indexes this repository: `assay grep` takes the same flags and lists declarations first, and `search` (MCP) "
    "or `assay search` answers questions in words."
)
_OURS = re.compile(r"\bassay['\"]? hook\b")
_SEARCHES = re.compile(r"(?:^|[;&(]\s*)(?:git grep|e?grep|rg|ag|ack)\s")
"""A command that searches files; a command that filters another's output comes after a pipe."""
_FORGET_S = 7 * 24 * 3600.0
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Bytes of an event that are read."""


def hook_command(how: StartCommand) -> str:
    """Return the shell command of a hook; it does nothing if the program is missing."""
    words = shlex.join([how.command, *how.first, "hook"])
    return f"command -v {shlex.quote(how.command)} >/dev/null 2>&1 && {words} || true"


def add_hooks(file: Path, events: Mapping[str, str], command: str) -> SettingsEdit:
    """Return the edit that adds a hook for each event, with the tools that it matches, to a settings file."""
    text, after = read(file), read(file) or ""
    groups: dict[str, Any] = {}
    for event, matcher in events.items():
        match = {"matcher": matcher} if matcher else {}
        groups[event] = {**match, "hooks": [{"type": "command", "command": command}]}
        present = _groups(file, after, event)
        if groups[event] not in present:
            after = _without_ours(file, after, event) if any(map(_is_ours, present)) else after
            after = jsonc.append(after, ["hooks", event], groups[event])
    if after == (text or ""):
        return SettingsEdit(file, text, text)
    check_writable(file)
    return SettingsEdit(file, text, after, edits.recorded(file, text, after, groups, recall(resolved(file))))


def remove_hooks(file: Path, events: Sequence[str]) -> SettingsEdit:
    """Return the edit that removes the hooks: the text before, or without only the hooks if others changed it."""
    text, record = read(file), recall(resolved(file))
    after = record.undone(text) if record and text is not None else None
    if text is None or (after is None and not _OURS.search(text)):
        return SettingsEdit(file, text, text)
    check_writable(file)
    if after is None:
        after = text
        for event in events:
            after = _without_ours(file, after, event)
    is_new = record is not None and record.new and after.strip() in {"", "{}"}
    known = record or EditRecord(str(resolved(file)), {})
    return SettingsEdit(file, text, None if is_new else after, known, undoes=True)


def _groups(file: Path, text: str, event: str) -> list[Any]:
    hooks = edits.load(file, text).get("hooks", {})
    found = hooks.get(event, []) if isinstance(hooks, dict) else None
    if not isinstance(found, list):
        raise InputError(f"{file}: 'hooks' is not an object of lists; correct it, or add the hooks by hand")
    return found


def _is_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    commands = [each.get("command") for each in hooks or [] if isinstance(each, dict)]
    return any(isinstance(command, str) and _OURS.search(command) for command in commands)


def _without_ours(file: Path, text: str, event: str) -> str:
    """Return a text without our hooks of an event, and without what was added for them alone."""
    found = _groups(file, text, event)
    left = [group for group in found if not _is_ours(group)]
    if left or not found:
        return jsonc.put(text, ["hooks", event], left) if left != found else text
    text = jsonc.drop(text, ["hooks", event])
    return text if jsonc.load(text)["hooks"] else jsonc.drop(text, ["hooks"])


def add_guide(file: Path, name: str) -> SettingsEdit:
    """Return the edit that writes a skill or a subagent; a file by somebody else stays."""
    text, after = read(file), files("assay.serve.agents").joinpath(f"{name}.md").read_text("utf-8")
    if text == after:
        return SettingsEdit(file, text, text)
    if text is not None and recall(resolved(file)) is None:
        note = f"{file} exists and was not written by `assay install`: it stays"
        return SettingsEdit(file, text, text, notes=(note,))
    check_writable(file)
    return SettingsEdit(file, text, after, edits.recorded(file, text, after, {}, recall(resolved(file))))


def remove_guide(file: Path) -> SettingsEdit:
    """Return the edit that removes a skill or a subagent, unless somebody changed it."""
    text, record = read(file), recall(resolved(file))
    if text is None or record is None:
        return SettingsEdit(file, text, text)
    if record.undone(text) is None:
        return SettingsEdit(file, text, text, notes=(f"{file} was changed since it was written: it stays",))
    check_writable(file)
    return SettingsEdit(file, text, None, record, undoes=True)


def hook_answer(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an agent adds to its context at an event; empty if there is nothing to add.

    A session hears of `assay grep` once, before the first tool that looks through files.
    """
    name, folder = event.get("hook_event_name"), event.get("cwd")
    if not isinstance(folder, str) or not _is_indexed(Path(folder)):
        return {}
    if name == "SessionStart":
        text = START
    elif _looks_through_files(event) and _is_first(str(event.get("session_id", ""))):
        text = BEFORE_TOOL
    else:
        return {}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _is_indexed(folder: Path) -> bool:
    with suppress(ValueError):  # it is not a path
        return any((default_location(root) / MANIFEST).is_file() for root in (folder, *folder.parents))
    return False


def _looks_through_files(event: Mapping[str, Any]) -> bool:
    if event.get("tool_name") == "Grep":
        return True
    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    words = command if isinstance(command, str) else " ".join(map(str, command)) if isinstance(command, list) else ""
    return _SEARCHES.search(words) is not None


def _is_first(session: str) -> bool:
    """Return whether a session was not reminded yet, and record that it is now."""
    folder = platformdirs.user_cache_path("assay") / "hooks"
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / hex_digest(session, 8)
    if mark.exists():
        return False
    for old in folder.iterdir():
        if old.stat().st_mtime < time.time() - _FORGET_S:
            old.unlink(missing_ok=True)
    mark.touch()
    return True
