"""Find the units of a syntax tree in order: functions, methods, types and others that its grammar names.

The tree is walked with a stack, never by recursion, and only into what can hold units: containers, bodies of
regions, and any unnamed thing too long for one chunk. That asks the parser a few questions a unit, not a node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.corpus.comments import docstring, plain_comment
from assay.corpus.declare import CONSTRUCTORS, Declared, declaration, inner_declaration
from assay.corpus.grammars import GRAMMARS
from assay.corpus.unit import HOLDERS, MAX_NAME_CHARS, MAX_SIGNATURE_CHARS, MIN_NESTED_LINES, TYPES, ParserFailed, Unit

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_HEAD_CHARS = 2000
_MAX_ERROR_LINES = 50_000
"""Lines: to list what a longer one holds takes hundreds of megabytes, and nobody writes so many lines into 1 MB."""
_NOT_DOC = re.compile(r"#\[|@(?!doc)|[A-Z]")
"""Attributes, annotations and macros, which belong to a unit and say nothing about it."""
_ANNOTATIONS = re.compile(r"^(?:(?:@[\w.]+(?:\([^()]*\))?|#?\[[^\]]*\])\s+)+")


@dataclass(slots=True)
class _Scope:
    children: Iterator[SgNode]
    parent: str = ""
    kind: str = ""
    prefix: str = ""
    in_function: bool = False


def tree_units(root: SgNode, text: str, lines: int, language: str, sizes: tuple[int, int]) -> list[Unit]:
    """Return the units of a tree in order; raise `ParserFailed` when most of it does not parse.

    `sizes` are those of a type that is one chunk with its members, and of a unit that is looked into for others.
    """
    return _Reader(text, lines, language, sizes).read(root)


def inner_units(root: SgNode, text: str, language: str, units: Sequence[Unit]) -> list[Unit]:
    """Return all declarations of a tree, in order: its units, and the named ones inside these, of any size."""
    grammar = GRAMMARS[language]
    if not grammar.inner:
        return list(units)
    rows = [(unit.at, unit.symbol) for unit in units]
    known, inner = set(rows), list[Unit]()
    for node in root.find_all({"rule": {"any": [{"kind": kind} for kind in sorted(grammar.inner)]}}):
        named = inner_declaration(node, grammar)
        if named and named.symbol and (named.node.range().start.line, named.symbol) not in known:
            span = named.node.range()
            start, end = span.start.line, span.end.line + (1 if span.end.column else 0)
            head = text[span.start.index : named.body.range().start.index if named.body else span.end.index]
            signature = " ".join(head[:_MAX_HEAD_CHARS].split()).rstrip(" {:=;")[:MAX_SIGNATURE_CHARS]
            unit = Unit(start, max(end, start + 1), named.kind, named.symbol[:MAX_NAME_CHARS], "", "", signature)
            unit.at = start
            known.add((start, unit.symbol))
            inner.append(unit)
    return _in_place(units, inner)


def _in_place(units: Sequence[Unit], inner: Sequence[Unit]) -> list[Unit]:
    """Return units with the inner ones, in order; an inner unit has the outer one as its parent."""
    every, around = sorted([*units, *inner], key=lambda unit: (unit.at, -unit.end)), list[Unit]()
    added = set(map(id, inner))
    for unit in every:
        while around and around[-1].end <= unit.at:
            around.pop()
        if id(unit) in added and around:
            unit.parent = around[-1].path
        around.append(unit)
    return every


class _Reader:
    """The walk over one tree, with the comments that precede the next unit."""

    def __init__(self, text: str, lines: int, language: str, sizes: tuple[int, int]) -> None:
        self.text, self.lines, self.grammar = text, lines, GRAMMARS[language]
        self.small, self.longest = sizes
        self.units: list[Unit] = []
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
        if self.wrong * 2 > self.lines and _covered(self.units) * 2 < self.lines:
            raise ParserFailed("most of it does not parse")
        return self.units

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
            if wrong > _MAX_ERROR_LINES:
                raise ParserFailed("most of it does not parse")
            self.wrong += wrong
        return _Scope(iter(node.children()), scope.parent, scope.kind, scope.prefix, scope.in_function)

    def _declared(self, node: SgNode, node_kind: str, kind: str, scope: _Scope) -> Declared | None:
        if scope.in_function and kind in ("constant", "block", "type"):
            span = node.range()
            if span.end.line - span.start.line < MIN_NESTED_LINES:
                return None
        found = declaration(node, node_kind, kind, self.grammar)
        if found and found.kind == "constant" and (scope.kind in HOLDERS or scope.in_function) and not found.members:
            return None
        return found

    def _unit(self, whole: SgNode, declared: Declared, scope: _Scope) -> _Scope | None:
        span = whole.range()
        start, end = span.start.line, span.end.line + (1 if span.end.column else 0)
        if not declared.kind:  # a group, such as Go's `type ( … )`
            return _Scope(iter(whole.children()), scope.parent, scope.kind)
        if scope.in_function and end - start < MIN_NESTED_LINES:
            return None
        first, at, doc = self._leading(start, span.start.index)
        head = self._head(declared, span.start.index)
        signature = scope.prefix + _ANNOTATIONS.sub("", " ".join(head.split())).rstrip(" {:=;")
        if declared.kind == "impl" and end - start <= self.small and " for " not in signature:
            declared = self._only_member(declared) or declared
        parent = ".".join(part for part in (scope.parent, declared.owner) if part)
        kind = self._kind(declared, scope, self.text[at : span.start.index] + head)
        tests = self.grammar.tests
        if kind == "module" and end - start <= self.small and tests and tests.search(declared.node.text()):
            kind = "test"
        symbol = declared.symbol[:MAX_NAME_CHARS]
        unit = Unit(first, max(end, start + 1), kind, symbol, parent, doc, signature[:MAX_SIGNATURE_CHARS])
        unit.at = declared.node.range().start.line
        unit.joins = declared.body is None and (
            self.grammar.id == "haskell" or declared.node.kind().endswith("signature")
        )
        self.units.append(unit)
        self.last = unit.end
        return self._inside(unit, declared)

    def _inside(self, unit: Unit, declared: Declared) -> _Scope | None:
        size = unit.end - unit.start
        if self.grammar.id == "python" and declared.body is not None:
            unit.doc = self._docstring(declared.body) or unit.doc
        if declared.members is not None and size > self.small:
            unit.inside = unit.end
            prefix = unit.signature + " { " if unit.kind == "impl" and " for " in unit.signature else ""
            return _Scope(iter(declared.members.children()), unit.path, unit.kind, prefix)
        if declared.body is not None and size > self.longest:
            unit.inside = unit.end
            return _Scope(iter(declared.body.children()), unit.path, unit.kind, in_function=True)
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
        """Return the last line on which a declaration still belongs to the comments above."""
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
        docs = [text for text in texts if not _NOT_DOC.match(text)]
        doc = plain_comment("\n".join(text.strip("\n") for text in docs)) if docs else ""
        return waiting[0][0], waiting[0][2], doc

    def _docstring(self, body: SgNode) -> str:
        statement = body.child(0)
        literal = statement.child(0) if statement and statement.kind() == "expression_statement" else None
        return docstring(literal.text()) if literal and literal.kind() == "string" else ""

    def _only_member(self, impl: Declared) -> Declared | None:
        """Return the only function of a short `impl`, which then owns all its lines."""
        members = impl.body.children() if impl.body is not None else []
        functions = [child for child in members if self.grammar.units.get(child.kind()) == "function"]
        if len(functions) != 1:
            return None
        found = declaration(functions[0], functions[0].kind(), "method", self.grammar)
        if found:
            found.owner = impl.symbol
        return found

    def _kind(self, declared: Declared, scope: _Scope, head: str) -> str:
        if declared.kind not in ("function", "method"):
            return declared.kind
        if self.grammar.tests is not None and self.grammar.tests.search(head):
            return "test"
        if scope.kind in TYPES:
            own = declared.symbol == scope.parent.rpartition(".")[2]
            return "constructor" if own or declared.symbol in CONSTRUCTORS else "method"
        return declared.kind

    def _head(self, declared: Declared, start: int) -> str:
        """Return the text of a declaration up to its body."""
        if self.grammar.id == "python":
            start = declared.node.range().start.index  # after the decorators
        end = declared.body.range().start.index if declared.body is not None else declared.node.range().end.index
        return self.text[start : min(end, start + _MAX_HEAD_CHARS)]


def _covered(units: list[Unit]) -> int:
    """Return how many lines the units have, members counted within their containers."""
    lines = at = 0
    for unit in units:
        lines += max(0, unit.end - max(at, unit.start))
        at = max(at, unit.end)
    return lines


def _last(node: SgNode) -> SgNode:
    named = node.named_children()
    return named[-1] if named else node.children()[-1]
