"""Edit TOML in one place; the rest stays as it is.

A new table goes to the end of the text, where it changes no other line; what is in the way of that, a table written on
one line or an entry that is there already, is left to tomlkit. Every outcome is read again before it is believed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from assay.errors import InputError
from assay.serve.agents.jsonc import MARK, BrokenText

_LINE = re.compile(r"line (\d+)")


def load(text: str) -> dict[str, Any]:
    """Return the tables of a text."""
    try:
        return tomllib.loads(text.removeprefix(MARK))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _LINE.search(str(error))
        raise BrokenText(int(line[1]) if line else 1, str(error) or "too deep") from error


def put(text: str, keys: Sequence[str], value: object) -> str:
    """Return a text with the value of some nested keys changed or added."""
    expected = load(text)
    table: Any = expected
    for depth, key in enumerate(keys[:-1], 1):
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise InputError(f"'{'.'.join(keys[:depth])}' is {str(table)[:40]!r}, expected a table")
    is_new = keys[-1] not in table
    table[keys[-1]] = value
    if is_new and isinstance(value, dict):
        appended = text + _table(text, keys, value)
        if _has_tables(appended, expected, keys):
            return appended
    return _edit(text, keys, value, expected)


def drop(text: str, keys: Sequence[str]) -> str:
    """Return a text without a value that exists."""
    wanted = load(text)
    table: Any = wanted
    for key in keys[:-1]:
        table = table[key]
    del table[keys[-1]]
    return _edit(text, keys, None, wanted)


def _table(text: str, keys: Sequence[str], value: dict[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline if not text.removeprefix(MARK) or text.endswith("\n") else newline * 2
    rows = [f"[{'.'.join(keys)}]", *(f"{key} = {tomlkit.item(of).as_string()}" for key, of in value.items())]
    return (gap if text.removeprefix(MARK) else "") + newline.join(rows) + newline


def _edit(text: str, keys: Sequence[str], value: object, expected: dict[str, Any]) -> str:
    """Return a text edited by tomlkit; None removes the value."""
    mark = MARK if text.startswith(MARK) else ""
    try:
        document = tomlkit.parse(text.removeprefix(mark))
        table: Any = document
        for key in keys[:-1]:
            table = table[key]
        if value is None:
            del table[keys[-1]]
        else:
            table[keys[-1]] = value
        edited: str = mark + tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"'{'.'.join(keys)}' stands where it cannot be changed safely ({error})") from error
    if not _has_tables(edited, expected, keys):
        raise InputError(f"'{'.'.join(keys)}' stands where it cannot be changed safely")
    return edited


def _has_tables(text: str, expected: dict[str, Any], keys: Sequence[str]) -> bool:
    """Return whether a text has the expected tables; a table that became empty may be gone."""
    try:
        return _pruned(load(text), keys[:-1]) == _pruned(expected, keys[:-1])
    except InputError:
        return False


def _pruned(tables: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return tables without the empty ones that keys lead to."""
    if not keys or keys[0] not in tables:
        return tables
    inner = _pruned(tables[keys[0]], keys[1:])
    return {key: inner if key == keys[0] else value for key, value in tables.items() if inner or key != keys[0]}
