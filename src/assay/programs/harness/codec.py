"""Plain Python values to JSON and back, and frames of it over a socket: all that a program and its judge exchange.

JSON with one-key objects as tags, and neither pickle nor marshal: what arrives can only be data. A value of a
subclass crosses as its base, read by the base's own C methods, so that a lying `__eq__` or `__iter__` stays behind;
what is not data is refused. Two names for one list become two lists: identity does not cross.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from types import NoneType
from typing import Any, Final

MOST_BYTES: Final = 16 << 20
MOST_ITEMS: Final = 2_000_000
MOST_DRAWN: Final = 200_000
"""How many items of an iterator are drawn before it counts as endless."""
DEEPEST: Final = 100
PLAIN_BITS: Final = 2000
"""Integers up to here are written in decimal: below the least limit that `sys.set_int_max_str_digits` takes."""

_LENGTH = struct.Struct(">I")
_DIRECT = frozenset({float, bool, NoneType})
_NESTING = frozenset({list, dict})
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_loads = json.JSONDecoder().decode


class NotPlainData(Exception):
    """A value that is not plain data, too large, too deep, or within itself."""


class Gone(Exception):
    """The other side closed the channel, or sent what is no message."""


class Drawn:
    """The items of an iterator that lived on the other side: an iterator again, equal to nothing else."""

    def __init__(self, kind: str, items: list[Any]) -> None:
        self.kind = kind
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def __repr__(self) -> str:
        return f"<{self.kind} object>"


class Opaque:
    """Something that the program returned and that is no plain data."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, why: str) -> None:
        self.why = why

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.why}>"


def opaque(kind: object, why: object) -> Opaque:
    """Return what stands for a refused value, of a class that has the name of the value's own."""
    name = str(kind)[:200].replace("\0", " ")
    made: Opaque = type(name, (Opaque,), {"__hash__": None})(str(why)[:200])
    return made


def pack(value: object) -> Any:
    """Return the value as what JSON can say; raise Refused for what is no plain data."""
    kind = type(value)
    if kind in _DIRECT:
        return value
    if kind is int and -(1 << 62) < value < 1 << 62:  # type: ignore[operator]
        return value
    try:
        return _Packer().pack(value)
    except RecursionError:
        raise NotPlainData("nested too deep") from None


class _Packer:
    """One value on its way out: what room is left, and which containers are open around it."""

    def __init__(self) -> None:
        self.room = MOST_ITEMS
        self.around: set[int] = set()

    def pack(self, value: Any) -> Any:
        kind = type(value)
        if kind in _DIRECT:
            return value
        packer = _PACKERS.get(kind)
        if packer is None:
            packer = _packer_of(kind)
        if packer in _ATOMIC:
            return packer(self, value)
        if id(value) in self.around:
            raise NotPlainData(f"a {kind.__name__} that holds itself")
        if len(self.around) >= DEEPEST:
            raise NotPlainData(f"nested more than {DEEPEST} deep")
        self.around.add(id(value))
        packed = packer(self, value)
        self.around.discard(id(value))
        return packed

    def items(self, items: list[Any]) -> list[Any]:
        """Pack what a container holds, all at once where its items need no care."""
        self.room -= len(items) + 1
        if self.room < 0:
            raise NotPlainData(f"more than {MOST_ITEMS} items")
        kinds = set(map(type, items))
        if kinds <= _DIRECT:
            return items
        if kinds == {int} and min(items) > -(1 << 62) and max(items) < 1 << 62:
            return items
        if kinds == {str}:
            self.room -= sum(map(len, items)) // 8
            if "".join(items).isascii():
                return items
        return [self.pack(item) for item in items]


def _integer(_: _Packer, value: Any) -> Any:
    exact = int.__index__(value)
    return exact if exact.bit_length() <= PLAIN_BITS else {"i": hex(exact)}


def _text(packer: _Packer, value: Any) -> Any:
    exact = str.__str__(value)
    packer.room -= len(exact) // 8
    if packer.room < 0:
        raise NotPlainData(f"more than {MOST_BYTES} bytes")
    if not exact.isascii():
        raw = exact.encode("utf-8", "surrogatepass")
        if b"\xed" in raw and any("\ud800" <= char <= "\udfff" for char in exact):
            return {"u": raw.hex()}  # JSON would join two halves into one character
    return exact


def _bytes(packer: _Packer, value: Any) -> Any:
    exact = bytes(memoryview(value))
    packer.room -= len(exact) // 4
    if packer.room < 0:
        raise NotPlainData(f"more than {MOST_BYTES} bytes")
    return {"B" if isinstance(value, bytearray) else "b": exact.hex()}


def _mapping(packer: _Packer, items: Iterator[tuple[Any, Any]]) -> list[Any]:
    pairs = list(items)
    return [packer.items([key for key, _ in pairs]), packer.items([value for _, value in pairs])]


def _drawn(packer: _Packer, value: Any) -> Any:
    items = list(islice(value, MOST_DRAWN + 1))
    if len(items) > MOST_DRAWN:
        raise NotPlainData(f"a {type(value).__name__} of more than {MOST_DRAWN} items")
    return {"g": [type(value).__name__, packer.items(items)]}


def _array(packer: _Packer, value: Any) -> Any:
    if value.dtype.hasobject or value.dtype.names:
        raise NotPlainData(f"an array of {value.dtype}")
    return {"n": [str(value.dtype), list(value.shape), packer.items(value.ravel().tolist())]}


def _scalar(packer: _Packer, value: Any) -> Any:
    plain = value.item()
    if type(plain) is type(value):
        raise NotPlainData(f"a {type(value).__name__}")
    return packer.pack(plain)


def _made(packer: _Packer, value: Any) -> Any:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__name__}"
    return {"m": [name, packer.items(list(_MADE[name](value)))]}


def _builtin_type(_: _Packer, value: Any) -> Any:
    if value.__module__ != "builtins":
        raise NotPlainData(f"the class {value.__name__}")
    return {"T": value.__name__}


_MADE: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "decimal.Decimal": lambda value: (str(value),),
    "fractions.Fraction": lambda value: (value.numerator, value.denominator),
    "datetime.timedelta": lambda value: (value.days, value.seconds, value.microseconds),
    "datetime.date": lambda value: (value.year, value.month, value.day),
    "datetime.time": lambda value: (value.hour, value.minute, value.second, value.microsecond),
    "datetime.datetime": lambda value: (*value.timetuple()[:6], value.microsecond),
}
"""Values of the standard library that their constructor makes again from plain ones."""

_PACKERS: dict[type, Callable[[_Packer, Any], Any]] = {
    int: _integer,
    str: _text,
    float: lambda _, value: float.__pos__(value),
    bytes: _bytes,
    bytearray: _bytes,
    complex: lambda _, value: {"c": [complex.__getattribute__(value, part) for part in ("real", "imag")]},
    list: lambda packer, value: packer.items(list(list.__iter__(value))),
    tuple: lambda packer, value: {"t": packer.items(list(tuple.__iter__(value)))},
    OrderedDict: lambda packer, value: {"O": _mapping(packer, OrderedDict.items(value).__iter__())},
    Counter: lambda packer, value: {"C": _mapping(packer, iter(dict.items(value)))},
    defaultdict: lambda packer, value: {"d": _mapping(packer, iter(dict.items(value)))},
    dict: lambda packer, value: {"d": _mapping(packer, iter(dict.items(value)))},
    set: lambda packer, value: {"s": packer.items(list(set.__iter__(value)))},
    frozenset: lambda packer, value: {"f": packer.items(list(frozenset.__iter__(value)))},
    deque: lambda packer, value: {"q": packer.items(list(deque.__iter__(value)))},
    range: lambda packer, value: {"r": packer.items([value.start, value.stop, value.step])},
    type({}.keys()): lambda packer, value: {"K": packer.items(list(value))},
    type({}.values()): lambda packer, value: {"V": packer.items(list(value))},
    type({}.items()): lambda packer, value: {"I": _mapping(packer, iter(value))},
    type: _builtin_type,
}
_ATOMIC = frozenset({_integer, _text, _bytes, _PACKERS[float], _PACKERS[complex], _builtin_type})


def _packer_of(kind: type) -> Callable[[_Packer, Any], Any]:
    """Return what packs a type that is not in the table: its base's packer, an iterator's, an array's."""
    name = f"{kind.__module__}.{kind.__name__}"
    owner = sys.modules.get(kind.__module__)
    if getattr(owner, kind.__name__, None) is kind and kind.__module__ == "numpy":
        if name == "numpy.ndarray":
            return _array
        if hasattr(kind, "item"):
            return _scalar
    if name in _MADE and getattr(owner, kind.__name__, None) is kind:
        return _made
    if kind.__module__ in {"builtins", "itertools"} and hasattr(kind, "__next__"):
        return _drawn
    for base in kind.__mro__[1:]:
        if base in _PACKERS and base is not type:
            return _PACKERS[base]
    raise NotPlainData(f"an object of class {kind.__name__}")


def unpack(packed: Any) -> Any:
    """Return the value again; raise Gone for what `pack` never makes."""
    try:
        return _unpack(packed)
    except Gone:
        raise
    except Exception as error:  # a forged message may do anything here
        raise Gone(f"a message that is no value: {type(error).__name__}") from error


def _unpack(packed: Any) -> Any:
    kind = type(packed)
    if kind is list:
        if _NESTING.isdisjoint(map(type, packed)):
            return packed[:]
        return [_unpack(item) for item in packed]
    if kind is not dict:
        return packed
    try:
        ((tag, content),) = packed.items()
        return _UNPACKERS[tag](content)
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise Gone(f"a message that is no value: {error}") from error


def _dict(content: Any) -> dict[Any, Any]:
    keys, values = content
    return dict(zip(_unpack(keys), _unpack(values), strict=True))


def _unarray(content: Any) -> Any:
    dtype, shape, items = content
    numpy = import_module("numpy")
    found = numpy.dtype(dtype)
    if found.hasobject or found.names or found.subdtype:
        raise ValueError(dtype)
    return numpy.array(_unpack(items), dtype=dtype).reshape(shape)


def _unmade(content: Any) -> Any:
    name, items = content
    if name not in _MADE:
        raise ValueError(name)
    module, _, kind = name.partition(".")
    return getattr(import_module(module), kind)(*_unpack(items))


def _untype(name: Any) -> Any:
    found = vars(import_module("builtins"))[name]
    if not isinstance(found, type):
        raise TypeError(name)
    return found


_UNPACKERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda digits: int(digits, 16),
    "u": lambda digits: bytes.fromhex(digits).decode("utf-8", "surrogatepass"),
    "b": bytes.fromhex,
    "B": bytearray.fromhex,
    "c": lambda parts: complex(*map(float, parts)),
    "t": lambda items: tuple(_unpack(items)),
    "d": _dict,
    "O": lambda content: OrderedDict(_dict(content)),
    "C": lambda content: Counter(_dict(content)),
    "s": lambda items: set(_unpack(items)),
    "f": lambda items: frozenset(_unpack(items)),
    "q": lambda items: deque(_unpack(items)),
    "r": lambda parts: range(*parts),
    "K": lambda items: dict.fromkeys(_unpack(items)).keys(),
    "V": lambda items: dict(enumerate(_unpack(items))).values(),
    "I": lambda content: _dict(content).items(),
    "g": lambda content: Drawn(str(content[0]), _unpack(content[1])),
    "n": _unarray,
    "m": _unmade,
    "T": _untype,
}


def is_flat(packed: list[Any]) -> bool:
    """Say whether a packed list holds no container."""
    return _NESTING.isdisjoint(map(type, packed))


class Channel:
    """One end of a socket that carries messages: JSON with its length before it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()

    def send(self, message: object) -> None:
        """Send one message; raise Refused where it is too long, Gone where nobody listens."""
        self.post(_dumps(message))

    def post(self, text: str) -> None:
        """Send a message that is JSON already."""
        raw = text.encode("ascii")
        if len(raw) > MOST_BYTES:
            raise NotPlainData(f"{len(raw)} bytes, more than {MOST_BYTES}")
        try:
            self._sock.sendall(_LENGTH.pack(len(raw)) + raw)
        except OSError as error:
            raise Gone(str(error)) from error

    def receive(self) -> Any:
        """Return the next message; raise Gone at the end of the channel and for what is no message."""
        (length,) = _LENGTH.unpack(self._take(_LENGTH.size))
        if length > MOST_BYTES:
            raise Gone(f"a message of {length} bytes, more than {MOST_BYTES}")
        try:
            return _loads(self._take(length).decode("ascii"))
        except (ValueError, RecursionError) as error:
            raise Gone(f"a message that is no JSON: {error}") from error

    def _take(self, size: int) -> bytes:
        buffer = self._buffer
        while len(buffer) < size:
            try:
                more = self._sock.recv(max(65536, size - len(buffer)))
            except OSError as error:
                raise Gone(str(error)) from error
            if not more:
                raise Gone("the channel was closed")
            buffer += more
        taken = bytes(buffer[:size])
        del buffer[:size]
        return taken
