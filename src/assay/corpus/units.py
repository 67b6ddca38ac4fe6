"""Find the units of a file of code, with the grammar of each of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.corpus.grammars import GRAMMARS, parse
from assay.corpus.parts import parts, without_lone_macros
from assay.corpus.tree_units import inner_units, tree_units
from assay.corpus.unit import SMALL_CONTAINER, ParserFailed, Unit

if TYPE_CHECKING:
    from ast_grep_py import SgNode


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A parsed part of a file: a tree, or a text for patterns."""

    language: str
    text: str
    """As in the file."""
    root: SgNode | None
    declares: bool = True

    def units(self, lines: int, longest: int, *, small: int = SMALL_CONTAINER, every: bool = False) -> list[Unit]:
        """Return the units in order; raise `ParserFailed` when most of the part does not parse.

        What is longer than `longest` lines is looked into for units; a type of at most `small` is one with its
        members; `every` names what is inside of functions, too, whatever its size.
        """
        if not self.declares:
            return []
        sizes = small, longest
        if self.root is None:
            from assay.corpus.lexical import lexical_grammar  # few commands meet such a language

            return lexical_grammar(self.language).units(self.text, sizes, every=every)
        found = tree_units(self.root, self.text, lines, self.language, sizes)
        return inner_units(self.root, self.text, self.language, found) if every else found


def read_parts(path: str, text: str, language: str) -> list[ReadPart]:
    """Parse the parts of a file of code; raise `ParserFailed` if one cannot be parsed."""
    found = parts(path, text, language)
    return [
        ReadPart(each.language, each.source or text, _tree(each.text, each.language), each.declares)
        if each.language in GRAMMARS
        else ReadPart(each.language, each.text, None)
        for each in found
    ]


def _tree(text: str, language: str) -> SgNode:
    """Return the tree of a text: in C++ without the macros on their own line if that shows more units.

    A grammar does not know what a macro stands for, and takes it for the type of what follows.
    """
    root = parse(text, language)
    plainer = without_lone_macros(text) if language == "cpp" else text
    if plainer == text:
        return root
    return max(parse(plainer, language), root, key=lambda each: _named(each, text, language))


def _named(root: SgNode, text: str, language: str) -> int:
    """Count the units of a tree that have a name, not that of a macro."""
    try:
        units = tree_units(root, text, text.count("\n") + 1, language, (0, 0))
        return sum(1 for unit in units if unit.symbol and not unit.symbol.isupper())
    except ParserFailed:
        return 0


def file_units(
    parts: list[ReadPart], lines: int, longest: int, *, small: int = SMALL_CONTAINER, every: bool = False
) -> list[Unit]:
    """Return the units of all parts in order; raise `ParserFailed` if no part can be parsed."""
    units, problem = list[Unit](), None
    for part in parts:
        try:
            units += part.units(lines, longest, small=small, every=every)
        except ParserFailed as error:
            problem = error
    if problem and not units:
        raise problem
    return units if len(parts) == 1 else sorted(units, key=lambda unit: (unit.start, -unit.end))
