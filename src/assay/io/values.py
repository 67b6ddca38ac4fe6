"""JSON to frozen dataclasses and back: what a class says of its fields is what is checked.

A field without a default has to be there; one whose default is None is left out where it is None; a field marked REST
takes the keys that no other field has. Tuples are lists, and a NamedTuple is a list of as many values. Files come from
strangers: the first value that is not of its kind is an error that says where it is.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from assay.errors import InputError

Value = TypeVar("Value")
_Reader = Callable[[Any], Any]

REST: Mapping[str, bool] = types.MappingProxyType({"rest": True})
"""Metadata of the field that takes all other keys of a table."""
_MOST = 1e15
_PLAIN = frozenset((str, int, float, bool, types.NoneType))


class _Wrong(Exception):  # becomes an InputError with its place
    def __init__(self, what: str, at: str = "") -> None:
        super().__init__(what)
        self.what, self.at = what, at

    def below(self, step: str) -> _Wrong:
        return _Wrong(self.what, f"{step}.{self.at}".rstrip(".").replace(".[", "["))


def read_value(kind: type[Value], value: Any) -> Value:
    """Return the value of a class that some JSON holds; InputError says what is wrong and where."""
    try:
        return cast(Value, _reader(cast(Any, kind))(value))
    except _Wrong as wrong:
        raise InputError(f"{wrong.at or 'it'} {wrong.what}") from None


def as_json(value: Any) -> Any:
    """Return a value as JSON has it."""
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
    """Return what reads one kind of value."""
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


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and -_MOST < value < _MOST  # nor is nan, nor what is no float


_SCALARS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (_is_count, "a whole number from 0"),
    float: (_is_number, "a number"),
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
    """Return what reads null or one kind, or the class whose `kind` a table names."""
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
        held = []
        for place, each in enumerate(value):
            try:
                held.append(read(each))
            except _Wrong as wrong:
                raise wrong.below(f"[{place}]") from None
        return tuple(held)

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
