"""Print the output of `assay grep`: names, counts, lines with their context, in color if requested."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from assay.errors import printable_name
from assay.io.terminal import harmless, say
from assay.operations.grep import Finder, Line, SearchedFile

_MATCH, _NAME, _NUMBER, _SEPARATOR = b"01;31", b"35", b"32", b"36"
"""Colors as terminal codes: those of grep unless GREP_COLORS has others."""
_UNKNOWN_WIDTH = 19
"""Digits of the largest number for input from a pipe, whose size is unknown."""


@dataclass(frozen=True, slots=True)
class Look:
    """The format of output."""

    is_named: bool = False
    is_numbered: bool = False
    has_offsets: bool = False
    is_tabbed: bool = False
    ends_names: bool = False
    """Whether NUL follows the name of a file."""
    is_null: bool = False
    """Whether NUL ends a line."""
    only: bool = False
    """Whether only the parts that match are printed."""
    is_colored: bool = False
    is_terminal: bool = False
    is_flushed: bool = False
    """Whether output is flushed after each line."""
    sides: tuple[int, int] | None = None
    """How many lines are printed before and after a match, if that was set."""
    separator: str | None = "--"
    """The separator between groups of lines."""

    def painted(self, color: bytes, text: bytes) -> bytes:
        """Return a text in a color, if colors are enabled."""
        return b"\33[%sm\33[K%s\33[m\33[K" % (color, text) if self.is_colored else text

    def safe_text(self, text: bytes) -> bytes:
        """Return a text of a file; for a terminal without characters that control it."""
        return harmless(text.decode("utf-8", "replace")).encode() if self.is_terminal else text

    def name_row(self, file: SearchedFile) -> bytes:
        """Return the line that names a file."""
        return self._name(file) + (b"\0" if self.ends_names else b"\n")

    def count_row(self, file: SearchedFile) -> bytes:
        """Return the line with the number of matching lines in a file."""
        return self._head(file, b":") + b"%d\n" % file.count

    def _name(self, file: SearchedFile) -> bytes:
        return self.painted(_NAME, printable_name(file.name).encode("utf-8", "surrogateescape"))

    def _head(self, file: SearchedFile, mark: bytes, *numbers: int, width: int = 0) -> bytes:
        """Return the prefix of a line or a count: the file, the line number, the byte offset."""
        sign, head = self.painted(_SEPARATOR, mark), b""
        if self.is_named:
            head = self._name(file) + (b"\0" if self.ends_names else sign)
        head += b"".join(self.painted(_NUMBER, b"%*d" % (width, number)) + sign for number in numbers)
        is_aligned = self.is_tabbed and (numbers or (head and width))
        return head + b"\t" if is_aligned else head

    def line_rows(self, file: SearchedFile, line: Line, finder: Finder, width: int) -> Iterator[bytes]:
        """Yield the output for a line: all of it, or each part that matches."""
        is_shown_match = line.is_match != finder.is_inverted
        parts = finder.parts(line.text) if self.only or (self.is_colored and is_shown_match) else []
        mark, end = b":" if line.is_match else b"-", b"\0" if self.is_null else b"\n"

        def head(offset: int) -> bytes:
            numbers = [line.number] if self.is_numbered else []
            return self._head(file, mark, *numbers, *([offset] if self.has_offsets else []), width=width)

        def text_of(start: int, stop: int | None) -> bytes:
            return self.safe_text(finder.as_written(line.text[start:stop]))

        if self.only:
            for start, stop in parts if line.is_match and is_shown_match else ():
                yield head(line.offset + start) + self.painted(_MATCH, text_of(start, stop)) + end
            return
        at, row = 0, head(line.offset)
        for start, stop in parts:
            row += text_of(at, start) + self.painted(_MATCH, text_of(start, stop))
            at = stop
        yield row + text_of(at, None) + end

    def parting_row(self) -> bytes:
        """Return the separator line between two groups of lines, if there is one."""
        if self.sides is None or self.separator is None:
            return b""
        return self.painted(_SEPARATOR, self.separator.encode("utf-8", "surrogateescape")) + b"\n"

    def width(self, file: SearchedFile) -> int:
        """Return the width of numbers in columns."""
        if not self.is_tabbed:
            return 0
        size = file.size()
        return _UNKNOWN_WIDTH if size is None else len(str(size))


def write_lines(file: SearchedFile, finder: Finder, look: Look, *, is_first: bool) -> int:
    """Print the lines of a file, with separators between groups except before the first; return how many match."""
    out, width, last, count = sys.stdout.buffer, look.width(file), 0, 0
    for line in file.lines(finder, *(look.sides or (0, 0))):
        count += line.is_match
        if line.is_binary:
            say(f"{file.name}: binary file matches")
            continue
        if (last or not is_first) and last + 1 != line.number * bool(last):
            out.write(look.parting_row())
        for row in look.line_rows(file, line, finder, width):
            out.write(row)
        last = line.number
        if look.is_flushed:
            out.flush()
    return count
