"""What each grammar calls its units: one table from language to node kinds, asked before any parser is.

The parser panics on a grammar that it does not know, so a language without an entry is never given to it.
Node kinds are those of the tree-sitter grammars.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


def words(text: str) -> frozenset[str]:
    """Read words between blanks."""
    return frozenset(text.split())


def table(text: str) -> dict[str, str]:
    """Read lines of `value: key key ...` as key → value."""
    rows = (line.partition(":") for line in text.strip().splitlines())
    return {key: value.strip() for value, _, keys in rows for key in keys.split()}


@dataclass(frozen=True, slots=True)
class Grammar:
    """How to read the tree of one language."""

    id: str
    units: dict[str, str]
    """Node kind → chunk kind of what becomes a chunk of its own."""
    through: frozenset[str] = frozenset()
    """Nodes without a name of their own whose children may be units: bodies, conditions, wrappers of a region."""
    wrappers: frozenset[str] = frozenset()
    """Nodes around exactly one declaration: decorators, `export`, `template`."""
    leading: frozenset[str] = frozenset({"comment"})
    """Nodes that belong to the unit after them: comments, attributes."""
    opens: frozenset[str] = frozenset()
    """Unit nodes that are containers, whose members are units."""
    test: re.Pattern[str] | None = None
    """What the text from the first annotation to the body of a test contains."""
    calls: dict[str, str] | None = None
    """Names of calls with a block that declare something (`describe`, `defmodule`) → chunk kind."""


_JS_TESTS = dict.fromkeys("describe it test suite context bench".split(), "test")
_JS = Grammar(
    "javascript",
    table("""
        function: function_declaration generator_function_declaration function_signature
        method: method_definition method_signature abstract_method_signature
        class: class_declaration abstract_class_declaration class
        interface: interface_declaration
        type: type_alias_declaration
        enum: enum_declaration
        module: internal_module module
        constant: lexical_declaration variable_declaration public_field_definition field_definition pair
        block: call_expression assignment_expression object arrow_function function_expression
    """),
    through=words("class_body statement_block"),
    wrappers=words("export_statement expression_statement ambient_declaration"),
    leading=words("comment decorator"),
    opens=words("class_declaration abstract_class_declaration class internal_module module"),
    calls=_JS_TESTS,
)

GRAMMARS: dict[str, Grammar] = {
    "javascript": _JS,
    "typescript": Grammar("typescript", _JS.units, _JS.through, _JS.wrappers, _JS.leading, _JS.opens, calls=_JS_TESTS),
    "tsx": Grammar("tsx", _JS.units, _JS.through, _JS.wrappers, _JS.leading, _JS.opens, calls=_JS_TESTS),
    "python": Grammar(
        "python",
        table("""
            function: function_definition
            class: class_definition
            type: type_alias_statement
            constant: assignment
        """),
        through=words(
            "block if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement"
        ),
        wrappers=words("decorated_definition expression_statement"),
        opens=words("class_definition"),
        test=re.compile(r"\bdef test_"),
    ),
    "rust": Grammar(
        "rust",
        table("""
            function: function_item function_signature_item
            struct: struct_item union_item
            enum: enum_item
            trait: trait_item
            impl: impl_item
            module: mod_item
            macro: macro_definition
            type: type_item
            constant: const_item static_item
        """),
        through=words("declaration_list foreign_mod_item"),
        leading=words("line_comment block_comment attribute_item"),
        opens=words("trait_item impl_item mod_item"),
        test=re.compile(r"#\[(?:\w+::)*\w*(?:test|bench)\w*\s*[\](]"),
    ),
    "go": Grammar(
        "go",
        table("""
            function: function_declaration
            method: method_declaration
            type: type_declaration type_spec type_alias
            constant: const_declaration var_declaration
        """),
        test=re.compile(r"(?m)^func (?:Test|Benchmark|Fuzz|Example)(?![a-z])\w*\("),
    ),
    "java": Grammar(
        "java",
        table("""
            method: method_declaration annotation_type_element_declaration
            constructor: constructor_declaration compact_constructor_declaration
            class: class_declaration record_declaration
            interface: interface_declaration annotation_type_declaration
            enum: enum_declaration
        """),
        through=words("class_body interface_body enum_body enum_body_declarations annotation_type_body"),
        leading=words("line_comment block_comment"),
        opens=words(
            "class_declaration record_declaration interface_declaration enum_declaration annotation_type_declaration"
        ),
        test=re.compile(r"@(?:\w*Test|TestFactory|TestTemplate|Property)\b"),
    ),
    "kotlin": Grammar(
        "kotlin",
        table("""
            function: function_declaration
            constructor: secondary_constructor
            class: class_declaration object_declaration companion_object
            type: type_alias
            constant: property_declaration
        """),
        through=words("class_body enum_class_body"),
        leading=words("line_comment multiline_comment comment"),
        opens=words("class_declaration object_declaration companion_object"),
        test=re.compile(r"@(?:\w*Test)\b"),
    ),
    "scala": Grammar(
        "scala",
        table("""
            function: function_definition function_declaration
            class: class_definition object_definition package_object
            trait: trait_definition
            enum: enum_definition
            type: type_definition
            constant: val_definition var_definition given_definition
            block: call_expression
        """),
        through=words("template_body package_clause extension_definition"),
        leading=words("comment block_comment"),
        opens=words("class_definition object_definition trait_definition package_object"),
        test=re.compile(r"@(?:\w*Test)\b"),
        calls=dict.fromkeys("test it describe property should feature scenario".split(), "test"),
    ),
    "csharp": Grammar(
        "csharp",
        table("""
            method: method_declaration operator_declaration conversion_operator_declaration
            method: indexer_declaration property_declaration
            constructor: constructor_declaration destructor_declaration
            function: local_function_statement
            class: class_declaration record_declaration
            struct: struct_declaration
            interface: interface_declaration
            enum: enum_declaration
            type: delegate_declaration
            module: namespace_declaration
        """),
        through=words("declaration_list global_statement preproc_if preproc_region preproc_else"),
        opens=words(
            "class_declaration record_declaration struct_declaration interface_declaration namespace_declaration"
        ),
        test=re.compile(r"\[(?:Fact|Theory|Test|TestCase|TestMethod)\b"),
    ),
    "c": Grammar(
        "c",
        table("""
            function: function_definition
            struct: struct_specifier union_specifier
            enum: enum_specifier
            type: type_definition
            macro: preproc_function_def
            constant: preproc_def declaration
        """),
        through=words("preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification declaration_list"),
    ),
    "cpp": Grammar(
        "cpp",
        table("""
            function: function_definition
            class: class_specifier
            struct: struct_specifier union_specifier
            enum: enum_specifier
            type: type_definition alias_declaration concept_definition
            macro: preproc_function_def
            constant: preproc_def declaration
            module: namespace_definition
        """),
        through=words(
            "preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification declaration_list "
            "field_declaration_list"
        ),
        wrappers=words("template_declaration"),
        opens=words("class_specifier struct_specifier namespace_definition"),
        test=re.compile(r"^(?:TYPED_)?(?:TEST|BENCHMARK|SCENARIO)(?:_[FP]|_CASE)?\("),
    ),
    "ruby": Grammar(
        "ruby",
        table("""
            function: method singleton_method
            class: class
            module: module
            block: call
            constant: assignment
        """),
        through=words("body_statement singleton_class do_block block begin if"),
        opens=words("class module"),
        test=re.compile(r"\bdef test_"),
        calls=dict.fromkeys("describe context it specify test feature scenario".split(), "test"),
    ),
    "php": Grammar(
        "php",
        table("""
            function: function_definition
            method: method_declaration
            class: class_declaration
            interface: interface_declaration
            trait: trait_declaration
            enum: enum_declaration
        """),
        through=words("declaration_list enum_declaration_list compound_statement namespace_definition if_statement"),
        opens=words("class_declaration interface_declaration trait_declaration enum_declaration"),
        test=re.compile(r"#\[Test\]|\bfunction test[A-Z_]"),
    ),
    "swift": Grammar(
        "swift",
        table("""
            function: function_declaration protocol_function_declaration subscript_declaration
            constructor: init_declaration deinit_declaration
            class: class_declaration
            interface: protocol_declaration
            type: typealias_declaration
            constant: property_declaration
        """),
        through=words("class_body enum_class_body protocol_body"),
        leading=words("comment multiline_comment"),
        opens=words("class_declaration protocol_declaration"),
        test=re.compile(r"@Test\b|\bfunc test[A-Z_]"),
    ),
    "dart": Grammar(
        "dart",
        table("""
            function: function_declaration getter_declaration setter_declaration
            method: method_declaration
            class: class_declaration
            trait: mixin_declaration
            impl: extension_declaration
            enum: enum_declaration
            type: type_alias
            constant: top_level_variable_declaration
        """),
        through=words("class_body extension_body enum_body"),
        wrappers=words("class_member"),
        leading=words("comment documentation_comment annotation"),
        opens=words("class_declaration mixin_declaration extension_declaration"),
    ),
    "lua": Grammar(
        "lua",
        table("""
            function: function_declaration
            constant: assignment_statement variable_declaration
            block: function_call
        """),
        through=words("block"),
        calls=dict.fromkeys("describe it context test".split(), "test"),
    ),
    "elixir": Grammar(
        "elixir",
        table("block: call"),
        through=words("do_block"),
        leading=words("comment unary_operator"),
        calls=table("""
            module: defmodule defprotocol defimpl
            function: def defp defdelegate defguard
            macro: defmacro defmacrop
            test: test describe property
        """),
    ),
    "bash": Grammar(
        "bash",
        table("""
            function: function_definition
            constant: variable_assignment declaration_command
        """),
        through=words("if_statement else_clause"),
    ),
    "haskell": Grammar(
        "haskell",
        table("""
            function: signature function bind
            type: data_type newtype type_synonym type_family
            trait: class
            impl: instance
        """),
        through=words("declarations class_declarations instance_declarations imports"),
        leading=words("comment haddock pragma"),
    ),
    "nix": Grammar(
        "nix",
        table("constant: binding"),
        through=words("function_expression let_expression attrset_expression binding_set rec_attrset_expression"),
    ),
    "solidity": Grammar(
        "solidity",
        table("""
            function: function_definition modifier_definition fallback_receive_definition
            constructor: constructor_definition
            class: contract_declaration library_declaration
            interface: interface_declaration
            struct: struct_declaration
            enum: enum_declaration
            type: event_definition error_declaration user_defined_type_definition
            constant: constant_variable_declaration
        """),
        through=words("contract_body"),
        opens=words("contract_declaration library_declaration interface_declaration"),
    ),
    "hcl": Grammar("hcl", table("block: block"), through=words("body")),
    "css": Grammar("css", table("block: rule_set media_statement keyframes_statement at_rule")),
    "zig": Grammar(
        "zig",
        table("""
            function: function_declaration
            test: test_declaration
            constant: variable_declaration
        """),
        through=words("struct_declaration enum_declaration union_declaration"),
        opens=words("variable_declaration"),
    ),
}
