"""Hits to text for people: where it is, what it is, the lines worth reading.

Plain when piped, coloured on a terminal (`NO_COLOR` and `FORCE_COLOR` are honoured); the same characters either way,
and rich is loaded only for colour.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from textwrap import wrap
from typing import TYPE_CHECKING

from assay.search.excerpt import Line, declared, places
from assay.search.excerpt import lines as lines_of
from assay.types import Chunk, Hit

if TYPE_CHECKING:
    from rich.text import Text

WIDEST = 160
"""Characters of a line that are shown; code that a person wrote is not wider."""
_NAMES = 3
"""Names of a run of small declarations that are shown; the rest are counted."""
_PARTS = 10
"""Parts of a score that are shown; JSON has all of them."""
_HARD_SPACE = "\N{NO-BREAK SPACE}"


def wants_color() -> bool:
    """Say whether standard output takes colour."""
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0") not in {"", "0"} or (
        sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


def plain(hit: Hit, lines: Sequence[Line], wanted: AbstractSet[str], *, explain: bool, clip: bool) -> str:
    """Return one hit as text: a line that names it, then the lines of it."""
    rows = [f"{_escaped(hit.chunk.path)}:{_line(hit.chunk, lines)}  {_what(hit.chunk, wanted)}".rstrip()]
    if explain:
        rows.append(f"    {score(hit)}")
    shown = with_gaps([(number, _shown(text, clip=clip)) for number, text in lines])
    rows += (f"{number:6d}  {text}".rstrip() if number else "     …" for number, text in shown)
    return "\n".join(rows) + "\n"


def colored(hit: Hit, lines: Sequence[Line], wanted: AbstractSet[str], *, explain: bool, clip: bool) -> str:
    """Return the same with colours: syntax, line numbers dimmed, the words asked for marked."""
    from rich.console import Console
    from rich.text import Text

    chunk = hit.chunk
    line = f":{_line(chunk, lines)}  "
    text = Text.assemble((_escaped(chunk.path), "bold magenta"), line, (_what(chunk, wanted), "bold"), "\n")
    if explain:
        text.append(f"    {score(hit)}\n", "dim")
    code = _highlighted(chunk.language, [_shown(line, clip=clip) for _, line in lines], wanted)
    rows = dict(zip((number for number, _ in lines), code, strict=True))
    for number, _ in with_gaps(lines):
        text.append(f"{number:6d}  " if number else "     …", "dim")
        text.append_text(rows.get(number, Text())).append("\n")
    console = Console(force_terminal=True, color_system="standard", highlight=False)
    with console.capture() as written:
        console.print(text, soft_wrap=True, end="")
    return written.get()


def quickfix(hit: Hit) -> str:
    """Return one hit as editors read places from other programs: `PATH:LINE:COLUMN:TEXT`, the column in bytes."""
    chunk = hit.chunk
    rows = lines_of(chunk)
    at = declared(chunk) or 0
    number, line = rows[at] if rows else (chunk.start_line, "")
    name = chunk.symbol.partition(",")[0]
    found = line.find(name) if name else -1
    before = line[: found if found >= 0 else len(line) - len(line.lstrip())]
    column = len(before.encode("utf-8", "surrogatepass")) + 1
    return f"{_escaped(chunk.path)}:{number}:{column}:{_shown(line, clip=True)}\n"


def with_gaps(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with a line numbered 0 wherever some are left out between them."""
    shown: list[Line] = []
    for line in lines:
        if shown and line[0] > shown[-1][0] + 1:
            shown.append((0, ""))
        shown.append(line)
    return shown


def score(hit: Hit) -> str:
    """Return the score of a hit and the weightiest parts of it; the others are summed up."""
    ordered = sorted(hit.why.items(), key=lambda part: -abs(part[1]))
    if rest := ordered[_PARTS:]:
        ordered = [*ordered[:_PARTS], (f"{len(rest)} others", sum(value for _, value in rest))]
    parts = [f"{name} {value:+.3f}" for name, value in ordered if abs(value) >= 0.0005]
    parts = [part.replace(" ", _HARD_SPACE) for part in (f"score {hit.score:.3f}", *parts)]
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return "\n      ".join(wrap(" ".join(parts), max(width - 6, 24))).replace(_HARD_SPACE, " ")


def _line(chunk: Chunk, shown: Sequence[Line]) -> int:
    """Return the line to open: where the unit is declared, else the first that is shown."""
    at = declared(chunk)
    return shown[0][0] if at is None else lines_of(chunk)[at][0]


def _what(chunk: Chunk, wanted: AbstractSet[str]) -> str:
    """Return what a chunk is: its kind, and its name below its parents; later parts of a long unit are `in` it."""
    separator = " > " if chunk.kind == "section" else "."
    symbol = chunk.symbol if chunk.kind == "section" else _few(chunk.symbol, wanted)
    name = separator.join(part for part in (chunk.parent, symbol) if part)
    later = chunk.symbol and chunk.signature and declared(chunk) is None
    return " ".join(_escaped(part) for part in ("in" if later else "", chunk.kind, name) if part)


def _few(symbol: str, wanted: AbstractSet[str]) -> str:
    """Return a few names of a run of small declarations, those that were asked for first."""
    names = symbol.split(", ")
    if len(names) <= _NAMES:
        return symbol
    first = sorted(names, key=lambda name: not places(name, wanted))[:_NAMES]
    return f"{', '.join(first)} and {len(names) - _NAMES} more"


def _escaped(name: str) -> str:
    """Return a name on one line: what would move the cursor is written as an escape."""
    return "".join(
        letter if letter.isprintable() or "\udc80" <= letter <= "\udcff" else repr(letter)[1:-1] for letter in name
    )


def _shown(text: str, *, clip: bool) -> str:
    """Return a line as it is shown: nothing in it moves the cursor, and it is not too wide."""
    if clip and len(text) > WIDEST:
        text = text[: WIDEST - 1] + "…"
    return "".join(letter if letter.isprintable() or letter == "\t" else "·" for letter in text)


def _highlighted(language: str, lines: Sequence[str], wanted: AbstractSet[str]) -> list[Text]:
    """Return the lines in colour; a language that no lexer knows stays plain."""
    from rich.syntax import Syntax
    from rich.text import Text

    syntax = Syntax("", language or "text", theme="ansi_dark")
    text = syntax.highlight("\n".join(lines)) if syntax.lexer else Text("\n".join(lines))
    rows = list(text.split("\n", allow_blank=True))[: len(lines)]
    for row, line in zip(rows, lines, strict=True):
        for start, end in places(line, wanted):
            row.stylize("bold yellow underline", start, end)
    return rows
