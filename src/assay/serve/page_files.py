"""Serve the files of pages: the package's own files, and highlighted code as pairs of a class and a text."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from html import unescape
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Token, string_to_tokentype
from pygments.util import ClassNotFound

_TEXTS = {"html": "html", "css": "css", "js": "javascript"}
_TYPES = {f".{ending}": f"text/{kind}; charset=utf-8" for ending, kind in _TEXTS.items()}
_TYPES |= {".svg": "image/svg+xml", ".png": "image/png"}


def page_file(folder: str, name: str) -> tuple[str, bytes] | None:
    """Return the type and bytes of a file in one of the package's folders of pages, or None."""
    every = resources.files("assay.serve").joinpath(folder).iterdir()
    file = next((each for each in every if each.name == name), None)
    kind = _TYPES.get(PurePosixPath(name).suffix)
    return (kind, file.read_bytes()) if file and kind else None


Line = list[tuple[str, str]]
"""Class and text of each piece; the class is empty for plain text."""

_SHORT = (
    "Comment c, Generic.Deleted gd, Generic.Emph ge, Generic.Heading gh, Generic.Inserted gi, Generic.Strong gs, "
    "Generic.Subheading gh, Keyword k, Keyword.Type kt, Literal s, Literal.Number m, Name.Attribute na, "
    "Name.Builtin nb, Name.Class nc, Name.Decorator nd, Name.Function nf, Name.Tag nt, Operator o, Operator.Word k"
)
_CLASSES = {Token: ""} | {string_to_tokentype(name): short for name, short in map(str.split, _SHORT.split(","))}
CLASSES = sorted({*_CLASSES.values()} - {""})
"""Every class that a piece may have."""
_OTHER_NAMES = {
    "assembly": "gas",
    "apex": "java",
    "godot": "gdscript",
    "just": "make",
    "notebook": "json",
    "shader": "glsl",
    **dict.fromkeys(("astro", "razor", "svelte", "template", "vue"), "html"),
}
_PAGES = frozenset(("astro", "html", "svelte", "template", "vue"))
"""Languages of files with scripts; a unit alone is code."""
_MAX_PART_CHARS = 20_000
"""Characters that are highlighted: some lexers take a second for one piece of a hostile text of this length."""
_PATIENCE_S = 0.5
"""Processor time for one text; other lexers take as long for all of their pieces."""
_PATIENCE_ALL_S = 2.0
"""The same for all parts of a long text."""
_TEXT_CACHE_SIZE = 256
"""At most some 100 MB."""


def styled(text: str, language: str) -> list[Line]:
    """Return the lines of a text without their ends; adjacent pieces of one class are joined."""
    lines: list[Line] = [[]]
    for kind, piece in _pieces(text, language):
        name = _class(kind)
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
            if part and lines[-1] and lines[-1][-1][0] == name:
                part = lines[-1].pop()[1] + part  # noqa: PLW2901
            if part:
                lines[-1].append((name, part))
    if not lines[-1] and len(lines) > 1:
        lines.pop()
    return lines


def styled_parts_json(lines: Sequence[str], language: str, starts: Collection[int]) -> str:
    """Return the lines of a long text as JSON: split into parts at declarations, from 0, each highlighted alone.

    After some seconds the rest stays without classes.
    """
    every: list[Line] = []
    ends = time.thread_time() + _PATIENCE_ALL_S
    for part in _parts(lines, starts):
        every += styled(part, language if time.thread_time() < ends else "")
    return json.dumps(every, ensure_ascii=False, separators=(",", ":"))


def _parts(lines: Sequence[str], starts: Collection[int]) -> Iterator[str]:
    """Split lines into parts that are short enough to highlight, before a declaration if one is near."""
    begin = last = size = 0
    for at, line in enumerate(lines):
        if at in starts:
            last = at
        if size + len(line) > _MAX_PART_CHARS and at > begin:
            cut = last if last > begin else at
            yield "".join(lines[begin:cut])
            size = sum(map(len, lines[cut:at]))
            begin = cut
        size += len(line)
    yield "".join(lines[begin:])


def _pieces(text: str, language: str) -> Iterator[tuple[Any, str]]:
    """Yield the pieces of a text; the rest of one that is too long, or takes too long, is one piece without a class."""
    is_script = language in _PAGES and "<" not in text.lstrip()[:1]
    lexer = _lexer("typescript" if is_script else language)
    done, ends = 0, time.thread_time() + _PATIENCE_S
    for _, kind, piece in lexer.get_tokens_unprocessed(text[:_MAX_PART_CHARS]) if lexer else ():
        yield kind, piece
        done += len(piece)
        if time.thread_time() > ends:
            break
    yield Token, text[done:]


@lru_cache(maxsize=_TEXT_CACHE_SIZE)
def styled_json(text: str, language: str) -> str:
    """Return the same as JSON, cached: it takes a tenth of the memory of the pieces, and is ready to send."""
    return json.dumps(styled(text, language), ensure_ascii=False, separators=(",", ":"))


_MAX_RENDERED_CHARS, _MAX_ADDRESS_CHARS = 100_000, 1000
"""Characters; of the first, a hostile text takes some seconds, and each of its links may repeat the second."""
_TAG = re.compile(r'<!--.*?(?:-->|\Z)|<img\b[^>]*?\balt="([^"<>]*)[^>]*>?|<[^>]*>?', re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def markdown_json(text: str) -> str:
    """Return Markdown as JSON: texts, and elements as [tag, attributes, children]; a long text as an empty list.

    HTML in it is left out but for its text and the `alt` of its images, as is an address that could run something; an
    image is a link to it.
    """
    if len(text) > _MAX_RENDERED_CHARS:
        return "[]"
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tree = SyntaxTreeNode(parser.parse(_FRONT_MATTER.sub("", text)))
    return json.dumps(_elements(tree), ensure_ascii=False, separators=(",", ":"))


def _elements(node: SyntaxTreeNode) -> list[Any]:
    return [each for child in node.children for each in _element(child)]


def _element(node: SyntaxTreeNode) -> list[Any]:
    if node.type in {"text", "softbreak"}:
        return [node.content or "\n"]
    if node.type.startswith("html_"):
        return [unescape(_TAG.sub(r"\1", node.content))]
    address = str(node.attrs.get("href") or node.attrs.get("src") or "")
    if node.type == "inline" or node.hidden or len(address) > _MAX_ADDRESS_CHARS:
        return _elements(node)
    if node.type == "image":
        return [["a", {"href": address}, [node.content or address]]]
    if node.type in {"fence", "code_block"}:
        return [["pre", {}, [["code", {}, [node.content]]]]]
    attributes = {name: value for name, value in node.attrs.items() if name in {"href", "start"}}
    inside = _elements(node) if node.children else list(filter(None, [node.content]))
    return [[node.tag, attributes, inside]]


@cache
def _class(kind: Any) -> str:
    """Return the class of a kind of token, or of its nearest parent that has one."""
    while kind not in _CLASSES:
        kind = kind.parent
    return _CLASSES[kind]


@cache
def _lexer(language: str) -> Any:
    """Return the lexer of a language, or None."""
    try:
        return find_lexer_class_by_name(_OTHER_NAMES.get(language, language))()
    except ClassNotFound:
        return None
