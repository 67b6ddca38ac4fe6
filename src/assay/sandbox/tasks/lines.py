"""A file, packed or not, to JSON objects with their rows, and an object to fields that are checked as they are taken.

Rows are physical lines, counted from 1. A reader never stops at a bad row: it is told and left out, the rest counts.
"""

from __future__ import annotations

import ast
import gzip
import json
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import catch_warnings

from assay import records
from assay.errors import InputError
from assay.types import Problem

_PACKED = b"\x1f\x8b"
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "nothing",
}


class FieldError(ValueError):
    """A field of a record is missing or of the wrong type; the reader makes a problem of it."""


def bytes_of(path: Path, most: int = -1) -> bytes:
    """Return what a file holds, or its beginning, unpacked; say why it cannot be read as text."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _PACKED
        with gzip.open(path) if packed else path.open("rb") as file:
            data = file.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is a damaged gzip file: {error}; fetch it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16, wanted UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8")
    data = data.removeprefix(BOM_UTF8)
    if not data.strip():
        raise InputError(f"{path} is empty")
    return data


def records_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, or of one JSON list of objects, each with the line it begins on."""
    data = bytes_of(path)
    values = records.listed(data.decode("utf-8", "replace")) if data.lstrip().startswith(b"[") else _lined(data)
    for row, value in values:
        if isinstance(value, dict):
            yield row, value
        else:
            problems.append(Problem(f"{path.name}:{row}", f"wanted a JSON object, found {value}"))


def _lined(data: bytes) -> Iterator[tuple[int, Any]]:
    for row, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield row, _value(line)


def _value(line: bytes) -> Any:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return f"text that is not UTF-8: byte {line[error.start]:#04x} at column {error.start + 1}"
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    return value if isinstance(value, dict) else records.told(value)


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file, whose fields are checked as they are taken."""

    fields: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field that is text; without a default it has to be there."""
        value = self._of(name, default)
        if not isinstance(value, str):
            raise FieldError(f"field '{name}' is {_kind(value)}, wanted text")
        return value

    def name(self, *names: str) -> str:
        """Return the first field there is of some that hold an id: text, or a whole number."""
        name = next((each for each in names if self.fields.get(each) is not None), names[0])
        value = self._of(name, None)
        if type(value) is int:
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise FieldError(f"field '{name}' is {_kind(value)}, wanted an id")
        return value

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a field that is a list of texts."""
        value = self._of(name, default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise FieldError(f"field '{name}' is {_kind(value)}, wanted a list of texts")
        return tuple(value)

    def list(self, name: str, default: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Return a field that is a list of anything."""
        value = self._of(name, default)
        if not isinstance(value, list | tuple):
            raise FieldError(f"field '{name}' is {_kind(value)}, wanted a list")
        return tuple(value)

    def number(self, name: str, default: float) -> float:
        """Return a field that is a number of at least 0."""
        value = self._of(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
            raise FieldError(f"field '{name}' is {value!r:.40}, wanted a number of at least 0")
        return float(value)

    def tags(self, *names: str) -> dict[str, str]:
        """Return those of some fields that are there, as text."""
        return {name: str(self.fields[name]) for name in names if self.fields.get(name)}

    def _of(self, name: str, default: Any) -> Any:
        value = self.fields.get(name)
        if value is None:
            if default is None:
                raise FieldError(f"no field '{name}'")
            return default
        return value


def function_of(source: str, tests: str = "") -> str:
    """Return the name of the function that tests call first, else of the last function that a source defines."""
    defined = _functions(source)
    called = (node.func.id for node in _walk(tests) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return next((name for name in called if name in defined), defined[-1] if defined else "")


def _functions(source: str) -> list[str]:
    tree = _parsed(source)
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _walk(source: str) -> Iterator[ast.AST]:
    return ast.walk(_parsed(source))


def _parsed(source: str) -> ast.Module:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _kind(value: object) -> str:
    return _KINDS[type(value)] if value or isinstance(value, bool | int | float) else f"empty {type(value).__name__}"
