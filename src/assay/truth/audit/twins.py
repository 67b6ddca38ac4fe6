"""Texts in, which of them are twins out: equal, equal but for layout and comments, or nearly equal.

A group is named by the place of its first text, so a group number is also the text that stands for the group. The
three kinds hold one another: equal texts have equal tokens, and equal tokens make equal shingles. Comments are told
by a few expressions for each family of languages, not by a parser, as texts of data sets are often cut or of an old
grammar; a language that is not in the table keeps every word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Progress
from assay.truth.audit.shingles import Numbers, joined
from assay.types import Chunk

THRESHOLD = 0.8
"""The Jaccard index of two texts' shingles from which they are near twins."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_STRING = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'"
_TRIPLE = r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''"
_DOCSTRING = rf"(?<=:)[ \t]*(?:#[^\n]*)?\n\s*[rRuU]?(?:{_TRIPLE}|(?:{_STRING})(?=[ \t]*(?:\n|$)))"
_FAMILIES = {
    "python": (_DOCSTRING + r"|#[^\n]*", f"{_TRIPLE}|{_STRING}"),
    "bash elixir julia make perl powershell r ruby toml yaml": (r"(?:(?<=\s)|^)#[^\n]*", _STRING),
    "c cpp csharp css dart go groovy java javascript kotlin less objc php protobuf rust scala scss solidity swift "
    "tsx typescript zig": (r"//[^\n]*|/\*[\s\S]*?\*/", rf"{_STRING}|`[^`]*`"),
    "haskell lua sql": (r"--[^\n]*", _STRING),
}
_COMMENTS = {
    language: re.compile(f"(?P<comment>{comment})|{string}", re.MULTILINE)
    for languages, (comment, string) in _FAMILIES.items()
    for language in languages.split()
}


@dataclass(frozen=True, slots=True)
class Twins:
    """For each text the first text that it is a twin of, itself where there is none before it."""

    exact: Numbers
    plain: Numbers
    """Equal but for layout and comments."""
    near: Numbers


def twins(texts: Sequence[Hashable]) -> Numbers:
    """Return, for each text, the place of the first text that equals it."""
    first: dict[Hashable, int] = {}
    return np.fromiter((first.setdefault(text, at) for at, text in enumerate(texts)), np.int64, len(texts))


def twins_of(chunks: Sequence[Chunk], threshold: float = THRESHOLD, report: Progress | None = None) -> Twins:
    """Find the twins among codes, near ones by the Jaccard index of five tokens in a row."""
    exact = twins([chunk.text for chunk in chunks])
    firsts = np.flatnonzero(exact == np.arange(len(chunks)))
    tokens = numbered([chunks[at] for at in firsts.tolist()], report)
    plain = twins([each.tobytes() for each in tokens])
    different = np.flatnonzero(plain == np.arange(len(firsts)))
    near = joined([tokens[at] for at in different.tolist()], threshold, report)
    return Twins(exact, _through(exact, firsts, plain), _through(exact, firsts, _through(plain, different, near)))


def clusters(groups: Numbers) -> list[list[int]]:
    """Return the members of every group of at least two, the largest group first."""
    order = np.argsort(groups, kind="stable")
    borders = np.flatnonzero(np.diff(groups[order])) + 1
    found = [part.tolist() for part in np.split(order, borders) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part[0]))


def numbered(chunks: Sequence[Chunk], report: Progress | None = None) -> list[NDArray[np.int32]]:
    """Return the tokens of each code without its comments, as numbers that mean the same in all of them."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found = []
    for done, chunk in enumerate(chunks, 1):
        found.append(np.array([numbers[token] for token in tokens(chunk.text, chunk.language)], np.int32))
        if report and not done % 1000:
            report("reading", done, len(chunks))
    return found


def tokens(text: str, language: str = "") -> list[str]:
    """Return the words and signs of a code without its comments; of one that is nothing but comments, theirs."""
    pattern = _COMMENTS.get(language.lower())
    code = pattern.sub(lambda found: " " if found["comment"] else found[0], text) if pattern else text
    return _TOKEN.findall(code) or _TOKEN.findall(text)


def _through(groups: Numbers, firsts: Numbers, found: Numbers) -> Numbers:
    """Return groups of all texts from groups among those texts that are the first of theirs."""
    place = np.zeros(len(groups), np.int64)
    place[firsts] = firsts[found]
    return place[groups]
