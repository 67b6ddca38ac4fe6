"""Call the functions of a program in another process, and re-raise its exceptions here.

One of a builtin class crosses whole. One of the program's own class is of its nearest builtin class and of its name;
what else it has is asked of the object that stayed behind.

Arguments that the program changed are changed here too, in place. What the program raised is raised here, as the
builtin exception of that name. An object that is no data becomes a `Handle`, by which the tests use it where it is. An
answer that is none, in any of its parts, counts as no answer: `Gone`.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from assay.programs.harness.codec import Channel, Gone, NotPlainData, TooLarge, Unpacker, pack, pack_numbered, unpack
from assay.programs.harness.proxies import Handle, NeedsObjects, graft, graft_all, handle, is_derived, stands_for
from assay.programs.harness.recorder import FAILURE, NOTHING

_MAX_CAUSES: Final = 3
_ENDING = (StopIteration, StopAsyncIteration, GeneratorExit, BaseExceptionGroup)
"""What would end an iteration or a group of asserts here, and crosses as an ordinary exception."""


def error_of(failure: dict[str, Any], answer: Callable[[Any], Any], depth: int = 0) -> BaseException:
    """Return the exception of a reported failure; a forged one may raise any exception."""
    error = _whole(failure, answer) or _alike(failure, answer)
    setattr(error, FAILURE, failure)
    for link in ("cause", "context"):
        if isinstance(failure.get(link), dict) and depth < _MAX_CAUSES:
            setattr(error, f"__{link}__", error_of(failure[link], answer, depth + 1))
    return error


def _whole(failure: dict[str, Any], answer: Callable[[Any], Any]) -> BaseException | None:
    """Rebuild an exception of a builtin class; None for another class or an incomplete one."""
    if failure.get("whole") is None:
        return None
    error = answer(failure["whole"])
    if not isinstance(error, BaseException) or type(error).__name__ != failure["type"]:
        raise Gone("not an exception")
    return None if isinstance(error, _ENDING) else error


def _alike(failure: dict[str, Any], answer: Callable[[Any], Any]) -> BaseException:
    name = str(failure.get("type", "Exception"))
    bases = [getattr(builtins, str(base), None) for base in failure.get("bases", [])]
    found = (kind for kind in bases if isinstance(kind, type) and issubclass(kind, BaseException))
    base = next(found, Exception)
    if issubclass(base, _ENDING):
        base = Exception
    own: dict[str, Any] = {}
    if failure.get("object") is not None:
        stayed, message = answer(failure["object"]), str(failure.get("message", ""))
        own = {"__getattr__": lambda _, attribute: getattr(stayed, attribute), "__str__": lambda _: message}
    made: Any = base if base.__name__ == name else type(name, (base,), own)
    error: BaseException = made.__new__(made)
    args = failure.get("args")
    error.args = tuple(answer(args)) if isinstance(args, list) else (failure.get("message", ""),)
    return error


class LoadFailed(Exception):
    """The program failed to load."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__("the program failed while it was loaded")
        self.failure = failure


class Remote:
    """Sends requests to the program's process; `on_return` gets every returned value."""

    def __init__(self, channel: Channel, on_return: Callable[[Any], None]) -> None:
        self._channel = channel
        self.on_return = on_return
        self.requests = 0
        """How many requests were sent to the program."""
        self.turns = 0
        self.relied = False
        """Whether the program was asked to compare."""
        self.ended: Gone | NeedsObjects | LoadFailed | None = None
        """Why no more requests can be sent, for tests that catch every exception."""
        self.namespace: dict[str, Any] = {}
        """The tests' own, in which the program's global values are kept as they are there."""
        self._values: set[str] = set()
        self._handles: dict[int, Handle] = {}
        self._names: dict[str, dict[str, Any]] = {}

    @property
    def keeps_objects(self) -> bool:
        """Whether there are handles of objects of the program."""
        return bool(self._handles)

    @property
    def keeps_derived(self) -> bool:
        """Whether one of them is of a class derived from plain data."""
        return any(map(is_derived, self._handles.values()))

    def ask(self, message: list[Any], kinds: set[str]) -> list[Any]:
        """Send a message and return the answer, of one of these kinds; raise Gone for any other."""
        self.requests += 1
        with self._noting():
            self._channel.send(message)
        return self.hear(kinds)

    def learn(self, names: Sequence[str]) -> None:
        """Ask the program about names; raise LoadFailed if it did not load."""
        kind, content = self.ask(["names", list(names)], {"names", "failed"})[:2]
        if kind == "failed":
            raise LoadFailed(content)
        if not isinstance(content, dict):
            raise Gone("an invalid answer about names")
        self._names |= {name: content[name] for name in names if isinstance(content.get(name), dict)}

    def kind_of(self, name: str) -> str:
        """Return the kind of a name: function, class, module, value, object or missing."""
        if name not in self._names:
            self.learn([name])
        return str(self._names.get(name, {}).get("is", "missing"))

    def bring(self, name: str) -> Any:
        """Return the tests' value for a name of the program; NOTHING if it has none."""
        kind = self.kind_of(name)
        if kind in {"function", "class"}:
            return self.function(name)
        if kind == "value" or (kind == "object" and name not in sys.stdlib_module_names):
            self._values.add(name)
            with self._noting():
                return self.answer(self._names[name].get("value"))
        if name in sys.stdlib_module_names:
            return import_module(name)
        return _module(str(self._names[name].get("name"))) if kind == "module" else NOTHING

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function that calls the program's function."""

        def call(*args: Any, **keywords: Any) -> Any:
            try:
                (packed, made), named = pack_numbered(list(args), stands_for), pack(keywords, stands_for)
            except NotPlainData as error:
                raise self._over(error) from None
            self.turns += 1
            try:
                value = self._returned(self.ask(["call", name, packed, named], _ANSWERS), made)
            finally:
                self._renew()
            self.on_return(value)
            return value

        call.__name__ = call.__qualname__ = name
        return call

    def _renew(self) -> None:
        """Update the program's global values that the tests have read."""
        names = self._values & self.namespace.keys()
        if not names or self.ended:
            return
        self.learn(sorted(names))
        for name in names:
            self.namespace[name] = graft(self.namespace[name], self.answer(self._names[name].get("value")))

    def call_packed(self, name: str, args: str) -> Any:
        """Call with arguments in JSON; return the packed value, or raise the program's exception."""
        self._channel.post(f'["call","{name}",{args},{{"d":[[],[]]}},false]')
        return self._value_in(self.hear(_ANSWERS))

    def use(self, number: int, ability: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Use an object of the program; return the packed answer, or raise the program's exception."""
        try:
            packed, named = pack(list(args), stands_for), pack(keywords, stands_for)
        except NotPlainData as error:  # what the program returned is no reason to share an interpreter with it
            raise TypeError(f"an object of the program is used with {error}") from None
        return self._value_in(self.ask(["use", number, ability, packed, named], _ANSWERS))

    def answer(self, packed: Any, shared: Sequence[Any] = ()) -> Any:
        """Unpack an answer; `shared` are the containers among the arguments."""
        return unpack(packed, self._handle, shared)

    def unpacker(self) -> Unpacker:
        """Return an unpacker for the parts of an answer."""
        return Unpacker(self._handle)

    def _handle(self, description: Any) -> Handle:
        number = description[0]
        if number not in self._handles:
            self._handles[number] = handle(self, description)
        return self._handles[number]

    def _over(self, error: NotPlainData) -> NeedsObjects:
        """Record that the tests cannot continue, since they may catch every exception."""
        self.ended = NeedsObjects(str(error))
        return self.ended

    def _value_in(self, answer: list[Any]) -> Any:
        if answer[0] == "raised":
            raise self._error(answer[1])
        return answer[1]

    def _returned(self, answer: list[Any], containers: list[Any]) -> Any:
        with self._noting():
            if answer[2] is not None:
                graft_all(containers, self.answer(answer[2]))
            if answer[0] == "returned":
                return self.answer(answer[1], containers)
        raise self._error(answer[1])

    def _error(self, failure: dict[str, Any]) -> BaseException:
        with self._noting():
            return error_of(failure, self.answer)

    def hear(self, kinds: set[str]) -> list[Any]:
        """Return the next answer, of one of these kinds; raise Gone for any other."""
        with self._noting():
            answer = self._channel.receive()
            if not (isinstance(answer, list) and answer and isinstance(answer[0], str) and answer[0] in kinds):
                raise Gone("an answer that is none")
            kind, place = answer[0], _FAILURE_AT.get(answer[0], 0)
            if len(answer) != _LENGTHS[kind] or (
                place and not is_failure(answer[place]) and (kind, answer[place]) != ("printed", None)
            ):
                raise Gone(f"an answer that is none: {kind}")
        return answer

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Convert every error of a forged message to `Gone`, and remember it."""
        try:
            yield
        except TooLarge as error:
            raise self._over(error) from None
        except Gone as error:
            self.ended = error
            raise
        except Exception as error:
            self.ended = Gone(f"a message that is none: {type(error).__name__}")
            raise self.ended from error


_ANSWERS = {"returned", "raised"}
_LENGTHS = {
    "returned": 3,
    "raised": 3,
    "names": 2,
    "failed": 2,
    "printed": 4,
    "shared": 3,
    "found": 3,
    "reload": 1,
    "guard": 1,
}
_FAILURE_AT = {"raised": 1, "failed": 1, "printed": 3}
"""The place of what says what failed; for what was printed, nothing may have."""


def is_failure(value: object) -> bool:
    """Say whether a value is a valid report of an exception."""
    if not isinstance(value, dict):
        return False
    texts, bases = [value.get(name, "") for name in ("type", "message", "missing")], value.get("bases", [])
    line = value.get("line", -1)
    return all(isinstance(each, str) for each in texts) and isinstance(bases, list) and type(line) is int


def _module(name: str) -> Any:
    if name.partition(".")[0] in sys.stdlib_module_names or name in sys.modules:
        return import_module(name)
    return NOTHING
