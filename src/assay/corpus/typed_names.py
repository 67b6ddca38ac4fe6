"""A declaration in, the variables that it declares out, each with the text of its type or of its first value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from assay.corpus.type_text import expression_steps, type_name

_LONGEST = 400
_WORDS = (
    r"(?:(?:public|private|protected|internal|readonly|override|static|final|const|let|var|val|mut|declare|abstract|"
    r"lateinit|open|weak|lazy|export|volatile|transient|pub(?:\([^)]*\))?|required|late|covariant|"
    r"@\w+(?:\([^()]*\))?)\s+)*"
)
_NAMED = re.compile(
    rf"{_WORDS}(?:\.\.\.|_\s+|\*+)?([$@\w.#]+)\s*[?!]?\s*(?::\s*([^=;{{]+?))?\s*(?:(?<![=!<>])=(?![=>])\s*(.+))?$",
    re.DOTALL,
)
_TYPE_FIRST = re.compile(
    rf"{_WORDS}((?:struct |class |enum )?[\w.:\\?]+(?:<[^;=]*>)?(?:\s*\[\])?)[\s*&]*\s[*&\s]*\$?(\w+)\s*"
    r"(?:=\s*(.+)|[;,:({)].*)?$",
    re.DOTALL,
)
_GO_SHORT = re.compile(r"([\w, ]+?)\s*:=\s*(.+)", re.DOTALL)
_GO = re.compile(r"(?:var\s+)?([\w, ]+?)\s+([*\[\]\w.]+)(?:\s*=\s*(.+)|\s*`.*)?", re.DOTALL)
_PHP_VALUE = re.compile(r"(?:\$|@{1,2})(?:this->)?(\w+)\s*=\s*(.+)", re.DOTALL)
_WITH = re.compile(r"(.+?)\s+as\s+(\w+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypedName:
    """A variable, or a field written `self.name`; one of the two others is empty."""

    name: str
    type: str
    value: str


def typed_names(language: str, node_kind: str, text: str, *, type_first: bool) -> Iterator[TypedName]:
    """Yield what a declaration says of its variables."""
    text = text[:_LONGEST].strip()
    read = _READ.get(language)
    if node_kind == "with_item":
        if found := _WITH.fullmatch(text):
            yield from _known_type(found[2], "", found[1])
    elif read is not None:
        yield from read(text)
    elif type_first:
        yield from _by_type(text)
    else:
        yield from _by_name(text)


def _known_type(name: str, type_text: str, value: str) -> Iterator[TypedName]:
    kind = type_name(type_text) if type_text else ""
    steps = "" if kind else expression_steps(value or "")
    if kind or steps:
        yield TypedName(name, kind, steps)


def _by_name(text: str) -> Iterator[TypedName]:
    if found := _NAMED.match(text):
        yield from _known_type(found[1], found[2] or "", found[3] or "")


def _by_type(text: str) -> Iterator[TypedName]:
    value = _PHP_VALUE.fullmatch(text)
    if value:
        yield from _known_type(("this." if "this->" in text.partition("=")[0] else "") + value[1], "", value[2])
    elif found := _TYPE_FIRST.match(text.removeprefix("for (").removeprefix("foreach (")):
        usual = found[1] not in ("var", "auto", "final", "let")
        yield from _known_type(found[2], found[1] if usual else "", found[3] or "")


def _go(text: str) -> Iterator[TypedName]:
    if found := _GO_SHORT.fullmatch(text):
        yield from _known_type(found[1].partition(",")[0].strip(), "", found[2])
    elif found := _GO.match(text):
        for name in found[1].split(","):
            yield from _known_type(name.strip(), found[2], found[3] or "")
    elif re.fullmatch(r"\*?[\w.]+", text):  # an embedded type is a field of its own name
        yield from _known_type(text.lstrip("*").rpartition(".")[2], text, "")


def _ruby(text: str) -> Iterator[TypedName]:
    if found := re.match(r"(@?\w+)\s*(?:\|\|)?=\s*([\w:]+)\.new\b", text):
        yield from _known_type(("self." if found[1][0] == "@" else "") + found[1].lstrip("@"), found[2], "")


def _java(text: str) -> Iterator[TypedName]:
    if found := re.fullmatch(r".+\binstanceof\s+(?:final\s+)?([\w.]+)(?:<.*>)?\s+(\w+)", text, re.DOTALL):
        yield from _known_type(found[2], found[1], "")
    else:
        yield from _by_type(text)


_READ: dict[str, Callable[[str], Iterator[TypedName]]] = {"go": _go, "ruby": _ruby, "java": _java}
