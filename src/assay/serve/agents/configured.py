"""An entry and a file of an agent's settings to the change that puts it there, and the one that takes it back.

A change is worked out first and can be looked at; it is written only to the text that it was worked out for.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import InputError, MissingExtra
from assay.io import files
from assay.serve.agents import agent_files, edit_journal, jsonc
from assay.serve.agents.agent import Entry, ours
from assay.serve.agents.agent_files import read, resolved
from assay.serve.agents.edit_journal import EditRecord


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """What becomes of one file; None is no file."""

    file: Path
    before: str | None
    after: str | None
    record: EditRecord | None = None
    """What is known of the file: to be kept, or where the change undoes what was done, to be forgotten."""
    undoes: bool = False
    notes: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """Say whether there is anything to write."""
        return self.before != self.after


_STARTING = frozenset({"env", "envFile", "cwd", "environment", "envs"})
"""Keys of an entry that decide what runs when an agent starts the program."""


def entry_in(file: Path, keys: Sequence[str]) -> Any:
    """Return the entry that a file has under some keys, or None."""
    text = read(file)
    return None if text is None else _entry(_load(file, text), keys)


def installing(file: Path, keys: Sequence[str], entry: Entry) -> SettingsEdit:
    """Return the change that puts an entry into a file; what somebody added to it before stays.

    Only how the program is started does not, unless an install wrote the entry: it may have come with the repository.
    """
    text = read(file)
    old = _entry(_load(file, text or ""), keys)
    edits: list[tuple[list[str], Any]] = [([*keys], entry)]
    foreign = _STARTING.intersection(old or {}) if edit_journal.recall(resolved(file)) is None else frozenset()
    if ours(old) and foreign:
        edits = [([*keys], {**{key: value for key, value in old.items() if key not in foreign}, **entry})]
    elif ours(old):
        edits = [([*keys, key], value) for key, value in entry.items() if old.get(key) != value]
    after = text or ""
    try:
        for where, value in edits:
            after = format_of(file).put(after, where, value)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    if after == text:
        return SettingsEdit(file, text, text)
    files.check_writable(file)
    note = f"an entry '{keys[-1]}' that does not start this program is replaced"
    record = _recorded(file, text, after, keys)
    notes = (note,) if old is not None and not ours(old) else ()
    if ours(old) and foreign:
        notes = (f"{', '.join(sorted(foreign))} of the entry '{keys[-1]}' did not come from an install, and goes",)
    return SettingsEdit(file, text, after, record, notes=notes)


def undoing(file: Path, keys: Sequence[str]) -> SettingsEdit:
    """Return the change that takes an entry back: the text of before, or where others changed it only the entry."""
    text, record = read(file), edit_journal.recall(resolved(file))
    if text is None:
        return SettingsEdit(file, None, None)
    after = record.undone(text) if record else None
    if record and after is not None:
        files.check_writable(file)
        return SettingsEdit(file, text, None if record.new and not after else after, record, undoes=True)
    found = _entry(_load(file, text), keys)
    if found is None or not (record or ours(found)):
        return SettingsEdit(file, text, text, notes=(f"an entry '{keys[-1]}' that is not ours stays",) if found else ())
    notes = [f"{file} was changed since by somebody else: only the entry goes"] if record else []
    if record and found != record.entry:
        notes.append("the entry was edited since it was written")
    record = record or EditRecord(str(resolved(file)), found)
    try:
        after = _without(file, text, keys, record)
    except InputError as error:
        raise InputError(f"{file}: {error}; take it out by hand") from error
    files.check_writable(file)
    return SettingsEdit(file, text, after, record, undoes=True, notes=tuple(notes))


def write(change: SettingsEdit) -> None:
    """Write a change, if the file still is what the change was worked out for."""
    if read(change.file) != change.before:
        raise InputError(f"{change.file} was changed in the meantime, and was left alone: run this again")
    record = change.record
    if record and not change.undoes:
        made = map(str, agent_files.missing_folders(change.file))
        edit_journal.remember(replace(record, folders=(*made, *record.folders)))
    if change.after is not None:
        files.write(resolved(change.file), change.after)
    else:
        resolved(change.file).unlink()
        for folder in record.folders if record else ():
            with suppress(OSError):  # something else lies in it
                Path(folder).rmdir()
    if change.undoes:
        edit_journal.forget(resolved(change.file))


def format_of(file: Path) -> ModuleType:
    """Return what edits files of a kind: `load`, `put` and `drop`."""
    if file.suffix != ".toml":
        return jsonc
    try:
        from assay.serve.agents import tomls
    except ModuleNotFoundError as error:
        raise MissingExtra(f"changing {file}", str(error.name), "mcp") from error
    return tomls


def _recorded(file: Path, text: str | None, after: str, keys: Sequence[str]) -> EditRecord:
    """Return what to know after an edit: on top of what was known, if the entry of then still is there."""
    found, entry = _load(file, text or ""), _entry(_load(file, after), keys)
    old = _entry(found, keys)
    last = edit_journal.recall(resolved(file)) if old is not None else None
    if last is None:
        made = sum(_entry(found, keys[:depth]) is None for depth in range(1, len(keys)))
        return EditRecord(
            str(resolved(file)), entry, old, made, text is None, step=edit_journal.step(text or "", after)
        )
    before = last.undone(text or "")
    return replace(last, entry=entry, step=None if before is None else edit_journal.step(before, after))


def _without(file: Path, text: str, keys: Sequence[str], record: EditRecord) -> str | None:
    """Return a text without the entry, and without what only it was there for."""
    form = format_of(file)
    if record.was is not None:
        put_back: str = form.put(text, keys, record.was)
        return put_back
    left: str = form.drop(text, keys)
    for depth in range(len(keys) - 1, len(keys) - 1 - record.made, -1):
        if _entry(form.load(left), keys[:depth]) == {}:
            left = form.drop(left, keys[:depth])
    return None if record.new and not form.load(left) and left.strip() in {"", "{}"} else left


def _load(file: Path, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = format_of(file).load(text)
    except jsonc.BrokenText as error:
        raise InputError(f"{file}:{error.line}: cannot be read: {error}") from error
    return found


def _entry(found: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found
