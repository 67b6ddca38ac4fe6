"""Check the fields of a row or a table of settings, and convert JSON to frozen dataclasses and back.

There is one wording of each refusal: a field that is missing, of the wrong type or out of range, and one that nobody
knows, with the nearest known one. A row of a CSV holds text alone: numbers, lists and objects are read from it.

A field without a default has to be there; one whose default is None is left out where it is None; a field marked REST
takes the keys that no other field has. Tuples are lists, and a NamedTuple is a list of as many values. Files come from
strangers: the first value that is not of its kind is an error that says where it is.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from math import inf
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from assay.errors import InputError, nearest
from assay.io.rows import Cells

_DEFAULT_MAX = 1e12


class FieldError(InputError):
    """A field is missing, wrong or unknown; readers of rows report it as a problem."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Checked access to the fields of one object."""

    values: Mapping[str, Any]
    where: str = ""
    """Where the object stands, such as `in [sets.click] of matrix.toml`; for a row whoever reads it knows."""
    noun: str = "field"
    """What a field is called there."""

    def __contains__(self, name: str) -> bool:
        """Say whether a field is present; an empty cell of a table is not."""
        value = self.values.get(name)
        return value is not None and (value != "" or type(self.values) is not Cells)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field; without a default it is required."""
        value = self.values.get(name)
        value = self._missing(name, default) if value is None else value
        return value if isinstance(value, str) else self._refuse(name, value, "text")

    def name(self, *names: str) -> str:
        """Return the first present field of some that hold an id: text, or a whole number."""
        name = next((name for name in names if name in self), names[0])
        value = self.values[name] if name in self else self._missing(name, None)
        if type(value) is int:
            return str(value)
        return value if isinstance(value, str) and value.strip() else self._refuse(name, value, "an id")

    def number(self, name: str, default: float | None = None, *, least: float = 0, most: float = _DEFAULT_MAX) -> float:
        """Return a field that is a number within bounds."""
        return float(self._within(name, default, "a number", least, most))

    def whole(self, name: str, default: int | None = None, *, least: int = 0, most: float = 10**9) -> int:
        """Return a field that is a whole number within bounds."""
        return int(self._within(name, default, "a whole number", least, most))

    def _within(self, name: str, default: float | None, what: str, least: float, most: float) -> Any:
        value = self._of(name, default)
        if _is_number(value) and least <= value <= most and (what == "a number" or value == int(value)):
            return value
        bounds = f"of at least {least:g}" if most >= 10**9 else f"from {least:g} to {most:g}"
        return self._refuse(name, value, f"{what} {bounds}")

    def texts(self, name: str, default: Sequence[str] | None = None, *, known: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a field that is a list of texts, all of them in `known` if that is given."""
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
        """Return these fields with cells of text, in which numbers, lists and objects are JSON."""
        return Fields(Cells(self.values), self.where, self.noun)

    def tags(self, *names: str) -> dict[str, str]:
        """Return the present ones of some fields, as text."""
        return {name: str(self.values[name]) for name in names if self.values.get(name)}

    def only(self, known: Iterable[str]) -> None:
        """Refuse an unknown field."""
        names = sorted(known)
        for name in self.values:
            if name not in names:
                raise FieldError(f"unknown {self.noun} '{name}'{self._place()}; {nearest(name, names)}")

    def _of(self, name: str, default: Any = None) -> Any:
        """Return the value of a field; in a table of text, parse its cell."""
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

    def _refuse(self, name: str, value: object, expected: str) -> Any:
        raise FieldError(f"{self.noun} '{name}'{self._place()} is {describe_value(value)}, wanted {expected}")

    def _place(self) -> str:
        return f" {self.where}" if self.where else ""


def describe_value(value: object) -> str:
    """Describe a value in an error message."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return f"{value!r:.60}" if value != "" else "empty text"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf


def _read(cell: object) -> Any:
    """Return the number, list or object in a cell, or else its text."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        return cell


Value = TypeVar("Value")
_Reader = Callable[[Any], Any]

REST: Mapping[str, bool] = types.MappingProxyType({"rest": True})
"""Metadata of the field that takes all other keys of a table."""
_MAX_NUMBER = 1e15
_PLAIN = frozenset((str, int, float, bool, types.NoneType))


class _Wrong(Exception):  # becomes an InputError with its place
    def __init__(self, what: str, at: str = "") -> None:
        super().__init__(what)
        self.what, self.at = what, at

    def below(self, step: str) -> _Wrong:
        return _Wrong(self.what, f"{step}.{self.at}".rstrip(".").replace(".[", "["))


def read_value(kind: type[Value], value: Any) -> Value:
    """Convert JSON to a value of a class; raise InputError with the problem and its place."""
    try:
        return cast(Value, _reader(cast(Any, kind))(value))
    except _Wrong as wrong:
        raise InputError(f"{wrong.at or 'it'} {wrong.what}") from None


def as_json(value: Any) -> Any:
    """Convert a value to JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        held: dict[str, Any] = {}
        for each in fields(value):
            inner = getattr(value, each.name)
            if each.metadata.get("rest"):
                held |= as_json(inner)
            elif inner is not None or each.default is not None:
                held[each.name] = as_json(inner)
        return held
    if isinstance(value, Mapping):
        return {str(key): inner if type(inner) in _PLAIN else as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [inner if type(inner) in _PLAIN else as_json(inner) for inner in value]
    return value


@cache
def _reader(kind: Any) -> _Reader:
    """Return the reader of one type of value."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _any_of(inner)
    if origin is tuple:
        return _list_of(_reader(inner[0]))
    if origin is Literal or kind in _SCALARS:
        return _scalar(_SCALARS.get(kind) or (inner.__contains__, f"one of {', '.join(map(repr, inner))}"))
    if origin is not None and issubclass(origin, Mapping):
        return _table_of(_reader(inner[1]))
    if is_dataclass(kind):
        return _fields_of(kind)
    hints = get_type_hints(kind)  # of a NamedTuple
    return _places_of(kind, [_reader(hint) for hint in hints.values()], ", ".join(hints))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_plain_number(value: Any) -> bool:
    return type(value) in {int, float} and -_MAX_NUMBER < value < _MAX_NUMBER  # nor is nan, nor what is no float


_SCALARS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (_is_count, "a whole number from 0"),
    float: (_is_plain_number, "a number"),
    type(None): (lambda value: value is None, "null"),
    Any: (lambda _: True, ""),
}


def _scalar(rule: tuple[Callable[[Any], bool], str]) -> _Reader:
    fits, wanted = rule

    def scalar(value: Any) -> Any:
        if not fits(value):
            raise _Wrong(f"is {str(value)[:40]!r}, wanted {wanted}")
        return value

    return scalar


def _any_of(kinds: tuple[Any, ...]) -> _Reader:
    """Return the reader of a union: null or one type, or the class that a table's `kind` names."""
    others = [kind for kind in kinds if kind is not type(None)]
    if len(others) == 1:
        read = _reader(others[0])
        return lambda value: None if value is None else read(value)
    named = {get_args(get_type_hints(kind)["kind"])[0]: _reader(kind) for kind in others}

    def read_named(value: Any) -> Any:
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in named:
            raise _Wrong(f"is of kind {str(kind)[:40]!r}, wanted one of {', '.join(named)}")
        return named[kind](value)

    return read_named


def _list_of(read: _Reader) -> _Reader:
    def items(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _Wrong("is not a list")
        return tuple(_at(f"[{place}]", read, each) for place, each in enumerate(value))

    return items


def _places_of(kind: Any, readers: list[_Reader], names: str) -> _Reader:
    def places(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            raise _Wrong(f"is {str(value)[:40]!r}, wanted a list of {names}")
        return kind(*(_at(f"[{place}]", readers[place], each) for place, each in enumerate(value)))

    return places


def _table_of(read: _Reader) -> _Reader:
    def table(value: Any) -> dict[str, Any]:
        return {key: _at(key[:40], read, inner) for key, inner in _as_table(value).items()}

    return table


def _fields_of(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    known: dict[str, Field[Any]] = {each.name: each for each in fields(kind) if not each.metadata.get("rest")}
    rest = next((each.name for each in fields(kind) if each.metadata.get("rest")), "")
    readers = {name: _reader(hint) for name, hint in hints.items() if name in known or name == rest}

    def table(value: Any) -> Any:
        held = _as_table(value)
        for name, each in known.items():
            if name not in held and each.default is MISSING and each.default_factory is MISSING:
                raise _Wrong(f"has no '{name}'")
        found = {name: _at(name, readers[name], held[name]) for name in known if name in held}
        if rest:
            found[rest] = readers[rest]({key: inner for key, inner in held.items() if key not in known})
        return kind(**found)

    return table


def _as_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong("is not a table")
    return value


def _at(step: str, read: _Reader, value: Any) -> Any:
    try:
        return read(value)
    except _Wrong as wrong:
        raise wrong.below(step) from None
