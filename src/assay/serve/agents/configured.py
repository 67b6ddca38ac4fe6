"""An entry and a file of an agent's settings to the change that puts it there, and the one that takes it back.

A change is worked out first and can be looked at; it is written only to the text that it was worked out for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import InputError, MissingExtra
from assay.serve.agents import kept
from assay.serve.agents.agent import Entry, ours
from assay.serve.agents.jsonc import BrokenText
from assay.serve.agents.kept import Record

LARGEST_MB = 32
_LONG = 400
"""Characters of a line above which the piece of it that changes is shown instead."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file; None is no file."""

    file: Path
    before: str | None
    after: str | None
    record: Record | None = None
    """What to know afterwards."""
    notes: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """Say whether there is anything to write."""
        return self.before != self.after


def entry_in(file: Path, keys: Sequence[str]) -> Any:
    """Return the entry that a file has under some keys, or None."""
    text = read(file)
    return None if text is None else _entry(_load(file, text), keys)


def installing(file: Path, keys: Sequence[str], entry: Entry) -> Change:
    """Return the change that puts an entry into a file; what somebody added to it before stays."""
    text = read(file)
    found = _load(file, text or "")
    old = _entry(found, keys)
    changed, notes = text or "", []
    try:
        if old is None or not ours(old):
            changed = _format(file).put(changed, keys, entry)
        else:
            for key in [key for key in entry if old.get(key) != entry[key]]:
                changed = _format(file).put(changed, [*keys, key], entry[key])
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    if old is not None and not ours(old):
        notes.append(f"an entry '{keys[-1]}' that does not start this program is replaced")
    return _writable(Change(file, text, changed, _continued(file, text, changed, keys, entry), tuple(notes)))


def undoing(file: Path, keys: Sequence[str]) -> Change:
    """Return the change that takes an entry back: the text of before, or where others changed it only the entry."""
    text, record = read(file), kept.recall(_real(file))
    if text is None:
        return Change(file, None, None)
    before = record.undone(text) if record else None
    if record and before is not None:
        return _writable(Change(file, text, None if record.new and not before else before, record))
    found = _entry(_load(file, text), keys)
    if found is None or not (record or ours(found)):
        return Change(file, text, text, None, (f"an entry '{keys[-1]}' that is not ours stays",) if found else ())
    record = record or Record(str(_real(file)), found)
    notes = [f"{file} was changed since by somebody else: only the entry goes"] if record.steps else []
    if record.steps and found != record.entry:
        notes.append("the entry was edited since it was written")
    try:
        return _writable(Change(file, text, _without(file, text, keys, record), record, tuple(notes)))
    except InputError as error:
        raise InputError(f"{file}: {error}; take it out by hand") from error


def write(change: Change, *, undo: bool = False) -> None:
    """Write a change, if the file still is what the change was worked out for."""
    target = _real(change.file)
    if read(change.file) != change.before:
        raise InputError(f"{change.file} was changed in the meantime, and was left alone: run this again")
    folders = [] if change.after is None else _missing(target.parent)
    if not undo and change.record:
        kept.remember(replace(change.record, folders=(*map(str, folders), *change.record.folders)))
    if change.after is None:
        target.unlink()
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, change.after)
    if undo and change.record:
        if change.after is None:
            _remove_empty(change.record.folders)
        kept.forget(target)


def read(file: Path) -> str | None:
    """Return the text of a file with its line ends, or None if there is none; what is no text is an error."""
    target = _real(file)
    try:
        about = target.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "no ordinary file"
            raise InputError(f"{file} is {kind}, wanted a file of settings")
        if about.st_size > LARGEST_MB * 2**20:
            raise InputError(f"{file} has {about.st_size / 2**20:,.0f} MB, wanted at most {LARGEST_MB}")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no UTF-8 text (byte {error.start})") from error


def diff(change: Change) -> list[str]:
    """Return the lines of a change, as `diff -u` has them."""
    before, after = change.before or "", change.after or ""
    old, new = _lines(before), _lines(after)
    names = [
        "/dev/null" if text is None else f"{side}/{str(change.file).lstrip('/')}"
        for side, text in (("a", change.before), ("b", change.after))
    ]
    rows = [row.rstrip("\n") for row in unified_diff(old, new, names[0], names[1])]
    if all(len(row) <= _LONG for row in rows):
        return rows
    piece = kept.step(before, after)
    parts = (("-", piece.removed), ("+", piece.added))
    head = [f"--- {names[0]}", f"+++ {names[1]}", f"@@ character {piece.at:,} of a long line @@"]
    return head + [f"{sign}{line[:_LONG]}" for sign, text in parts for line in text.splitlines()]


def leads_to(file: Path) -> Path | None:
    """Return where a symbolic link leads, or None for a file that is none."""
    return _real(file) if file.is_symlink() else None


def _continued(file: Path, text: str | None, after: str, keys: Sequence[str], entry: Entry) -> Record | None:
    """Return what to know after an edit: on top of what was known, if the entry of then still is there."""
    found = _load(file, text or "")
    old, last = _entry(found, keys), kept.recall(_real(file))
    if text == after:
        return None
    written = _entry(_load(file, after), keys)
    if not last or old is None:
        made = sum(_entry(found, keys[:depth]) is None for depth in range(1, len(keys)))
        last = Record(str(_real(file)), entry, old, made, text is None)
    return replace(last, entry=written, steps=(*last.steps, kept.step(text or "", after)))


def _without(file: Path, text: str, keys: Sequence[str], record: Record) -> str | None:
    """Return a text without the entry, and without what only it was there for."""
    form = _format(file)
    if record.was is not None:
        put_back: str = form.put(text, keys, record.was)
        return put_back
    left: str = form.drop(text, keys)
    for depth in range(len(keys) - 1, len(keys) - 1 - record.made, -1):
        if _entry(form.load(left), keys[:depth]) == {}:
            left = form.drop(left, keys[:depth])
    return None if record.new and not form.load(left) and left.strip() in {"", "{}"} else left


def _format(file: Path) -> ModuleType:
    """Return what edits files of a kind."""
    if file.suffix != ".toml":
        from assay.serve.agents import jsonc

        return jsonc
    try:
        from assay.serve.agents import tomls
    except ModuleNotFoundError as error:
        raise MissingExtra(f"changing {file}", str(error.name), "mcp") from error
    return tomls


def _load(file: Path, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _format(file).load(text)
    except BrokenText as error:
        raise InputError(f"{file}:{error.line}: cannot be read: {error}") from error
    return found


def _entry(found: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


def _real(file: Path) -> Path:
    """Return a path without symbolic links; one that leads in a circle stays, for reading it to say so."""
    return Path(os.path.realpath(file))


def _missing(folder: Path) -> list[Path]:
    """Return a folder and those above it that have to be made, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _writable(change: Change) -> Change:
    """Return a change that can be written; the right to replace a protected file is not the wish to."""
    if change.real:
        target = _real(change.file)
        if target.exists() and not target.stat().st_mode & 0o222:
            raise InputError(f"{change.file} is write-protected: chmod u+w it, or change it by hand")
        above = next(folder for folder in target.parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise InputError(f"nothing can be written in {above}: it is no folder, or its rights forbid it")
    return change


def _replace(target: Path, text: str) -> None:
    """Write a text in the place of a file at once, with the rights and the owner of the file."""
    try:
        about = target.stat()
    except FileNotFoundError:
        about = None
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if about else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as out:
            if about:
                with suppress(OSError):
                    os.fchown(out.fileno(), about.st_uid, about.st_gid)
                os.fchmod(out.fileno(), stat.S_IMODE(about.st_mode))
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _remove_empty(folders: Sequence[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            Path(folder).rmdir()


def _lines(text: str) -> list[str]:
    """Return the lines of a text, each with an end; one that lacks it says so, as `diff` does."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return [f"{line}\n" for line in lines]
