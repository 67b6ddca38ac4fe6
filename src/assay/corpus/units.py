"""Find the units of a file of code in order: functions, methods, types and what else its grammar names.

The tree is walked with a stack, never by recursion, and only into what can hold units: containers, bodies of
regions, and any unnamed thing too long for one chunk. That asks the parser a few questions a unit, not a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.corpus.declare import CONSTRUCTORS, Declared, declaration
from assay.corpus.languages import GRAMMARS

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SMALL_CONTAINER = 15
"""A type of so few lines is one chunk with its members."""
_NESTED = 10
"""A function inside a long function is a unit of its own from so many lines."""
_TYPES = frozenset("class interface struct enum trait impl".split())
_HOLDERS = _TYPES | {"test"}
"""Where a constant is a field or a local: a line of the header, not a unit."""
LONGEST_SIGNATURE = 300
LONGEST_NAME = 200
"""Characters of a unit's name, and of all around it: each of its pieces and members repeats them."""
_LONGEST_HEAD = 2000
_LONGEST_ERROR = 50_000
"""Lines: to list what a longer one holds takes hundreds of megabytes, and nobody writes so many lines into 1 MB."""
_LINE = re.compile(
    r"^[ \t]*(?:#!.*|//[/!]?|#+|--+(?: ?[|^])?|;+|\*+(?!/)|/\*[*!]*|%+|\(\*)?[ \t]?"  # what opens a line
    r"(.*?)[ \t]*(?:\*+/|\*\)|-\})?[ \t\r]*$"  # the words, and what closes a comment
)
_TAG = re.compile(
    r"^[@\\](?:param|arg|tparam|returns?|throws|exception|see|link|since|author|type|brief|deprecated)\b[ \t]*"
)
_INLINE = re.compile(r"\{@\w+[ \t]+([^{}]*)\}")
_HTML = re.compile(
    r"</?(?:p|code|pre|ul|ol|li|b|i|em|strong|br|a|summary|remarks|para|see|param|returns|tt|h\d)\b[^<>]*/?>"
)
_LICENSE = re.compile(r"copyright|licen[sc]e|spdx-", re.IGNORECASE)
_LITERAL = re.compile(r'\s*[rR]?"""[^"]*(?:"{1,2}[^"]+)*"""')
_OPENING = re.compile(r"(?:\s*(?:/\*(?:[^*]|\*(?!/))*\*/|(?://|#(?!include|define|if|\[)|--).*)[ \t\r]*(?:\n|$))+")
_LONGEST_COMMENT = 4000
_ANNOTATIONS = re.compile(r"^(?:(?:@[\w.]+(?:\([^()]*\))?|#?\[[^\]]*\])\s+)+")


@dataclass(slots=True)
class Unit:
    """Lines `[start, end)`, counted from 0, and what they declare."""

    start: int
    end: int
    kind: str = "block"
    symbol: str = ""
    parent: str = ""
    doc: str = ""
    signature: str = ""
    inside: int = 0
    """The end of a container, whose own lines are what its members leave."""
    rest: bool = False
    """Lines that the members of a container or the functions inside a long one leave."""
    joins: bool = False
    """A part of the next unit of the same name: an overload, a signature, a clause."""
    at: int = 0
    """The line of the declaration itself, after comments and decorators."""

    @property
    def path(self) -> str:
        """The parent of what is inside this unit: the innermost containers, where there are thousands."""
        whole = f"{self.parent}.{self.symbol}" if self.parent and self.symbol else self.symbol or self.parent
        return whole if len(whole) <= LONGEST_NAME else whole[-LONGEST_NAME:].partition(".")[2] or whole[-LONGEST_NAME:]


@dataclass(slots=True)
class _Scope:
    children: Iterator[SgNode]
    parent: str = ""
    kind: str = ""
    prefix: str = ""
    in_function: bool = False


class ParserFailed(Exception):
    """The parser understood too little of a file."""


def units(
    text: str, lines: int, language: str, longest: int, *, small: int = SMALL_CONTAINER
) -> tuple[list[Unit], SgNode]:
    """Return the units of a file in order and its tree; raise `ParserFailed` when most of it does not parse.

    What is longer than `longest` lines is looked into for units; a type of at most `small` is one with its members.
    """
    from ast_grep_py import SgRoot  # 10 ms, and only code needs it

    try:
        root = SgRoot(text, GRAMMARS[language].id).root()
    except UnicodeEncodeError as error:
        raise ParserFailed("it holds characters that cannot be encoded as text") from error
    return units_in(root, text, lines, language, longest, small=small), root


def units_in(root: SgNode, text: str, lines: int, language: str, longest: int, *, small: int) -> list[Unit]:  # noqa: PLR0913  a file, and how to cut it
    """Return the units of a file whose tree is there already; see `units`."""
    return _Reader(text, lines, language, (small, longest)).read(root)


class _Reader:
    """The walk over one tree, with the comments that wait for their unit."""

    def __init__(self, text: str, lines: int, language: str, sizes: tuple[int, int]) -> None:
        self.text, self.lines, self.grammar = text, lines, GRAMMARS[language]
        self.small, self.longest = sizes
        self.found: list[Unit] = []
        self.wrong = 0
        self.last = 0  # the line after everything seen so far
        self.waiting: list[tuple[int, int, int, int]] = []  # comments: first line, end line, first and last character

    def read(self, root: SgNode) -> list[Unit]:
        if root.kind() == "ERROR":
            self.wrong = self.lines
        stack = [_Scope(iter(root.children()))]
        while stack:
            child = next(stack[-1].children, None)
            if child is None:
                stack.pop()
            elif (inner := self._visit(child, stack[-1])) is not None:
                stack.append(inner)
        if self.wrong * 2 > self.lines and _covered(self.found) * 2 < self.lines:
            raise ParserFailed("most of it does not parse")
        return self.found

    def _visit(self, node: SgNode, scope: _Scope) -> _Scope | None:
        """Take one child of a scope; return the scope inside it when there may be units."""
        kind, grammar = node.kind(), self.grammar
        if kind in grammar.leading:
            self._wait(node)
            return None
        if kind in grammar.through or kind == "ERROR":
            return self._through(node, kind, scope)
        inner = node
        while kind in grammar.wrappers:
            inner = inner.field("definition") or inner.field("declaration") or inner.field("value") or _last(inner)
            kind = inner.kind()
        chunk_kind = grammar.units.get(kind)
        if chunk_kind and inner.is_named() and (found := self._declared(inner, kind, chunk_kind, scope)) is not None:
            return self._unit(node, found, scope)
        span = node.range()
        self.waiting.clear()
        self.last = span.end.line + 1
        if span.end.line - span.start.line > self.longest:
            return _Scope(iter(node.children()), scope.parent, scope.kind, scope.prefix, scope.in_function)
        return None

    def _through(self, node: SgNode, kind: str, scope: _Scope) -> _Scope:
        if kind == "ERROR":
            span = node.range()
            wrong = span.end.line - span.start.line + 1
            if wrong > _LONGEST_ERROR:
                raise ParserFailed("most of it does not parse")
            self.wrong += wrong
        return _Scope(iter(node.children()), scope.parent, scope.kind, scope.prefix, scope.in_function)

    def _declared(self, node: SgNode, node_kind: str, kind: str, scope: _Scope) -> Declared | None:
        if scope.in_function and kind in ("constant", "block", "type"):
            span = node.range()
            if span.end.line - span.start.line < _NESTED:
                return None
        found = declaration(node, node_kind, kind, self.grammar)
        if found and found.kind == "constant" and (scope.kind in _HOLDERS or scope.in_function) and not found.members:
            return None
        return found

    def _unit(self, whole: SgNode, found: Declared, scope: _Scope) -> _Scope | None:
        span = whole.range()
        start, end = span.start.line, span.end.line + (1 if span.end.column else 0)
        if not found.kind:  # a group, such as Go's `type ( … )`
            return _Scope(iter(whole.children()), scope.parent, scope.kind)
        if scope.in_function and end - start < _NESTED:
            return None
        first, at, doc = self._leading(start, span.start.index)
        head = self._head(found, span.start.index)
        signature = scope.prefix + _ANNOTATIONS.sub("", " ".join(head.split())).rstrip(" {:=;")
        if found.kind == "impl" and end - start <= self.small and " for " not in signature:
            found = self._only_member(found) or found
        parent = ".".join(part for part in (scope.parent, found.owner) if part)
        kind = self._kind(found, scope, self.text[at : span.start.index] + head)
        tests = self.grammar.tests
        if kind == "module" and end - start <= self.small and tests and tests.search(found.node.text()):
            kind = "test"
        symbol = found.symbol[:LONGEST_NAME]
        unit = Unit(first, max(end, start + 1), kind, symbol, parent, doc, signature[:LONGEST_SIGNATURE])
        unit.at = found.node.range().start.line
        unit.joins = found.body is None and (self.grammar.id == "haskell" or found.node.kind().endswith("signature"))
        self.found.append(unit)
        self.last = unit.end
        return self._inside(unit, found)

    def _inside(self, unit: Unit, found: Declared) -> _Scope | None:
        size = unit.end - unit.start
        if self.grammar.id == "python" and found.body is not None:
            unit.doc = self._docstring(found.body) or unit.doc
        if found.members is not None and size > self.small:
            unit.inside = unit.end
            prefix = unit.signature + " { " if unit.kind == "impl" and " for " in unit.signature else ""
            return _Scope(iter(found.members.children()), unit.path, unit.kind, prefix)
        if found.body is not None and size > self.longest:
            unit.inside = unit.end
            return _Scope(iter(found.body.children()), unit.path, unit.kind, in_function=True)
        return None

    def _wait(self, node: SgNode) -> None:
        span = node.range()
        start, end = span.start.line, span.end.line + (1 if span.end.column else 0)
        if start < self.last:  # at the end of a line of code
            return
        if self.waiting and start > self._reach():
            self.waiting.clear()
        self.waiting.append((start, end, span.start.index, span.end.index))

    def _reach(self) -> int:
        """Return the last line on which what follows the comments still is documented by them."""
        if not self.waiting:
            return -1
        _, end, first, _ = self.waiting[-1]
        return end + (self.text.startswith("/**", first))

    def _leading(self, start: int, index: int) -> tuple[int, int, str]:
        """Return where the comments and attributes right above a unit begin, line and character, and their text."""
        reach = self._reach()
        waiting, self.waiting = self.waiting, []
        if not waiting or reach < start:
            return start, index, ""
        texts = [self.text[first:last] for _, _, first, last in waiting]
        docs = [text for text in texts if not text.startswith(("#[", "@")) or text.startswith("@doc")]
        doc = plain_comment("\n".join(text.strip("\n") for text in docs)) if docs else ""
        return waiting[0][0], waiting[0][2], doc

    def _docstring(self, body: SgNode) -> str:
        statement = body.child(0)
        literal = statement.child(0) if statement and statement.kind() == "expression_statement" else None
        return docstring(literal.text()) if literal and literal.kind() == "string" else ""

    def _only_member(self, impl: Declared) -> Declared | None:
        """Return what a short `impl` declares when that is one function, which then owns all its lines."""
        members = impl.body.children() if impl.body is not None else []
        functions = [child for child in members if self.grammar.units.get(child.kind()) == "function"]
        if len(functions) != 1:
            return None
        found = declaration(functions[0], functions[0].kind(), "method", self.grammar)
        if found:
            found.owner = impl.symbol
        return found

    def _kind(self, found: Declared, scope: _Scope, head: str) -> str:
        if found.kind not in ("function", "method"):
            return found.kind
        if self.grammar.tests is not None and self.grammar.tests.search(head):
            return "test"
        if scope.kind in _TYPES:
            own = found.symbol == scope.parent.rpartition(".")[2]
            return "constructor" if own or found.symbol in CONSTRUCTORS else "method"
        return found.kind

    def _head(self, found: Declared, start: int) -> str:
        """Return the text of a declaration up to its body."""
        if self.grammar.id == "python":
            start = found.node.range().start.index  # after the decorators
        end = found.body.range().start.index if found.body is not None else found.node.range().end.index
        return self.text[start : min(end, start + _LONGEST_HEAD)]


def _covered(found: list[Unit]) -> int:
    """Return how many lines the units have, members counted within their containers."""
    lines = at = 0
    for unit in found:
        lines += max(0, unit.end - max(at, unit.start))
        at = max(at, unit.end)
    return lines


def _last(node: SgNode) -> SgNode:
    named = node.named_children()
    return named[-1] if named else node.children()[-1]


def plain_comment(comment: str) -> str:
    """Strip the markers of a comment and the markup of Javadoc, JSDoc and XML documentation, not their words."""
    lines = [_TAG.sub("", _LINE.sub(r"\1", line)) for line in comment[:_LONGEST_COMMENT].split("\n")]
    text = "\n".join(lines).replace('@doc """', "").replace('"""', "")
    if "{@" in text:
        text = _INLINE.sub(r"\1", text)
    if "<" in text:
        text = _HTML.sub("", text)
    return text.strip()


def docstring(literal: str) -> str:
    """Strip the prefix, quotes and indentation of a string literal that documents a unit."""
    text = literal[:_LONGEST_COMMENT].lstrip("rRuUbBfF@")
    quote = next((mark for mark in ('"""', "'''", '"', "'") if text.startswith(mark)), "")
    body = text[len(quote) :]
    body = body.removesuffix(quote) if quote else body
    return "\n".join(line.strip() for line in body.split("\n")).strip()


def opening(text: str) -> str:
    """Return the comment or docstring that a block begins with, unless it is the legal header of a file."""
    if match := _LITERAL.match(text):
        return docstring(match[0].strip())
    match = _OPENING.match(text)
    if match is None or _LICENSE.search(match[0][:1500]):
        return ""
    return plain_comment(match[0])
