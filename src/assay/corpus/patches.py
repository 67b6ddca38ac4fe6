"""What `git … -p --unified=0` prints to changes of files, and changes to where a line was before them.

Hunks are read by the counts in their headers, so that nothing inside one can pass for a header.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from assay.corpus.walked_files import as_utf8

_MOST_KEPT = 1000
"""Changed lines of a file whose text is kept; a change of more is no answer to anything."""
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start …` of the old file that became others; without any, lines were added after line `start`."""

    start: int
    size: int
    added: int
    removed: tuple[str, ...] = ()
    """The text of the old lines without white space at their ends; none where there were too many to keep."""
    new: tuple[str, ...] = ()
    """The same of the new lines."""
    context: str = field(default="", compare=False)
    """The line before it that git takes for the head of what it is in, such as a function's."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a commit changed; a path is empty where the file was added or removed."""

    before: str
    after: str
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False


class Patches:
    """A reader of patches, line by line, with one line of looking ahead."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ahead: bytes | None = None

    def line(self) -> bytes:
        """Take the next line, or nothing at the end."""
        line = self._peek()
        self._ahead = None
        return line

    def changes(self) -> Iterator[FileChange]:
        """Yield the changes up to the next line that belongs to none: the header of another commit."""
        while (line := self._peek()) and not line.startswith(b"\0"):
            self._ahead = None
            if line.startswith(b"diff --git "):
                yield self._change()

    def names(self) -> Iterator[FileChange]:
        """Yield the files that `--name-only` names up to the next header, of which nothing else is known."""
        while (line := self._peek()) and not line.startswith(b"\0"):
            self._ahead = None
            if name := _name(line.rstrip(b"\n")):
                yield FileChange(name, name)

    def _peek(self) -> bytes:
        if self._ahead is None:
            self._ahead = self._stream.readline()
        return self._ahead

    def _change(self) -> FileChange:
        """Read one file's patch after its first line."""
        before = after = ""
        binary, kept = False, 0
        hunks: list[Hunk] = []
        while (line := self._peek()) and not line.startswith((b"\0", b"diff --git ")):
            self._ahead = None
            if line.startswith((b"--- ", b"rename from ")):
                before = _path(line, b"a/")
            elif line.startswith((b"+++ ", b"rename to ")):
                after = _path(line, b"b/")
            elif line.startswith(b"Binary files "):
                binary = True
            elif found := _HUNK.match(line):
                hunks.append(self._hunk(found, keep=kept < _MOST_KEPT))
                kept += hunks[-1].size + hunks[-1].added
        return FileChange(before, after, tuple(hunks), binary)

    def _hunk(self, header: re.Match[bytes], *, keep: bool) -> Hunk:
        removed = [self._text() for _ in range(int(header[2] or 1))]
        new = [self._text() for _ in range(int(header[4] or 1))]
        texts = [tuple(map(_decoded, lines)) if keep else () for lines in (removed, new)]
        return Hunk(int(header[1]), len(removed), len(new), texts[0], texts[1], _decoded(header[5] or b""))

    def _text(self) -> bytes:
        """Take one line of a hunk without its mark."""
        line = self.line()
        while line.startswith(b"\\"):
            line = self.line()
        return line[1:]


class LineMap:
    """Where each line of a file was at a commit before, nowhere for a new file: brought forward change by change."""

    def __init__(self, *, new: bool = False) -> None:
        self._new = new
        self._known: list[int] = []
        self._shift = 0  # from the lines after the known ones to what they were

    def before(self, line: int) -> int:
        """Return what a line was, 0 where it was not yet there."""
        if self._new or line < 1:
            return 0
        return self._known[line - 1] if line <= len(self._known) else line + self._shift

    def apply(self, hunks: Sequence[Hunk]) -> None:
        """Take in one change, whose hunks are in order."""
        for hunk in reversed(hunks) if not self._new else ():
            first = hunk.start if not hunk.size else hunk.start - 1
            end = first + hunk.size
            size = len(self._known)
            self._known.extend(line + 1 + self._shift for line in range(size, end))
            self._shift -= hunk.added - hunk.size
            self._known[first:end] = [0] * hunk.added


def _path(line: bytes, prefix: bytes) -> str:
    """Return the path of a header's line, empty for a file that is not there."""
    name = line.rstrip(b"\n").split(b" ", 2 if line.startswith(b"rename") else 1)[-1]
    is_patch = not line.startswith(b"rename")
    name = name.removesuffix(b"\t") if is_patch else name
    if is_patch and name == b"/dev/null":
        return ""
    return _name(name, prefix if is_patch else b"")


def _name(name: bytes, prefix: bytes = b"") -> str:
    """Return a path as git writes it, which quotes one that is odd."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    return as_utf8(os.fsdecode(name.removeprefix(prefix)))


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPED.get(code, code)


def _decoded(line: bytes) -> str:
    try:
        return line.decode().strip()
    except UnicodeDecodeError:
        return line.decode("latin-1").strip()
