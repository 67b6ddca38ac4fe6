"""A node of a syntax tree to what it declares: kind, name, owner, and where its body is.

Most grammars answer through the fields `name` and `body`; what is left are the few that do not, one
function each, in `OF_NODES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ast_grep_py import SgNode

from assay.corpus.grammars import Grammar

_LONGEST_NAME = 120
_NAMES = frozenset(
    "identifier type_identifier simple_identifier field_identifier word name variable constant user_type "
    "attrpath property_identifier private_property_identifier selectors string".split()
)
_BODIES = frozenset("function_body class_body enum_class_body computed_property contract_body body block".split())
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


Declare = Callable[[SgNode, str, str, Grammar], "Declared | None"]
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
    if grammar.test and grammar.test.match(node.text()[:80]):
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


OF_NODES: dict[str, Declare] = {
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
}
