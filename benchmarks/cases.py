"""Read files of cases: a name, a few fields and some programs each, written as they run.

A line `=== NAME` begins a case. Lines `FIELD: VALUE` follow it, then texts of many lines: the body, from the blank line
after the fields on, and what stands under a line `--- FIELD`; under `--- FIELD -` the last line has no end. The blank
line before the next case belongs to neither. What a file says before its first case holds for all of its cases that do
not say otherwise; comments stand there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FIELD = re.compile(r"(\w+): (.*)\n")
_TEXT = re.compile(r"^--- (\w+)( -)?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """What a file says about one case: its fields and texts, the body as `body`, with its blank line."""

    name: str
    fields: dict[str, str]


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file in their order."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *blocks = file.read().split("\n=== ")
    shared, rest = _fields(re.sub(r"^#.*\n", "", head + "\n", flags=re.MULTILINE))
    if rest.strip():
        raise ValueError(f"{path.name}: not a field: {rest.strip()}")
    named = [block.partition("\n") for block in blocks]
    return [Case(name, shared | _texts(text)) for name, _, text in named]


def _texts(text: str) -> dict[str, str]:
    fields, rest = _fields(text)
    body, *parts = _TEXT.split(rest)
    if body:
        fields["body"] = body
    for name, unended, part in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        fields[name] = part.removesuffix("\n") if unended else part
    return fields


def _fields(text: str) -> tuple[dict[str, str], str]:
    fields = {}
    while found := _FIELD.match(text):
        fields[found[1]] = found[2]
        text = text[found.end() :]
    return fields, text
