"""Edit JSON with comments and trailing commas in one place; the rest stays byte for byte.

Where these are made blank what is left is strict JSON of the same length: the standard library reads it and says where
things stand. The edit is made in the text as it was, for no writer of JSON keeps comments, order, indentation and line
ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from assay.errors import InputError

MARK = "\ufeff"
"""The mark that some programs put before a text in UTF-8."""
_BLANK = " \t\r\n"
_STRING = r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*(?:"|(?=[\r\n])|\Z)'  # one without its end is read but once
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf'(?:{_STRING}|[^\s",:{{\[])\s*,(?=\s*[}}\]])|{_STRING}')
_SPACE = re.compile(rf"[{_BLANK}]*")
_COMMA = re.compile(rf"[{_BLANK}]*,")
_INDENT = re.compile(r"[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*)*(?://[^\r\n]*)?(?=[\r\n])")
_decode = json.JSONDecoder().raw_decode


class BrokenText(InputError):
    """A text that is not valid, and the line where parsing stopped."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def load(text: str) -> dict[str, Any]:
    """Return the object of a text; an empty text is an empty object."""
    with suppress(ValueError, RecursionError):  # strict JSON is read thirty times faster
        found = json.loads(text.removeprefix(MARK))
        if isinstance(found, dict):
            return found
    return _Text(text).value or {}


def put(text: str, keys: Sequence[str], value: object) -> str:
    """Return a text with the value of some nested keys changed or added."""
    read = _Text(text)
    if read.value is None:
        gap = "" if not text.strip(_BLANK + MARK) or text.endswith("\n") else "\n"
        return f"{text}{gap}{_block(_nested(keys, value), '', '  ', chr(10))}\n"
    at = read.root
    for depth, key in enumerate(keys):
        if read.strict[at] != "{":
            found = json.dumps(read.decode(at)[0])[:40]
            raise InputError(f"'{'.'.join(keys[:depth])}' is {found}, expected an object")
        member = read.member(at, key)
        if member is None:
            return _with_member(read, at, key, _nested(keys[depth + 1 :], value))
        at = member.value
    old, end = read.decode(at)
    if json.dumps(old) == json.dumps(value):
        return text
    return text[:at] + read.written(value, read.indent(at), inline=read.is_inline(at)) + text[end:]


def append(text: str, keys: Sequence[str], value: object) -> str:
    """Return a text with one more element at the end of a list, which is created if it is missing."""
    read = _Text(text)
    at = read.root if read.value is not None else -1
    for key in keys:
        member = read.member(at, key) if at >= 0 and read.strict[at] == "{" else None
        at = member.value if member else -1
    if at < 0 or read.decode(at)[0] == []:
        return put(text, keys, [value])
    old, end = read.decode(at)
    if not isinstance(old, list):
        raise InputError(f"'{'.'.join(keys)}' is {json.dumps(old)[:40]}, expected a list")
    last = len(read.strict[: end - 1].rstrip(_BLANK))
    pad = read.indent(last)
    inline = "\n" not in text[at:end]
    gap = " " if inline else f"{read.newline}{pad}"
    return f"{text[:last]},{gap}{read.written(value, pad, inline=inline)}{text[last:]}"


def drop(text: str, keys: Sequence[str]) -> str:
    """Return a text without a member that exists; comments around it stay."""
    read = _Text(text)
    at = read.root
    for key in keys[:-1]:
        at = read.having(at, key).value
    member = read.having(at, keys[-1])
    before = next((left for left, right in pairwise(read.members(at)) if right == member), None)
    after_last = before.comma + 1 if before else at + 1
    cut = _rest_of_line(text, after_last)
    tail = text[member.comma + 1 if member.comma >= 0 else member.end :]
    if text[cut : member.start].strip(_BLANK) or (cut > after_last and not tail.startswith(("\r", "\n"))):
        cut = member.start
    if member.comma < 0 and before:
        return text[: before.comma] + text[after_last:cut] + tail
    rest = tail.lstrip(_BLANK)
    return text[:cut] + (rest if cut == at + 1 and rest.startswith("}") else tail)


@dataclass(frozen=True, slots=True)
class _Member:
    """A key of an object, and the positions of the key, the value, its end, and the comma after it (-1: none)."""

    key: str
    start: int
    value: int
    end: int
    comma: int


class _Text:
    """A parsed text with its format; a value is identified by the position where it begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = _STRING_OR_COMMENT.sub(
            _blank_comment, text.replace(MARK, " ", 1) if text.startswith(MARK) else text
        )
        self.strict = _TRAILING_COMMA.sub(lambda found: re.sub(",$", " ", found[0]), self.plain)
        self.root = self._skip(0)
        self.value: dict[str, Any] | None = self._read() if self.root < len(text) else None
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def decode(self, at: int) -> tuple[Any, int]:
        """Return a value, and where it ends."""
        return _decode(self.strict, at)

    def members(self, at: int) -> list[_Member]:
        """Return the members of an object."""
        found: list[_Member] = []
        at = self._skip(at + 1)
        while self.strict[at] != "}":
            key, colon = self.decode(at)
            value = self._skip(self._skip(colon) + 1)
            end = self.decode(value)[1]
            comma = _COMMA.match(self.plain, end)
            found.append(_Member(key, at, value, end, comma.end() - 1 if comma else -1))
            at = self._skip(comma.end() if comma else end)
        return found

    def member(self, at: int, key: str) -> _Member | None:
        """Return the member of a key; of several the last counts, as for other parsers of JSON."""
        return next((member for member in reversed(self.members(at)) if member.key == key), None)

    def having(self, at: int, key: str) -> _Member:
        """Return the member of a key that has to exist."""
        found = self.member(at, key) if self.strict[at] == "{" else None
        if found is None:
            raise InputError(f"there is no '{key}' to remove")
        return found

    def is_inline(self, at: int) -> bool:
        """Return whether an object, or the whole text, is on one line, so that additions are, too."""
        values = ((start, *self.decode(start)) for start in (self.root, at))
        return any(isinstance(value, dict) and value and "\n" not in self.text[at:end] for at, value, end in values)

    def indent(self, at: int) -> str:
        """Return the white space at the start of the line of a position."""
        match = _INDENT.match(self.text, self.text.rfind("\n", 0, at) + 1)
        assert match
        return match[0]

    def begins_line(self, at: int) -> bool:
        """Return whether only white space precedes a position in its line."""
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip(" \t")

    def unit(self) -> str:
        """Return the indentation of one level."""
        first = next(iter(self.members(self.root)), None)
        return (self.indent(first.start) if first and self.begins_line(first.start) else "") or "  "

    def written(self, value: object, pad: str, *, inline: bool) -> str:
        """Return a value in the format of this text."""
        return json.dumps(value, ensure_ascii=False) if inline else _block(value, pad, self.unit(), self.newline)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.strict, at)
        assert match
        return match.end()

    def _read(self) -> dict[str, Any]:
        """Return the object; raise BrokenText with the line if the text is anything else."""
        try:
            value = json.loads(self.strict)
        except RecursionError as error:
            raise BrokenText(1, "nested too deep") from error
        except json.JSONDecodeError as error:
            raise self._broken(error.pos, error.msg[0].lower() + error.msg[1:]) from error
        except ValueError as error:  # a number of thousands of digits
            raise BrokenText(1, str(error)) from error
        if not isinstance(value, dict):
            raise self._broken(self.root, "expected an object")
        return value

    def _broken(self, at: int, problem: str) -> BrokenText:
        found = self.text[at : at + 20].split("\n")[0].strip()
        line = self.text[:at].rstrip(_BLANK if not found else "").count("\n") + 1
        return BrokenText(line, f"found {repr(found) if found else 'the end'}, {problem}")


def _with_member(parsed: _Text, at: int, key: str, value: object) -> str:
    """Return the text with one more member at the end of an object."""
    text, newline, members, inline = parsed.text, parsed.newline, parsed.members(at), parsed.is_inline(at)
    pad = parsed.indent(at) + parsed.unit()
    if members and not inline and parsed.begins_line(members[-1].start):
        pad = parsed.indent(members[-1].start)
    member = f"{json.dumps(key, ensure_ascii=False)}: {parsed.written(value, pad, inline=inline)}"
    if not members:
        close = parsed.decode(at)[1] - 1
        inside = text[at + 1 : close].rstrip(_BLANK)
        if not inline or inside:
            member = f"{newline}{pad}{member}{newline}{parsed.indent(at)}"
        return f"{text[: at + 1]}{inside}{member}{text[close:]}"
    last = members[-1]
    end, before, after = (last.comma + 1, "", ",") if last.comma >= 0 else (last.end, ",", "")
    if inline:
        return f"{text[:end]}{before} {member}{after}{text[end:]}"
    rest = _rest_of_line(text, end)
    return f"{text[:end]}{before}{text[end:rest]}{newline}{pad}{member}{after}{text[rest:]}"


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _block(value: object, pad: str, unit: str, newline: str) -> str:
    """Return a value with one line per member; lists of plain values stay on one line."""
    inner = pad + unit
    if isinstance(value, dict) and value:
        members = ((f"{json.dumps(key, ensure_ascii=False)}: ", of) for key, of in value.items())
    elif isinstance(value, list) and any(isinstance(of, dict) for of in value):
        members = (("", of) for of in value)
    else:
        return json.dumps(value, ensure_ascii=False)
    rows = (f"{inner}{name}{_block(of, inner, unit, newline)}" for name, of in members)
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}{newline}{f',{newline}'.join(rows)}{newline}{pad}{right}"


def _blank_comment(match: re.Match[str]) -> str:
    """Return a string as it is, and a comment as blanks and line ends of the same length."""
    return match[0] if match[0][0] == '"' else re.sub(r"[^\r\n]", " ", match[0])


def _rest_of_line(text: str, at: int) -> int:
    """Return the end of the line of a position if only a comment or nothing comes before it, else the position."""
    match = _REST_OF_LINE.match(text, at)
    return match.end() if match else at
