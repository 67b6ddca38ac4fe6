"""Describe the grammar of each language by the names of its nodes, and parse with it.

The table is `grammars.txt`. A line without an indent begins a language, which may begin `as` another one does. An entry
is a kind of chunk and the kinds of nodes, as tree-sitter has them, that become one; a kind of chunk `by` the names of
calls with a block that declare one; or a field of `Grammar`. Of a call, what follows `=` are the fields of its
receiver, where it has one, and of what is called; `*` is the first child. The parser panics on a grammar that it does
not know, so a language without an entry is never given to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.corpus.languages import entries, words
from assay.corpus.unit import ParserFailed

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from assay.corpus.lexical import LexicalGrammar


@dataclass(frozen=True, slots=True)
class Grammar:
    """How to read the tree of one language."""

    id: str
    units: Mapping[str, str]
    """Node kind → chunk kind of what becomes a chunk of its own."""
    blocks: Mapping[str, str]
    """Names of calls with a block that declare something (`describe`, defmodule of Elixir) → chunk kind."""
    through: frozenset[str]
    """Nodes without a name of their own whose children may be units: bodies, conditions, wrappers of a region."""
    wrappers: frozenset[str]
    """Nodes around exactly one declaration: decorators, `export`, `template`."""
    leading: frozenset[str]
    """Nodes that belong to the unit after them: comments, attributes."""
    opens: frozenset[str]
    """Unit nodes that are containers, whose members are units."""
    inner: frozenset[str]
    """Nodes that may declare a name inside of a unit: local functions, handlers, methods of objects."""
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


_SETS = "through wrappers leading opens inner typed imports closures own above".split()
_USUAL = {"leading": "comment", "own": "this", "above": "super"}


def _grammars() -> dict[str, Grammar]:
    text = Path(__file__).with_name("grammars.txt").read_text("utf-8")
    read: dict[str, dict[str, str]] = {}
    for part in re.split(r"\n(?=\w)", text.strip()):
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
"""The languages that are parsed."""
LEXICAL = frozenset(re.findall(r"(?m)^\[(\w+)", Path(__file__).with_name("lexical.txt").read_text("utf-8")))
"""The languages that are read by patterns of lines (`assay.corpus.lexical`)."""
CODE = frozenset(GRAMMARS) | LEXICAL
"""The languages whose units have names."""


def grammar_of(language: str) -> Grammar | LexicalGrammar | None:
    """Return the grammar of a language; None for one that is cut by lines alone."""
    if language not in LEXICAL:
        return GRAMMARS.get(language)
    from assay.corpus.lexical import lexical_grammar  # few commands meet such a language

    return lexical_grammar(language)


def parse(text: str, language: str) -> SgNode:
    """Parse a text in a language of `GRAMMARS`; raise `ParserFailed` for lone surrogates."""
    from ast_grep_py import SgRoot  # 10 ms, and only code needs it

    try:
        return SgRoot(text, GRAMMARS[language].id).root()
    except UnicodeEncodeError as error:
        raise ParserFailed("it has characters that cannot be encoded as text") from error
