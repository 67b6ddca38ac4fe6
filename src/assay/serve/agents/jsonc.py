"""JSON as people write it, with comments and trailing commas, changed in one place; the rest stays byte for byte.

It is read into values that know where they stand, and an edit is made in the text: no writer of JSON keeps comments,
order, indentation, line ends and a mark at the start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from assay.errors import InputError

DEEPEST = 200

_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*+", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_REST_OF_LINE = re.compile(r"[ \t]*+(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*+)*+(?=[\r\n])")
_INDENT = re.compile(r"[ \t]*")
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()

    def find(self, key: str) -> Member | None:
        """Return the member of a key; of several the last counts, as it does for readers of JSON."""
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object, where it stands, its value, and the comma after it, which is -1 where there is none."""

    key: str
    start: int
    node: Node
    comma: int


def load(text: str) -> dict[str, Any]:
    """Return the object that a text is; one with nothing in it is empty."""
    with suppress(ValueError, RecursionError):  # strict JSON is read a hundred times faster
        found = json.loads(text.removeprefix("\ufeff"))
        if isinstance(found, dict):
            return found
    root = _read(text)
    return root.value if root else {}


def put(text: str, keys: Sequence[str], value: object) -> str:
    """Return a text with the value of some nested keys changed or added."""
    root = _read(text)
    if root is None:
        gap = "" if not text.strip(f"{_BLANK}\ufeff") or text.endswith("\n") else "\n"
        return f"{text}{gap}{_block(_nested(keys, value), '', '  ', chr(10))}\n"
    style = _Style(text, root)
    node = root
    for depth, key in enumerate(keys):
        if not isinstance(node.value, dict):
            raise InputError(f"'{'.'.join(keys[:depth])}' is {json.dumps(node.value)[:40]}, wanted an object")
        member = node.find(key)
        if member is None:
            return _added(style, node, key, _nested(keys[depth + 1 :], value))
        node = member.node
    if json.dumps(node.value) == json.dumps(value):
        return text
    pad = _indent(text, node.start)
    return text[: node.start] + style.written(value, pad, inline=style.inline(node)) + text[node.end :]


def drop(text: str, keys: Sequence[str]) -> str:
    """Return a text without a member that is there; comments around it stay."""
    node = _read(text)
    for key in keys[:-1]:
        member = node.find(key) if node else None
        node = member.node if member else None
    member = node.find(keys[-1]) if node else None
    if not node or not member:
        raise InputError(f"there is no '{'.'.join(keys)}' to take out")
    before = next((left for left, right in pairwise(node.members) if right is member), None)
    after_last = before.comma + 1 if before else node.start + 1
    cut = _rest_of_line(text, after_last)
    tail = text[member.comma + 1 if member.comma >= 0 else member.node.end :]
    if text[cut : member.start].strip(_BLANK) or (cut > after_last and not tail.startswith(("\r", "\n"))):
        cut = member.start
    if member.comma < 0 and before:
        return text[: before.comma] + text[after_last:cut] + tail
    return text[:cut] + (tail.lstrip(_BLANK) if cut == node.start + 1 and tail.lstrip(_BLANK)[:1] == "}" else tail)


class _Style:
    """How a text is written: its line ends, its indentation, and whether it is all on one line."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        first = root.members[0].start if root.members else root.start
        own = text[text.rfind("\n", 0, first) + 1 : first]
        self.unit = own if root.members and own and not own.strip(" \t") else "  "
        self.one_line = bool(root.members) and "\n" not in text[root.start : root.end]

    def inline(self, node: Node) -> bool:
        """Say whether an object is written on one line, and so what is added to it."""
        return self.one_line or (bool(node.members) and "\n" not in self.text[node.start : node.end])

    def written(self, value: object, pad: str, *, inline: bool) -> str:
        return json.dumps(value, ensure_ascii=False) if inline else _block(value, pad, self.unit, self.newline)


def _added(style: _Style, node: Node, key: str, value: object) -> str:
    """Return the text with one more member at the end of an object."""
    text, newline = style.text, style.newline
    inline = style.inline(node)
    pad = _indent(text, node.start) + style.unit
    if node.members and not inline:
        own = text[text.rfind("\n", 0, node.members[-1].start) + 1 : node.members[-1].start]
        pad = own if not own.strip(" \t") else pad
    member = f"{json.dumps(key, ensure_ascii=False)}: {style.written(value, pad, inline=inline)}"
    if not node.members:
        inside = text[node.start + 1 : node.end - 1].rstrip(_BLANK)
        head = text[: node.start + 1] + inside
        if inline and not inside:
            return f"{head}{member}{text[node.end - 1 :]}"
        return f"{head}{newline}{pad}{member}{newline}{_indent(text, node.start)}{text[node.end - 1 :]}"
    last = node.members[-1]
    comma, close = (last.comma + 1, ",") if last.comma >= 0 else (last.node.end, "")
    gap = "" if close else ","
    if inline:
        return f"{text[:comma]}{gap} {member}{close}{text[comma:]}"
    at = _rest_of_line(text, comma)
    return f"{text[:comma]}{gap}{text[comma:at]}{newline}{pad}{member}{close}{text[at:]}"


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _block(value: object, pad: str, unit: str, newline: str) -> str:
    """Return a value with one line a member; lists stay on theirs."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = pad + unit
    rows = (
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_block(of, inner, unit, newline)}" for key, of in value.items()
    )
    return f"{{{newline}{f',{newline}'.join(rows)}{newline}{pad}}}"


def _indent(text: str, at: int) -> str:
    """Return the white space at the start of the line of a place."""
    match = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    assert match
    return match[0]


def _rest_of_line(text: str, at: int) -> int:
    """Return the end of the line of a place if only a comment or nothing comes before it, else the place."""
    match = _REST_OF_LINE.match(text, at)
    return match.end() if match else at


def _read(text: str) -> Node | None:
    """Return the object that a text is, or None where it holds none; anything else is an InputError with its line."""
    reader = _Reader(text)
    start = reader.skip(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    root = reader.value(start, 0)
    rest = reader.skip(root.end)
    if rest < len(text):
        reader.fail(rest, "wanted nothing after the end")
    if not isinstance(root.value, dict):
        reader.fail(root.start, "wanted an object")
    return root


class _Reader:
    """A text that is read from one place after another."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        """Return where the next thing begins that is no space and no comment."""
        match = _SPACE.match(self.text, at)
        assert match
        return match.end()

    def fail(self, at: int, wanted: str) -> NoReturn:
        """Say what was found where something else was wanted."""
        found = self.text[at : at + 20].split("\n")[0].strip()
        line = self.text[:at].rstrip(_BLANK if not found else "").count("\n") + 1
        raise BrokenText(line, f"found {repr(found) if found else 'the end'}, {wanted}")

    def value(self, at: int, depth: int) -> Node:
        """Read one value."""
        if depth > DEEPEST:
            self.fail(at, f"wanted at most {DEEPEST} levels")
        if self.text.startswith("{", at):
            return self.members(at, depth)
        if self.text.startswith("[", at):
            return self.items(at, depth)
        match = _SCALAR.match(self.text, at)
        if not match:
            self.fail(at, "wanted a value")
        try:
            return Node(at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail(at, "wanted a value")

    def members(self, start: int, depth: int) -> Node:
        """Read an object."""
        members: list[Member] = []
        at = self.skip(start + 1)
        while not self.text.startswith("}", at):
            if members and members[-1].comma < 0:
                self.fail(at, "wanted a comma or }")
            match = _SCALAR.match(self.text, at)
            if not match or match[0][0] != '"':
                self.fail(at, "wanted a key in double quotes")
            key = self.value(at, depth)
            colon = self.skip(key.end)
            if not self.text.startswith(":", colon):
                self.fail(colon, "wanted a colon")
            node = self.value(self.skip(colon + 1), depth + 1)
            comma, end = self.comma(node.end)
            members.append(Member(key.value, at, node, comma))
            at = end
        return Node(start, at + 1, {member.key: member.node.value for member in members}, tuple(members))

    def items(self, start: int, depth: int) -> Node:
        """Read a list."""
        values: list[Any] = []
        at, comma = self.skip(start + 1), 0
        while not self.text.startswith("]", at):
            if comma < 0:
                self.fail(at, "wanted a comma or ]")
            node = self.value(at, depth + 1)
            values.append(node.value)
            comma, at = self.comma(node.end)
        return Node(start, at + 1, values)

    def comma(self, at: int) -> tuple[int, int]:
        """Return where the comma after a value stands, -1 where there is none, and where the next thing begins."""
        comma = self.skip(at)
        return (comma, self.skip(comma + 1)) if self.text.startswith(",", comma) else (-1, comma)


class BrokenText(InputError):
    """A text that cannot be read, and the line of it where reading ends."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
