"""Write to the terminal or to what replaces it: progress, problems, JSON and untrusted text.

Nothing of the search stands behind this: a command that prints one line loads this and no more.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from assay.errors import printable

MAX_LINE_CHARS = 160
"""Characters of a line that are shown; code that a person wrote is not wider."""
_PROBLEMS = 5


_drawn = ""
"""The line of progress that stands on the terminal."""


def draw(line: str) -> None:
    """Replace the last progress line on the terminal of standard error; an empty text removes it.

    Signal handlers may call this: it passes the buffers of standard error, which may be in use.
    """
    global _drawn
    out, _drawn = sys.stderr.fileno(), line
    with suppress(OSError):
        shown = printable(line)[: max(os.get_terminal_size(out).columns - 1, 0) or None]
        os.write(out, f"\r{shown}\x1b[K".encode(sys.stderr.encoding or "utf-8", "replace"))


def say(message: str) -> None:
    """Write one line to standard error, over a progress line."""
    if _drawn:
        draw("")
    click.echo(f"assay: {printable(message)}", err=True)


def say_problems(problems: Sequence[object], *, every: bool) -> None:
    """List problems on standard error, the first few of many."""
    for problem in problems if every else problems[:_PROBLEMS]:
        say(str(problem))
    if len(problems) > _PROBLEMS and not every:
        say(f"{len(problems) - _PROBLEMS:,} more problems (-v shows them)")


def terminal_width() -> int | None:
    """Return the columns of standard output; None if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wants_color() -> bool:
    """Say whether to color standard output: by --color, or else the environment, or else if it is a terminal."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0") not in {"", "0"} or (
        sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


def printable_line(text: str, *, clip: bool) -> str:
    """Return a line without control characters, cut to the width."""
    if clip and len(text) > MAX_LINE_CHARS:
        text = text[: MAX_LINE_CHARS - 1] + "…"
    return "".join(letter if letter.isprintable() or letter == "\t" else "·" for letter in text)


def harmless(text: str) -> str:
    """Return a line without control characters, except tabs and line ends."""
    return "".join(letter if letter.isprintable() or letter in "\t\n" else repr(letter)[1:-1] for letter in text)
