"""What each grammar calls its calls, its variables with a type, and its imports: one table, asked before any parser is.

A language without an entry has no call sites; its units still have names. Node kinds are those of the tree-sitter
grammars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.corpus.grammars import words

Reach = Literal["file", "folder", "any"]


@dataclass(frozen=True, slots=True)
class CallGrammar:
    """How to read calls, and what is known of names, in the tree of one language."""

    calls: dict[str, tuple[str, str]]
    """Node kind of a call → the fields of its receiver, which may be none, and of what is called; no field: the first
    child."""
    typed: frozenset[str] = frozenset()
    """Nodes that say of which type a variable is: parameters, fields, declarations."""
    type_first: bool = False
    """Whether a type stands before the name, as in `Cart cart`."""
    imports: frozenset[str] = frozenset()
    closures: frozenset[str] = frozenset()
    """Functions inside of functions, whose parameters are theirs alone."""
    own: frozenset[str] = frozenset({"this"})
    """What stands for the object itself."""
    above: frozenset[str] = frozenset({"super"})
    """What stands for the object as one of its base class."""
    methods_bare: bool = False
    """Whether a method of the own class is called by its bare name."""
    reach: Reach = "file"
    """How far a bare name is seen without an import."""


def _plain(*kinds: str, field: str = "function") -> dict[str, tuple[str, str]]:
    return dict.fromkeys(kinds, ("", field))


_PYTHON = CallGrammar(
    _plain("call"),
    words("typed_parameter typed_default_parameter assignment with_item"),
    imports=words("import_statement import_from_statement"),
    closures=words("function_definition lambda"),
    own=words("self cls"),
    above=words("super()"),
)
_JS_CALLS = _plain("call_expression") | _plain("new_expression", field="constructor")
_JSX_CALLS = _JS_CALLS | _plain("jsx_opening_element", "jsx_self_closing_element", field="name")
_JS_TYPED = words("variable_declarator assignment_expression")
_TS_TYPED = _JS_TYPED | words("required_parameter optional_parameter public_field_definition")
_JS_IMPORTS = words("import_statement export_statement")
_JS_CLOSURES = words("arrow_function function_expression function_declaration method_definition")
_JVM = words("import_declaration")
CALL_GRAMMARS: dict[str, CallGrammar] = {
    "python": _PYTHON,
    "javascript": CallGrammar(_JSX_CALLS, _JS_TYPED | {"field_definition"}, imports=_JS_IMPORTS, closures=_JS_CLOSURES),
    "typescript": CallGrammar(_JS_CALLS, _TS_TYPED, imports=_JS_IMPORTS, closures=_JS_CLOSURES),
    "tsx": CallGrammar(_JSX_CALLS, _TS_TYPED, imports=_JS_IMPORTS, closures=_JS_CLOSURES),
    "go": CallGrammar(
        _plain("call_expression"),
        words("parameter_declaration short_var_declaration var_spec field_declaration"),
        imports=words("import_spec"),
        closures=words("func_literal"),
        own=frozenset(),
        above=frozenset(),
        reach="folder",
    ),
    "rust": CallGrammar(
        _plain("call_expression") | _plain("macro_invocation", field="macro"),
        words("parameter let_declaration field_declaration"),
        imports=words("use_declaration"),
        closures=words("closure_expression"),
        own=words("self Self"),
        above=frozenset(),
    ),
    "java": CallGrammar(
        {"method_invocation": ("object", "name"), "object_creation_expression": ("", "type")}
        | {"explicit_constructor_invocation": ("", "constructor")},
        words(
            "formal_parameter local_variable_declaration field_declaration resource enhanced_for_statement "
            "catch_formal_parameter instanceof_expression"
        ),
        type_first=True,
        imports=_JVM,
        closures=words("lambda_expression"),
        methods_bare=True,
        reach="folder",
    ),
    "kotlin": CallGrammar(
        _plain("call_expression", field="") | _plain("constructor_invocation", field=""),
        words("class_parameter parameter property_declaration"),
        imports=words("import_header"),
        methods_bare=True,
        reach="folder",
    ),
    "scala": CallGrammar(
        _plain("call_expression") | _plain("instance_expression", field=""),
        words("class_parameter parameter val_definition var_definition"),
        imports=_JVM,
        methods_bare=True,
        reach="folder",
    ),
    "csharp": CallGrammar(
        _plain("invocation_expression") | _plain("object_creation_expression", field="type"),
        words("parameter variable_declaration property_declaration foreach_statement"),
        type_first=True,
        above=words("base"),
        methods_bare=True,
        reach="any",
    ),
    "c": CallGrammar(_plain("call_expression"), reach="any"),
    "cpp": CallGrammar(
        _plain("call_expression") | _plain("new_expression", field="type"),
        words("parameter_declaration declaration field_declaration"),
        type_first=True,
        methods_bare=True,
        reach="any",
    ),
    "ruby": CallGrammar(
        {"call": ("receiver", "method")},
        words("assignment"),
        own=words("self"),
        methods_bare=True,
        reach="any",
    ),
    "php": CallGrammar(
        {"function_call_expression": ("", "function"), "member_call_expression": ("object", "name")}
        | {"nullsafe_member_call_expression": ("object", "name"), "scoped_call_expression": ("scope", "name")}
        | {"object_creation_expression": ("", "")},
        words("simple_parameter property_declaration property_promotion_parameter assignment_expression"),
        type_first=True,
        imports=words("namespace_use_declaration"),
        own=words("$this self static"),
        above=words("parent"),
        reach="any",
    ),
    "swift": CallGrammar(
        _plain("call_expression", field=""),
        words("parameter property_declaration"),
        own=words("self Self"),
        methods_bare=True,
        reach="any",
    ),
    "dart": CallGrammar(
        _plain("call_expression"),
        words("formal_parameter local_variable_declaration declaration"),
        type_first=True,
        methods_bare=True,
        reach="any",
    ),
    "lua": CallGrammar(_plain("function_call", field="name"), own=words("self"), above=frozenset(), reach="any"),
    "bash": CallGrammar(_plain("command", field="name"), own=frozenset(), above=frozenset(), reach="any"),
    "elixir": CallGrammar(_plain("call", field="target"), own=words("__MODULE__"), above=frozenset(), reach="any"),
    "solidity": CallGrammar(_plain("call_expression"), methods_bare=True, reach="any"),
    "zig": CallGrammar(_plain("call_expression"), own=frozenset(), above=frozenset()),
}
"""By language."""
