"""Hand out what pages are made of: the package's own files, and code as pairs of a class and a text."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from pygments.lexers import find_lexer_class_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String, Token
from pygments.util import ClassNotFound

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def page_file(folder: str, name: str) -> tuple[str, bytes] | None:
    """Return the type and bytes of a file in one of the package's folders of pages, None where it has no such file."""
    held = resources.files("assay.serve").joinpath(folder)
    file = next((each for each in held.iterdir() if each.name == name), None)
    kind = _TYPES.get(PurePosixPath(name).suffix)
    return None if file is None or kind is None else (kind, file.read_bytes())


Line = list[tuple[str, str]]
"""Class and text of each piece; a class is empty where nothing is to be said."""

_CLASSES = {
    Comment: "c",
    Generic.Deleted: "gd",
    Generic.Emph: "ge",
    Generic.Heading: "gh",
    Generic.Inserted: "gi",
    Generic.Strong: "gs",
    Generic.Subheading: "gh",
    Keyword: "k",
    Keyword.Type: "kt",
    Literal: "s",
    Name.Attribute: "na",
    Name.Builtin: "nb",
    Name.Class: "nc",
    Name.Decorator: "nd",
    Name.Function: "nf",
    Name.Tag: "nt",
    Number: "m",
    Operator: "o",
    Operator.Word: "k",
    String: "s",
    Token: "",
}
CLASSES = sorted({*_CLASSES.values()} - {""})
"""Every class that a piece may have."""
_OTHER_NAMES = {
    "asciidoc": "",
    "assembly": "gas",
    "cmake": "cmake",
    "csharp": "csharp",
    "docker": "docker",
    "fsharp": "fsharp",
    "go-module": "",
    "lisp": "common-lisp",
    "notebook": "",
    "objc": "objective-c",
    "ocaml": "ocaml",
    "proto": "protobuf",
    "restructuredtext": "rst",
    "svelte": "html",
    "template": "",
    "text": "",
    "vue": "html",
}
_LONGEST = 20_000
"""Characters that are told apart, from the first: some lexers take a second for one piece of a hostile text as long."""
_PATIENCE_S = 0.5
"""Of the processor, for one text; other lexers take that long for all of their pieces."""
_PATIENCE_ALL_S = 2.0
"""The same for all parts of a long text."""
_KNOWN = 256
"""At most some 100 MB."""


def styled(text: str, language: str) -> list[Line]:
    """Return the lines of a text without their ends."""
    lines: list[Line] = [[]]
    for kind, piece in _pieces(text, language):
        name = _class(kind)
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
            if part:
                _add(lines[-1], name, part)
    if not lines[-1] and len(lines) > 1:
        lines.pop()
    return lines


def styled_parts_json(lines: Sequence[str], language: str, starts: Collection[int]) -> str:
    """Return the lines of a long text as JSON: cut into parts where declarations start, from 0, each told apart alone.

    After some seconds the rest stays without classes.
    """
    every: list[Line] = []
    ends = time.thread_time() + _PATIENCE_ALL_S
    for part in _parts(lines, starts):
        every += styled(part, language if time.thread_time() < ends else "")
    return json.dumps(every, ensure_ascii=False, separators=(",", ":"))


def _parts(lines: Sequence[str], starts: Collection[int]) -> Iterator[str]:
    """Cut lines into parts that are short enough to be told apart, before a declaration where one is near."""
    begin = last = size = 0
    for at, line in enumerate(lines):
        if at in starts:
            last = at
        if size + len(line) > _LONGEST and at > begin:
            cut = last if last > begin else at
            yield "".join(lines[begin:cut])
            size = sum(map(len, lines[cut:at]))
            begin = cut
        size += len(line)
    yield "".join(lines[begin:])


def _pieces(text: str, language: str) -> Iterator[tuple[Any, str]]:
    """Yield the pieces of a text; what is too long, or takes too long, ends as one piece without a class."""
    lexer = _lexer(language)
    done, ends = 0, time.thread_time() + _PATIENCE_S
    for _, kind, piece in lexer.get_tokens_unprocessed(text[:_LONGEST]) if lexer else ():
        yield kind, piece
        done += len(piece)
        if time.thread_time() > ends:
            break
    yield Token, text[done:]


@lru_cache(maxsize=_KNOWN)
def styled_json(text: str, language: str) -> str:
    """Return the same as JSON, which is remembered: it is a tenth of what the pieces take, and need not be written."""
    return json.dumps(styled(text, language), ensure_ascii=False, separators=(",", ":"))


def _add(line: Line, name: str, part: str) -> None:
    """Add a piece to a line, to the one before it where that is of the same class."""
    if line and line[-1][0] == name:
        line[-1] = (name, line[-1][1] + part)
    else:
        line.append((name, part))


@cache
def _class(kind: Any) -> str:
    """Return the class of a kind of token, or of the nearest kind above it that has one."""
    while kind not in _CLASSES:
        kind = kind.parent
    return _CLASSES[kind]


@cache
def _lexer(language: str) -> Any:
    """Return what reads a language, None where nothing does."""
    name = _OTHER_NAMES.get(language, language)
    try:
        return find_lexer_class_by_name(name)() if name else None
    except ClassNotFound:
        return None
