"""Fields of a ground truth to targets, grades and names, or to what is wrong with them."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import InputError
from assay.measure.line_spans import Span, span_of

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"(\w[\w./@+ -]*)(?::([0-9]+)(?:-([0-9]+))?)?")
_BROKEN = re.compile(r":\d*-?\d*\Z")
_FAR = re.compile(r":\d{10}|-\d{10,}\Z")
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
_SLASHES = re.compile(r"[/\\]")


def fault_of(path: str) -> str:
    """Say what is wrong with the path of a target, or nothing."""
    if not path or _CONTROL.search(path):
        return f"{path!r} is no path"
    if path.startswith(("/", "\\", "~")) or _DRIVE.match(path):
        return f"'{path}' is absolute, wanted a path relative to the repository"
    if len(path) > _LONGEST_NAME and not _nameable(path):
        return f"'{path[:60]}…' is longer than a path may be"
    if ".." in path and ".." in _SLASHES.split(path):
        return f"'{path}' leads out of the repository"
    return ""


def _nameable(path: str) -> bool:
    """Say whether a file system can hold a path."""
    data = path.encode("utf-8", "surrogatepass")
    return len(data) <= _LONGEST_PATH and max(map(len, data.split(b"/"))) <= _LONGEST_NAME


def fault_of_target(target: str) -> str:
    """Say what is wrong with `path:start-end`, `path:line`, `path::Symbol.name` or `path`, or nothing."""
    path, colons, symbol = target.partition("::")
    if colons:
        return fault_of(path) or ("" if symbol.strip() else f"'{target}' names no symbol after '::'")
    place = place_of(target)
    return place if isinstance(place, str) else ""


def place_of(target: str) -> Span | str:
    """Return the lines, file or document that a target without a symbol names, or what is wrong with it."""
    if _FAR.search(target):
        return f"'{target[:60]}' names lines beyond the end of any file"
    plain = _PLAIN.fullmatch(target)
    if plain and ".." not in target:  # nearly all of a million are: one look at each
        path, first, last = plain.groups()
        start = int(first) if first else 0
        end = int(last) if last else start
        if (start or not first) and start <= end:
            return Span(path, start, end)
    try:
        span = span_of(target)
    except InputError as error:
        return str(error)
    broken = f"'{target}' is a broken range of lines" if _BROKEN.search(span.path) else fault_of(span.path)
    return broken or span


@contextmanager
def many() -> Iterator[None]:
    """Make a million values without the collector looking through them again and again; none of them are cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def fault_of_id(name: str) -> str:
    """Say why a document may not be called that, or nothing: targets with lines and symbols are told apart by it."""
    if not name:
        return "it has no id"
    head, _, end = name.rpartition(":")
    reads_as_lines = head and end.replace("-", "", 1).isdecimal() and end[0] != "-" and end[-1] != "-"
    return "its id reads as lines or a symbol of a file" if reads_as_lines or "::" in name else ""


def grade_of(value: object, lowest: int = 0) -> int | None:
    """Return a grade, None where the value is none: not a whole number, too low, or beyond any scale."""
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, bool) or (isinstance(text, float) and not text.is_integer()):
        return None
    try:
        grade = int(text)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return None
    return grade if lowest <= grade <= 1000 else None


def text_of(value: object) -> str:
    """Return a name as text: whole numbers are names in some collections."""
    return value if isinstance(value, str) else str(value) if type(value) is int else ""
