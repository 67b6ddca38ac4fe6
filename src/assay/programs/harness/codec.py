"""Encode values as JSON and decode them, for the channel between a program and its judge.

JSON with one-key objects as tags, and neither pickle nor marshal: what arrives can only be data. A value crosses whole
or not at all: zones, default factories, greatest lengths and two names for one list are kept (`library_values` has the
kinds of the standard library). A value of a subclass crosses as its base, read by the base's own C methods, so that a
lying `__eq__` or `__iter__` stays behind. What is no data is refused, unless `keep` says what stands for it: an object
that stays where it is (`proxies`).
"""

from __future__ import annotations

import json
import math
import socket
import struct
import sys
from builtins import len  # noqa: A004 - tests beside the program may patch it
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from types import NoneType
from typing import Any, Final, TypeVar

from assay.programs.harness.derived import behaves_otherwise, is_record, record_class
from assay.programs.harness.library_values import KINDS, base_of, name_of_type, named_type

MAX_BYTES: Final = 64 << 20
MAX_ITEMS: Final = 8_000_000
MAX_DRAWN_ITEMS: Final = 200_000
"""How many items of an iterator are drawn before it counts as endless."""
MAX_DEPTH: Final = 1000
PLAIN_BITS: Final = 2000
"""Integers up to here are written in decimal: below the least limit that `sys.set_int_max_str_digits` takes."""

_RECURSION: Final = 6000
"""Frames for what is nested `MAX_DEPTH` deep: within the stack that a thread has."""


_Value = TypeVar("_Value")


class NotPlainData(Exception):
    """A value that is not plain data."""


class TooLarge(NotPlainData):
    """A value too large or too deep to cross."""


class Gone(BaseException):
    """The other side closed the channel or sent an invalid message; a BaseException, so that tests do not catch it."""


class RemoteIterator:
    """The items of an iterator of the other side, as an iterator again."""

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
    """A value of the program that is not plain data."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: an object of the program>"


@contextmanager
def deeply() -> Iterator[None]:
    """Raise the recursion limit, for values that exceed the usual one."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _with_depth(work: Callable[[], _Value]) -> _Value:
    """Do some work; if the usual recursion limit is too low, again with a higher one."""
    try:
        return work()
    except RecursionError:
        with deeply():
            return work()


Find = Callable[[Any], Any]
"""The object for which that stands."""

_NESTING = frozenset({list, dict})


def unpack(packed: Any, find: Find | None = None, shared: Sequence[Any] = ()) -> Any:
    """Return the packed value; raise Gone if `pack` never makes it. `shared` are containers that both sides have."""
    kind = type(packed)
    if kind not in _NESTING:
        return packed
    if kind is list and is_flat(packed):
        return packed[:]
    try:
        return _with_depth(lambda: Unpacker(find, shared).value(packed))
    except Exception as error:  # a forged message may do anything here
        raise Gone(f"an invalid message: {type(error).__name__}: {error}") from error


def unpack_numbered(packed: Any, find: Find | None = None) -> tuple[Any, list[Any]]:
    """Return the packed value, and the containers in it in the order of their numbers."""
    unpacker = Unpacker(find)
    with deeply():
        return unpacker.value(packed), unpacker.containers


class Unpacker:
    """The state of unpacking one message: the containers so far, in the order of their numbers."""

    def __init__(self, find: Find | None = None, shared: Sequence[Any] = ()) -> None:
        self.find = find
        self.shared = shared
        self.containers: list[Any] = []

    def value(self, packed: Any) -> Any:
        """Unpack a value; a forged one may raise any exception."""
        kind = type(packed)
        if kind is list:
            if _NESTING.isdisjoint(map(type, packed)):
                made = packed[:]
                self.containers.append(made)
                return made
            made = []
            self.containers.append(made)
            made += [self.value(item) for item in packed]
            return made
        if kind is not dict:
            return packed
        ((tag, content),) = packed.items()
        return _UNPACKERS[tag](self, content)

    def items(self, packed: list[Any]) -> list[Any]:
        """Unpack the items of a container."""
        if type(packed) is not list:
            raise TypeError("items that are none")
        return packed if _NESTING.isdisjoint(map(type, packed)) else [self.value(item) for item in packed]

    def fill(self, mapping: Any, content: Any) -> Any:
        """Fill a new mapping with pairs, which may contain the mapping itself."""
        self.containers.append(mapping)
        keys, values = content
        for key, value in zip(self.items(keys), self.items(values), strict=True):
            mapping[key] = value
        return mapping

    def register(self, container: Any) -> Any:
        """Number a new container, and return it."""
        self.containers.append(container)
        return container


def _set(unpacker: Unpacker, items: Any) -> set[Any]:
    made: set[Any] = unpacker.register(set())
    made.update(unpacker.items(items))
    return made


def _deque(unpacker: Unpacker, content: Any) -> deque[Any]:
    items, longest = content
    made: deque[Any] = unpacker.register(deque(maxlen=longest))
    made.extend(unpacker.items(items))
    return made


def _defaultdict(unpacker: Unpacker, content: Any) -> Any:
    factory, keys, values = content
    made: defaultdict[Any, Any] = unpacker.register(defaultdict())
    made.default_factory = unpacker.value(factory)
    made.update(zip(unpacker.items(keys), unpacker.items(values), strict=True))
    return made


def _unmade(unpacker: Unpacker, content: Any) -> Any:
    name, parts = content
    return unpacker.register(KINDS[name].make(*unpacker.items(parts)))


def _find_object(unpacker: Unpacker, content: Any) -> Any:
    if unpacker.find is None:
        raise ValueError("an object where none can be")
    return unpacker.find(content)


def _shared_container(unpacker: Unpacker, number: Any) -> Any:
    if number < 0:
        raise IndexError(number)
    return unpacker.shared[number]


_UNPACKERS: dict[str, Callable[[Unpacker, Any], Any]] = {
    "A": _shared_container,
    "=": lambda unpacker, number: unpacker.containers[number],
    "i": lambda _, digits: int(digits, 16),
    "u": lambda _, digits: bytes.fromhex(digits).decode("utf-8", "surrogatepass"),
    "b": lambda _, digits: bytes.fromhex(digits),
    "B": lambda unpacker, digits: unpacker.register(bytearray.fromhex(digits)),
    "c": lambda _, parts: complex(*map(float, parts)),
    "t": lambda unpacker, items: tuple(unpacker.items(items)),
    "d": lambda unpacker, content: unpacker.fill({}, content),
    "O": lambda unpacker, content: unpacker.fill(OrderedDict(), content),
    "C": lambda unpacker, content: unpacker.fill(Counter(), content),
    "D": _defaultdict,
    "s": _set,
    "f": lambda unpacker, items: frozenset(unpacker.items(items)),
    "q": _deque,
    "r": lambda _, parts: range(*parts),
    "K": lambda unpacker, items: dict.fromkeys(unpacker.items(items)).keys(),
    "V": lambda unpacker, items: dict(enumerate(unpacker.items(items))).values(),
    "I": lambda unpacker, content: dict(zip(*map(unpacker.items, content), strict=True)).items(),
    "g": lambda unpacker, content: RemoteIterator(str(content[0]), unpacker.items(content[1])),
    "m": _unmade,
    "N": lambda unpacker, content: record_class(content[0], tuple(content[1]))(*unpacker.items(content[2])),
    "T": lambda _, name: named_type(name),
    "h": _find_object,
}


def is_flat(packed: list[Any]) -> bool:
    """Say whether a packed list has no container in it."""
    return _NESTING.isdisjoint(map(type, packed))


_LENGTH = struct.Struct(">I")
_DIRECT = frozenset({float, bool, NoneType})
_dumps = json.JSONEncoder(separators=(",", ":")).encode
_NAN = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_scan = json.JSONDecoder(parse_constant=_NAN.__getitem__).raw_decode
"""A nan is always `math.nan`, so that it is the same object in a list that went there and came back."""

Keep = Callable[[Any], Any]
"""What stands for an object that is no data; raises NotPlainData where nothing does."""


def pack(value: object, keep: Keep | None = None, shared: Sequence[Any] = ()) -> Any:
    """Return the value as JSON; raise NotPlainData if it cannot cross the channel.

    Of `shared` containers, which the other side has in the same order, only the number is sent.
    """
    kind = type(value)
    if kind in _DIRECT:
        return value
    if kind is int and -(1 << 62) < value < 1 << 62:  # type: ignore[operator]
        return value
    return pack_numbered(value, keep, shared)[0]


def pack_numbered(value: object, keep: Keep | None = None, shared: Sequence[Any] = ()) -> tuple[Any, list[Any]]:
    """Return the value as JSON, and its containers that may change, in the order of their numbers."""

    def packed() -> tuple[Any, list[Any]]:
        packer = _Packer(keep, shared)
        return packer.pack(value), packer.containers

    try:
        return _with_depth(packed)
    except RecursionError:
        raise TooLarge("nested too deep") from None


class _Packer:
    """The state of packing one value: remaining items, depth, and the number of each container that may change."""

    def __init__(self, keep: Keep | None, shared: Sequence[Any]) -> None:
        self.keep = keep
        self.shared = {id(each): number for number, each in enumerate(shared)}
        self.room = MAX_ITEMS
        self.depth = 0
        self.numbers: dict[int, int] = {}
        self.containers: list[Any] = []
        self.alive: list[Any] = []

    def pack(self, value: Any) -> Any:
        kind = type(value)
        if kind in _DIRECT:
            return value
        packer = _PACKERS.get(kind)
        if packer is None:
            packer = _packer_of(kind)
        if packer in _ATOMIC:
            return packer(self, value)
        if id(value) in self.shared:
            return {"A": self.shared[id(value)]}
        if id(value) in self.numbers:
            return {"=": self.numbers[id(value)]}
        if self.depth >= MAX_DEPTH:
            return self.leave(value)
        if packer in _CONTAINERS:
            self.number(value)
        self.depth += 1
        packed = packer(self, value)
        self.depth -= 1
        return packed

    def leave(self, value: Any) -> Any:
        """Refuse values nested too deep, which then stay on their side."""
        if self.keep is None:
            raise TooLarge(f"nested more than {MAX_DEPTH} deep")
        return self.keep(value)

    def number(self, value: Any) -> None:
        """Number a container like the other side: before its parts, or after them if it is built from them."""
        self.numbers[id(value)] = len(self.numbers)
        self.containers.append(value)

    def items(self, items: list[Any]) -> list[Any]:
        """Pack the items of a container, all at once if they are plain."""
        self.room -= len(items) + 1
        if self.room < 0:
            raise TooLarge(f"more than {MAX_ITEMS} items")
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
        raise TooLarge(f"more than {MAX_BYTES} bytes")
    if not exact.isascii():
        raw = exact.encode("utf-8", "surrogatepass")
        if b"\xed" in raw and any("\ud800" <= char <= "\udfff" for char in exact):
            return {"u": raw.hex()}  # JSON would join two halves into one character
    return exact


def _bytes(packer: _Packer, value: Any) -> Any:
    exact = bytes(memoryview(value))
    packer.room -= len(exact) // 4
    if packer.room < 0:
        raise TooLarge(f"more than {MAX_BYTES} bytes")
    return {"b": exact.hex()}


def _bytearray(packer: _Packer, value: Any) -> Any:
    packer.number(value)
    return {"B": _bytes(packer, value)["b"]}


def _mapping(packer: _Packer, items: Iterator[tuple[Any, Any]]) -> list[Any]:
    pairs = list(items)
    return [packer.items([key for key, _ in pairs]), packer.items([value for _, value in pairs])]


def _pack_iterator(packer: _Packer, value: Any) -> Any:
    items = list(islice(value, MAX_DRAWN_ITEMS + 1))
    if len(items) > MAX_DRAWN_ITEMS:
        raise TooLarge(f"a {type(value).__name__} of more than {MAX_DRAWN_ITEMS} items")
    packer.alive += items
    return {"g": [type(value).__name__, packer.items(items)]}


def _iterator(packer: _Packer, value: Any) -> Any:
    """Pack an iterator: the program's stays there, one of the tests is consumed."""
    with suppress(NotPlainData):
        return _keep_object(packer, value)
    return _pack_iterator(packer, value)


def _keep_object(packer: _Packer, value: Any) -> Any:
    if packer.keep is None:
        raise NotPlainData(f"an object of class {type(value).__name__}")
    return packer.keep(value)


def _take_apart(packer: _Packer, value: Any) -> Any:
    """Pack a value by the table entry of its kind."""
    kind: Any = type(value)
    name, base = base_of(kind)
    parts = KINDS[name].take(value, base)
    if parts is None:
        return _keep_object(packer, value)
    packer.alive.append(parts)
    packed = {"m": [name, packer.items(list(parts))]}
    packer.number(value)
    return packed


def _type(packer: _Packer, value: Any) -> Any:
    name = name_of_type(value)
    return {"T": name} if name else _keep_object(packer, value)


_PACKERS: dict[type, Callable[[_Packer, Any], Any]] = {
    int: _integer,
    str: _text,
    float: lambda _, value: float.__pos__(value),
    bytes: _bytes,
    complex: lambda _, value: {"c": [complex.__getattribute__(value, part) for part in ("real", "imag")]},
    type: _type,
    list: lambda packer, value: packer.items(list(list.__iter__(value))),
    OrderedDict: lambda packer, value: {"O": _mapping(packer, OrderedDict.items(value).__iter__())},
    Counter: lambda packer, value: {"C": _mapping(packer, iter(dict.items(value)))},
    defaultdict: lambda packer, value: {
        "D": [packer.pack(_factory.__get__(value)), *_mapping(packer, iter(dict.items(value)))]
    },
    dict: lambda packer, value: {"d": _mapping(packer, iter(dict.items(value)))},
    set: lambda packer, value: {"s": packer.items(list(set.__iter__(value)))},
    deque: lambda packer, value: {"q": [packer.items(list(deque.__iter__(value))), _longest.__get__(value)]},
    bytearray: _bytearray,
    tuple: lambda packer, value: {"t": packer.items(list(tuple.__iter__(value)))},
    frozenset: lambda packer, value: {"f": packer.items(list(frozenset.__iter__(value)))},
    range: lambda packer, value: {"r": packer.items([value.start, value.stop, value.step])},
    type({}.keys()): lambda packer, value: {"K": packer.items(list(value))},
    type({}.values()): lambda packer, value: {"V": packer.items(list(value))},
    type({}.items()): lambda packer, value: {"I": _mapping(packer, iter(value))},
}
_factory: Any = vars(defaultdict)["default_factory"]
_longest: Any = vars(deque)["maxlen"]
_ATOMIC = frozenset({_PACKERS[kind] for kind in (int, str, float, bytes, complex, type)} | {_keep_object, _iterator})
_CONTAINERS = frozenset(_PACKERS[kind] for kind in (list, OrderedDict, Counter, defaultdict, dict, set, deque))
"""What gets its number before its items, for it may hold itself."""


def _record(packer: _Packer, value: Any) -> Any:
    """Pack a named tuple with its field names, so that the other side can rebuild it."""
    kind: Any = type(value)
    items = list(tuple.__iter__(value))
    if len(items) != len(kind._fields):
        return {"t": packer.items(items)}
    return {"N": [kind.__name__, list(kind._fields), packer.items(items)]}


def _packer_of(kind: Any) -> Callable[[_Packer, Any], Any]:
    """Return the packer of a type outside the table: by its kind, as an iterator, or by its base."""
    if behaves_otherwise(kind):
        return _keep_object
    if is_record(kind):
        return _record
    if kind.__module__ in {"builtins", "itertools"} and hasattr(kind, "__next__"):
        return _iterator
    if base_of(kind)[0]:
        return _take_apart
    for base in kind.__mro__[1:]:
        if base in _PACKERS and (base is not type or kind is type):
            return _PACKERS[base]
    return _type if issubclass(kind, type) else _keep_object


def _loads(text: str) -> Any:
    """Parse JSON like `decode`, which would use `len` of builtins that tests may patch."""
    value, end = _scan(text)
    if end != len(text):
        raise ValueError(f"more than a value, at {end}")
    return value


class Channel:
    """One end of a socket that carries messages: JSON with its length before it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()

    def send(self, message: object) -> None:
        """Send one message; raise TooLarge if it is too long, Gone if the other side is closed."""
        self.post(_with_depth(lambda: _dumps(message)))

    def post(self, text: str) -> None:
        """Send a message that is already JSON."""
        raw = text.encode("ascii")
        if len(raw) > MAX_BYTES:
            raise TooLarge(f"{len(raw)} bytes, more than {MAX_BYTES}")
        try:
            self._sock.sendall(_LENGTH.pack(len(raw)) + raw)
        except OSError as error:
            raise Gone(str(error)) from error

    def receive(self) -> Any:
        """Return the next message; raise Gone at the end of the channel and for an invalid message."""
        (length,) = _LENGTH.unpack(self._take(_LENGTH.size))
        if length > MAX_BYTES:
            raise Gone(f"a message of {length} bytes, more than {MAX_BYTES}")
        raw = self._take(length)
        try:
            return _with_depth(lambda: _loads(raw.decode("ascii")))
        except (ValueError, RecursionError) as error:
            raise Gone(f"a message that is not JSON: {error}") from error

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
