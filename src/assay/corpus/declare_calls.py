"""Declarations that are expressions: `const f = () => …`, `describe("…", …)`, `defmodule … do`, `M.f = function`."""

from __future__ import annotations

from ast_grep_py import SgNode

from assay.corpus.declare import Declare, Declared, clean_name, declared, first
from assay.corpus.grammars import Grammar

_FUNCTIONS = frozenset(
    "arrow_function function_expression generator_function function function_definition do_block block "
    "lambda_literal anonymous_function".split()
)
_AROUND = frozenset("as_expression satisfies_expression parenthesized_expression non_null_expression".split())
_NOT_OWNERS = frozenset("module exports prototype this self window".split())


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
    kind = (grammar.calls or {}).get(_base_name(callee))
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
    kind = (grammar.calls or {}).get(target.text() if target and target.is_named_leaf() else "", "")
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
    test = (grammar.calls or {}).get(_base_name(inner.field("function")))
    arguments = inner.field("arguments")
    values = arguments.named_children() if arguments else []
    return Declared(test, clean_name(values[0].text()), node, block, block) if test and values else None


OF_CALLS: dict[str, Declare] = {
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "ruby": _ruby,
    "elixir": _elixir,
    "lua": _lua,
    "scala": _scala,
}
