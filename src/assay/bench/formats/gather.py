"""A file to lines, rows of CSV or JSON objects, each with its row, and their fields to targets, grades and names.

Rows are physical lines, counted from 1, as an editor shows them. A reader never stops at a bad row: it is told and
left out, and the rest counts.
"""

from __future__ import annotations

import csv
import gc
import json
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from assay import records
from assay.errors import InputError
from assay.measure.lines import Span, span_of
from assay.types import Problem

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = re.compile(r"(\w[\w./@+ -]*)(?::([0-9]+)(?:-([0-9]+))?)?")
_BROKEN = re.compile(r":\d*-?\d*\Z")
_FAR = re.compile(r":\d{10}|-\d{10,}\Z")
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
_SLASHES = re.compile(r"[/\\]")


def lines_of(path: Path, problems: list[Problem]) -> list[str]:
    """Return the lines of a file of UTF-8 text; one that is not, or that holds a NUL, is empty and a problem."""
    data = bytes_of(path)
    with suppress(UnicodeDecodeError):
        if b"\0" not in data:
            return data.decode().split("\n")
    return [_line(line, Problem(f"{path.name}:{row}", ""), problems) for row, line in enumerate(data.split(b"\n"), 1)]


def bytes_of(path: Path, most: int = -1) -> bytes:
    """Return what a file holds, or its beginning, without a byte order mark; say why it cannot be read as text."""
    try:
        with path.open("rb") as file:
            data = file.read(most)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16, wanted UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8")
    data = data.removeprefix(BOM_UTF8)
    if not data.strip():
        raise InputError(f"{path} is empty")
    return data


def _line(line: bytes, at: Problem, problems: list[Problem]) -> str:
    text, what = "", "a NUL byte"
    try:
        text = "" if b"\0" in line else line.decode()
    except UnicodeDecodeError as error:
        what = f"not UTF-8: byte {error.object[error.start]:#04x} at column {error.start + 1}"
    if line and not text:
        problems.append(Problem(at.where, what))
    return text


def rows_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, each with its first line; after a broken one it goes on with the next line."""
    lines = [line + "\n" for line in lines_of(path, problems)]
    begin = 0
    while begin < len(lines):
        reader = csv.reader(islice(lines, begin, None), strict=True)
        row, broken = begin + 1, False
        while not broken and row <= len(lines):
            try:
                cells = next(reader, [])
            except csv.Error as error:
                problems.append(Problem(f"{path.name}:{row}", f"not a row of CSV: {error}"))
                cells, broken = [], True
            if any(cells):
                yield row, cells
            row = row + 1 if broken else begin + reader.line_num + 1
        begin = row - 1


def records_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, or of one JSON list of objects, each with the line it begins on."""
    lines = lines_of(path, problems)
    first = next((line.lstrip() for line in lines if line.strip()), "")
    values = records.listed("\n".join(lines)) if first.startswith("[") else _lined(lines)
    for row, value in values:
        if isinstance(value, dict):
            yield row, value
        else:
            problems.append(Problem(f"{path.name}:{row}", f"wanted a JSON object, found {value}"))


def _lined(lines: Sequence[str]) -> Iterator[tuple[int, Any]]:
    for row, line in enumerate(lines, 1):
        if line.strip():
            yield row, _value(line)


def _value(line: str) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    return value if isinstance(value, dict) else records.told(value)


def json_of(path: Path, text: str = "") -> Any:
    """Return the JSON value of a file."""
    try:
        return json.loads(text or bytes_of(path).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}") from error


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
