"""Find equal and nearly equal texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Progress
from assay.values import Chunk

Numbers = NDArray[np.int64]

WIDTH = 5
"""Tokens of a shingle."""
_EXACT = 1e-9
"""Subtracted before rounding up: .8 of 5 is 4."""


def joined(texts: Sequence[NDArray[np.int32]], threshold: float, report: Progress | None = None) -> Numbers:
    """Return, for each text, the first text that a chain of pairs at or above the threshold leads to.

    A text of fewer tokens than a shingle is one shingle: it is like its equals only. Two sets that are alike share one
    of their rarest elements (Bayardo et al., WWW 2007), so that each is compared with few, and with one of a group
    that it joins.
    """
    sets = _shingled(texts)
    parent = list(range(len(sets)))
    held: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    """By shingle and group, the sets that have it among their rarest, small ones first."""
    for done, at in enumerate(sorted(parent, key=lambda at: len(sets[at])), 1):
        least = threshold * len(sets[at]) - _EXACT
        rarest = sets[at][: len(sets[at]) - ceil(least) + 1].tolist()
        compared: set[int] = set()
        for group, members in (each for shingle in rarest for each in held[shingle].items()):
            for other in reversed(members):
                if len(sets[other]) < least or _root(parent, group) == _root(parent, at):
                    break
                if other not in compared and _similarity(sets[at], sets[other]) >= threshold - _EXACT:
                    low, high = sorted((_root(parent, at), _root(parent, other)))
                    parent[high] = low
                compared.add(other)
        for shingle in rarest:
            held[shingle][_root(parent, at)].append(at)
        if report and not done % 1000:
            report("comparing", done, len(sets))
    return np.array([_root(parent, at) for at in range(len(sets))], np.int64)


def jaccard(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """Return the Jaccard index of the shingles of two texts."""
    return _similarity(np.unique(_hashes(first)), np.unique(_hashes(second)))


def _similarity(one: NDArray[Any], other: NDArray[Any]) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def _shingled(texts: Sequence[NDArray[np.int32]]) -> list[Numbers]:
    """Return the different shingles of each text as numbers, the rarest first."""
    if not texts:
        return []
    hashes = [np.unique(_hashes(text)) for text in texts]
    _, places, counts = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    ranks = np.empty(len(counts), np.int64)
    ranks[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    return [np.sort(each) for each in np.split(ranks[places], np.cumsum([len(each) for each in hashes])[:-1])]


def _hashes(text: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a number for each five tokens in a row: a polynomial over well mixed token numbers."""
    mixed = _mixed(text.astype(np.uint64) + np.uint64(1))
    width = min(WIDTH, len(text)) or 1
    count = max(len(text) - width + 1, 1)
    total = np.zeros(count, np.uint64)
    for at in range(min(width, len(text))):
        total = total * np.uint64(0x9E3779B97F4A7C15) + mixed[at : at + count]
    return _mixed(total)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over 64 bits (the finaliser of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _root(parent: list[int], at: int) -> int:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


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
