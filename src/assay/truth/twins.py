"""Find equal and nearly equal texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Progress
from assay.values import Chunk

Numbers = NDArray[np.int64]
"""Called with the name of a stage, how much of it is done, and how much there is."""

WIDTH = 5
"""Tokens of a shingle."""
_BUCKETS_LOG2 = 22
_BLOCK = 1_000_000
"""Pairs looked at in one go; a few arrays of this length are what the search needs beside the texts."""
_LOOKUPS = 4_000_000
"""Elements looked up in one go."""
_BITS = 512
_BITMAPS = 100_000
"""Bitmaps compared in one go."""
_ONES = np.array([byte.bit_count() for byte in range(256)], np.uint8)
_EXACT = 1e-9
"""Subtracted before rounding up: .8 of 5 is 4."""


@dataclass(frozen=True, slots=True)
class _Sets:
    """Sets of shingles, one after another, each sorted from the rarest shingle to the most frequent."""

    elements: Numbers
    starts: Numbers
    bits: NDArray[np.uint8]
    """(sets, _BITS // 8): which of so many classes of elements a set holds an odd number of."""

    @property
    def sizes(self) -> Numbers:
        """Return how many elements each set has."""
        return np.diff(self.starts)


def joined(texts: Sequence[NDArray[np.int32]], threshold: float, report: Progress | None = None) -> Numbers:
    """Return, for each text, the first text that a chain of pairs at or above the threshold leads to.

    A text of fewer tokens than a shingle is one shingle: it is like its equals only.
    """
    groups = np.arange(len(texts))
    sets = _shingled(texts)
    for neighbours_only in (True, False):
        looked_up = _looked_up(sets, threshold)
        if not neighbours_only:
            looked_up = _unsettled(looked_up, groups)
        for first, second, done in _candidates(sets, looked_up, threshold, neighbours_only=neighbours_only):
            open_pairs = groups[first] != groups[second]
            likely = _likely(sets, first[open_pairs], second[open_pairs], threshold)
            _join(groups, *_similar(sets, *likely, threshold))
            if report and not neighbours_only:
                report("comparing", done, len(looked_up[0]))
    return groups


def jaccard(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """Return the Jaccard index of the shingles of two texts."""
    one, other = (np.unique(_hashes(text)) for text in (first, second))
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def _shingled(texts: Sequence[NDArray[np.int32]]) -> _Sets:
    hashes = [_hashes(text) for text in texts]
    bucket = 64 - _BUCKETS_LOG2
    counts = np.zeros(1 << _BUCKETS_LOG2, np.uint32)
    for each in hashes:
        np.add.at(counts, each >> np.uint64(bucket), np.uint32(1))
    rarity = np.minimum(counts, 2047).astype(np.uint64) << np.uint64(52)
    ordered = [np.unique(rarity[each >> np.uint64(bucket)] | each >> np.uint64(12)) for each in hashes]
    starts = np.concatenate(([0], np.cumsum([len(each) for each in ordered], dtype=np.int64)))
    elements = np.concatenate(ordered) if ordered else np.zeros(0, np.uint64)
    return _Sets(elements.astype(np.int64), starts, _bits(ordered))


def _bits(sets: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint8]:
    counts = (np.bincount(each.astype(np.int64) % _BITS, minlength=_BITS) & 1 for each in sets)
    return np.array([np.packbits(each.astype(np.uint8)) for each in counts], np.uint8).reshape(len(sets), _BITS // 8)


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


def _looked_up(sets: _Sets, threshold: float) -> tuple[Numbers, Numbers]:
    """Return the elements that are looked up and their sets: equal elements together, small sets first."""
    sizes = sets.sizes
    lengths = sizes - np.ceil(threshold * sizes - _EXACT).astype(np.int64) + 1
    owners = np.repeat(np.arange(len(sizes)), lengths)
    elements = sets.elements[_ranges(sets.starts[:-1], lengths)]
    order = np.lexsort((owners, sizes[owners], elements))
    return elements[order], owners[order]


def _unsettled(looked_up: tuple[Numbers, Numbers], groups: Numbers) -> tuple[Numbers, Numbers]:
    """Leave out elements whose sets are all of one group by now."""
    elements, owners = looked_up
    if not len(elements):
        return looked_up
    starts = np.flatnonzero(np.concatenate(([True], elements[1:] != elements[:-1])))
    found = groups[owners]
    open_ones = np.minimum.reduceat(found, starts) != np.maximum.reduceat(found, starts)
    keep = np.repeat(open_ones, np.diff(np.append(starts, len(elements))))
    return elements[keep], owners[keep]


def _candidates(
    sets: _Sets, looked_up: tuple[Numbers, Numbers], threshold: float, *, neighbours_only: bool
) -> Iterator[tuple[Numbers, Numbers, int]]:
    """Yield pairs of sets that share a rare element and differ little in size, in blocks, and how far that is."""
    elements, owners = looked_up
    sizes = sets.sizes[owners]
    place = np.arange(len(elements))
    numbers = np.cumsum(np.concatenate(([0], elements[1:] != elements[:-1]))) if len(elements) else elements
    largest = np.floor(sizes / threshold + _EXACT).astype(np.int64)
    wide = int(largest.max(initial=0)) + 1
    followers = np.searchsorted(numbers * wide + sizes, numbers * wide + largest, "right") - place - 1
    if neighbours_only:
        followers = np.minimum(followers, 1)
    ends = np.cumsum(followers)
    begin = 0
    while begin < len(elements):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + _BLOCK, "right")), begin + 1)
        count = followers[begin:end]
        first = np.repeat(owners[begin:end], count)
        second = owners[_ranges(place[begin:end] + 1, count)]
        yield first, second, end
        begin = end


def _likely(sets: _Sets, first: Numbers, second: Numbers, threshold: float) -> tuple[Numbers, Numbers]:
    """Return the pairs that may be similar, each once: a bit that differs is an element that only one has."""
    likely = np.zeros(len(first), bool)
    for begin in range(0, len(first), _BITMAPS):
        one, other = first[begin : begin + _BITMAPS], second[begin : begin + _BITMAPS]
        apart = _ONES[sets.bits[one] ^ sets.bits[other]].sum(axis=1, dtype=np.int64)
        total = sets.sizes[one] + sets.sizes[other]
        shared = (total - apart) // 2
        likely[begin : begin + _BITMAPS] = shared >= threshold * (total - shared) - _EXACT
    count = len(sets.sizes)
    pairs = np.unique(np.minimum(first, second)[likely] * count + np.maximum(first, second)[likely])
    return pairs // count, pairs % count


def _similar(sets: _Sets, first: Numbers, second: Numbers, threshold: float) -> tuple[Numbers, Numbers]:
    """Return the pairs whose Jaccard index is at least the threshold, counted out."""
    sizes = sets.sizes
    kept = np.zeros(len(first), bool)
    ends = np.cumsum(np.minimum(sizes[first], sizes[second]))
    begin = 0
    while begin < len(first):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + _LOOKUPS, "right")), begin + 1)
        one, other = first[begin:end], second[begin:end]
        shared = _shared(sets, one, other)
        kept[begin:end] = shared >= threshold * (sizes[one] + sizes[other] - shared) - _EXACT
        begin = end
    return first[kept], second[kept]


def _shared(sets: _Sets, first: Numbers, second: Numbers) -> Numbers:
    """Return how many elements each pair of sets has in common."""
    pair = np.repeat(np.arange(len(first)), sets.sizes[first])
    other = np.repeat(np.arange(len(first)), sets.sizes[second])
    one = sets.elements[_ranges(sets.starts[first], sets.sizes[first])]
    two = sets.elements[_ranges(sets.starts[second], sets.sizes[second])]
    pairs, elements = np.concatenate((pair, other)), np.concatenate((one, two))
    order = np.lexsort((elements, pairs))
    pairs, elements = pairs[order], elements[order]
    twice = (pairs[1:] == pairs[:-1]) & (elements[1:] == elements[:-1])
    return np.bincount(pairs[1:][twice], minlength=len(first))


def _join(groups: Numbers, first: Numbers, second: Numbers) -> None:
    """Make one group of the groups of each pair; every text then names the first of its group."""
    parent = groups.tolist() if len(first) else []
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        low, high = _root(parent, one), _root(parent, other)
        parent[max(low, high)] = min(low, high)
    if parent:
        groups[:] = [_root(parent, at) for at in range(len(parent))]


def _root(parent: list[int], at: int) -> int:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


def _ranges(starts: Numbers, lengths: Numbers) -> Numbers:
    """Return the numbers of several ranges, one range after another."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found: Numbers = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return found


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
