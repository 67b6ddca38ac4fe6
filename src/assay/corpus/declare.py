"""Read what a node of a syntax tree declares: kind, name, owner, and where its body is.

Most grammars answer through the fields `name` and `body`; each of the others has a function here, and so have
declarations that are expressions: `const f = () => …`, `describe("…", …)`, `defmodule … do`, `M.f = function`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.corpus.languages import Grammar

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_LONGEST_NAME = 120
_NAMES = frozenset(
    "identifier type_identifier simple_identifier field_identifier word name variable constant user_type "
    "attrpath property_identifier private_property_identifier selectors string".split()
)
_BODIES = frozenset("function_body class_body enum_class_body computed_property contract_body body block".split())
_FUNCTIONS = frozenset(
    "arrow_function function_expression generator_function function function_definition do_block block "
    "lambda_literal anonymous_function".split()
)
_AROUND = frozenset("as_expression satisfies_expression parenthesized_expression non_null_expression".split())
_NOT_OWNERS = frozenset("module exports prototype this self window".split())
CONSTRUCTORS = frozenset("__init__ constructor __construct initialize".split())


@dataclass(slots=True)
class Declared:
    """What one node declares; `members` is the node whose children may be units of their own."""

    kind: str
    symbol: str
    node: SgNode
    body: SgNode | None = None
    members: SgNode | None = None
    owner: str = ""


Declare = Callable[["SgNode", str, str, Grammar], "Declared | None"]
"""From a node, its node kind and its chunk kind; nothing when it declares nothing worth a chunk."""


def declared(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    """Read a node by its fields `name` and `body`."""
    name = node.field("name")
    body = node.field("body") or first(node, _BODIES)
    symbol = clean_name(name.text()) if name else name_among_children(node)
    if not symbol and kind == "constructor":
        symbol = kind
    members = node if node_kind in grammar.opens else None
    return Declared(kind, symbol, node, body, members)


def clean_name(text: str) -> str:
    """Return a name on one line, without quotes."""
    return " ".join(text[:_LONGEST_NAME].split()).strip("\"'`")


def first(node: SgNode, kinds: frozenset[str]) -> SgNode | None:
    """Return the first child of one of these kinds."""
    return next((child for child in node.children() if child.kind() in kinds), None)


def name_among_children(node: SgNode) -> str:
    """Return the first child that looks like a name."""
    child = first(node, _NAMES)
    return clean_name(child.text()) if child else ""


def _c(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind not in ("function_definition", "declaration", "type_definition"):
        return declared(node, node_kind, kind, grammar)
    if node_kind == "type_definition":
        inner = node.field("type")
        kind = grammar.units.get(inner.kind(), kind) if inner else kind
    declarator = node.field("declarator")
    is_function = False
    while declarator and (inner := declarator.field("declarator")):
        is_function = is_function or declarator.kind() == "function_declarator"
        declarator = inner
    if declarator is None:
        return Declared(kind, "", node)
    if node_kind == "declaration" and is_function:
        kind = "function"
    symbol = re.sub(r"<[^<>]*>|^[&*\s]+|(?<!operator)\(.*", "", clean_name(declarator.text()))
    body = node.field("body")
    if grammar.tests and grammar.tests.match(node.text()[:80]):
        arguments = clean_name(node.text().partition("(")[2].partition(")")[0])
        return Declared("test", arguments.replace(", ", "."), node, body)
    owner, _, symbol = symbol.rpartition("::")
    if owner:
        kind = "constructor" if symbol == owner.rpartition("::")[2] else "method"
    return Declared(kind, symbol, node, body, None, owner.replace("::", "."))


def _go(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind == "type_declaration":
        specs = [child for child in node.children() if child.kind() in ("type_spec", "type_alias")]
        return Declared("", "", node, None, node) if len(specs) != 1 else _go_type(node, specs[0])
    if node_kind in ("type_spec", "type_alias"):
        return _go_type(node, node)
    if kind == "constant":
        specs = [child for child in node.children() if child.kind().endswith(("_spec", "_spec_list"))]
        specs = specs[0].children() if len(specs) == 1 and specs[0].kind().endswith("list") else specs
        names = [name.text() for spec in specs if (name := spec.field("name"))]
        return Declared(kind, joined(names), node)
    found = declared(node, node_kind, kind, grammar)
    receiver = node.field("receiver")
    if found and receiver:
        words = re.sub(r"\[.*?\]", "", receiver.text().strip("()")).replace("*", " ").split()
        found.owner = words[-1] if words else ""
    return found


def _go_type(whole: SgNode, spec: SgNode) -> Declared:
    name, of = spec.field("name"), spec.field("type")
    kinds = {"struct_type": "struct", "interface_type": "interface"}
    kind = kinds.get(of.kind(), "type") if of else "type"
    body = of if kind != "type" else None
    return Declared(kind, name.text() if name else "", whole, body)


def joined(names: list[str]) -> str:
    """Return the names that one chunk declares."""
    return ", ".join(dict.fromkeys(name for name in names if name))[:300]


def _rust(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    found = declared(node, node_kind, kind, grammar)
    if found and node_kind == "impl_item" and (of := node.field("type")):
        found.symbol = re.sub(r"<.*|^&(?:'\w+ )?(?:mut )?", "", clean_name(of.text())).rpartition("::")[2]
    return found


def _by_keyword(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    """Kotlin and Swift: one node kind for every sort of type, told apart by its keyword."""
    found = declared(node, node_kind, kind, grammar)
    if found and kind == "class":
        keywords = {child.kind() for child in node.children() if not child.is_named()}
        by_keyword = {"struct": "struct", "enum": "enum", "interface": "interface", "extension": "impl"}
        found.kind = next((kind for word, kind in by_keyword.items() if word in keywords), "class")
        found.symbol = found.symbol or ("Companion" if node_kind == "companion_object" else "")
    if found and kind == "constant" and not found.symbol:
        holder = first(node, frozenset({"variable_declaration", "pattern"}))
        found.symbol = clean_name(holder.text()).partition(":")[0] if holder else ""
    if found and kind == "constructor":
        found.symbol = node_kind.partition("_")[0].replace("secondary", "constructor")
    return found


def _python(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind == "assignment":
        left = node.field("left")
        return Declared(kind, left.text(), node) if left and left.kind() == "identifier" else None
    if node_kind == "type_alias_statement":
        left = node.field("left")
        return Declared(kind, clean_name(left.text()) if left else "", node)
    return declared(node, node_kind, kind, grammar)


def _haskell(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    found = declared(node, node_kind, kind, grammar)
    if found and node_kind in ("class", "instance"):
        found.body = first(node, frozenset({"class_declarations", "instance_declarations"}))
    return found


def _hcl(node: SgNode, _node_kind: str, kind: str, _grammar: Grammar) -> Declared | None:
    labels = [child.text().strip('"') for child in node.children() if child.kind() in ("identifier", "string_lit")]
    return Declared(kind, ".".join(labels), node)


def _zig(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    holder = first(node, frozenset({"struct_declaration", "enum_declaration", "union_declaration"}))
    found = declared(node, node_kind, kind, grammar)
    if found and node_kind == "variable_declaration":
        found.body, found.members = holder, holder
        found.kind = holder.kind().partition("_")[0].replace("union", "struct") if holder else kind
    return found


def _dart(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    found = declared(node, node_kind, kind, grammar)
    if found and not found.symbol:
        head = node.text().partition("{")[0].partition("=>")[0].partition("(")[0].partition("=")[0].split()
        found.symbol = head[-1] if head else ""
    return found


def _csharp(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    found = declared(node, node_kind, kind, grammar)
    if found and node_kind == "operator_declaration":
        found.symbol = clean_name("operator " + node.text().partition("operator")[2].partition("(")[0].strip())
    return found


def _value(node: SgNode | None) -> tuple[SgNode | None, str]:
    """Unwrap casts and parentheses: the value and its node kind."""
    kind = node.kind() if node else ""
    while node and kind in _AROUND:
        inner = node.named_children()
        node = inner[0] if inner else None
        kind = node.kind() if node else ""
    return node, kind


def _assigned(node: SgNode, name: str, value: SgNode | None, kinds: tuple[str, str]) -> Declared | None:
    """Read `name = value`; `kinds` are those of a function and of any other value, which may be none."""
    value, value_kind = _value(value)
    owner, _, symbol = name.rpartition(".")
    owner = ".".join(part for part in owner.split(".") if part and part not in _NOT_OWNERS)
    if value and value_kind in _FUNCTIONS:
        return Declared("method" if owner else kinds[0], symbol, node, value.field("body"), None, owner)
    if value and value_kind == "class":
        return Declared("class", symbol, node, value.field("body"), value, owner)
    if (
        value
        and value_kind == "object"
        and any(c.kind() == "method_definition" or _is_function_pair(c) for c in value.children())
    ):
        return Declared(kinds[1] or "constant", symbol, node, value, value, owner)
    return Declared(kinds[1], symbol, node, None, None, owner) if kinds[1] else None


def _is_function_pair(node: SgNode) -> bool:
    value = node.field("value") if node.kind() == "pair" else None
    return bool(value and value.kind() in _FUNCTIONS)


def _javascript(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind in ("lexical_declaration", "variable_declaration"):
        variable = first(node, frozenset({"variable_declarator"}))
        name = variable.field("name") if variable else None
        return (
            _assigned(node, clean_name(name.text()), variable.field("value"), ("function", "constant"))
            if variable and name
            else None
        )
    if node_kind in ("public_field_definition", "field_definition", "pair"):
        name = node.field("name") or node.field("key") or node.field("property")
        return (
            _assigned(node, clean_name(name.text()).replace(".", " "), node.field("value"), ("method", ""))
            if name
            else None
        )
    if node_kind == "assignment_expression":
        left = node.field("left")
        return _assigned(node, clean_name(left.text()), node.field("right"), ("function", "")) if left else None
    if node_kind == "call_expression":
        return _called(node, node.field("function"), grammar)
    if node_kind in ("object", "arrow_function", "function_expression"):
        return _assigned(node, "default", node, ("function", ""))
    found = declared(node, node_kind, kind, grammar)
    if found and not found.symbol:
        found.symbol = "default"
    return found


def _base_name(node: SgNode | None) -> str:
    """Return `test` of `test`, `test.only`, `test.each(...)`."""
    for _ in range(4):
        if node is None or node.is_named_leaf():
            break
        node = node.field("object") or node.field("function") or node.field("name")
    return node.text() if node and node.is_named_leaf() else ""


def _called(node: SgNode, callee: SgNode | None, grammar: Grammar) -> Declared | None:
    """Read a call with a name to show and a block: tests of most languages that have no test syntax."""
    kind = grammar.blocks.get(_base_name(callee))
    arguments = node.field("arguments")
    if not kind or arguments is None:
        return None
    values = arguments.named_children()
    block = next((value for value in reversed(values) if value.kind() in _FUNCTIONS), None)
    block = block or first(node, _FUNCTIONS)
    if block is None:
        return None
    title = clean_name(values[0].text()) if values and values[0] is not block else _base_name(callee)
    return Declared(kind, title, node, block.field("body") or block, block.field("body") or block)


def _ruby(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind == "assignment":
        left = node.field("left")
        return Declared(kind, left.text(), node) if left and left.kind() == "constant" else None
    if node_kind != "call":
        return declared(node, node_kind, kind, grammar)
    arguments = node.field("arguments")
    inner = first(arguments, frozenset({"method", "singleton_method"})) if arguments else None
    return declared(inner, inner.kind(), "function", grammar) if inner else _called(node, node.field("method"), grammar)


def _elixir(node: SgNode, _node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    target = node.field("target")
    kind = grammar.blocks.get(target.text() if target and target.is_named_leaf() else "", "")
    arguments = first(node, frozenset({"arguments"}))
    if not kind or arguments is None:
        return None
    text = arguments.text()
    title = text.partition(", do:")[0]
    symbol = clean_name(title if kind in ("test", "module") else title.partition("(")[0].partition(" ")[0])
    block = first(node, frozenset({"do_block"}))
    return Declared(kind, symbol.strip(","), node, block, block if kind in ("module", "test") else None)


def _lua(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind == "function_call":
        return _called(node, node.field("name"), grammar)
    if node_kind == "function_declaration":
        found = declared(node, node_kind, kind, grammar)
        if found:
            found.owner, _, found.symbol = found.symbol.replace(":", ".").rpartition(".")
            found.kind = "method" if found.owner else kind
        return found
    assignment = first(node, frozenset({"assignment_statement"})) or node
    left, right = assignment.field("name"), assignment.field("value")
    left, right = (
        left or first(assignment, frozenset({"variable_list"})),
        right or first(assignment, frozenset({"expression_list"})),
    )
    value = right.child(0) if right and right.kind() == "expression_list" else right
    return _assigned(node, clean_name(left.text()), value, ("function", "constant")) if left else None


def _scala(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    if node_kind != "call_expression":
        found = declared(node, node_kind, kind, grammar)
        if found and (pattern := node.field("pattern")):
            found.symbol = clean_name(pattern.text())
        return found
    inner = node.field("function")
    block = node.field("arguments")
    if inner is None or block is None or inner.kind() != "call_expression" or block.kind() != "block":
        return None
    test = grammar.blocks.get(_base_name(inner.field("function")))
    arguments = inner.field("arguments")
    values = arguments.named_children() if arguments else []
    return Declared(test, clean_name(values[0].text()), node, block, block) if test and values else None


DECLARE: dict[str, Declare] = {
    "c": _c,
    "cpp": _c,
    "go": _go,
    "rust": _rust,
    "kotlin": _by_keyword,
    "swift": _by_keyword,
    "python": _python,
    "haskell": _haskell,
    "hcl": _hcl,
    "zig": _zig,
    "dart": _dart,
    "csharp": _csharp,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "ruby": _ruby,
    "elixir": _elixir,
    "lua": _lua,
    "scala": _scala,
}
