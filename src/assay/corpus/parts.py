"""Split a file by language, so that each part is parsed at its place in the file.

What is not of a part is blanked in its text, letter by letter, so that lines and characters are those of the file: a
page with two scripts and a style is three texts of equal length. Macros that a grammar cannot know are blanked, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from posixpath import splitext

from assay.corpus.blocks import blanked
from assay.corpus.documents import code_of_cells
from assay.corpus.grammars import CODE
from assay.corpus.languages import BY_EXTENSION, table

_ELEMENT = r"(?is)<!--.*?(?:-->|\Z)|<(script|style)\b([^<>]*)>(.*?)(?:</\1\s*>|\Z)"
"""Patterns are compiled where they are met: few commands read a page."""
_ATTRIBUTE = r"""(?i)\b(lang|type)\s*=\s*["']?([\w/+.-]+)"""
_ELEMENT_LANGUAGES = table("""
    javascript: js jsx javascript text/javascript application/javascript module text/babel text/jsx text/ecmascript
    typescript: ts typescript text/typescript application/typescript; tsx: tsx; css: css text/css postcss
    scss: scss sass; less: less; python: py text/python text/x-python
""")
"""What `lang` or `type` of an element says; of any other value it is data, or a template."""
_MARKUP = r"(?i)<(?:script|style)\b|^\s*---"
_FRONT_MATTER = r"(?s)\s*---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|\Z)"
_FENCE = r"(?ms)^ {0,3}(```+|~~~+)[ \t]*\{?[ \t]*([\w+#-]*)[^\n]*\n(.*?)(?:^ {0,3}\1[ \t]*$|\Z)"
_HOLE = (
    r"(?s)<%(?:(?!%>|<%).)*%>|\{\{[^{}]*\}\}|\{%(?:(?!%\}|\{%).)*%\}|\{#(?:(?!#\}|\{#).)*#\}"
    r"|<\?(?:(?!\?>|<\?).)*\?>|@\{[^{}]*\}"
)
"""What the engine of a template replaces or drops."""
_PHP = (
    r"(?s)<\?(?:php\b|=)(?:[^'\"/#?]|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
    r"|(?://|#)(?:[^\n?]|\?(?!>))*+|\?(?!>)|['\"/#])*+(?:\?>|\Z)"
)
"""A tag within quotes ends nothing; in a comment of one line it does."""
_LITERATE = frozenset((".rmd", ".qmd", ".rmarkdown", ".jmd"))
"""Documents whose code is run, so that it declares something."""
_MACRO = r"[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?"
_EXPORT_MACRO = (
    rf"\b(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+((?:{_MACRO}\s+)+)"
    r"(?=[A-Za-z_]\w*\s*(?:final\b\s*)?[:{])"
)
_LONE_MACRO = rf"(?m)^[ \t]*({_MACRO})[ \t]*\r?$(?!\s*\{{)"
_TRAILING_MACRO = r"(?<=\})[ \t]*((?:_{2,}[a-z]\w*(?:\([^()\n]*\))?[ \t]*)+)(?=;)"
_BEFORE_MACRO = r"(?:[;{}:>]|\n\r?|\A)[ \t]*\r?\n?\Z"
"""What a statement ends with, or a blank line: else the macro is part of one."""
_OBJECT = r"(?m)^([ \t]*(?:(?:public|private|internal|data|@\w+)[ \t]+)*)object(?=[ \t]+[A-Za-z_]\w*[ \t]*(?:\{|:|$))"
_EVENT = r"""\bon\w+\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')"""
_BRACES = r"(?:=|>|\s)\{(?![#/:@]|\s*\.\.\.|\s*/)([^{}<>]*(?:\{[^{}]*\}[^{}<>]*)*)\}"
_CALLING = {
    **dict.fromkeys(("html", "template", "php"), _EVENT),
    "vue": r"""(?:@|:|\bv-)[\w:.-]+\s*=\s*(?:"([^"]*)"|'([^']*)')|\{\{([^{}]*)\}\}""",
    **dict.fromkeys(("svelte", "astro"), _BRACES),
}
"""What is evaluated of a template, in a group, between two characters."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a file in one language, at its place in the file."""

    language: str
    text: str
    """As long as the file's, with its lines; blank where something else stands."""
    source: str = ""
    """What its units are read from, where that is not the file: the code in a notebook, decoded."""
    declares: bool = True
    """Whether it has units; the expressions of a template only call what others declare."""


def parts(path: str, text: str, language: str) -> list[Part]:
    """Return the parts of a file with a grammar, in order."""
    if is_literate(path, language):
        return list(_cells(text) if language == "notebook" else _fences(text))
    found = list(_ELEMENTS[language](text)) if language in _ELEMENTS and re.search(_MARKUP, text) else []
    found += _expressions(text, language) if found or language != "php" else []
    if language in CODE:
        return [Part(language, _PREPARED[language](text) if language in _PREPARED else text), *found]
    return found


def is_literate(path: str, language: str) -> bool:
    """Say whether the code in a document declares something: in a notebook or R Markdown, but not in a manual."""
    return language == "notebook" or (language == "markdown" and splitext(path)[1].lower() in _LITERATE)


def is_mixed(language: str) -> bool:
    """Say whether files of a language have parts in other languages."""
    return language in _ELEMENTS


def _joined(text: str, spans: Iterable[tuple[str, tuple[int, int]]]) -> Iterator[Part]:
    """Yield a part for each language of some spans of a text, blank outside of them."""
    by_language: dict[str, list[tuple[int, int]]] = {}
    for language, span in spans:
        by_language.setdefault(language, []).append(span)
    for language, of_language in by_language.items():
        pieces, at = list[str](), 0
        for start, end in of_language:
            pieces += [blanked(text[at:start]), text[start:end]]
            at = end
        yield Part(language, "".join([*pieces, blanked(text[at:])]))


def _elements(text: str, script: str = "javascript") -> Iterator[Part]:
    """Yield the scripts and styles of a page; `script` is the default language of a script."""
    yield from _joined(text, _spans_of_elements(text, script))


def _spans_of_elements(text: str, script: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for found in re.finditer(_ELEMENT, text):
        if not found[1]:  # a comment, whatever is in it
            continue
        said = {name.lower(): value.lower() for name, value in re.findall(_ATTRIBUTE, found[2])}
        wanted = said.get("lang") or said.get("type", "")
        usual = script if found[1].lower() == "script" else "css"
        language = _ELEMENT_LANGUAGES.get(wanted, "") if wanted else usual
        if language in CODE and found[3].strip():
            yield language, found.span(3)


def _expressions(text: str, language: str) -> list[Part]:
    """Return the expressions of a template as statements: `@click="addLine(item)"`, `{{ total() }}`."""
    if language not in _CALLING:
        return []
    pieces, at = list[str](), 0
    for found in re.finditer(_CALLING[language], re.sub(_ELEMENT, lambda element: blanked(element[0]), text)):
        start, end = found.span(found.lastindex or 0)
        pieces += [blanked(text[at : start - 1]), f";{text[start:end]};"]
        at = end + 1
    return [Part("typescript", "".join([*pieces, blanked(text[at:])]), declares=False)] if pieces else []


def _astro(text: str) -> Iterator[Part]:
    front = re.match(_FRONT_MATTER, text)
    of_front = [("typescript", front.span(1))] if front else []
    yield from _joined(text, [*of_front, *_spans_of_elements(text, "typescript")])


def _template(text: str) -> Iterator[Part]:
    """Yield the scripts and styles of a template, with a name in place of each value."""
    yield from _elements(re.sub(_HOLE, _hole, text))


def _hole(match: re.Match[str]) -> str:
    """Return a name for a hole with a value, and blanks for one that only controls the template."""
    text = match[0]
    is_value = text.startswith(("{{", "<%=", "<?=", "@{")) and not text.startswith(("{{#", "{{/", "{{-"))
    return "_" * len(text) if is_value and "\n" not in text else blanked(text)


def _php(text: str) -> Iterator[Part]:
    yield from _elements(re.sub(_PHP, _hole, text))


def _fences(text: str) -> Iterator[Part]:
    named = {**BY_EXTENSION, **{language: language for language in CODE}}
    spans = ((named.get(found[2].lower(), ""), found.span(3)) for found in re.finditer(_FENCE, text))
    yield from _joined(text, ((language, span) for language, span in spans if language in CODE))


def _cells(text: str) -> Iterator[Part]:
    with suppress(ValueError, RecursionError):
        language, code = code_of_cells(text)
        if language in CODE:
            yield Part(language, code, code)


_ELEMENTS: dict[str, Callable[[str], Iterator[Part]]] = {
    **dict.fromkeys(("html", "vue", "svelte"), _elements),
    "astro": _astro,
    **dict.fromkeys(("template", "razor"), _template),
    "php": _php,
}


def _without_export_macros(text: str) -> str:
    """Blank macros between `class` and its name, `class SHOP_API Cart`, and behind a body: `} __packed;`."""
    return re.sub(_TRAILING_MACRO, _without_macro, re.sub(_EXPORT_MACRO, _without_macro, text))


def without_lone_macros(text: str) -> str:
    """Turn macros on their own line, such as Q_OBJECT, into comments, which belong to the next declaration."""

    def replaced(match: re.Match[str]) -> str:
        before = text[max(match.start() - 80, 0) : match.start()]
        comment = f"/*{' ' * (len(match[1]) - 4)}*/" if len(match[1]) > len("/**/") else blanked(match[1])
        return match[0].replace(match[1], comment, 1) if re.search(_BEFORE_MACRO, before) else match[0]

    return re.sub(_LONE_MACRO, replaced, text)


def _without_macro(match: re.Match[str]) -> str:
    return match[0].replace(match[1], blanked(match[1]), 1)


def _php_code(text: str) -> str:
    """Blank the text between PHP tags, since the grammar knows only the first tag."""
    if "?>" not in text:
        return text
    pieces, at = list[str](), 0
    for found in re.finditer(_PHP, text):
        tag = found[0][: 3 if found[0].startswith("<?=") else 5]
        code = (blanked(tag) if pieces else tag) + found[0][len(tag) :]
        pieces += [blanked(text[at : found.start()]), re.sub(r"\?>\Z", "; ", code)]
        at = found.end()
    return "".join([*pieces, blanked(text[at:])])


def _with_class(text: str) -> str:
    """Rewrite `object X { … }` as a class, which the grammar also parses on one line."""
    return re.sub(_OBJECT, lambda found: found[1] + "class ", text)


_PREPARED: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("c", "cpp"), _without_export_macros),
    "kotlin": _with_class,
    "php": _php_code,
}
