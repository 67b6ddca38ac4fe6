"""Parse patches with `--unified=0`, and map lines across changes.

Hunks are read by the counts in their headers, so that nothing inside one can pass for a header. Lines around a change
are no part of it: patches of others have some, and read the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from assay.corpus.walked_files import as_utf8

_MAX_CHANGED_LINES = 1000
"""Changed lines of a file whose text is kept; a change of more is no answer to anything."""
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|[abfnrtv\\\"])")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start …` of the old file that were replaced; if there are none, lines were added after `start`."""

    start: int
    size: int
    added: int
    removed: tuple[str, ...] = ()
    """The text of the old lines without white space at their ends; none where there were too many to keep."""
    new: tuple[str, ...] = ()
    """The same of the new lines."""
    context: str = field(default="", compare=False)
    """The line before it that git takes for the head of what it is in, such as a function's."""
    within: tuple[int, int] = field(default=(0, 0), compare=False)
    """First line and number of lines of the old file that its header names, unchanged ones among them."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a commit changed; a path is empty if the file was added or removed."""

    before: str
    after: str
    hunks: tuple[Hunk, ...] = ()
    binary: str = ""
    """The path before of a file of which only that it changed is known."""


class Patches:
    """A reader of patches, line by line, with one line of looking ahead."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ahead: bytes | None = None

    def line(self) -> bytes:
        """Take the next line; empty at the end."""
        line = self._peek()
        self._ahead = None
        return line

    def changes(self) -> Iterator[FileChange]:
        """Yield the changes up to the header of the next commit."""
        while (line := self._peek()) and not line.startswith(b"\0"):
            if not line.startswith(b"--- "):
                self._ahead = None
            if line.startswith((b"diff --git ", b"--- ")):
                yield self._change()

    def names(self) -> Iterator[FileChange]:
        """Yield the files that `--name-only` lists up to the next header, without their changes."""
        names = (_name(line.rstrip(b"\n")) for line in self._lines())
        return (FileChange(name, name) for name in names if name)

    def _lines(self) -> Iterator[bytes]:
        """Take the lines up to the next header."""
        while (line := self._peek()) and not line.startswith(b"\0"):
            self._ahead = None
            yield line

    def _peek(self) -> bytes:
        if self._ahead is None:
            self._ahead = self._stream.readline()
        return self._ahead

    def text(self, most: int) -> str:
        """Return the lines up to the next header verbatim, of roughly so many bytes."""
        lines, size = list[bytes](), 0
        for line in self._lines():
            if size < most:
                lines.append(line[:most])
                size += len(lines[-1])
        return b"".join(lines).decode("utf-8", "replace").strip("\n")

    def _change(self) -> FileChange:
        """Read one file's patch."""
        before = after = ""
        binary, kept = "", 0
        hunks: list[Hunk] = []
        while (line := self._peek()) and not line.startswith((b"\0", b"diff --git ")):
            if hunks and line.startswith(b"--- "):
                break  # the next file of a patch without lines that begin with `diff --git`
            self._ahead = None
            if line.startswith((b"--- ", b"rename from ")):
                before = _path(line, b"a/")
            elif line.startswith((b"+++ ", b"rename to ")):
                after = _path(line, b"b/")
            elif line.startswith(b"Binary files "):
                binary = _path(line.removeprefix(b"Binary").partition(b" and ")[0].removeprefix(b" "), b"a/")
            elif found := _HUNK.match(line):
                new = list(self._hunks(found, keep=kept < _MAX_CHANGED_LINES))
                hunks += new
                kept += sum(hunk.size + hunk.added for hunk in new)
        return FileChange(before, after, tuple(hunks), binary)

    def _hunks(self, header: re.Match[bytes], *, keep: bool) -> Iterator[Hunk]:
        """Read the lines that one header counts as hunks, split at unchanged lines."""
        within = int(header[1]), int(header[2] or 1)
        left = {b"-": within[1], b"+": int(header[4] or 1)}
        at = within[0] if within[1] else within[0] + 1
        lines: dict[bytes, list[bytes]] = {b"-": [], b"+": []}

        def hunk() -> Hunk:
            removed, new = lines.values()
            texts = [tuple(map(_decoded, some)) if keep else () for some in (removed, new)]
            start = at if removed else at - 1
            return Hunk(start, len(removed), len(new), texts[0], texts[1], _decoded(header[5] or b""), within)

        while any(count > 0 for count in left.values()):
            line = self._peek()
            if line[:1] not in {b"-", b"+", b" ", b"\n", b"\r", b"\\"}:
                break
            self._ahead = None
            if line[:1] in lines:
                lines[line[:1]].append(line[1:])
                left[line[:1]] -= 1
            elif line[:1] != b"\\":
                if any(lines.values()):
                    yield hunk()
                at += len(lines[b"-"]) + 1
                lines = {b"-": [], b"+": []}
                left = {mark: count - 1 for mark, count in left.items()}
        if any(lines.values()):
            yield hunk()


def changed_path(header: bytes) -> str:
    """Return the path of a line `+++ b/PATH`; empty for a removed file."""
    return _path(header, b"b/")


class LineMap:
    """A map of the lines of a file to their numbers at an earlier commit, updated change by change."""

    def __init__(self, *, new: bool = False) -> None:
        self._new = new
        self._old_lines: list[int] = []
        self._shift = 0  # from the lines after the known ones to what they were

    def before(self, line: int) -> int:
        """Return the earlier number of a line; 0 if it did not exist."""
        if self._new or line < 1:
            return 0
        return self._old_lines[line - 1] if line <= len(self._old_lines) else line + self._shift

    def apply(self, hunks: Sequence[Hunk]) -> None:
        """Apply one change, whose hunks are in order."""
        for hunk in reversed(hunks) if not self._new else ():
            first = hunk.start if not hunk.size else hunk.start - 1
            end = first + hunk.size
            size = len(self._old_lines)
            self._old_lines.extend(line + 1 + self._shift for line in range(size, end))
            self._shift -= hunk.added - hunk.size
            self._old_lines[first:end] = [0] * hunk.added


def _path(line: bytes, prefix: bytes) -> str:
    """Return the path in a line of a header; empty for a missing file."""
    name = line.rstrip(b"\r\n")
    if name.startswith(b"rename"):
        return _name(name.split(b" ", 2)[-1])
    name = name.split(b" ", 1)[-1].partition(b"\t")[0]
    return "" if name == b"/dev/null" else _name(name, prefix)


def _name(name: bytes, prefix: bytes = b"") -> str:
    """Decode a path in git's output, which quotes special characters."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(lambda found: found[0].decode("unicode_escape").encode("latin-1"), name[1:-1])
    return as_utf8(os.fsdecode(name.removeprefix(prefix)))


def _decoded(line: bytes) -> str:
    try:
        return line.decode().strip()
    except UnicodeDecodeError:
        return line.decode("latin-1").strip()
