"""A program's source to a module that ran, and any exception of it to what can be said about that.

The module is `__main__` for programs that read standard input, and `solution` for those whose functions are called,
as every other harness has it: a demonstration under `if __name__ == "__main__"` is no part of an answer. Either way it
lies in `sys.modules` under its name, so that pickle and dataclasses find it. The line of an exception is that of the
innermost frame in the program's own source.
"""

from __future__ import annotations

import builtins
import io
import linecache
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Final

from assay.programs.harness import codec

FILE: Final = "solution.py"
_STARTS_ANEW: Final = re.compile("""["'](?:spawn|forkserver)["']""")
"""How programs name the ways to start a process that does not copy this one."""
MOST_MESSAGE: Final = 1000
_LINKS: Final = 3
"""How many causes of an exception are told."""


class LoadedProgram:
    """One program, loaded: what failed while it was, and its functions by name."""

    def __init__(self, source: str, name: str, *, on_disk: bool = False) -> None:
        self.failure: dict[str, Any] | None = None
        self.module = ModuleType(name)
        self.module.__dict__.update(__file__=FILE, __builtins__=builtins)
        sys.modules[name] = sys.modules["__main__"] = self.module
        if on_disk or _STARTS_ANEW.search(source):
            self._write(source)
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True)[:100_000], FILE)
        try:
            exec(compiled(source), self.module.__dict__)  # noqa: S102 - the reason for all the walls around this
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer
            self.failure = failure_of(error)

    def _write(self, source: str) -> None:
        """Lay the program where processes that begin with a new interpreter look for it, in its scratch folder."""
        path = Path(FILE).absolute()
        with suppress(OSError, ValueError):
            path.write_text(source, encoding="utf-8")
            self.module.__dict__["__file__"] = str(path)
            sys.path.insert(0, str(path.parent))

    def find(self, name: str) -> Any:
        """Return what the program calls by this name, a method of its `class Solution` too; raises LookupError."""
        space = self.module.__dict__
        if name in space:
            return space[name]
        solution = space.get("Solution")
        if isinstance(solution, type) and hasattr(solution, name):
            return _on_new_instance(solution, name)
        maker = space.get("__getattr__")
        if maker is None:
            raise LookupError(name)
        try:
            return maker(name)
        except AttributeError:
            raise LookupError(name) from None


def _on_new_instance(kind: type, name: str) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        return getattr(kind(), name)(*args, **keywords)

    return call


def compiled(source: str) -> Any:
    """Compile a program; whatever the compiler cannot read is a SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(source, FILE, "exec", dont_inherit=True)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise SyntaxError(f"the compiler gave up: {type(error).__name__}: {error}") from None


def failure_of(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """Describe an exception in plain data; a program's own exception class may lie about itself, never fail here."""
    kind = type(error)
    bases = [base.__name__ for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base]
    said: dict[str, Any] = {"type": kind.__name__[:200], "bases": bases, "message": "", "line": _line_of(error)}
    try:
        said["message"] = str.__str__(str(error))[:MOST_MESSAGE]
        said["args"] = codec.pack(list(error.args)) if len(said["message"]) < MOST_MESSAGE else None
    except BaseException:  # noqa: BLE001 - see above
        said["args"] = None
    if getattr(builtins, kind.__name__, None) is kind:
        with suppress(BaseException):
            said["whole"] = codec.pack(error)
    for link in ("cause", "context"):
        other = getattr(error, f"__{link}__", None)
        if isinstance(other, BaseException) and depth < _LINKS:
            said[link] = failure_of(other, depth + 1)
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) and "." not in error.name:
        said["missing"] = error.name
    return said


def _line_of(error: BaseException) -> int:
    line = -1
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if line < 0 and isinstance(error, SyntaxError) and error.filename in {FILE, None} and isinstance(error.lineno, int):
        line = max(error.lineno, 1)
    return line


_Streams = tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]
_MADE: list[_Streams] = []
_REPLACED: list[object] = []


def make_streams() -> None:
    """Make the streams of the first program of each process that is forked from here on.

    Those that they replace are kept: to end them would cost each program as much as to make others.
    """
    _MADE[:] = [(_reader(0), _writer(1), _writer(2))]
    _REPLACED[:] = sys.stdin, sys.stdout, sys.stderr


def fresh_streams() -> None:
    """Give the program streams of its own on the descriptors 0 to 2, which take any text."""
    made = _MADE.pop() if _MADE else (_reader(0), _writer(1), _writer(2))
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = made  # type: ignore[misc]
    sys.argv = [FILE]


def _reader(file: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(io.FileIO(file, closefd=False)), "utf-8", "replace")


def _writer(file: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(file, "wb", closefd=False))
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=file == 2)


def flush() -> None:
    """Write out what was printed, as far as the program left the streams whole."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):
            stream.flush()
