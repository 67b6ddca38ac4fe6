"""A chunk of code to what it says about itself: name, parameters, documentation, words of the body, what it returns.

Python is parsed; anything else, and Python that does not parse, is read by its words, and says so. What the chunk
already knows (symbol, documentation, signature) is believed. Only the start of a long text is read.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from assay.terms import STOP_WORDS, WORD, parts
from assay.types import Chunk

LONGEST = 20_000
"""Characters of a code that are read."""
_DOC, _BODY_WORDS = 2_000, 120
_LEAD = re.compile(r"\n\s*\n|(?<=[.!?])\s|:param|@param|Args:|Parameters\b")
_NAME = re.compile(r"\b(?:def|class|function|func|fn|fun|sub|interface|struct)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_CALLED = re.compile(r"\b([A-Za-z_$][\w$]*)\s*\(")
_COMMENT = re.compile(r'"""(.*?)"""|/\*+(.*?)\*/|((?:^[ \t]*(?://+|#+).*\n?)+)', re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"^[ \t]*(?:\*|//+|#+)[ \t]?", re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class CodeTerms:
    """The lower-case words of a code, by where they stand."""

    name: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    """The first sentence of the documentation."""
    doc: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    """Names in what is returned, and the type that is announced."""
    lines: int = 0
    returns_value: bool = False
    parsed: bool = False
    """It is Python, and these are its parts; else they are guessed from the text."""


def read(chunk: Chunk) -> CodeTerms:
    """Return what a code says; nothing of it runs."""
    text = textwrap.dedent(chunk.text[:LONGEST].expandtabs()).strip()
    function = _function(text) if chunk.language in ("", "python") else None
    return _guessed(chunk, text) if function is None else _parsed(chunk, text, function)


def split(text: str) -> tuple[str, ...]:
    """Return the lower-case words of a text, identifiers in parts."""
    return tuple(part for word in WORD.findall(text) for part in parts(word))


def _function(text: str) -> Function | None:
    """Return the first function of a Python text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in strings of other people's code
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return next((node for node in ast.walk(tree) if isinstance(node, Function)), None)


def _parsed(chunk: Chunk, text: str, function: Function) -> CodeTerms:
    doc = (chunk.doc or ast.get_docstring(function) or "")[:_DOC]
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    nodes = [node for statement in statements for node in ast.walk(statement)]
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = [one.arg for one in given if one.arg not in ("self", "cls")]
    types = [ast.unparse(one.annotation) for one in given if one.annotation]
    values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    announced = ast.unparse(function.returns) if function.returns else ""
    returned = [name for value in values for node in ast.walk(value) for name in _names(node)]
    body = (name for node in nodes for name in _names(node))
    return CodeTerms(
        split(chunk.symbol or function.name),
        split(" ".join((*names, *types))),
        split(_lead(doc)),
        split(doc),
        _telling(split(" ".join(body))),
        split(" ".join((announced, *returned))),
        text.count("\n") + 1,
        any(not (isinstance(value, ast.Constant) and value.value is None) for value in values)
        or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes),
        parsed=True,
    )


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node brings; of a text its start."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield name
        case ast.Constant(value=str(text)):
            yield text[:60]


def _guessed(chunk: Chunk, text: str) -> CodeTerms:
    """Read a text of which no grammar is known."""
    name = chunk.symbol or next((match[1] for match in _NAME.finditer(text)), "")
    name = name or next((match[1] for match in _CALLED.finditer(text)), "")
    comment = _COMMENT.search(text)
    doc = (chunk.doc or (_MARKS.sub("", next(filter(None, comment.groups()), "")) if comment else ""))[:_DOC]
    signature = chunk.signature or next((line for line in text.splitlines() if name and name in line), "")
    return CodeTerms(
        split(name),
        tuple(word for word in split(signature) if word not in split(name)),
        split(_lead(doc)),
        split(doc),
        _telling(split(text)),
        lines=text.count("\n") + 1 if text else 0,
        returns_value=bool(re.search(r"\breturn\b\s*[^\s;}]", text)),
    )


def _lead(doc: str) -> str:
    """Return the first sentence of a documentation."""
    return _LEAD.split(doc.strip(), maxsplit=1)[0]


def _telling(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct words that say something, the first ones."""
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS))[:_BODY_WORDS]
