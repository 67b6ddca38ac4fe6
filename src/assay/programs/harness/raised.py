"""What the program's process said about an exception to an exception that the tests can catch and look at.

One of a builtin class crosses whole. One of the program's own class is of its nearest builtin class and of its name;
what else it has is asked of the object that stayed behind.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final

from assay.programs.harness.crossing import Gone
from assay.programs.harness.recorder import FAILURE

_DEEPEST: Final = 3
_ENDING = (StopIteration, StopAsyncIteration, GeneratorExit, BaseExceptionGroup)
"""What would end an iteration or a group of asserts here, and crosses as an ordinary exception."""


def error_of(failure: dict[str, Any], answer: Callable[[Any], Any], depth: int = 0) -> BaseException:
    """Return an exception that carries what was said; raises anything for what is forged."""
    error = _whole(failure, answer) or _alike(failure, answer)
    setattr(error, FAILURE, failure)
    for link in ("cause", "context"):
        if isinstance(failure.get(link), dict) and depth < _DEEPEST:
            setattr(error, f"__{link}__", error_of(failure[link], answer, depth + 1))
    return error


def _whole(failure: dict[str, Any], answer: Callable[[Any], Any]) -> BaseException | None:
    """Return an exception of a builtin class as it was, None where it is none or does not come whole."""
    if failure.get("whole") is None:
        return None
    error = answer(failure["whole"])
    if not isinstance(error, BaseException) or type(error).__name__ != failure["type"]:
        raise Gone("an exception that is none")
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
