"""A row of a file, or a table of settings, to fields that are checked as they are taken.

There is one wording of each refusal: a field that is missing, of the wrong type or out of range, and one that nobody
knows, with the nearest known one. A row of a CSV holds text alone: numbers, lists and objects are read from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from assay.errors import InputError, nearest
from assay.io.rows import Cells

_MOST = 1e12


class FieldError(InputError):
    """A field is missing, wrong or unknown; a reader of rows makes a problem of it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one object."""

    values: Mapping[str, Any]
    where: str = ""
    """Where the object stands, such as `in [sets.click] of matrix.toml`; for a row whoever reads it knows."""
    noun: str = "field"
    """What a field is called there."""

    def __contains__(self, name: str) -> bool:
        """Say whether a field is there; an empty cell of a table is not."""
        value = self.values.get(name)
        return value is not None and (value != "" or type(self.values) is not Cells)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field that is text; without a default it has to be there."""
        value = self.values.get(name)
        value = self._missing(name, default) if value is None else value
        return value if isinstance(value, str) else self._refuse(name, value, "text")

    def name(self, *names: str) -> str:
        """Return the first field there is of some that hold an id: text, or a whole number."""
        for name in names:
            if name in self:
                value = self.values[name]
                break
        else:
            self._missing(names[0], None)
        if type(value) is int:
            return str(value)
        return value if isinstance(value, str) and value.strip() else self._refuse(name, value, "an id")

    def number(self, name: str, default: float | None = None, *, least: float = 0, most: float = _MOST) -> float:
        """Return a field that is a number within bounds."""
        value = self._of(name, default)
        if not _is_number(value) or not least <= value <= most:
            self._refuse(name, value, f"a number {_range(least, most)}")
        return float(value)

    def whole(self, name: str, default: int | None = None, *, least: int = 0, most: float = 10**9) -> int:
        """Return a field that is a whole number within bounds."""
        value = self._of(name, default)
        if not _is_number(value) or not least <= value <= most or value != int(value):
            self._refuse(name, value, f"a whole number {_range(least, most)}")
        return int(value)

    def texts(self, name: str, default: Sequence[str] | None = None, *, known: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a field that is a list of texts, each of them known where some are."""
        value = self._of(name, default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            self._refuse(name, value, "a list of texts")
        for each in value if known else ():
            self._check_known(name, each, known)
        return tuple(value)

    def list(self, name: str, default: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Return a field that is a list of anything."""
        value = self._of(name, default)
        return tuple(value) if isinstance(value, list | tuple) else self._refuse(name, value, "a list")

    def mapping(self, name: str, default: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return a field that is an object."""
        value = self._of(name, default)
        return dict(value) if isinstance(value, Mapping) else self._refuse(name, value, "an object")

    def choice(self, name: str, known: Sequence[str], default: str | None = None) -> str:
        """Return a field that is one of some texts; the default may be another."""
        value = self.text(name, default)
        if value != default:
            self._check_known(name, value, known)
        return value

    def tables(self, name: str) -> Iterator[tuple[str, Fields]]:
        """Yield the tables below a table, each with its name."""
        for key, value in self.mapping(name, {}).items():
            if not isinstance(value, Mapping):
                self._refuse(f"{name}.{key}", value, "a table of keys")
            yield key, Fields(value, f"in [{name}.{key}] of {self.where.removeprefix('in ')}", self.noun)

    def from_text(self) -> Fields:
        """Return the same fields, whose numbers, lists and objects may be written as JSON in a text."""
        return Fields(Cells(self.values), self.where, self.noun)

    def tags(self, *names: str) -> dict[str, str]:
        """Return those of some fields that are there, as text."""
        return {name: str(self.values[name]) for name in names if self.values.get(name)}

    def only(self, known: Iterable[str]) -> None:
        """Refuse a field that nobody knows."""
        names = sorted(known)
        for name in self.values:
            if name not in names:
                raise FieldError(f"unknown {self.noun} '{name}'{self._place()}; {nearest(name, names)}")

    def _of(self, name: str, default: Any = None) -> Any:
        """Return a value that is more than text; of a table it is read from its cell."""
        if name not in self:
            return self._missing(name, default)
        value = self.values[name]
        return _read(value) if isinstance(self.values, Cells) and not isinstance(default, str) else value

    def _missing(self, name: str, default: Any) -> Any:
        if default is None:
            raise FieldError(f"no {self.noun} '{name}'{self._place()}")
        return default

    def _check_known(self, name: str, value: str, known: Sequence[str]) -> None:
        if value not in known:
            raise FieldError(f"{self.noun} '{name}'{self._place()} is {value!r:.60}; {nearest(value, known)}")

    def _refuse(self, name: str, value: object, wanted: str) -> Any:
        raise FieldError(f"{self.noun} '{name}'{self._place()} is {describe_value(value)}, wanted {wanted}")

    def _place(self) -> str:
        return f" {self.where}" if self.where else ""


def describe_value(value: object) -> str:
    """Return what a value is, for a message about a wrong one."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return f"{value!r:.60}" if value != "" else "empty text"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf


def _range(least: float, most: float) -> str:
    return f"of at least {least:g}" if most >= 10**9 else f"from {least:g} to {most:g}"


def _read(cell: object) -> Any:
    """Return the number, list or object that a cell is, else its text."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        return cell
