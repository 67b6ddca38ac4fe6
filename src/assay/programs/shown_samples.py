"""Find the samples of standard input and output in a task's text.

A line is a heading when nothing but `Input`, `Output`, `Sample Input 2`, `Examples`, `Note` … stands on it between
dashes, stars, hashes and colons. A bare `Input` counts as a sample only below a heading that says example or sample:
above it, it describes the form, unless no sample is shown and what stands there is data. An output ends at its first
blank line, for prose follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import dropwhile, takewhile
from typing import Final, NamedTuple

from assay.values import Stdin

_MAX_IN_OUT_EXAMPLES: Final = 50
_MAX_HEADING_CHARS: Final = 60
_AROUND: Final = " \t-*#:=_`>"
_SIDE: Final = re.compile(
    r"(sample|example)?s? ?(?:test ?)?(?:case ?)?(?:#?\d+ ?)?(?:standard ?)?(in|out)put(?:s|\(s\))?"
    r"(?: ?(?:for|of) .{1,20})? ?#?\d*(?: ?\(?(?:std(?:in|out))?\)?)?"
)
_SECTION: Final = re.compile(
    r"(?P<shows>(?:sample|example)s?(?: (?:test ?cases?|tests?|i/?o|input/output|input and output))?(?: ?#?\d*))"
    r"|notes?|explanations?(?: .{1,30})?|constraints?.{0,20}|scoring|hints?|limits?|subtasks?|remarks?|clarifications?"
    r"|(?:input|output) (?:format|specification|description)s?"
)
_INLINE: Final = re.compile(
    r"[ \t*]{0,8}(sample|example)? ?(in|out)put ?\d{0,2}[* ]{0,3}:[* ]{0,3}(?=\S)", re.IGNORECASE
)
_ENDS: Final = re.compile(r"[ \t*]{0,8}(?:explanation|note|constraints)s?[ \d]{0,4}[*:]", re.IGNORECASE)


def samples(text: str) -> tuple[Stdin, ...]:
    """Return the samples of input and output in a text."""
    bare = ((side, block) for side, block in _blocks(text, shows=True) if _is_data(block))
    return _samples(_blocks(text)) or _samples(bare)


def _samples(blocks: Iterable[tuple[str, str]]) -> tuple[Stdin, ...]:
    found: dict[str, str] = {}
    read: str | None = None
    for side, block in blocks:
        if side == "in":
            read = block
        elif read is not None:
            if block:
                found.setdefault(read, block)
            read = None
        if len(found) >= _MAX_IN_OUT_EXAMPLES:
            break
    return tuple(Stdin(given, printed) for given, printed in found.items())


def _is_data(block: str) -> bool:
    """Say whether a block is input or output of a program, rather than a description of it."""
    lines = block.splitlines()
    return any(map(str.isdigit, block)) and not any(len(_WORD.findall(line)) > _MAX_LINE_WORDS for line in lines)


_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_MAX_LINE_WORDS: Final = 2


def _blocks(text: str, *, shows: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the text below each heading of a sample, with its side, input or output."""
    side = ""
    lines: list[str] = []
    for line in text.splitlines():
        heading = _heading(line, shows=shows)
        if heading is None:
            lines.append(line)
            continue
        if side:
            yield side, _content(lines, side)
        shows, side = heading.shows, heading.side
        lines = [heading.rest] if heading.rest else []
    if side:
        yield side, _content(lines, side)


class _Heading(NamedTuple):
    shows: bool
    """Whether samples are shown from here on."""
    side: str = ""
    rest: str = ""
    """What of the block stands on this line already."""


def _heading(line: str, *, shows: bool) -> _Heading | None:
    inline = _INLINE.match(line)
    if inline and (shows or inline[1]):
        return _Heading(True, inline[2].lower(), line[inline.end() :])
    if _ENDS.match(line):
        return _Heading(shows=False)
    if not line.strip() or len(line) > _MAX_HEADING_CHARS:
        return None
    bare = line.strip(_AROUND).lower()
    side = _SIDE.fullmatch(bare)
    if side:
        now = shows or bool(side[1])
        return _Heading(now, side[2] if now else "")
    section = _SECTION.fullmatch(bare)
    return _Heading(section["shows"] is not None) if section and bare else None


def _content(lines: list[str], side: str) -> str:
    plain = (line.rstrip() for line in lines if not line.strip().startswith(("```", "-----")))
    kept = dropwhile(lambda line: not line, plain)
    text = "\n".join(takewhile(bool, kept) if side == "out" else kept).rstrip("\n")
    return f"{text}\n" if text else ""
