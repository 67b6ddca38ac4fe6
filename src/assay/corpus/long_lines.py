"""Cut generated long lines out of a file: a data URL, a table, a library in one line.

What stands around such a line stays as it is: a parser gets as many blanks in its place, so that every line and every
character keep their numbers, and an index gets its beginning. Minified is a file of which little else is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_PARSED_LINE_CHARS = 20_000
"""Nobody writes a longer line, and a parser has nothing to say about it."""
MAX_CUT_LINE_CHARS = 1000
"""What is indexed of a longer line."""
MAX_WRITTEN_LINE_CHARS = 500
"""Of a line on average: above, nobody wrote a file of code by hand but for a few of its lines."""
MIN_WRITTEN_LINES = 3
_MAX_END_CHARS = 200
"""Of either end of a long line that a parser may get."""
_COMMENTS = ("//", "/*", "*", "<!--")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
_QUOTES = "\"'`"
_UNCLOSED = {"/*": "*/", "<": ">"}
_MAX_UNCLOSED = 500
"""Far more than any file that compiles; from here the parser's time or memory grows with the square or worse."""


@dataclass(frozen=True, slots=True)
class FittedText:
    """A file without its too long lines."""

    text: str
    """For a parser: of the same lines and characters."""
    lines: Sequence[str]
    """For an index."""
    note: str = ""
    """What was cut, or empty."""
    is_all_long: bool = False
    """Whether no other line says anything."""

    @property
    def unfit(self) -> str:
        """Say why it is not parsed; empty if it is."""
        if self.is_all_long:
            return "no other line is left for the parser"
        for opening, closing in _UNCLOSED.items():
            if self.text.count(opening) - self.text.count(closing) > _MAX_UNCLOSED:
                return f"it leaves {opening} open too often for the parser"
        return ""


def fitted(text: str, lines: Sequence[str]) -> FittedText:
    """Cut the lines that are too long for a parser."""
    long = [at for at, line in enumerate(lines) if len(line) > MAX_PARSED_LINE_CHARS]
    if not long:
        return FittedText(text, lines)
    parsed, kept = list(lines), list(lines)
    for at in long:
        end = lines[at][len(lines[at].rstrip("\r\n")) :]
        line = lines[at].removesuffix(end)
        parsed[at], kept[at] = _blanked(line) + end, f"{line[:MAX_CUT_LINE_CHARS]}…{end}"
    note = f"lines over {MAX_PARSED_LINE_CHARS:,} characters are cut: {len(long)}"
    is_all_long = sum(not line.isspace() for line in lines) == len(long)
    return FittedText("".join(parsed), kept, note, is_all_long)


def _blanked(line: str) -> str:
    """Blank the middle of a line if its ends are complete without it, or else the whole line."""
    head, tail = line[:_MAX_END_CHARS], line[-_MAX_END_CHARS:]
    ends = head + tail
    is_whole = all(ends.count(opening) == ends.count(closing) for opening, closing in _PAIRS)
    if not is_whole or any(ends.count(quote) % 2 for quote in _QUOTES):
        return " " * len(line)
    return head + " " * (len(line) - len(ends)) + tail


def is_minified(text: str) -> bool:
    """Say whether most of a file is generated long lines; comments at its head do not count."""
    if len(text) <= MAX_WRITTEN_LINE_CHARS * (text.count("\n") + 1):
        return False
    lines = [line for line in map(str.strip, text.split("\n")) if line and not line.startswith(_COMMENTS)]
    written = sum(len(line) <= MAX_WRITTEN_LINE_CHARS for line in lines)
    return written < max(MIN_WRITTEN_LINES, len(lines) / 2)
