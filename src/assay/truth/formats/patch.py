"""A patch in git's form to the lines of the files before it that it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|["\\abfnrtv])')
_LETTERS = dict(zip('"\\abfnrtv', '"\\\a\b\f\n\r\t\v', strict=True))


def edited(patch: str) -> Iterator[str]:
    """Yield `path:start-end` a hunk, from its first changed line to its last, without the lines around them.

    Lines that are only added stand between two: those are named. A file without hunks that was renamed or is binary,
    and one that was empty, is named as a whole; new files are left out.
    """
    for part in re.split(r"(?m)^(?=diff --git )", patch):
        yield from dict.fromkeys(_of_file(part.split("\n")))


def _of_file(lines: list[str]) -> Iterator[str]:
    path, at, whole = "", 0, ""
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("--- ") and at < len(lines) and lines[at].startswith("+++ "):
            path, at = _path(line[4:]), at + 1
        elif line.startswith("rename from "):
            whole = _path("a/" + line.removeprefix("rename from ")) if '"' not in line else _path(line[12:], prefix="")
        elif line.startswith("Binary files ") and " and " in line:
            whole = _path(line.removeprefix("Binary files ").partition(" and ")[0])
        elif path and (hunk := _HUNK.match(line)):
            start, size = int(hunk[1]), int(hunk[2] or "1")
            span, at = _changed(lines, at, start, size)
            yield f"{path}:{span[0]}-{span[1]}" if size else path
    if whole and not path:
        yield whole


def _changed(lines: list[str], at: int, start: int, size: int) -> tuple[tuple[int, int], int]:
    """Return the first and last line of a hunk that it changes, and where the hunk ends."""
    old, changed = start, []
    while at < len(lines) and (
        lines[at][:1] in {"-", "+", "\\"} or (old < start + size and lines[at][:1] in {" ", ""})
    ):
        mark = lines[at][:1]
        if mark == "-" and old >= start + size and lines[at].startswith("--- "):
            break  # the next file of a patch without `diff --git` lines
        if mark == "-":
            changed.append((old, old))
        elif mark == "+":
            changed.append((max(old - 1, start), min(old, start + size - 1)))
        old += mark in {"-", " ", ""}
        at += 1
    pure = [span for span in changed if span[0] == span[1]]
    spans = pure or changed or [(start, start + size - 1)]
    return (min(first for first, _ in spans), max(last for _, last in spans)), at


def _path(text: str, *, prefix: str = "a/") -> str:
    """Return a path as git writes it, empty where there is no file."""
    text = text.rstrip("\r").partition("\t")[0]
    if text.startswith('"') and text.endswith('"'):
        data = _ESCAPE.sub(lambda found: _unescaped(found[1]), text[1:-1])
        text = data.encode("latin-1", "replace").decode("utf-8", "replace")
    return "" if text == "/dev/null" else text.removeprefix(prefix)


def _unescaped(escape: str) -> str:
    return chr(int(escape, 8)) if escape.isdigit() else _LETTERS[escape]
