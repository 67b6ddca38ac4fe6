"""The fixtures of pytest that tests of programs use: `capsys`, `monkeypatch` and `tmp_path`.

Tests that name one run beside the program (`needs`), whose streams, modules and files these are about.
"""

from __future__ import annotations

import io
import os
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

Captured = namedtuple("Captured", "out err")  # noqa: PYI024 - as pytest has it
_NOTHING: Final = object()


class Capture:
    """What is printed while a test runs."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()

    def readouterr(self) -> Captured:
        """Return what was printed since the last time."""
        got = Captured(self.out.getvalue(), self.err.getvalue())
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return got


class MonkeyPatch:
    """Changes that are taken back after a test."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def setattr(self, target: Any, name: Any, value: Any = _NOTHING, raising: bool = True) -> None:  # noqa: FBT001, FBT002
        """Set an attribute, of an object or by its dotted name."""
        if value is _NOTHING:
            target, name, value = *_resolved(target), name
        old = vars(target).get(name, _NOTHING) if isinstance(target, type) else getattr(target, name, _NOTHING)
        if old is _NOTHING and raising and not hasattr(target, name):
            raise AttributeError(f"{target!r} has no attribute {name!r}")
        setattr(target, name, value)
        self._undo.append(lambda: delattr(target, name) if old is _NOTHING else setattr(target, name, old))

    def delattr(self, target: Any, name: str) -> None:
        """Delete an attribute."""
        old = getattr(target, name)
        delattr(target, name)
        self._undo.append(lambda: setattr(target, name, old))

    def setitem(self, mapping: Any, key: Any, value: Any) -> None:
        """Set an item."""
        old = mapping.get(key, _NOTHING)
        mapping[key] = value
        self._undo.append(lambda: mapping.pop(key, None) if old is _NOTHING else mapping.update({key: old}))

    def delitem(self, mapping: Any, key: Any) -> None:
        """Delete an item."""
        old = mapping.pop(key)
        self._undo.append(lambda: mapping.update({key: old}))

    def setenv(self, name: str, value: str) -> None:
        """Set a variable of the environment."""
        self.setitem(os.environ, name, value)

    def delenv(self, name: str, raising: bool = True) -> None:  # noqa: FBT001, FBT002
        """Delete a variable of the environment."""
        if raising or name in os.environ:
            self.delitem(os.environ, name)

    def chdir(self, path: str | os.PathLike[str]) -> None:
        """Change the working folder."""
        before = Path.cwd()
        os.chdir(path)
        self._undo.append(lambda: os.chdir(before))

    def syspath_prepend(self, path: str) -> None:
        """Import from another folder first."""
        sys.path.insert(0, str(path))
        self._undo.append(lambda: sys.path.remove(str(path)))

    def undo(self) -> None:
        """Take all changes back."""
        while self._undo:
            self._undo.pop()()


def _resolved(dotted: str) -> tuple[Any, str]:
    owner, _, name = dotted.rpartition(".")
    try:
        return import_module(owner), name
    except ImportError:
        outer, inner = _resolved(owner)
        return getattr(outer, inner), name


@contextmanager
def _capture() -> Iterator[Capture]:
    capture = Capture()
    with redirect_stdout(capture.out), redirect_stderr(capture.err):
        yield capture


@contextmanager
def _monkeypatch() -> Iterator[MonkeyPatch]:
    patch = MonkeyPatch()
    try:
        yield patch
    finally:
        patch.undo()


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder)


FIXTURES: Final[Mapping[str, Callable[[], Any]]] = {
    "capsys": _capture,
    "monkeypatch": _monkeypatch,
    "tmp_path": _folder,
}
"""Context managers, one for each test that asks."""
