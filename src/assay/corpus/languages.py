"""Say in which language a file is, and how the grammar of each language calls what is read of its tree.

The parser panics on a grammar that it does not know, so a language without an entry is never given to it. Node kinds
are those of the tree-sitter grammars.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from threading import Lock
from warnings import catch_warnings

_GRAMMARS = r"""
javascript
    function: function_declaration generator_function_declaration function_signature
    method: method_definition method_signature abstract_method_signature
    class: class_declaration abstract_class_declaration class; interface: interface_declaration
    type: type_alias_declaration; enum: enum_declaration; module: internal_module module
    constant: lexical_declaration variable_declaration public_field_definition field_definition pair
    block: call_expression assignment_expression object arrow_function function_expression
    through: class_body statement_block; wrappers: export_statement expression_statement ambient_declaration
    leading: decorator comment; opens: class module class_declaration abstract_class_declaration internal_module
    test by: describe it test suite context bench
    calls: call_expression=function new_expression=constructor jsx_opening_element=name jsx_self_closing_element=name
    typed: field_definition assignment_expression variable_declarator; imports: export_statement import_statement
    closures: function_declaration method_definition arrow_function function_expression
typescript as javascript
    calls: call_expression=function new_expression=constructor
    typed: public_field_definition assignment_expression variable_declarator required_parameter optional_parameter
tsx as javascript
    typed: public_field_definition assignment_expression variable_declarator required_parameter optional_parameter
python
    function: function_definition; class: class_definition; type: type_alias_statement; constant: assignment
    through: block if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement
    wrappers: expression_statement decorated_definition; opens: class_definition; tests: \bdef test_
    calls: call=function; typed: assignment typed_parameter typed_default_parameter with_item
    imports: import_statement import_from_statement; closures: function_definition lambda; own: self cls; above: super()
rust
    function: function_item function_signature_item; struct: struct_item union_item; enum: enum_item; trait: trait_item
    impl: impl_item; module: mod_item; macro: macro_definition; type: type_item; constant: const_item static_item
    through: declaration_list foreign_mod_item; leading: line_comment block_comment attribute_item
    opens: trait_item impl_item mod_item; tests: #\[(?:\w+::)*\w*(?:test|bench)\w*\s*[\](]
    calls: call_expression=function macro_invocation=macro; typed: field_declaration parameter let_declaration
    imports: use_declaration; closures: closure_expression; own: self Self; above:
go
    function: function_declaration; method: method_declaration; type: type_declaration type_spec type_alias
    constant: const_declaration var_declaration; tests: (?m)^func (?:Test|Benchmark|Fuzz|Example)(?![a-z])\w*\(
    calls: call_expression=function; typed: field_declaration parameter_declaration short_var_declaration var_spec
    imports: import_spec; closures: func_literal; own:; above:; reach: folder
java
    method: method_declaration annotation_type_element_declaration
    constructor: constructor_declaration compact_constructor_declaration; class: class_declaration record_declaration
    interface: interface_declaration annotation_type_declaration; enum: enum_declaration
    through: class_body interface_body enum_body enum_body_declarations annotation_type_body
    leading: line_comment block_comment
    opens: class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration
    tests: @(?:\w*Test|TestFactory|TestTemplate|Property)\b
    calls: method_invocation=object.name object_creation_expression=type explicit_constructor_invocation=constructor
    typed: field_declaration formal_parameter local_variable_declaration resource enhanced_for_statement
    typed: catch_formal_parameter instanceof_expression; imports: import_declaration; closures: lambda_expression
    has: type_first methods_bare; reach: folder
kotlin
    function: function_declaration; constructor: secondary_constructor
    class: class_declaration object_declaration companion_object; type: type_alias; constant: property_declaration
    through: class_body enum_class_body; leading: comment line_comment multiline_comment
    opens: class_declaration object_declaration companion_object; tests: @(?:\w*Test)\b
    calls: call_expression=* constructor_invocation=*; typed: property_declaration parameter class_parameter
    imports: import_header; has: methods_bare; reach: folder
scala
    function: function_definition function_declaration; class: class_definition object_definition package_object
    trait: trait_definition; enum: enum_definition; type: type_definition
    constant: val_definition var_definition given_definition; block: call_expression
    through: template_body package_clause extension_definition; leading: comment block_comment
    opens: class_definition object_definition package_object trait_definition; tests: @(?:\w*Test)\b
    test by: test it describe property should feature scenario; calls: call_expression=function instance_expression=*
    typed: val_definition var_definition parameter class_parameter; imports: import_declaration; has: methods_bare
    reach: folder
csharp
    method: method_declaration operator_declaration conversion_operator_declaration indexer_declaration
    method: property_declaration; constructor: constructor_declaration destructor_declaration
    function: local_function_statement; class: class_declaration record_declaration; struct: struct_declaration
    interface: interface_declaration; enum: enum_declaration; type: delegate_declaration; module: namespace_declaration
    through: declaration_list global_statement preproc_if preproc_region preproc_else
    opens: class_declaration interface_declaration record_declaration struct_declaration namespace_declaration
    tests: \[(?:Fact|Theory|Test|TestCase|TestMethod)\b
    calls: invocation_expression=function object_creation_expression=type
    typed: variable_declaration property_declaration parameter foreach_statement; above: base
    has: type_first methods_bare; reach: any
c
    function: function_definition; struct: struct_specifier union_specifier; enum: enum_specifier; type: type_definition
    macro: preproc_function_def; constant: preproc_def declaration
    through: declaration_list preproc_if preproc_else preproc_ifdef preproc_elif linkage_specification
    calls: call_expression=function; reach: any
cpp
    function: function_definition; class: class_specifier; struct: struct_specifier union_specifier
    enum: enum_specifier; type: type_definition alias_declaration concept_definition; macro: preproc_function_def
    constant: preproc_def declaration; module: namespace_definition
    through: declaration_list preproc_if preproc_else preproc_ifdef preproc_elif linkage_specification
    through: field_declaration_list; wrappers: template_declaration
    opens: struct_specifier class_specifier namespace_definition
    tests: ^(?:TYPED_)?(?:TEST|BENCHMARK|SCENARIO)(?:_[FP]|_CASE)?\(
    calls: call_expression=function new_expression=type; typed: declaration field_declaration parameter_declaration
    has: type_first methods_bare; reach: any
ruby
    function: method singleton_method; class: class; module: module; block: call; constant: assignment
    through: block if body_statement singleton_class do_block begin; opens: class module; tests: \bdef test_
    test by: describe context it specify test feature scenario; calls: call=receiver.method; typed: assignment
    own: self; has: methods_bare; reach: any
php
    function: function_definition; method: method_declaration; class: class_declaration
    interface: interface_declaration; trait: trait_declaration; enum: enum_declaration
    through: if_statement declaration_list namespace_definition enum_declaration_list compound_statement
    opens: class_declaration interface_declaration enum_declaration trait_declaration
    tests: #\[Test\]|\bfunction test[A-Z_]
    calls: function_call_expression=function member_call_expression=object.name
    calls: nullsafe_member_call_expression=object.name scoped_call_expression=scope.name object_creation_expression=*
    typed: assignment_expression property_declaration simple_parameter property_promotion_parameter
    imports: namespace_use_declaration; own: static self $this; above: parent; has: type_first; reach: any
swift
    function: function_declaration protocol_function_declaration subscript_declaration
    constructor: init_declaration deinit_declaration; class: class_declaration; interface: protocol_declaration
    type: typealias_declaration; constant: property_declaration; through: class_body enum_class_body protocol_body
    leading: comment multiline_comment; opens: class_declaration protocol_declaration; tests: @Test\b|\bfunc test[A-Z_]
    calls: call_expression=*; typed: property_declaration parameter; own: self Self; has: methods_bare; reach: any
dart
    function: function_declaration getter_declaration setter_declaration; method: method_declaration
    class: class_declaration; trait: mixin_declaration; impl: extension_declaration; enum: enum_declaration
    type: type_alias; constant: top_level_variable_declaration; through: class_body enum_body extension_body
    wrappers: class_member; leading: annotation comment documentation_comment
    opens: class_declaration mixin_declaration extension_declaration; calls: call_expression=function
    typed: declaration formal_parameter local_variable_declaration; has: type_first methods_bare; reach: any
lua
    function: function_declaration; constant: assignment_statement variable_declaration; block: function_call
    through: block; test by: describe it context test; calls: function_call=name; own: self; above:; reach: any
elixir
    block: call; through: do_block; leading: comment unary_operator; module by: defmodule defprotocol defimpl
    function by: def defp defdelegate defguard; macro by: defmacro defmacrop; test by: test describe property
    calls: call=target; own: __MODULE__; above:; reach: any
bash
    function: function_definition; constant: variable_assignment declaration_command; through: if_statement else_clause
    calls: command=name; own:; above:; reach: any
haskell
    function: signature function bind; type: data_type newtype type_synonym type_family; trait: class; impl: instance
    through: declarations class_declarations instance_declarations imports; leading: comment haddock pragma
nix
    constant: binding; through: function_expression let_expression attrset_expression binding_set rec_attrset_expression
solidity
    function: function_definition modifier_definition fallback_receive_definition; constructor: constructor_definition
    class: contract_declaration library_declaration; interface: interface_declaration; struct: struct_declaration
    enum: enum_declaration; type: event_definition error_declaration user_defined_type_definition
    constant: constant_variable_declaration; through: contract_body
    opens: interface_declaration contract_declaration library_declaration; calls: call_expression=function
    has: methods_bare; reach: any
hcl
    block: block; through: body
css
    block: rule_set media_statement keyframes_statement at_rule
zig
    function: function_declaration; test: test_declaration; constant: variable_declaration
    through: enum_declaration struct_declaration union_declaration; opens: variable_declaration
    calls: call_expression=function; own:; above:
"""
"""A line without an indent begins a language, which may begin as another one does. An entry is a kind of chunk and the
kinds of nodes that become one; a kind of chunk `by` the names of calls with a block that declare one; or a field of
`Grammar`. Of a call, what follows `=` are the fields of its receiver, where it has one, and of what is called; `*` is
the first child."""
_EXTENSIONS = """
    bash: sh bash zsh ksh bats; c: c; cpp: cc cpp cxx c++ h hh hpp hxx h++ ipp inl cu cuh; csharp: cs csx
    css: css; dart: dart; elixir: ex exs; go: go; haskell: hs; hcl: tf hcl tfvars; html: html htm xhtml
    java: java; javascript: js mjs cjs jsx; json: json jsonc json5 jsonl ndjson geojson webmanifest arb
    kotlin: kt kts; lua: lua; nix: nix; php: php phtml; python: py pyi pyw pyx; ruby: rb rake gemspec ru; rust: rs
    scala: scala sbt sc; solidity: sol; swift: swift; tsx: tsx; typescript: ts mts cts; yaml: yaml yml; zig: zig
    markdown: md markdown mdown mkd mdx qmd rmd; restructuredtext: rst rest; asciidoc: adoc asciidoc asc
    text: txt text; notebook: ipynb; toml: toml; sql: sql; protobuf: proto
    xml: xml xsd xsl xslt svg wsdl pom resx xlf xliff; gettext: po pot
    groovy: groovy gradle; perl: pl pm; r: r; julia: jl; ocaml: ml mli; clojure: clj cljs cljc edn
    erlang: erl hrl; fsharp: fs fsx fsi; objc: m mm; powershell: ps1 psm1; batch: bat cmd; vue: vue
    svelte: svelte; scss: scss sass; less: less; graphql: graphql gql; ini: ini cfg conf properties editorconfig strings
    cmake: cmake; make: mk mak; assembly: s asm; vim: vim; lisp: lisp el scm; tex: tex
    template: tmpl j2 jinja jinja2 erb hbs mustache; diff: diff patch
"""
_NAMES = """
    make: makefile gnumakefile; docker: dockerfile containerfile
    ruby: gemfile rakefile vagrantfile podfile brewfile; cmake: cmakelists.txt; groovy: jenkinsfile
    bash: .bashrc .bash_profile .zshrc .profile configure; python: sconstruct sconscript wscript
    markdown: readme changelog contributing; text: license copying authors notice
    ini: .gitconfig .gitignore .gitattributes .editorconfig .npmrc; go-module: go.mod go.sum
"""


def words(text: str) -> frozenset[str]:
    """Read words between blanks."""
    return frozenset(text.split())


def table(text: str) -> dict[str, str]:
    """Read entries `value: key key ...`, one a line or between semicolons, as key → value."""
    return {key: value for value, keys in entries(text) for key in keys.split()}


def entries(text: str) -> list[tuple[str, str]]:
    """Read entries `name: value`, one a line or between semicolons."""
    pairs = (entry.partition(":") for entry in re.split(r";\s|\n", text) if entry.strip())
    return [(name.strip(), value.strip()) for name, _, value in pairs]


@dataclass(frozen=True, slots=True)
class Grammar:
    """How to read the tree of one language."""

    id: str
    units: Mapping[str, str]
    """Node kind → chunk kind of what becomes a chunk of its own."""
    blocks: Mapping[str, str]
    """Names of calls with a block that declare something (`describe`, `defmodule`) → chunk kind."""
    through: frozenset[str]
    """Nodes without a name of their own whose children may be units: bodies, conditions, wrappers of a region."""
    wrappers: frozenset[str]
    """Nodes around exactly one declaration: decorators, `export`, `template`."""
    leading: frozenset[str]
    """Nodes that belong to the unit after them: comments, attributes."""
    opens: frozenset[str]
    """Unit nodes that are containers, whose members are units."""
    tests: re.Pattern[str] | None
    """What the text from the first annotation to the body of a test contains."""
    calls: Mapping[str, tuple[str, str]]
    """Node kind of a call → the fields of its receiver, which may be none, and of what is called; no field: the first
    child. A language without any has no call sites; its units still have names."""
    typed: frozenset[str]
    """Nodes that say of which type a variable is: parameters, fields, declarations."""
    imports: frozenset[str]
    closures: frozenset[str]
    """Functions inside of functions, whose parameters are theirs alone."""
    own: frozenset[str]
    """What stands for the object itself."""
    above: frozenset[str]
    """What stands for the object as one of its base class."""
    type_first: bool
    """Whether a type stands before the name, as in `Cart cart`."""
    methods_bare: bool
    """Whether a method of the own class is called by its bare name."""
    reach: str
    """How far a bare name is seen without an import: `file`, `folder` or `any`."""


_SETS = "through wrappers leading opens typed imports closures own above".split()
_USUAL = {"leading": "comment", "own": "this", "above": "super"}


def _grammars() -> dict[str, Grammar]:
    read: dict[str, dict[str, str]] = {}
    for part in re.split(r"\n(?=\w)", _GRAMMARS.strip()):
        head, _, body = part.partition("\n")
        name, _, base = head.partition(" as ")
        found: dict[str, str] = {}
        for key, value in entries(body):
            found[key] = f"{found[key]} {value}" if key in found else value
        read[name] = {**_USUAL, **read.get(base, {}), **found}
    return {name: _grammar(name, entries) for name, entries in read.items()}


def _grammar(name: str, entries: dict[str, str]) -> Grammar:
    sets = {key: words(entries.pop(key, "")) for key in _SETS}
    tests, has, reach = (entries.pop(key, "") for key in ("tests", "has", "reach"))
    calls = (each.partition("=") for each in entries.pop("calls", "").split())
    fields = {kind: of.strip("*").rpartition(".") for kind, _, of in calls}
    kinds = {word: kind for kind, listed in entries.items() for word in listed.split() if not kind.endswith(" by")}
    blocks = {word: key[:-3] for key, listed in entries.items() for word in listed.split() if key.endswith(" by")}
    return Grammar(
        name,
        kinds,
        blocks,
        tests=re.compile(tests) if tests else None,
        calls={kind: (receiver, called) for kind, (receiver, _, called) in fields.items()},
        type_first="type_first" in has,
        methods_bare="methods_bare" in has,
        reach=reach or "file",
        **sets,
    )


GRAMMARS = _grammars()
BY_EXTENSION = table(_EXTENSIONS)
BY_NAME = table(_NAMES)

PROSE = words("markdown restructuredtext asciidoc text tex")
"""Languages that people read as documents; what mode `docs` keeps."""

_LONGEST_NAME = 60
_ONLY_IN_CPP = re.compile(r"^\s*(?:class|namespace|template|using|public:|private:)\b|\w::\w", re.MULTILINE)


_parsing = Lock()
NO_TREE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What is raised for a Python text that has no tree."""


def python_tree(text: str) -> ast.Module:
    """Return the tree of a Python text of others, or raise one of `NO_TREE`; nothing is said of its escapes.

    One thread at a time: Python 3.11 counts how deep a tree is where threads share it (python/cpython#106905), and
    warnings are silenced for all of them.
    """
    with _parsing, catch_warnings(action="ignore"):
        return ast.parse(text)


def parse_python(text: str) -> ast.Module | None:
    """Return the tree of a Python text of others, None where it does not parse."""
    try:
        return python_tree(text)
    except NO_TREE:
        return None


@cache
def _of_name(name: str) -> str:
    lowered = name.lower()
    stem, _, extension = lowered.rpartition(".")
    found = BY_NAME.get(lowered) or (BY_EXTENSION.get(extension, "") if stem or extension else "")
    return found or BY_NAME.get(lowered.partition(".")[0], "")


def language_of(path: str, text: str = "") -> str:
    """Return the language of a file by its name, or nothing; the text tells C from C++ in a header."""
    name = path.rpartition("/")[2]
    found = _of_name(name) if len(name) < _LONGEST_NAME else _of_name("x" + PurePosixPath(name).suffix)
    if found == "cpp" and text and name.endswith(".h") and not _ONLY_IN_CPP.search(text):
        return "c"
    return found
