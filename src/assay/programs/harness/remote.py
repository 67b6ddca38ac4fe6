"""The program's functions as the judge calls them: each call is a message to the other process and its answer.

Arguments that the program changed are changed here too, in place. What the program raised is raised here, as the
builtin exception of that name. What it returned and was refused becomes an `Opaque`, which equals nothing. An answer
that is none, in any of its parts, counts as no answer: `Gone`.
"""

from __future__ import annotations

import builtins
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from assay.programs.harness.codec import Channel, Gone, NotPlainData, Opaque, opaque, pack, unpack
from assay.programs.harness.recorder import FAILURE, NOTHING


class NeedsObjects(Exception):
    """The tests hand the program something that is no plain data."""


class LoadFailed(Exception):
    """The program did not come as far as to be asked."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__("the program failed while it was loaded")
        self.failure = failure


class Remote:
    """Asks the program's process; `on_return` sees every value that came back."""

    def __init__(self, channel: Channel, on_return: Callable[[Any], None], entry: str = "") -> None:
        self._channel = channel
        self.on_return = on_return
        self._entry = entry
        self._built: list[Opaque] = []
        self._known: dict[str, dict[str, Any]] = {}
        self.ended: Gone | NeedsObjects | LoadFailed | None = None
        """Why nothing can be asked any more, for tests that catch whatever a function raises."""

    def ask(self, message: list[Any], kinds: set[str]) -> list[Any]:
        """Send a message and return the answer, which is of one of these kinds; raises Gone for any other."""
        with self._noting():
            self._channel.send(message)
        return self._answer(kinds)

    def learn(self, names: Sequence[str]) -> None:
        """Ask what these names are in the program; raises LoadFailed where it did not load."""
        kind, content = self.ask(["names", list(names)], {"names", "failed"})[:2]
        if kind == "failed":
            raise LoadFailed(content)
        if not isinstance(content, dict):
            raise Gone("an answer about names that is none")
        self._known |= {name: content[name] for name in names if isinstance(content.get(name), dict)}

    def kind_of(self, name: str) -> str:
        """Return what a name is: function, class, module, value, object or missing."""
        if name not in self._known:
            self.learn([name])
        return str(self._known.get(name, {}).get("is", "missing"))

    def bring(self, name: str) -> Any:
        """Return what tests get for a name of the program, NOTHING where it has none."""
        kind = self.kind_of(name)
        if kind in {"function", "class"}:
            return self.function(name)
        if kind == "value":
            with self._noting():
                return unpack(self._known[name].get("value"))
        if kind == "object" and name not in sys.stdlib_module_names:
            return opaque(self._known[name].get("class"), "an object of the program")
        if name in sys.stdlib_module_names:
            return import_module(name)
        return _module(str(self._known[name].get("name"))) if kind == "module" else NOTHING

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function that calls the program's."""

        def call(*args: Any, **keywords: Any) -> Any:
            try:
                packed, named = pack(list(args)), pack(keywords)
            except NotPlainData as error:
                returned = _opaque_in([*args, *keywords.values()])
                if returned is not None and returned not in self._built:
                    # what a function returned is the program's doing, and no reason to share an interpreter with it
                    raise TypeError(f"'{type(returned).__name__}' object is no plain data") from None
                self.ended = NeedsObjects(str(error))
                raise self.ended from None
            value = self._returned(self.ask(["call", name, packed, named], _ANSWERS), args)
            if isinstance(value, Opaque) and name != self._entry and self.kind_of(name) == "class":
                self._built.append(value)  # the tests' doing: they build an object to hand it in
            self.on_return(value)
            return value

        call.__name__ = call.__qualname__ = name
        return call

    def call_packed(self, name: str, args: str) -> Any:
        """Call with arguments that are JSON already; return the packed value, an Opaque for what was refused.

        Raises what the program raised.
        """
        self._channel.post(f'["call","{name}",{args},{{"d":[[],[]]}}]')
        answer = self._answer(_ANSWERS)
        if answer[0] == "raised":
            raise self._error(answer[1])
        return answer[1] if answer[0] == "returned" else opaque(answer[1], answer[2])

    def _returned(self, answer: list[Any], args: tuple[Any, ...]) -> Any:
        with self._noting():
            changed = answer[3] if answer[0] == "refused" else answer[2]
            if changed is not None:
                _graft_all(args, unpack(changed))
            if answer[0] == "refused":
                return opaque(answer[1], answer[2])
            if answer[0] == "returned":
                same = answer[3]
                return args[same] if type(same) is int and 0 <= same < len(args) else unpack(answer[1])
        raise self._error(answer[1])

    def _error(self, failure: dict[str, Any]) -> BaseException:
        with self._noting():
            return _error_of(failure)

    def _answer(self, kinds: set[str]) -> list[Any]:
        with self._noting():
            answer = self._channel.receive()
            if not (isinstance(answer, list) and answer and isinstance(answer[0], str) and answer[0] in kinds):
                raise Gone("an answer that is none")
            if len(answer) != _LENGTHS[answer[0]] or not _FAILURES.get(answer[0], _is_any)(answer):
                raise Gone(f"an answer that is none: {answer[0]}")
        return answer

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Make `Gone` of whatever a forged message does here, and remember it."""
        try:
            yield
        except NotPlainData:
            raise
        except Gone as error:
            self.ended = error
            raise
        except Exception as error:
            self.ended = Gone(f"a message that is none: {type(error).__name__}")
            raise self.ended from error


_MOST_LOOKED_AT = 10_000
_ANSWERS = {"returned", "raised", "refused"}
_LENGTHS = {"returned": 4, "raised": 3, "refused": 4, "names": 2, "failed": 2, "printed": 4, "shared": 3}
_FAILURES: dict[str, Callable[[list[Any]], bool]] = {
    "raised": lambda answer: is_failure(answer[1]),
    "failed": lambda answer: is_failure(answer[1]),
    "printed": lambda answer: answer[3] is None or is_failure(answer[3]),
}
"""Whether what stands for a failure in an answer is one."""


def is_failure(found: object) -> bool:
    """Say whether this is what a program's process says about an exception."""
    if not isinstance(found, dict):
        return False
    texts, bases = [found.get(name, "") for name in ("type", "message", "missing")], found.get("bases", [])
    return all(isinstance(each, str) for each in texts) and isinstance(bases, list)


def _is_any(_: list[Any]) -> bool:
    return True


def _module(name: str) -> Any:
    if name.partition(".")[0] in sys.stdlib_module_names or name in sys.modules:
        return import_module(name)
    return NOTHING


def _opaque_in(values: Iterable[Any]) -> Opaque | None:
    """Return what the program returned, among values or in containers of them, that is no plain data."""
    waiting, seen = list(values), set[int]()
    while waiting and len(seen) < _MOST_LOOKED_AT:
        value = waiting.pop()
        if isinstance(value, Opaque):
            return value
        if id(value) not in seen and isinstance(value, list | tuple | set | frozenset | dict | deque):
            seen.add(id(value))
            waiting += [*value, *(value.values() if isinstance(value, dict) else ())]
    return None


def _error_of(failure: dict[str, Any]) -> BaseException:
    name = str(failure.get("type", "Exception"))
    bases = [getattr(builtins, str(base), None) for base in failure.get("bases", [])]
    found = (kind for kind in bases if isinstance(kind, type) and issubclass(kind, BaseException))
    base = next(found, Exception)
    if issubclass(base, StopIteration | StopAsyncIteration | GeneratorExit | BaseExceptionGroup):
        base = Exception
    made: Any = base if base.__name__ == name else type(name, (base,), {})
    error: BaseException = made.__new__(made)
    args = failure.get("args")
    error.args = tuple(unpack(args)) if isinstance(args, list) else (failure.get("message", ""),)
    setattr(error, FAILURE, failure)
    return error


def _graft_all(args: tuple[Any, ...], changed: Any) -> None:
    if isinstance(changed, list) and len(changed) == len(args):
        for old, new in zip(args, changed, strict=True):
            _graft(old, new)


def _graft(old: Any, new: Any) -> Any:
    """Make a container what it became, keeping those inside that are still of their kind; return what stands for it."""
    if type(old) is not type(new):
        return new
    if isinstance(old, list):
        old[:] = [_graft(*pair) for pair in zip(old, new, strict=False)] + new[len(old) :]
    elif isinstance(old, dict):
        merged = {key: _graft(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(merged)
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    elif isinstance(old, bytearray | deque):
        old.clear()
        old.extend(new)
    else:
        return new
    return old
