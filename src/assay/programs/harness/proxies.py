"""Let tests use objects that stay in the program's process: a number there, a proxy here.

An object that is not data crosses as `[NUMBER, CLASS, ABILITIES]`. The judge uses it by its special methods, a message
each, and every answer is data or another such object. So tests iterate, index, call and measure objects while program
and tests stay apart. What the program did to an argument is done to the tests' own object, which other names may hold.

Iterators are drawn one item at a time, and after some items in batches of at most a moment, so that an endless one is
not waited for. Items that the program may still change are sent again when they changed, as one list does that is
yielded over and over.

The program is never believed alone that its object equals plain data. The object is equal where it says so and its
contents, drawn as data before it sees the other side, are equal, too, or else where it says so of no other value
(`challenge`); it stands above or below plain data by its contents alone. Two objects of the program are compared by the
program; then the outcome says `shared`. It does so, too, where the tests hand an object what may be the expected value
and take its word: what it contains, what it makes of `- 2.5`, what its methods return.
"""

from __future__ import annotations

import builtins
import operator
import sys
import time
import types
from array import array
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from assay.programs.harness.challenge import says_equal
from assay.programs.harness.codec import MAX_DRAWN_ITEMS, Gone, NotPlainData, Opaque, TooLarge, pack
from assay.programs.harness.derived import ABILITIES
from assay.programs.harness.recorder import FAILURE

if TYPE_CHECKING:
    from assay.programs.harness.remote import Remote

_WITH_FIELDS = (SimpleNamespace, UserDict, UserList)
_SLICED = (list, bytearray, array)
_REFILLED = (dict, set)


def graft(old: Any, new: Any) -> Any:
    """Update a container in place to its new content, and inner ones too; return the container to use now."""
    pairs: dict[int, tuple[Any, Any]] = {}
    waiting = [(old, new)]
    while waiting:
        before, now = waiting.pop()
        if type(before) is not type(now) or before is now or id(now) in pairs or not _may_change(before, now):
            continue
        pairs[id(now)] = (before, now)
        if isinstance(before, list):
            waiting += zip(before, now, strict=False)
        elif isinstance(before, dict):
            waiting += [(before[key], value) for key, value in now.items() if key in before]
    return _fill_all(pairs)(new)


def graft_all(olds: Sequence[Any], news: Sequence[Any]) -> None:
    """Update each container in place to the new one at its position; they may contain one another."""
    _fill_all({id(new): (old, new) for old, new in zip(olds, news, strict=True) if type(old) is type(new)})


def _fill_all(pairs: dict[int, tuple[Any, Any]]) -> Callable[[Any], Any]:
    """Fill old containers from their new ones; return a function from a new container to the one to use."""

    def now(value: Any) -> Any:
        return pairs[id(value)][0] if id(value) in pairs else value

    for old, new in pairs.values():
        if _may_change(old, new):
            _fill(old, new, now)
    return now


def _may_change(old: Any, new: Any) -> bool:
    if isinstance(old, (*_WITH_FIELDS, *_SLICED, *_REFILLED, deque)):
        return True
    return _is_array(old) and (old.shape, old.dtype) == (new.shape, new.dtype)


def _is_array(value: Any) -> bool:
    return "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].ndarray)


def _fill(old: Any, new: Any, now: Any) -> None:
    if isinstance(old, list):
        old[:] = [now(value) for value in new]
    elif isinstance(old, _SLICED):
        old[:] = new
    elif isinstance(old, dict):
        items = [(key, now(value)) for key, value in new.items()]
        old.clear()
        for key, value in items:
            old[key] = value
    elif isinstance(old, set | deque):
        old.clear()
        (old.update if isinstance(old, set) else old.extend)(map(now, new))
    elif isinstance(old, _WITH_FIELDS):
        old.__dict__.clear()
        old.__dict__.update(new.__dict__)
    else:
        old[...] = new


MAX_OBJECTS: Final = 100_000
_MOMENT_S: Final = 0.002
_MAX_HELD_ITEMS: Final = 64
_OURS: Final = 2
"""References to a value that only this table holds."""
_CHANGEABLE: Final = (list, dict, set, deque, bytearray)

ATTRIBUTE: Final = "__getattr__"
UNHASHABLE: Final = "-__hash__"
_BASES: Final = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset, deque)
KINDS: Final = {
    f"={kind.__name__}": kind for kind in (GeneratorType, FunctionType, MethodType, BuiltinFunctionType, *_BASES)
}
"""By what stands among the abilities of their objects: classes that tests ask for by `isinstance`."""


_PYTHON_S: Final[dict[str, Any]] = {
    kind.__name__: kind for module in (types, builtins) for kind in vars(module).values() if isinstance(kind, type)
}


class ObjectTable:
    """The objects that the other side has handles of, by number."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._changing: dict[int, list[tuple[int, Any]]] = {}
        self._serial = 0
        self._late: dict[int, BaseException] = {}

    def keep(self, value: Any) -> Any:
        """Return the handle of an object, packed; raise NotPlainData if there are too many."""
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._objects) >= MAX_OBJECTS:
                raise TooLarge(f"more than {MAX_OBJECTS} objects")
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        kind: Any = type(value)
        return {"h": [number, _name_of(kind), abilities(kind)]}

    def find(self, number: Any) -> Any:
        """Return the object of a number."""
        return self._objects[number]

    def pack(self, value: Any, shared: Sequence[Any] = ()) -> Any:
        """Pack a value as data, or else as an object that stays here."""
        try:
            return pack(value, self.keep, shared)
        except TooLarge:
            return self.keep(value)

    def use(self, number: int, ability: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Apply an operation of the tests on a proxy to its object; return the packed result."""
        value = self._objects[number]
        if ability == ATTRIBUTE:
            return self.pack(getattr(value, *args))
        if ability == "__next__":
            return self._next(number, value, *args)
        if ability not in ABILITIES:
            raise Gone(f"asked for {ability}")
        method = getattr(type(value), ability)
        return self.pack(method(value, *args, **keywords))

    def _next(self, number: int, iterator: Any, count: int) -> Any:
        """Return the state of earlier items, the next items, whether they are the last, and which may change."""
        if number in self._late:
            raise self._late.pop(number)
        held = self._changing.setdefault(number, [])
        held[:] = [pair for pair in held if getrefcount(pair[1]) > _OURS]
        items, ended = self._draw(number, iterator, count)
        earlier = tuple(held)
        del held[: -_MAX_HELD_ITEMS // 2]
        later = tuple(self._changeable(items, {id(value) for _, value in held}))
        held += later
        return pack((earlier, tuple(items), ended, later), self.keep)

    def _draw(self, number: int, iterator: Any, count: int) -> tuple[list[Any], bool]:
        items: list[Any] = []
        until = time.perf_counter() + _MOMENT_S
        try:
            while not items or (len(items) < count and time.perf_counter() < until):
                items.append(type(iterator).__next__(iterator))
        except StopIteration:
            return items, True
        except BaseException as error:
            if not items:
                raise
            self._late[number] = error
        return items, False

    def _changeable(self, items: list[Any], ids: set[int]) -> Iterator[tuple[int, Any]]:
        """Number the values among the last items, and directly within them, that the program may still change."""
        for item in items[-_MAX_HELD_ITEMS // 2 :]:
            for value in (item, *(islice(item, 8) if type(item) in {tuple, list} else ())):
                if isinstance(value, _CHANGEABLE) and id(value) not in ids:
                    ids.add(id(value))
                    self._serial += 1
                    yield self._serial, value


def _name_of(kind: Any) -> str:
    """Return the name of a class; with its module if it only shares the name of a builtin."""
    name = str(kind.__name__)[:200]
    return name if _PYTHON_S.get(name, kind) is kind else f"solution.{name}"


@lru_cache(maxsize=512)
def abilities(kind: Any) -> list[str]:
    """Return the special methods that a class has beyond those of any object."""
    found = {name: vars(base)[name] for base in reversed(kind.__mro__[:-1]) for name in ABILITIES & vars(base).keys()}
    able = sorted(name for name, method in found.items() if method is not None)
    able += [mark for mark, each in KINDS.items() if kind is each or (each in _BASES and issubclass(kind, each))]
    return able if found.get("__hash__", 0) is not None else [*able, UNHASHABLE]


_FIRST_SINGLY: Final = 64
_MAX_BATCH_ITEMS: Final = 4096
_ABOUT: Final = "@handle"
_READING: Final = frozenset(
    f"__{name}__"
    for name in "eq lt le gt ge hash len iter next getitem contains str repr bytes int index float complex"
    " bool format".split()
)
"""What tests do with an object that is not to change it."""
_ORDERINGS: Final = ("__lt__", "__le__", "__gt__", "__ge__")
_OF_FUNCTIONS: Final = frozenset({"__name__", "__qualname__", "__wrapped__", "__self__", "__annotations__"})


class NeedsObjects(BaseException):
    """The tests have a value that is not data and that the program must see; tests do not catch this."""


class About:
    """The state of a handle, with the items fetched ahead."""

    def __init__(self, asks: Remote, number: int, able: frozenset[str]) -> None:
        self.asks = asks
        self.number = number
        self.able = able
        self.ahead: list[Any] = []
        self.draws = 0
        self.ended = False
        self.changeable: dict[int, Any] = {}
        self.content: dict[tuple[type, ...], tuple[int, dict[type, Any]]] = {}


class Handle(Opaque):
    """A proxy of an object of the program."""

    def __eq__(self, other: object) -> Any:
        return True if self is other else _compared(self, "__eq__", other, operator.eq)

    def __hash__(self) -> int:
        return id(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _OF_FUNCTIONS:
            raise _lacks(self, name)
        try:
            found = _use(self, ATTRIBUTE, name)
        except AttributeError as error:
            if getattr(error, FAILURE, {}).get("line", -1) > 0:
                raise
            raise _lacks(self, name) from None
        _about(self).asks.relied |= callable(found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise NeedsObjects(f"the tests set {name}")

    def __enter__(self) -> Any:
        raise NeedsObjects("the tests enter an object of the program")

    def __exit__(self, *_: object) -> None:
        pass

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot copy or pickle '{type(self).__name__}' object")


def _lacks(it: Handle, name: str) -> AttributeError:
    """Return the error of an attribute access that involves no code of the program."""
    return AttributeError(f"'{type(it).__name__}' object has no attribute {name!r}", name=name, obj=it)


def handle(asks: Remote, description: Any) -> Handle:
    """Return the proxy of an object; a forged description may raise any exception."""
    number, name, able = description
    kind = _class(name.replace("\0", " ")[:200], frozenset(able))
    made = object.__new__(kind)
    made.__dict__[_ABOUT] = About(asks, operator.index(number), frozenset(able))
    return made


def is_derived(it: Handle) -> bool:
    """Say whether an object's class is derived from plain data."""
    return any(KINDS[mark] in _BASES for mark in _about(it).able & KINDS.keys())


def data_of(value: Any) -> Any:
    """Return an object of a derived class as the plain data of its base; any other value unchanged."""
    if not isinstance(value, Handle) or not is_derived(value):
        return value
    kind: Any = value.__class__
    draw = next((draw for kinds, draw in _FAMILIES if kind in kinds), _items)
    content: dict[type, Any] = {}
    with suppress(Exception):  # the program's conversion may do anything
        content = draw(value)
    return content.get(kind, value)


def stands_for(value: Any) -> Any:
    """Return the packed form of a handle; raise NotPlainData for anything else."""
    if not isinstance(value, Handle):
        raise NotPlainData(f"an object of class {type(value).__name__}")
    return {"h": _about(value).number}


@lru_cache(maxsize=256)
def _class(name: str, able: frozenset[str]) -> type[Handle]:
    methods: dict[str, Any] = {ability: _METHODS[ability] for ability in able & _METHODS.keys()}
    if UNHASHABLE in able:
        methods["__hash__"] = None
    kind = next((KINDS[ability] for ability in able & KINDS.keys()), None)
    if kind is not None:
        methods["__class__"] = property(lambda _: kind)
    return type(name, (Handle,), methods)


def _about(it: Handle) -> About:
    about: About = it.__dict__[_ABOUT]
    return about


def _use(it: Handle, ability: str, *args: Any, **keywords: Any) -> Any:
    about = _about(it)
    about.asks.turns += ability not in _READING
    return about.asks.answer(about.asks.use(about.number, ability, args, keywords))


def _method(ability: str, *, relied: bool = False) -> Callable[..., Any]:
    """Return a proxy method; if the tests rely on its answer, note that the program decided."""

    def use(self: Handle, *args: Any, **keywords: Any) -> Any:
        _about(self).asks.relied |= relied
        return _use(self, ability, *args, **keywords)

    use.__name__ = ability
    return use


def _ordering(ability: str) -> Callable[[Handle, Any], Any]:
    compare = getattr(operator, ability)
    return lambda self, other: _compared(self, ability, other, compare)


def _compared(it: Handle, ability: str, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
    """Compare with another object of the program by the program's code, with data by the object's content."""
    about = _about(it)
    if isinstance(other, Handle) and ability in about.able:
        about.asks.relied = True
        return _use(it, ability, other)
    if ability not in about.able or not _is_data(other):
        return NotImplemented
    content = _content_like(it, other)
    if content is None or not compare(content, other):
        if ability in _ORDERINGS:
            return False
        relied, said = about.asks.relied, says_equal(partial(_says_equal, it), other)
        about.asks.relied = relied or said
        return said
    if ability in _ORDERINGS:
        return True  # to ask would tell on which side of what the answer has to lie
    return _says_equal(it, other)


def _says_equal(it: Handle, other: Any) -> bool:
    said = _use(it, "__eq__", other)
    return said is not NotImplemented and bool(said)


def _is_data(value: Any) -> bool:
    try:
        pack(value)
    except TooLarge:
        raise NeedsObjects("the tests compare with what is too large to cross") from None
    except NotPlainData:
        return False
    return True


def _content_like(it: Handle, other: Any) -> Any:
    """Return the content of an object as data of the other's kind; None if it has no such content.

    It is drawn before the object is told what it is compared with, and kept until tests may have changed it.
    """
    kinds, draw = next((family for family in _FAMILIES if type(other) in family[0]), ((), None))
    if draw is None:
        return None
    about = _about(it)
    turn, content = about.content.get(kinds, (-1, {}))
    if turn != about.asks.turns:
        content = {}
        with suppress(Exception):  # the program's conversion may do anything
            content = draw(it)
        about.content[kinds] = about.asks.turns, content
    return content.get(type(other))


def _numbers(it: Handle) -> dict[type, Any]:
    """Return the numeric values of an object, of each kind that it offers; none if they contradict each other."""
    found: dict[type, Any] = {}
    for kind in (complex, float, int):
        if _about(it).able.intersection(_NUMERIC[kind]):
            with suppress(Exception):
                found[kind] = kind(it)
    whole, real, plane = (found.get(kind) for kind in (int, float, complex))
    agrees = (whole is None or real is None or whole == int(real)) and (real is None or plane in {None, real})
    return {kind: value for kind, value in found.items() if type(value) is kind} if agrees else {}


def _items(it: Handle) -> dict[type, Any]:
    if not _about(it).able.intersection(("__iter__", "__getitem__")):
        return {}
    items = list(islice(it, MAX_DRAWN_ITEMS + 1))
    is_endless = len(items) > MAX_DRAWN_ITEMS
    found: dict[type, Any] = {} if is_endless else {list: items, tuple: tuple(items), deque: deque(items)}
    with suppress(TypeError):  # what cannot be hashed
        found |= {kind: kind(found[list]) for kind in (set, frozenset) if found}
    return found


def _of_one(kind: type, ability: str) -> Callable[[Handle], dict[type, Any]]:
    """Return a function that reads content of one kind."""

    def draw(it: Handle) -> dict[type, Any]:
        value = kind(it) if ability in _about(it).able else None
        return {kind: value} if type(value) is kind else {}

    return draw


def _mapping(it: Handle) -> dict[type, Any]:
    if "__getitem__" not in _about(it).able:
        return {}
    found = dict(it)
    return {
        dict: found,
        OrderedDict: OrderedDict(found),
        Counter: Counter(found),
        defaultdict: defaultdict(None, found),
    }


_NUMERIC: Final = {
    int: ("__int__", "__index__"),
    float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"),
}
# Kinds of data that an object may hold at once, and what draws them.
_FAMILIES: Final[tuple[tuple[tuple[type, ...], Callable[[Handle], dict[type, Any]]], ...]] = (
    ((int, float, complex), _numbers),
    ((str,), _of_one(str, "__str__")),
    ((bytes,), _of_one(bytes, "__bytes__")),
    ((list, tuple, set, frozenset, deque), _items),
    ((dict, OrderedDict, Counter, defaultdict), _mapping),
)


def _next(self: Handle) -> Any:
    about = _about(self)
    if not about.ahead and not about.ended:
        _fetch(about)
    if not about.ahead:
        raise StopIteration
    about.draws += 1
    return about.ahead.pop()


def _fetch(about: About) -> None:
    """Fetch the next items, one at a time at first."""
    count = 1 if about.draws < _FIRST_SINGLY else min(about.draws, _MAX_BATCH_ITEMS)
    packed = about.asks.use(about.number, "__next__", (count,), {})
    try:
        earlier, items, ended, later = packed["t"]
        unpacker = about.asks.unpacker()
        for told in earlier["t"]:
            serial, value = told["t"]
            new, old = unpacker.value(value), about.changeable[serial]
            kept = graft(old, new)
            unpacker.containers = [kept if one is new else one for one in unpacker.containers]
        about.ahead = unpacker.items(items["t"])[::-1]
        about.changeable |= dict(unpacker.value(later))
        about.ended = bool(ended)
    except Gone:
        raise
    except Exception as error:
        raise Gone("invalid items") from error


def _typed(ability: str, kind: type | tuple[type, ...]) -> Callable[..., Any]:
    """Return a method whose answer must be of one kind: any other is the program's fault."""

    def use(self: Handle, *args: Any) -> Any:
        value = _use(self, ability, *args)
        if not isinstance(value, kind):
            error = TypeError(f"{ability} returned {type(value).__name__}")
            error.__dict__[FAILURE] = {"type": "TypeError", "message": str(error), "line": -1}
            raise error
        return value

    return use


def _iterate(self: Handle) -> Any:
    iterator = _typed("__iter__", Iterator)(self)
    if isinstance(iterator, Handle):
        _about(iterator).ended = False
    return iterator


_OPERATORS: Final = frozenset(
    f"__{side}{name}__"
    for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
    for side in ("", "r", "i")
)
_ANSWERS: Final = {int: ("__len__", "__hash__", "__int__", "__index__"), str: ("__str__", "__repr__", "__format__")}
_METHODS: Final[dict[str, Any]] = {
    **{ability: _method(ability) for ability in ABILITIES - {"__eq__"}},
    **{ability: _typed(ability, kind) for kind, named in _ANSWERS.items() for ability in named},
    **{ability: _ordering(ability) for ability in _ORDERINGS},
    **{ability: _method(ability, relied=True) for ability in (_OPERATORS & ABILITIES) | {"__bool__", "__contains__"}},
    "__next__": _next,
    "__iter__": _iterate,
}
