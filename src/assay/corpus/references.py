"""Find the facts that link a file of code to others: its definitions, its calls, and the types of its names.

The tree says what is called; a name in a comment, a docstring or a string calls nothing. What a receiver is stays an
expression of names (`names`) that is resolved when it is asked for, against all that a repository defines, so that
the facts of a file depend on that file alone. They are written as lines of text, a block for each chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.corpus import names
from assay.corpus.call_facts import CALLABLES, TYPES, CodeCall, Definition, FieldType, fact_row
from assay.corpus.grammars import GRAMMARS
from assay.corpus.lexical import lexical_grammar
from assay.corpus.unit import Unit

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from assay.corpus.units import ReadPart

_JAVASCRIPT = frozenset(("javascript", "typescript", "tsx"))
_SELVES = frozenset(("Self", "self", "this", "static", "$this"))
_TAIL = 300
"""Characters of what is called that are read: a chain of thousands of calls says no more."""
_NAME = re.compile(r"#?([A-Za-z_$][\w$]*[!?]?)\s*$")
_GENERIC = re.compile(r"(?:::)?<[^<>()]*>\s*$")
_ARROW = re.compile(r"\)\s*(?:->|:|→)\s*([^{;=]+?)\s*(?:\{|=>|where\b|$)")
_GO_RESULT = re.compile(r"\)\s*\(?\s*(?:\w+\s+)?(\*?[\w.]+)[^()]*\)?$")
_TYPE_FIRST_RESULT = re.compile(r"([\w.:]+(?:<[^()]*>)?)[\s*&]+[\w~]+\s*\(")
_REQUIRED = re.compile(r"""(?:await\s+import|require)\(\s*['"]([^'"]+)['"]\s*\)""")
_BASES = re.compile(r"[\w.:\\]+")
_REFERENCES = frozenset(("identifier", "member_expression"))
_HANDING = frozenset(("jsx_expression", "expression_statement"))
"""What hands a function over that is called later, if it is a name alone: an attribute of JSX or of a template."""
_NOT_BASES = frozenset("extends implements with public private protected virtual for class trait metaclass".split())


@dataclass(slots=True)
class _Scope:
    """The known names of one unit."""

    unit: Unit | None
    owner: str = ""
    names: dict[str, str] = field(default_factory=dict)


def file_facts(part: ReadPart, path: str, units: Sequence[Unit]) -> dict[int, list[str]]:
    """Return the facts of a part of a file by line, counted from 1."""
    facts: dict[int, list[str]] = {}
    reader = _Reader(part, path, units) if part.root else None
    for line, row in reader.rows(part.root) if reader else _lexical_calls(part, units):
        facts.setdefault(line, []).append(row)
    for unit in units:
        if unit.symbol:
            types = tuple(reader.types_of(unit)) if reader else ()
            definition = Definition(unit.at + 1, unit.start + 1, unit.end, unit.kind, unit.parent, unit.symbol, types)
            facts.setdefault(unit.start + 1, []).append(fact_row(definition))
    return facts


def _lexical_calls(part: ReadPart, units: Sequence[Unit]) -> Iterator[tuple[int, str]]:
    """Yield the calls that patterns find, except at declarations; their receivers are unknown."""
    declared = {(unit.at, unit.symbol) for unit in units}
    around, left = list[Unit](), list(reversed(units))
    for line, name, before in lexical_grammar(part.language).calls_in(part.text):
        while left and left[-1].start <= line:
            around.append(left.pop())
        while around and around[-1].end <= line:
            around.pop()
        if (line, name) not in declared:
            inside = around[-1].path if around else ""
            yield line + 1, fact_row(CodeCall(line + 1, name, "?" if before else "", inside))


class _Reader:
    """The walk over the calls, the declarations and the imports of one file, in the order of the text."""

    def __init__(self, part: ReadPart, path: str, units: Sequence[Unit]) -> None:
        self.text, self.path, self.language, self.grammar = part.text, path, part.language, GRAMMARS[part.language]
        handed_over = {} if part.declares else {"expression_statement": ("", "")}  # of a template: its handlers
        self.calls = {**self.grammar.calls, **handed_over}
        self.named = {unit.symbol for unit in units if unit.kind in CALLABLES}
        self.units = [unit for unit in units if unit.symbol and unit.kind not in ("constant", "block")]
        self.types = {unit.path for unit in self.units if unit.kind in TYPES}
        self.starts = [unit.start for unit in self.units]
        self.scopes: dict[int, _Scope] = {-1: _Scope(None)}
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.closures: list[tuple[int, _Scope, dict[str, str]]] = []

    def rows(self, root: SgNode) -> Iterator[tuple[int, str]]:
        """Yield the line number and the row of each fact."""
        grammar = self.grammar
        kinds = sorted({*self.calls, *grammar.typed, *grammar.imports, *grammar.closures})
        for node in root.find_all({"rule": {"any": [{"kind": kind} for kind in kinds]}}) if kinds else ():
            kind, span = node.kind(), node.range()
            line = span.start.line
            self._leave(span.start.index)
            if kind in grammar.closures:
                scope = self._scope(line)
                self.closures.append((span.end.index, scope, dict(scope.names)))
            if kind in grammar.imports:
                for row in self._import(self.text[span.start.index : span.end.index]):
                    yield line + 1, row
            if kind in grammar.typed:
                yield from self._typed_name(kind, self.text[span.start.index : span.end.index], line)
            if kind in self.calls:
                yield from self._call(node, kind, self._scope(line))

    def _leave(self, index: int) -> None:
        """Forget the variables of the closures that end before a character."""
        while self.closures and self.closures[-1][0] <= index:
            _, scope, names = self.closures.pop()
            scope.names = names

    def _scope(self, line: int) -> _Scope:
        """Return the scope of the innermost unit around a line."""
        at = bisect_right(self.starts, line) - 1
        for _ in range(200):
            if at < 0 or self.units[at].end > line:
                break
            at -= 1
        else:
            at = -1
        found = self.scopes.get(at)
        if found is None:
            found = self.scopes[at] = _Scope(self.units[at], self._owner(self.units[at]))
        return found

    def _owner(self, unit: Unit) -> str:
        """Return the type of which a unit is a member, or the unit itself if it is a type."""
        if unit.kind in TYPES:
            return unit.path
        owner = unit.parent
        while owner and owner not in self.types and "." in owner:
            owner = owner.rpartition(".")[0]
        return owner if owner in self.types or not owner else unit.parent

    def _import(self, text: str) -> Iterator[str]:
        """Store the names of an import; yield the facts of those that the file re-exports."""
        is_exported = text.startswith(("export", "pub ", "pub(")) or self.path.endswith("__init__.py")
        if is_exported and "from" not in text and self.language in _JAVASCRIPT:
            for name in re.findall(r"\w+", text.partition("{")[2]):
                if name in self.imports:
                    yield fact_row(FieldType("", name, self.imports[name]))
        for name, place in names.imported_names(self.language, text, self.path):
            origin = place.replace(".", "_")  # a dot leads from a type to its fields
            if name == "*":
                self.stars.append(origin)
            else:
                self.imports[name] = origin
            if is_exported:
                yield fact_row(FieldType("", name, origin))

    def _typed_name(self, node_kind: str, text: str, line: int) -> Iterator[tuple[int, str]]:
        scope = self._scope(line)
        if self.language in _JAVASCRIPT and (found := _REQUIRED.search(text)):
            found_names = re.findall(r"\w+", text.partition("=")[0].rpartition("const")[2] or text.partition("=")[0])
            origin = names.module_origin(found[1], self.path).replace(".", "_")
            whole = "{" not in text.partition("=")[0]
            self.imports.update((name, origin if whole else f"{origin}/{name}") for name in found_names)
            return
        for each in names.typed_names(self.language, node_kind, text, type_first=self.grammar.type_first):
            yield from self._known_type(each, scope, line, text)

    def _known_type(self, each: names.TypedName, scope: _Scope, line: int, text: str) -> Iterator[tuple[int, str]]:
        """Store the type of a variable; yield a fact if it is a field or a variable of the module."""
        kind = self._of_type(each.type) if each.type else self._start(each.value, scope)
        before, _, name = each.name.rpartition(".")
        is_field = before in self.grammar.own or (before == "this" and self.language == "php")
        if before and not is_field:
            return
        if not is_field:
            scope.names[name] = kind
        is_field = is_field or re.match(r"(?:public|private|protected|readonly)\b", text) is not None
        inside = not self.closures and (scope.unit is None or scope.unit.kind in TYPES)
        if kind and kind[0] != "?" and (is_field or inside):
            yield line + 1, fact_row(FieldType(scope.owner, name, kind))

    def _of_type(self, name: str) -> str:
        """Return the origin of the members of a named type."""
        first, dot, rest = name.replace(".", "/").partition("/")
        return f"{self.imports[first]}{dot and '/'}{rest}" if first in self.imports else f":{name.replace('.', '/')}"

    def _call(self, node: SgNode, kind: str, scope: _Scope) -> Iterator[tuple[int, str]]:
        receiver_field, name_field = self.calls[kind]
        callee = node.field(name_field) if name_field else next(iter(node.named_children()), None)
        if callee is None or (kind in _HANDING and callee.kind() not in _REFERENCES):
            return
        span = callee.range()
        line = span.end.line
        tail = _GENERIC.sub("", self.text[max(span.start.index, span.end.index - _TAIL) : span.end.index])
        found = _NAME.search(tail)
        if found is None:
            return
        name, before = found[1], re.sub(r"(?:\?|!)?\.\s*$|->\s*$|\?->\s*$|::\s*$|:\s*$|\\$", "", tail[: found.start()])
        if receiver_field and (receiver := node.field(receiver_field)):
            of = receiver.range()
            before = self.text[max(of.start.index, of.end.index - _TAIL) : of.end.index]
        if kind == "macro_invocation":
            yield from self._inside_macro(node, scope)
        if name in self.grammar.above and not before:
            name, before = "__init__" if self.language == "python" else "constructor", name
        if before.strip() or name not in scope.names or name in self.named:  # a variable is called, and none of these
            yield line + 1, self._row(line, name, before.strip(), scope)

    def _inside_macro(self, node: SgNode, scope: _Scope) -> Iterator[tuple[int, str]]:
        """Read the calls among the tokens of a Rust macro, which are not a tree."""
        span = node.range()
        text = self.text[span.start.index : min(span.end.index, span.start.index + 4000)]
        text = re.sub(r'"(?:[^"\\]|\\.)*"|//[^\n]*', lambda found: " " * len(found[0]), text)
        for found in re.finditer(r"(?<![\w!])((?:[\w]+(?:::|\.))*)([a-z_]\w*)\(", text):
            line = span.start.line + text.count("\n", 0, found.start())
            before = re.sub(r"(?:::|\.)$", "", found[1])
            if not before and found.start() and text[found.start() - 1] == ".":
                before = "?"
            yield line + 1, self._row(line, found[2], before, scope)

    def _row(self, line: int, name: str, before: str, scope: _Scope) -> str:
        receiver = self._receiver(before, scope)
        if not before and name in self.imports:
            receiver, _, name = self.imports[name].rpartition("/")
            receiver = receiver or "/"
        inside = scope.unit.path if scope.unit else ""
        return fact_row(CodeCall(line + 1, name, receiver, inside))

    def _receiver(self, before: str, scope: _Scope) -> str:
        if not before:
            return "" if not self.stars else "*" + ",".join(self.stars)
        if before in self.grammar.above or before.startswith("super("):
            return f"@{scope.owner}|^"
        steps = names.expression_steps(before)
        return (self._start(steps, scope) if steps else "") or "?"

    def _start(self, steps: str, scope: _Scope) -> str:
        """Return an expression with its first name resolved; `?` and a word if it is unknown."""
        found = re.match(r"([$@\w#]+)(.*)", steps)
        if found is None:
            return ""
        first, rest = found.groups()
        if first in self.grammar.own or (first == "self" and self.language in ("swift", "ruby")):
            return f"@{scope.owner}|{rest}" if scope.owner else "?"
        if first.startswith("@"):
            return f"@{scope.owner}|.{first.lstrip('@')}{rest}"
        return self._known_start(first.lstrip("$"), rest, scope) or self._unknown_start(first.lstrip("$"), rest, scope)

    def _known_start(self, first: str, rest: str, scope: _Scope) -> str:
        """Return the meaning of a declared or imported name; empty for any other."""
        known = scope.names.get(first) or self.scopes[-1].names.get(first)
        if known and not rest.startswith("("):
            return known + rest if known[0] != "?" and len(known) < _TAIL else known
        if first in self.imports:
            return self.imports[first] + rest
        if self.language == "rust" and first in ("crate", "super", "self"):
            return names.rust_origin(first + rest.replace("/", "::"), self.path)
        return ""

    def _unknown_start(self, first: str, rest: str, scope: _Scope) -> str:
        """Return the likely meaning of a name by its form: a called function, a type, a field of the object."""
        if rest.startswith(("(", "/")) or first[:1].isupper() or (self.language == "go" and first in self.types):
            return f":{first}{rest}"
        if self.grammar.methods_bare and scope.owner:
            return f"@{scope.owner}|.{first}{rest}"
        return f"?{rest.replace('()', '').rpartition('.')[2] or first}"

    def types_of(self, unit: Unit) -> Iterator[str]:
        """Yield the origins of a type's bases, or of a function's return type."""
        for name in _types_of(unit, self.language):
            yield f"@{self._owner(unit)}|" if name in _SELVES else self._of_type(name)


def _types_of(unit: Unit, language: str) -> Iterable[str]:
    """Return the bases in a signature, or its return type."""
    head = unit.signature
    if unit.kind in ("class", "interface", "struct", "trait", "enum"):
        _, _, rest = head.partition(unit.symbol)
        if language == "python":
            rest = re.sub(r"\w+\s*=[^,)]*", "", rest)
        rest = re.sub(r"<[^<>]*>|\[[^\[\]]*\]", "", re.sub(r"<[^<>]*>", "", rest))
        rest = re.sub(r"^\s*\([^()]*\)(?=\s*:)", "", rest) if language in ("kotlin", "scala") else rest
        found = (re.sub(r"::|\\|\.", "/", name).strip("/:") for name in _BASES.findall(rest))
        return [name for name in found if name and name not in _NOT_BASES and not name[0].isdigit()][:8]
    if unit.kind not in CALLABLES:
        return []
    pattern = _GO_RESULT if language == "go" else _ARROW
    if language in ("java", "csharp", "c", "cpp", "dart"):
        pattern = _TYPE_FIRST_RESULT
    found_type = pattern.search(head)
    if found_type and found_type[1].strip("&mut -*\"'").rpartition(".")[2] in _SELVES:
        return [found_type[1].strip("&mut -*\"'").rpartition(".")[2]]
    name = names.type_name(found_type[1]) if found_type else ""
    return [name.replace(".", "/")] if name else []
