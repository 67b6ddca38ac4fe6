"""Decompose and rebuild values of the standard library and numpy by a table; no other kinds can cross.

A kind says what its values are taken apart into (None where something would be lost) and what makes them again. Only
classes that are what their module says they are count; those of a program that inherit from dates and numbers cross as
these, unless they hold more than a dictionary of their own.
"""

from __future__ import annotations

import builtins
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

_Parts = tuple[Any, ...] | None
_OWN_FIELDS: Final = 16
"""Bytes that a class of Python adds to its base: its dictionary and its weak references."""


@dataclass(frozen=True, slots=True)
class LibraryKind:
    """How values of one class are decomposed and rebuilt."""

    take: Callable[[Any, Any], _Parts]
    """A value and the class as which it crosses."""
    make: Callable[..., Any]
    inherited: bool = False
    """Whether values of subclasses cross as this."""


def named_type(name: str) -> type:
    """Return the class of a name from `name_of_type`; other names may raise any exception."""
    module, _, attribute = name.partition(".")
    if module not in _TYPES_OF:
        raise ValueError(name)
    found = getattr(import_module(module), attribute)
    if not isinstance(found, type):
        raise TypeError(name)
    return found


def name_of_type(kind: type) -> str:
    """Return the name of a class of the standard library or numpy; empty for any other."""
    for module in (kind.__module__.partition(".")[0], "types"):
        if module in _TYPES_OF and getattr(sys.modules.get(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    return ""


@lru_cache(maxsize=512)
def base_of(kind: Any) -> tuple[str, type]:
    """Return the table's name and class for values of a class; empty if they cannot cross."""
    for base in kind.__mro__:
        name = _kind_name(base)
        adds_nothing = kind.__basicsize__ <= base.__basicsize__ + _OWN_FIELDS
        if name and (base is kind or (KINDS[name].inherited and adds_nothing)):
            return name, base
    return "", object


def _kind_name(kind: type) -> str:
    name = _ODD_NAMES.get(kind) or f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    module, _, attribute = name.partition(".")
    if module == "numpy":
        return _numpy_name(kind)
    if getattr(sys.modules.get(module), attribute, None) is not kind:
        return ""
    if module == "builtins" and issubclass(kind, BaseException):
        return "builtins.BaseException"
    return name if name in KINDS else ""


def _numpy_name(kind: type) -> str:
    numpy = sys.modules["numpy"]
    if issubclass(kind, numpy.generic) and getattr(numpy, kind.__name__, None) is kind:
        return "numpy.generic"
    return "numpy.ndarray" if kind is numpy.ndarray else "numpy.dtype" if issubclass(kind, numpy.dtype) else ""


def _library(name: str, *parts: Any, **keywords: Any) -> Any:
    module, _, attribute = name.partition(".")
    return getattr(import_module(module), attribute)(*parts, **keywords)


def _plain_kind(name: str, take: Callable[[Any, Any], _Parts], *, inherited: bool = False) -> LibraryKind:
    """Return a kind whose constructor takes its parts."""
    return LibraryKind(take, lambda *parts: _library(name, *parts), inherited)


def _fields(*names: str) -> Callable[[Any, Any], _Parts]:
    """Return a kind of values with exactly these attributes in their dictionary."""

    def take(value: Any, _: Any) -> _Parts:
        known = getattr(value, "__dict__", {}).keys() <= set(names)
        return tuple(getattr(value, name) for name in names) if known else None

    return take


def _reduced(value: Any, base: Any) -> _Parts:
    """Decompose a value like pickle, by the class's own code; without the class."""
    parts: _Parts = base.__reduce_ex__(value, 4)[1]
    return parts


def _memory(value: memoryview, _: Any) -> _Parts:
    if not value.c_contiguous or value.ndim == 0 or len(value.format) > 1:
        return None
    return value.tobytes(), value.format, value.shape, value.readonly


def _memory_of(content: bytes, form: str, shape: tuple[int, ...], readonly: Any) -> memoryview:
    view = memoryview(content if readonly else bytearray(content))
    return view if (form, len(shape)) == ("B", 1) else view.cast("B").cast(form, shape)  # type: ignore[call-overload]


def _error(value: BaseException, base: Any) -> _Parts:
    """Decompose an exception: its class, arguments and attributes."""
    _, args, *state = base.__reduce__(value)
    return base.__name__, args, *(state or [None])


def _error_of(name: str, args: tuple[Any, ...], state: Any) -> BaseException:
    kind = getattr(builtins, name)
    if not issubclass(kind, BaseException):
        raise TypeError(name)
    made: BaseException = kind(*args)
    if state is not None:
        made.__setstate__(state)
    return made


def _array(value: Any, _: Any) -> _Parts:
    if value.dtype.names is None and value.dtype.hasobject:
        return "O", value.shape, list(value.flat)
    if value.dtype.hasobject:
        return None
    return _described(value.dtype), value.shape, value.tobytes()


def _array_of(described: Any, shape: tuple[int, ...], content: Any) -> Any:
    numpy = import_module("numpy")
    if described == "O":
        made = numpy.empty(len(content), dtype=object)
        made[:] = content
        return made.reshape(shape)
    return numpy.ndarray(shape, _dtype(described), bytearray(content)).copy()


def _described(dtype: Any) -> Any:
    return import_module("numpy.lib.format").dtype_to_descr(dtype)


def _dtype(described: Any) -> Any:
    dtype = import_module("numpy.lib.format").descr_to_dtype(described)
    if dtype.hasobject:
        raise ValueError(described)
    return dtype


KINDS: Final[dict[str, LibraryKind]] = {
    "decimal.Decimal": _plain_kind("decimal.Decimal", lambda value, base: (base.__str__(value),), inherited=True),
    "fractions.Fraction": _plain_kind(
        "fractions.Fraction", lambda value, _: (value.numerator, value.denominator), inherited=True
    ),
    **{
        f"datetime.{name}": _plain_kind(f"datetime.{name}", _reduced, inherited=True)
        for name in ("timedelta", "date", "time", "datetime")
    },
    "datetime.timezone": _plain_kind("datetime.timezone", lambda value, _: value.__getinitargs__()),
    "zoneinfo.ZoneInfo": _plain_kind("zoneinfo.ZoneInfo", lambda value, _: (value.key,) if value.key else None),
    "uuid.UUID": LibraryKind(lambda value, _: (value.int,), lambda number: _library("uuid.UUID", int=number)),
    **{
        f"pathlib.{name}": _plain_kind(f"pathlib.{name}", lambda value, _: (str(value),))
        for name in ("PosixPath", "PurePosixPath", "PureWindowsPath")
    },
    **{
        f"ipaddress.{name}": _plain_kind(f"ipaddress.{name}", lambda value, _: (str(value),))
        for name in ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network", "IPv4Interface", "IPv6Interface")
    },
    "builtins.slice": _plain_kind("builtins.slice", _fields("start", "stop", "step")),
    "types.EllipsisType": LibraryKind(lambda *_: (), lambda: ...),
    "types.NotImplementedType": LibraryKind(lambda *_: (), lambda: NotImplemented),
    "builtins.memoryview": LibraryKind(_memory, _memory_of),
    "builtins.BaseException": LibraryKind(_error, _error_of),
    "array.array": _plain_kind("array.array", lambda value, _: (value.typecode, value.tobytes())),
    "types.MappingProxyType": _plain_kind("types.MappingProxyType", lambda value, _: (value.copy(),)),
    "types.SimpleNamespace": LibraryKind(
        lambda value, _: (vars(value),), lambda fields: _library("types.SimpleNamespace", **fields)
    ),
    "re.Pattern": LibraryKind(_fields("pattern", "flags"), re.compile),
    "string.Template": _plain_kind("string.Template", _fields("template")),
    "collections.UserDict": _plain_kind("collections.UserDict", _fields("data")),
    "collections.UserList": _plain_kind("collections.UserList", _fields("data")),
    "collections.UserString": _plain_kind("collections.UserString", _fields("data")),
    "collections.ChainMap": LibraryKind(_fields("maps"), lambda maps: _library("collections.ChainMap", *maps)),
    "numpy.ndarray": LibraryKind(_array, _array_of),
    "numpy.generic": LibraryKind(
        lambda value, _: None if value.dtype.hasobject else (_described(value.dtype), value.tobytes()),
        lambda described, content: _array_of(described, (), content)[()],
    ),
    "numpy.dtype": LibraryKind(lambda value, _: None if value.hasobject else (_described(value),), _dtype),
}
_ODD_NAMES: Final[dict[type, str]] = {
    getattr(types, name): f"types.{name}" for name in ("MappingProxyType", "EllipsisType", "NotImplementedType")
}
_TYPES_OF: Final = {"builtins", "collections", "types"} | {name.partition(".")[0] for name in KINDS}
"""Modules whose classes cross by their name."""
