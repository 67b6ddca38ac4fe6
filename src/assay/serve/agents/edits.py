"""Compute the edit of an agent's settings file, write it, and undo it.

A change is worked out first and can be looked at; it is written only to the text that it was worked out for: at once,
with the rights and the owner that the file has, through symbolic links. A record of it keeps the pieces that were
changed and a hash of the text around them, for such a file may hold keys of other services. That is enough to restore
it byte for byte for as long as nobody else changes it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs

from assay.errors import InputError, MissingExtra, StorageError
from assay.io import files
from assay.io.digest import hex_digest
from assay.serve.agents import jsonc
from assay.serve.agents.agents import Entry, ours, served_by

MAX_FILE_MB = 32


def resolved(file: Path) -> Path:
    """Return a path without symbolic links; a circle of links is returned as it is, so that reading it fails."""
    return Path(os.path.realpath(file))


def refuse_leading_out(file: Path, project: Path) -> None:
    """Raise InputError if a file of a project is a symbolic link out of it, which a stranger may have made."""
    if file.is_relative_to(project) and not resolved(file).is_relative_to(resolved(project)):
        outside = f"{file} leads to {resolved(file)}, outside of the project"
        raise InputError(f"{outside}: remove the link, or use --scope user")


def read(file: Path) -> str | None:
    """Return the text of a file with its line ends, or None if there is none; raise InputError if it is not text."""
    target = resolved(file)
    try:
        about = target.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a special file"
            raise InputError(f"{file} is {kind}, not a settings file")
        if about.st_size > MAX_FILE_MB * 2**20:
            raise InputError(f"{file} has {about.st_size / 2**20:,.0f} MB; at most {MAX_FILE_MB} are read")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not valid UTF-8 (byte {error.start})") from error


@dataclass(frozen=True, slots=True)
class Step:
    """One edit: the new text at a position of the text with this hash, and the old one."""

    digest: str
    at: int
    added: str
    removed: str

    def undone(self, text: str) -> str | None:
        """Return the text before this edit, or None if it is not the text after it."""
        if _digest(text) != self.digest:
            return None
        return text[: self.at] + self.removed + text[self.at + len(self.added) :]


@dataclass(frozen=True, slots=True)
class EditRecord:
    """The edits of one file: the entry that was written, and what was there before."""

    file: str
    entry: dict[str, Any]
    was: Any = None
    """The entry of the same name that was replaced."""
    made: int = 0
    """How many of the keys above the entry are new."""
    new: bool = False
    """Whether the file is new."""
    folders: tuple[str, ...] = ()
    """The folders that are new, the innermost first."""
    step: Step | None = None
    """All edits as one; None if somebody else changed the file in between."""

    def undone(self, text: str) -> str | None:
        """Return the text before the edits, or None if somebody else has changed it since."""
        return self.step.undone(text) if self.step else None


def step(before: str, after: str) -> Step:
    """Return the difference of two texts as one replaced piece."""
    at = _common(before, after)
    same = _common(before[at:][::-1], after[at:][::-1])
    return Step(_digest(after), at, after[at : len(after) - same], before[at : len(before) - same])


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    differing = (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(differing, min(len(one), len(other)))


def _digest(text: str) -> str:
    """Return a hash of a text."""
    return hex_digest(text)


def recall(file: Path) -> EditRecord | None:
    """Return the record of a file, or None if there is none that can be read."""
    try:
        kept = json.loads(_place(file).read_text(encoding="utf-8"))
        step = kept["step"] and Step(**kept["step"])
        return EditRecord(**{**kept, "folders": tuple(kept["folders"]), "step": step})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def remember(record: EditRecord) -> None:
    """Store the record of a file."""
    place = _place(Path(record.file))
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.write(place, json.dumps(asdict(record), ensure_ascii=False))
    except OSError as error:
        what = f"cannot keep in {place.parent} what to undo ({error.strerror})"
        raise StorageError(f"{what}; nothing was changed") from error


def forget(file: Path) -> None:
    """Delete the record of a file."""
    _place(file).unlink(missing_ok=True)


def _place(file: Path) -> Path:
    name = hex_digest(os.fsencode(file), 12)
    return platformdirs.user_state_path("assay") / "installed" / f"{name}.json"


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """The edit of one file; a text of None is a missing file."""

    file: Path
    before: str | None
    after: str | None
    record: EditRecord | None = None
    """The record of the file: to be stored, or, if this edit is an undo, to be deleted."""
    undoes: bool = False
    notes: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """Return whether the edit changes anything."""
        return self.before != self.after


_STARTING = frozenset({"env", "envFile", "cwd", "environment", "envs"})
"""Keys of an entry that decide which program the agent starts."""


def entry_in(file: Path, keys: Sequence[str]) -> Any:
    """Return the entry that a file has under some keys, or None."""
    text = read(file)
    return None if text is None else _entry(load(file, text), keys)


def installing(file: Path, keys: Sequence[str], entry: Entry) -> SettingsEdit:
    """Return the edit that adds an entry to a file; additions of others to an existing entry stay.

    Only how the program is started does not, unless an install wrote the entry: it may have come with the repository.
    """
    text = read(file)
    old = _entry(load(file, text or ""), keys)
    edits: list[tuple[list[str], Any]] = [([*keys], entry)]
    foreign = _STARTING.intersection(old or {}) if recall(resolved(file)) is None else frozenset()
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
    found = load(file, text or "")
    last = recall(resolved(file)) if old is not None else None  # of an entry that is still there
    made = sum(_entry(found, keys[:depth]) is None for depth in range(1, len(keys)))
    record = recorded(file, text, after, _entry(load(file, after), keys), last)
    record = record if last else replace(record, was=old, made=made)
    notes = [note] if old is not None and not ours(old) else []
    if ours(old) and foreign:
        notes.append(f"{', '.join(sorted(foreign))} of the entry '{keys[-1]}' is removed: no install wrote it")
    if gone := [str(each) for each in served_by(old) if each not in served_by(entry)]:
        how = "to have both, use --scope project where there is one"
        notes.append(f"the entry '{keys[-1]}' of {file} served {', '.join(gone)}, and no longer does: {how}")
    return SettingsEdit(file, text, after, record, notes=tuple(notes))


def undoing(file: Path, keys: Sequence[str]) -> SettingsEdit:
    """Return the edit that removes an entry: the text before it, or without only the entry if others made edits."""
    text, record = read(file), recall(resolved(file))
    if text is None:
        return SettingsEdit(file, None, None)
    after = record.undone(text) if record else None
    if record and after is not None:
        files.check_writable(file)
        return SettingsEdit(file, text, None if record.new and not after else after, record, undoes=True)
    found = _entry(load(file, text), keys)
    if found is None or not (record or ours(found)):
        return SettingsEdit(file, text, text, notes=(f"an entry '{keys[-1]}' that is not ours stays",) if found else ())
    notes = [f"{file} has other changes since: only the entry is removed"] if record else []
    if record and found != record.entry:
        notes.append("the entry was edited since it was written")
    record = record or EditRecord(str(resolved(file)), found)
    try:
        after = _without(file, text, keys, record)
    except InputError as error:
        raise InputError(f"{file}: {error}; remove it by hand") from error
    files.check_writable(file)
    return SettingsEdit(file, text, after, record, undoes=True, notes=tuple(notes))


def write(change: SettingsEdit) -> None:
    """Write an edit, if the file is still the one for which it was computed."""
    if read(change.file) != change.before:
        raise InputError(f"{change.file} was changed in the meantime, and was left alone: run this again")
    record = change.record
    if record and not change.undoes:
        made = (str(folder) for folder in resolved(change.file).parents if not folder.exists())
        remember(replace(record, folders=(*made, *record.folders)))
    if change.after is not None:
        files.write(resolved(change.file), change.after)
    else:
        resolved(change.file).unlink()
        for folder in record.folders if record else ():
            with suppress(OSError):  # something else lies in it
                Path(folder).rmdir()
    if change.undoes:
        forget(resolved(change.file))


def format_of(file: Path) -> ModuleType:
    """Return the editor of a file's format, with `load`, `put` and `drop`."""
    if file.suffix != ".toml":
        return jsonc
    try:
        from assay.serve.agents import tomls
    except ModuleNotFoundError as error:
        raise MissingExtra(f"changing {file}", str(error.name), "mcp") from error
    return tomls


def recorded(file: Path, text: str | None, after: str, entry: dict[str, Any], last: EditRecord | None) -> EditRecord:
    """Return the record after an edit, based on the one before."""
    if last is None:
        return EditRecord(str(resolved(file)), entry, new=text is None, step=step(text or "", after))
    before = last.undone(text or "")
    return replace(last, entry=entry, step=None if before is None else step(before, after))


def _without(file: Path, text: str, keys: Sequence[str], record: EditRecord) -> str | None:
    """Return a text without the entry, and without what was added for the entry alone."""
    form = format_of(file)
    if record.was is not None:
        return str(form.put(text, keys, record.was))
    left: str = form.drop(text, keys)
    for depth in range(len(keys) - 1, len(keys) - 1 - record.made, -1):
        if _entry(form.load(left), keys[:depth]) == {}:
            left = form.drop(left, keys[:depth])
    return None if record.new and not form.load(left) and left.strip() in {"", "{}"} else left


def load(file: Path, text: str) -> dict[str, Any]:
    """Parse the text of a settings file; raise InputError with the line if it is not valid."""
    try:
        found: dict[str, Any] = format_of(file).load(text)
    except jsonc.BrokenText as error:
        raise InputError(f"{file}:{error.line}: cannot be read: {error}") from error
    return found


def _entry(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
