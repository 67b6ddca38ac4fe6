"""What arrived as JSON to the value that was packed: data by the tags, library values by their table, or an error."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from assay.programs.harness.crossing import Drawn, Gone, deeply
from assay.programs.harness.library_values import KINDS, named_type

Find = Callable[[Any], Any]
"""The object for which that stands."""

_NESTING = frozenset({list, dict})


def unpack(packed: Any, find: Find | None = None) -> Any:
    """Return the value again; raise Gone for what `pack` never makes."""
    kind = type(packed)
    if kind not in _NESTING:
        return packed
    if kind is list and is_flat(packed):
        return packed[:]
    try:
        return Unpacker(find).value(packed)
    except RecursionError:
        pass
    except Exception as error:  # a forged message may do anything here
        raise Gone(f"a message that is no value: {type(error).__name__}: {error}") from error
    try:
        with deeply():
            return Unpacker(find).value(packed)
    except Exception as error:
        raise Gone(f"a message that is no value: {type(error).__name__}") from error


def unpack_numbered(packed: Any, find: Find | None = None) -> tuple[Any, list[Any]]:
    """Return the value again, and the containers in it in the order of their numbers."""
    unpacker = Unpacker(find)
    with deeply():
        return unpacker.value(packed), unpacker.made


class Unpacker:
    """One message on its way in: the containers that were made so far, in the order of their numbers."""

    def __init__(self, find: Find | None = None) -> None:
        self.find = find
        self.made: list[Any] = []

    def value(self, packed: Any) -> Any:
        """Return a value; raises anything for a forged one."""
        kind = type(packed)
        if kind is list:
            if _NESTING.isdisjoint(map(type, packed)):
                made = packed[:]
                self.made.append(made)
                return made
            made = []
            self.made.append(made)
            made += [self.value(item) for item in packed]
            return made
        if kind is not dict:
            return packed
        ((tag, content),) = packed.items()
        return _UNPACKERS[tag](self, content)

    def items(self, packed: list[Any]) -> list[Any]:
        """Return what a container holds."""
        if type(packed) is not list:
            raise TypeError("items that are none")
        return packed if _NESTING.isdisjoint(map(type, packed)) else [self.value(item) for item in packed]

    def fill(self, made: Any, content: Any) -> Any:
        """Put pairs into a new mapping, which may be among them."""
        self.made.append(made)
        keys, values = content
        for key, value in zip(self.items(keys), self.items(values), strict=True):
            made[key] = value
        return made

    def register(self, made: Any) -> Any:
        """Give what was just made its number."""
        self.made.append(made)
        return made


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


def _pairs(unpacker: Unpacker, content: Any) -> dict[Any, Any]:
    keys, values = content
    return dict(zip(unpacker.items(keys), unpacker.items(values), strict=True))


def _unmade(unpacker: Unpacker, content: Any) -> Any:
    name, parts = content
    return unpacker.register(KINDS[name].make(*unpacker.items(parts)))


def _find_object(unpacker: Unpacker, content: Any) -> Any:
    if unpacker.find is None:
        raise ValueError("an object where none can be")
    return unpacker.find(content)


_UNPACKERS: dict[str, Callable[[Unpacker, Any], Any]] = {
    "=": lambda unpacker, number: unpacker.made[number],
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
    "I": lambda unpacker, content: _pairs(unpacker, content).items(),
    "g": lambda unpacker, content: Drawn(str(content[0]), unpacker.items(content[1])),
    "m": _unmade,
    "T": lambda _, name: named_type(name),
    "h": _find_object,
}


def is_flat(packed: list[Any]) -> bool:
    """Say whether a packed list holds no container."""
    return _NESTING.isdisjoint(map(type, packed))
