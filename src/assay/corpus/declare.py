"""Read the declaration in a node of a syntax tree: kind, name, owner and body.

Most grammars answer through the fields `name` and `body`; each of the others has a function here, and so have
declarations that are expressions: `const f = () => …`, `describe("…", …)`, `defmodule … do`, `M.f = function`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.corpus.grammars import Grammar

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_MAX_NAME_CHARS = 120
_NAMES = frozenset(
    "identifier type_identifier simple_identifier field_identifier word name variable constant user_type "
    "attrpath property_identifier private_property_identifier selectors string".split()
)
_BODIES = frozenset("function_body class_body enum_class_body computed_property contract_body body block".split())
_FUNCTIONS = frozenset(
    "arrow_function function_expression generator_function function function_definition do_block block "
    "lambda_literal anonymous_function lambda".split()
)
_NAMED_INSIDE = frozenset("function method constructor class interface struct enum trait type macro".split())
_MEMBERS_OF = frozenset("class_body enum_class_body protocol_body body_statement body".split())
"""What holds properties and constants of a type."""
_AROUND = frozenset("as_expression satisfies_expression parenthesized_expression non_null_expression".split())
_NOT_OWNERS = frozenset("module exports prototype this self window".split())
CONSTRUCTORS = frozenset("__init__ constructor __construct initialize".split())


@dataclass(slots=True)
class Declared:
    """The declaration of one node; `members` is the node whose children may be units of their own."""

    kind: str
    symbol: str
    node: SgNode
    body: SgNode | None = None
    members: SgNode | None = None
    owner: str = ""


def declaration(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared | None:
    """Read a node by its kind and its kind of chunk; None if it declares nothing worth a chunk."""
    if read := _READERS.get(grammar.id, {}).get(node_kind):
        return read(node, kind, grammar)
    found = _by_fields(node, node_kind, kind, grammar)
    if amend := _AMENDS.get(grammar.id):
        amend(found, node, node_kind)
    return found


def inner_declaration(node: SgNode, grammar: Grammar) -> Declared | None:
    """Read a declaration inside a unit: a function, a type, or a property of a type in Kotlin and Swift."""
    node_kind = node.kind()
    read, kind = _INNER.get(node_kind), grammar.units.get(node_kind, "function")
    found = read(node, grammar) if read else declaration(node, node_kind, kind, grammar)
    if found is None or found.kind in _NAMED_INSIDE:
        return found
    parent = node.parent()
    is_member = node_kind in ("property_declaration", "assignment", "attribute")
    return found if is_member and parent and parent.kind() in _MEMBERS_OF else None


def _by_fields(node: SgNode, node_kind: str, kind: str, grammar: Grammar) -> Declared:
    name = node.field("name")
    symbol = _clean(name.text()) if name else _name_among_children(node)
    members = node if node_kind in grammar.opens else None
    if not symbol and kind == "constructor":
        symbol = kind
    return Declared(kind, symbol, node, node.field("body") or _first(node, _BODIES), members)


def _clean(text: str) -> str:
    """Return a name on one line, without quotes."""
    return " ".join(text[:_MAX_NAME_CHARS].split()).strip("\"'`")


def _first(node: SgNode, kinds: frozenset[str]) -> SgNode | None:
    """Return the first child of one of these kinds."""
    return next((child for child in node.children() if child.kind() in kinds), None)


def _name_among_children(node: SgNode) -> str:
    child = _first(node, _NAMES)
    return _clean(child.text()) if child else ""


def _inner_declarator(node: SgNode) -> SgNode | None:
    if node.kind() == "parenthesized_declarator":  # of what is or returns a pointer to a function
        return next(iter(node.named_children()), None)
    return node.field("declarator")


def _c_macro(node: SgNode, kind: str, _grammar: Grammar) -> Declared | None:
    """Read `SYSCALL_DEFINE1(pause, …)` with a body, which the grammar parses as a call and a block."""
    call, body = node.child(0), node.next()
    called = call.field("function") if call and call.kind() == "call_expression" else None
    if called is None or body is None or body.kind() != "compound_statement" or not called.text().isupper():
        return None
    arguments = call.field("arguments") if call else None
    values = arguments.named_children() if arguments else []
    names = [_clean(child.text()) for child in values if child.kind() in _NAMES or child.kind() == "string_literal"]
    if names and called.text().startswith(("TEST", "SCENARIO", "BENCHMARK")):
        return Declared("test", ".".join(names[:2]), node, body)
    return Declared(kind, names[0], node, body) if names else None


def _c(node: SgNode, kind: str, grammar: Grammar) -> Declared:
    node_kind = node.kind()
    if node_kind == "type_definition":
        inner = node.field("type")
        kind = grammar.units.get(inner.kind(), kind) if inner else kind
    declarator = node.field("declarator")
    is_function = False
    while declarator and (inner := _inner_declarator(declarator)):
        is_function = is_function or declarator.kind() == "function_declarator"
        declarator = inner
    if declarator is None:
        return Declared(kind, "", node)
    if node_kind == "field_declaration":
        kind = "method" if is_function and not declarator.text().isupper() else "constant"
    elif node_kind == "declaration" and is_function:
        kind = "function"
    symbol = re.sub(r"<[^<>]*>|^[&*\s]+|(?<!operator)\(.*", "", _clean(declarator.text()))
    body = node.field("body")
    if grammar.tests and grammar.tests.match(node.text()[:80]):
        arguments = _clean(node.text().partition("(")[2].partition(")")[0])
        return Declared("test", arguments.replace(", ", "."), node, body)
    owner, _, symbol = symbol.rpartition("::")
    if owner:
        kind = "constructor" if symbol == owner.rpartition("::")[2] else "method"
    return Declared(kind, symbol, node, body, None, owner.replace("::", "."))


def _go_types(node: SgNode, _kind: str, _grammar: Grammar) -> Declared:
    specs = [child for child in node.children() if child.kind() in ("type_spec", "type_alias")]
    return Declared("", "", node, None, node) if len(specs) != 1 else _go_type(node, specs[0])


def _go_type(whole: SgNode, spec: SgNode) -> Declared:
    name, of = spec.field("name"), spec.field("type")
    kind = {"struct_type": "struct", "interface_type": "interface"}.get(of.kind(), "type") if of else "type"
    return Declared(kind, name.text() if name else "", whole, of if kind != "type" else None)


def _go_values(node: SgNode, kind: str, _grammar: Grammar) -> Declared:
    specs = [child for child in node.children() if child.kind().endswith(("_spec", "_spec_list"))]
    specs = specs[0].children() if len(specs) == 1 and specs[0].kind().endswith("list") else specs
    names = (name.text() for spec in specs if (name := spec.field("name")))
    return Declared(kind, ", ".join(dict.fromkeys(filter(None, names)))[:300], node)


def _go(result: Declared, node: SgNode, _node_kind: str) -> None:
    if receiver := node.field("receiver"):
        words = re.sub(r"\[.*?\]", "", receiver.text().strip("()")).replace("*", " ").split()
        result.owner = words[-1] if words else ""


def _rust(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind == "impl_item" and (of := node.field("type")):
        result.symbol = re.sub(r"<.*|^&(?:'\w+ )?(?:mut )?", "", _clean(of.text())).rpartition("::")[2]


def _by_keyword(result: Declared, node: SgNode, node_kind: str) -> None:
    """Set the kind of a type in Kotlin and Swift, where one node kind has several keywords."""
    if result.kind == "class":
        keywords = {child.kind() for child in node.children() if not child.is_named()}
        by_keyword = {"struct": "struct", "enum": "enum", "interface": "interface", "extension": "impl"}
        result.kind = next((kind for word, kind in by_keyword.items() if word in keywords), "class")
        result.symbol = result.symbol or ("Companion" if node_kind == "companion_object" else "")
    elif result.kind == "constant" and not result.symbol:
        holder = _first(node, frozenset({"variable_declaration", "pattern"}))
        result.symbol = _clean(holder.text()).partition(":")[0] if holder else ""
    elif result.kind == "constructor":
        result.symbol = node_kind.partition("_")[0].replace("secondary", "constructor")


def _assignment(node: SgNode, kind: str, grammar: Grammar) -> Declared | None:
    """Read the assignment of a Python name or a Ruby constant."""
    left = node.field("left")
    is_declared = left and left.kind() == ("constant" if grammar.id == "ruby" else "identifier")
    return Declared(kind, left.text(), node) if left and is_declared else None


def _python_type(node: SgNode, kind: str, _grammar: Grammar) -> Declared:
    left = node.field("left")
    return Declared(kind, _clean(left.text()) if left else "", node)


def _haskell(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind in ("class", "instance"):
        result.body = _first(node, frozenset({"class_declarations", "instance_declarations"}))


def _hcl(node: SgNode, kind: str, _grammar: Grammar) -> Declared:
    labels = [child.text().strip('"') for child in node.children() if child.kind() in ("identifier", "string_lit")]
    return Declared(kind, ".".join(labels), node)


def _hcl_local(node: SgNode, _grammar: Grammar) -> Declared | None:
    """Read an entry of `locals`."""
    name, block = node.child(0), node.parent()
    block = block.parent() if block else None
    head = block.child(0) if block and block.kind() == "block" else None
    return Declared("constant", name.text(), node) if name and head and head.text() == "locals" else None


def _bash(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind == "declaration_command":  # readonly, declare, export
        assigned = _first(node, frozenset({"variable_assignment", "variable_name"}))
        result.symbol = _clean(assigned.text()).partition("=")[0] if assigned else ""


def _php(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind == "const_declaration":
        names = [child.text().partition("=")[0].strip() for child in node.children() if child.kind() == "const_element"]
        result.symbol = ", ".join(names)


def _zig(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind == "variable_declaration":
        holder = _first(node, frozenset({"struct_declaration", "enum_declaration", "union_declaration"}))
        result.body, result.members = holder, holder
        result.kind = holder.kind().partition("_")[0].replace("union", "struct") if holder else result.kind


def _dart(result: Declared, node: SgNode, _node_kind: str) -> None:
    if not result.symbol:
        head = re.split(r"\{|=>|\(|=", node.text(), maxsplit=1)[0].split()
        result.symbol = head[-1] if head else ""


def _csharp(result: Declared, node: SgNode, node_kind: str) -> None:
    if node_kind == "operator_declaration":
        result.symbol = _clean("operator " + node.text().partition("operator")[2].partition("(")[0].strip())


def _assigned(node: SgNode, name: str, value: SgNode | None, function: str, other: str) -> Declared | None:
    """Read `name = value`: `function` and `other` are the kinds of a function and of any other value, or empty."""
    value_kind = value.kind() if value else ""
    while value and value_kind in _AROUND:
        value = next(iter(value.named_children()), None)
        value_kind = value.kind() if value else ""
    owner, _, symbol = name.rpartition(".")
    owner = ".".join(part for part in owner.split(".") if part and part not in _NOT_OWNERS)
    if value and value_kind in _FUNCTIONS:
        return Declared("method" if owner else function, symbol, node, value.field("body"), None, owner)
    if value and value_kind == "class":
        return Declared("class", symbol, node, value.field("body"), value, owner)
    if value and value_kind == "object" and any(map(_is_method, value.children())):
        return Declared(other or "constant", symbol, node, value, value, owner)
    return Declared(other, symbol, node, None, None, owner) if other else None


def _is_method(node: SgNode) -> bool:
    value = node.field("value") if node.kind() == "pair" else None
    return node.kind() == "method_definition" or bool(value and value.kind() in _FUNCTIONS)


def _js_variable(node: SgNode, _kind: str, _grammar: Grammar) -> Declared | None:
    variable = _first(node, frozenset({"variable_declarator"}))
    name = variable.field("name") if variable else None
    value = variable.field("value") if variable else None
    return _assigned(node, _clean(name.text()), value, "function", "constant") if name else None


def _js_field(node: SgNode, _kind: str, _grammar: Grammar) -> Declared | None:
    name = node.field("name") or node.field("key") or node.field("property")
    return _assigned(node, _clean(name.text()).replace(".", " "), node.field("value"), "method", "") if name else None


def _js_assignment(node: SgNode, _kind: str, _grammar: Grammar) -> Declared | None:
    left = node.field("left")
    return _assigned(node, _clean(left.text()), node.field("right"), "function", "") if left else None


def _js_reactive(node: SgNode, kind: str, _grammar: Grammar) -> Declared | None:
    """Read `$: total = a + b` of Svelte."""
    body = node.field("body")
    assigned = body.child(0) if body and (label := node.field("label")) and label.text() == "$" else None
    left = assigned.field("left") if assigned and assigned.kind() == "assignment_expression" else None
    return Declared(kind, left.text(), node) if left and left.kind() == "identifier" else None


def _js_default(node: SgNode, _kind: str, _grammar: Grammar) -> Declared | None:
    return _assigned(node, _use_of(node), node, "function", "")


def _use_of(node: SgNode) -> str:
    """Return the use of an anonymous function as its name: `onClick handler`, `useEffect callback`, `default`."""
    around = node.parent()
    while around and around.kind() in _AROUND:
        around = around.parent()
    kind, outer = (around.kind(), around.parent()) if around else ("", None)
    if kind == "jsx_expression" and outer and outer.kind() == "jsx_attribute" and (name := outer.child(0)):
        return f"{name.text()} handler"
    if kind == "arguments" and outer and (called := outer.field("function")):
        return f"{_clean(called.text()).rpartition('.')[2]} callback"
    return "default"


_CLOSURES = {
    "short_var_declaration": ("left", "right", "func_literal"),
    "let_declaration": ("pattern", "value", "closure_expression"),
    "assignment_expression": ("left", "right", "anonymous_function arrow_function"),
}
"""By kind of node, of Go, Rust and PHP: the fields of a variable and of its value, and the kinds of a function."""


def _closure(node: SgNode, _grammar: Grammar) -> Declared | None:
    """Read a variable that holds a function: `handle := func() {…}`."""
    left, right, kinds = _CLOSURES[node.kind()]
    name, value = node.field(left), node.field(right)
    if value and value.kind() == "expression_list":
        value = value.child(0)
    if not name or not value or value.kind() not in kinds.split() or not re.fullmatch(r"\$?\w+", name.text()):
        return None
    return Declared("function", name.text().lstrip("$"), node, value.field("body"))


def _js_declarator(node: SgNode, _grammar: Grammar) -> Declared | None:
    """Read a variable that holds a function, also through a call: `onSave = useCallback(() => …)`."""
    name, value = node.field("name"), node.field("value")
    if value and value.kind() == "call_expression" and (arguments := value.field("arguments")):
        first = next(iter(arguments.named_children()), None)
        value = first if first and first.kind() in _FUNCTIONS else value
    return _assigned(node, _clean(name.text()), value, "function", "") if name and name.kind() == "identifier" else None


def _javascript(result: Declared, _node: SgNode, _node_kind: str) -> None:
    result.symbol = result.symbol or "default"


def _base_name(node: SgNode | None) -> str:
    """Return `test` of `test`, `test.only`, `test.each(...)`."""
    for _ in range(4):
        if node is None or node.is_named_leaf():
            break
        node = node.field("object") or node.field("function") or node.field("name")
    return node.text() if node and node.is_named_leaf() else ""


def _test_call(node: SgNode, _kind: str, grammar: Grammar) -> Declared | None:
    """Read a call with a title and a block: a test in most languages without test syntax."""
    callee = node.field("function") or node.field("method") or node.field("name")
    kind = grammar.blocks.get(_base_name(callee))
    arguments = node.field("arguments")
    if not kind or arguments is None:
        return None
    values = arguments.named_children()
    block = next((value for value in reversed(values) if value.kind() in _FUNCTIONS), None)
    block = block or _first(node, _FUNCTIONS)
    if block is None:
        return None
    first = values[0] if values and values[0] is not block else None
    key = first.child(0) if first and first.kind() == "pair" else first  # task build: :compile
    title = _clean(key.text()).strip(":") if key else _base_name(callee)
    body = block.field("body") or block
    return Declared(kind, title, node, body, body)


def _ruby_call(node: SgNode, _kind: str, grammar: Grammar) -> Declared | None:
    arguments = node.field("arguments")
    inner = _first(arguments, frozenset({"method", "singleton_method"})) if arguments else None
    if inner:
        return _by_fields(inner, inner.kind(), "function", grammar)
    return _test_call(node, "", grammar)


def _elixir(node: SgNode, _kind: str, grammar: Grammar) -> Declared | None:
    target = node.field("target")
    kind = grammar.blocks.get(target.text() if target and target.is_named_leaf() else "", "")
    arguments = _first(node, frozenset({"arguments"}))
    if not kind or arguments is None:
        return None
    title = arguments.text().partition(", do:")[0]
    symbol = _clean(title if kind in ("test", "module") else title.partition("(")[0].partition(" ")[0])
    block = _first(node, frozenset({"do_block"}))
    return Declared(kind, symbol.strip(","), node, block, block if kind in ("module", "test") else None)


def _lua(result: Declared, _node: SgNode, _node_kind: str) -> None:
    result.owner, _, result.symbol = result.symbol.replace(":", ".").rpartition(".")
    result.kind = "method" if result.owner else result.kind


def _lua_value(node: SgNode, _kind: str, _grammar: Grammar) -> Declared | None:
    inner = _first(node, frozenset({"assignment_statement"})) or node
    left = inner.field("name") or _first(inner, frozenset({"variable_list"}))
    right = inner.field("value") or _first(inner, frozenset({"expression_list"}))
    value = right.child(0) if right and right.kind() == "expression_list" else right
    return _assigned(node, _clean(left.text()), value, "function", "constant") if left else None


def _scala(result: Declared, node: SgNode, _node_kind: str) -> None:
    if pattern := node.field("pattern"):
        result.symbol = _clean(pattern.text())


def _scala_call(node: SgNode, _kind: str, grammar: Grammar) -> Declared | None:
    inner, block = node.field("function"), node.field("arguments")
    if inner is None or block is None or inner.kind() != "call_expression" or block.kind() != "block":
        return None
    test = grammar.blocks.get(_base_name(inner.field("function")))
    arguments = inner.field("arguments")
    values = arguments.named_children() if arguments else []
    return Declared(test, _clean(values[0].text()), node, block, block) if test and values else None


_JS_READERS = {
    **dict.fromkeys(("lexical_declaration", "variable_declaration"), _js_variable),
    **dict.fromkeys(("public_field_definition", "field_definition", "pair"), _js_field),
    **dict.fromkeys(("object", "arrow_function", "function_expression"), _js_default),
    "assignment_expression": _js_assignment,
    "labeled_statement": _js_reactive,
    "call_expression": _test_call,
}
_C_READERS = {
    **dict.fromkeys(("function_definition", "declaration", "field_declaration", "type_definition"), _c),
    "expression_statement": _c_macro,
}
_READERS: dict[str, Mapping[str, Callable[[SgNode, str, Grammar], Declared | None]]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), _JS_READERS),
    **dict.fromkeys(("c", "cpp"), _C_READERS),
    "go": {
        **dict.fromkeys(("const_declaration", "var_declaration"), _go_values),
        **dict.fromkeys(("type_spec", "type_alias"), lambda node, _kind, _grammar: _go_type(node, node)),
        "type_declaration": _go_types,
    },
    "python": {"assignment": _assignment, "type_alias_statement": _python_type},
    "hcl": {"block": _hcl},
    "ruby": {"assignment": _assignment, "call": _ruby_call},
    "elixir": {"call": _elixir},
    "lua": {"function_call": _test_call, "assignment_statement": _lua_value, "variable_declaration": _lua_value},
    "scala": {"call_expression": _scala_call},
}
"""By language and kind of node: what is not read by its fields."""
_INNER: dict[str, Callable[[SgNode, Grammar], Declared | None]] = {
    "variable_declarator": _js_declarator,
    "attribute": _hcl_local,
    **dict.fromkeys(_CLOSURES, _closure),
}
"""By kind of node: what is read in another way inside of a unit."""
_AMENDS: dict[str, Callable[[Declared, SgNode, str], None]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), _javascript),
    **dict.fromkeys(("kotlin", "swift"), _by_keyword),
    "go": _go,
    "rust": _rust,
    "haskell": _haskell,
    "zig": _zig,
    "bash": _bash,
    "php": _php,
    "dart": _dart,
    "csharp": _csharp,
    "lua": _lua,
    "scala": _scala,
}
"""By language: what the fields do not say."""
