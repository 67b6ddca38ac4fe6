"""Find the places of code that have the structure of a pattern.

The language is asked of the table first, for the parser ends the process's patience with one that it does not know. A
file without the pattern's own words is not parsed: every word of a pattern stands in the code that it matches. What a
hole stands for is as it is in the source, with what separates several nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ast_grep_py import SgNode

from assay.corpus.blocks import lines_of
from assay.corpus.grammars import GRAMMARS, parse
from assay.corpus.long_lines import fitted
from assay.corpus.unit import ParserFailed
from assay.errors import InputError, nearest

MAX_CHARS = 5000
"""Characters of a pattern."""
HOLE = re.compile(r"\$(?:\$\$)?([A-Z_][A-Z0-9_]*)|\$\$\$")
_WORD = re.compile(r"[^\W\d]\w+")
_PLACEHOLDER = "hole"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """The whole lines of a match, and the code of its holes."""

    start_line: int
    end_line: int
    text: str
    holes: Mapping[str, str]


class Pattern:
    """Code with holes: `$NAME` stands for one node, `$$$NAME` for any number of them."""

    def __init__(self, text: str, language: str) -> None:
        """Check a pattern; raise InputError if the language has no grammar or the pattern is empty."""
        if language not in GRAMMARS:
            raise InputError(f"no grammar for the language '{language}'; {nearest(language, sorted(GRAMMARS))}")
        if len(text) > MAX_CHARS:
            raise InputError(f"the pattern has {len(text):,} characters, at most {MAX_CHARS:,} are matched; cut it")
        self.text, self.language = text, language
        named = [found for found in HOLE.finditer(text) if _is_named(found[1])]
        self._holes = sorted({(found[0].startswith("$$$"), found[1]) for found in named})
        self._words = set(_WORD.findall(HOLE.sub(" ", text)))
        self._find_nodes(parse("", language))

    @property
    def parses(self) -> bool:
        """Say whether the pattern parses by itself; a part of a statement may not, and still match."""
        root = self._parse(HOLE.sub(_PLACEHOLDER, self.text))
        return root is not None and root.kind() != "ERROR" and root.find(kind="ERROR") is None

    def matches(self, text: str, parsed: str = "") -> Iterator[PatternMatch]:
        """Yield the matches in a file, in order; `parsed` is the text to parse, if not all of it."""
        lines, parsed = lines_of(text), parsed or text
        fit = fitted(parsed, lines_of(parsed)) if all(word in parsed for word in self._words) else None
        root = self._parse(fit.text) if fit and not fit.unfit else None
        for node in self._find_nodes(root) if root else ():
            span = node.range()
            last = span.end.line + (1 if span.end.column or span.end.line == span.start.line else 0)
            sources = ((name, _source(node, text, several, name)) for several, name in self._holes)
            holes = {name: found for name, found in sources if found is not None}
            yield PatternMatch(span.start.line + 1, last, "".join(lines[span.start.line : last]), holes)

    def _parse(self, text: str) -> SgNode | None:
        try:
            return parse(text, self.language)
        except ParserFailed:
            return None

    def _find_nodes(self, root: SgNode) -> list[SgNode]:
        try:
            found: list[SgNode] = root.find_all(pattern=self.text)
        except (RuntimeError, UnicodeEncodeError) as error:
            raise InputError(f"not a valid {self.language} pattern: {_reason(error)}") from error
        return found


def _source(node: SgNode, text: str, several: bool, name: str) -> str | None:  # noqa: FBT001  as a hole has it
    """Return the code of a hole, verbatim."""
    one = None if several else node.get_match(name)
    nodes = node.get_multiple_matches(name) if several else [one] if one else []
    if nodes:
        return text[nodes[0].range().start.index : nodes[-1].range().end.index]
    return "" if several else None


def _is_named(name: str | None) -> bool:
    """Say whether the code of a hole is reported: not if its name begins with `_`."""
    return bool(name) and not str(name).startswith("_")


def _reason(error: Exception) -> str:
    """Return the innermost cause in a parser's error, without its trace, in the user's spelling."""
    if isinstance(error, UnicodeEncodeError):
        return "it has characters that cannot be encoded as text"
    causes = re.findall(r"^ +\d+: (.+)$", str(error).partition("Stack backtrace")[0], re.MULTILINE)
    return re.sub("[µ\U0010ffff]", "$", causes[-1] if causes else str(error).splitlines()[0])
