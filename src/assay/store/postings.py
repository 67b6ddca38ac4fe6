"""Turn the words of chunks into sorted terms with their postings, and find the terms of many segments.

Words are numbered by one dictionary; from there on everything is arithmetic on whole arrays. A repository
has few distinct words, so what is done for each of them (splitting, stemming) costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.store.arrays import Numbering, Strings
from assay.terms import terms_of, words
from assay.values import Chunk

FIELDS = ("name", "parent", "path", "doc", "body")


def field_words(chunk: Chunk) -> tuple[list[str], ...]:
    """Return the words of each of `FIELDS`, unsplit: identifiers as they stand."""
    return (
        words(chunk.symbol) if chunk.symbol else [],
        words(chunk.parent) if chunk.parent else [],
        path_words(chunk.path),
        words(about) if (about := chunk.about) else [],
        words(chunk.text),
    )


@lru_cache(maxsize=4096)
def path_words(path: str) -> list[str]:
    """Return the words of the folders and of the file's name without its extension."""
    stem, dot, extension = path.rpartition(".")
    return words(stem if dot and "/" not in extension else path)


LINKS = ("(", ":")
"""What no word begins with, so that it is the first letter of a link."""
Numbers = NDArray[np.int64]
_MAX_FIELD_TERMS = 65535
_MAX_COUNT = 255
_COUNT_BITS = 8
_FIELD_BITS = 3


Postings = dict[str, Any]
"""The columns of a `Segment` for its terms, sorted by their bytes, and its postings."""


def invert(
    words: Sequence[tuple[list[str], ...]], links: Sequence[Sequence[str]] = ()
) -> tuple[NDArray[np.uint16], Postings]:
    """Return how many words each field of each chunk has, shape `(chunks, fields)`, and the postings of all terms.

    The `links` of each chunk are terms as they stand, such as `:name` for what it defines, which are no words of it.
    """
    own = np.array([[len(field) for field in fields] for fields in words], dtype=np.int64).reshape(-1, len(FIELDS))
    if links:
        words = [(*fields[:-1], [*fields[-1], *more]) for fields, more in zip(words, links, strict=True)]
    fields = list(chain.from_iterable(words))
    sizes = np.fromiter(map(len, fields), dtype=np.int64, count=len(fields))
    vocabulary = Numbering()
    flat = map(vocabulary.__getitem__, chain.from_iterable(fields))
    word = np.fromiter(flat, dtype=np.int64, count=int(sizes.sum()))
    places = (np.arange(len(words))[:, None] << _FIELD_BITS) + np.arange(len(FIELDS))
    place_bits = len(words).bit_length() + _FIELD_BITS
    keys, times = _counted(word << place_bits | np.repeat(places.ravel(), sizes))
    terms, term, at = _as_terms(vocabulary, keys >> place_bits)
    keys = term << place_bits | (keys & (1 << place_bits) - 1)[at]
    lengths = np.minimum(own, _MAX_FIELD_TERMS).astype(np.uint16)
    return lengths, _rows(terms, keys, times[at], place_bits)


def _counted(keys: Numbers) -> tuple[Numbers, Numbers]:
    """Return each key once, sorted, and its count."""
    keys.sort()
    first = run_starts(keys)
    return keys[first], np.diff(first, append=len(keys))


def _as_terms(vocabulary: Iterable[str], word: Numbers) -> tuple[Strings, Numbers, Numbers]:
    """Turn every word into its terms; return these, and the position of the word of each."""
    terms, starts, numbers = _terms_of_words(vocabulary)
    fan_out = np.diff(starts)[word]
    begins = np.cumsum(fan_out) - fan_out
    at = np.repeat(np.arange(len(word)), fan_out)
    return terms, numbers[(starts[word] - begins)[at] + np.arange(len(at))], at


def _terms_of_words(vocabulary: Iterable[str]) -> tuple[Strings, Numbers, Numbers]:
    """Return sorted terms, and for each word the range of its term numbers."""
    numbers = Numbering()
    of_words = [(word,) if word.startswith(LINKS) else terms_of(word) for word in vocabulary]
    flat = [numbers[term] for terms in of_words for term in terms]
    starts = np.cumsum([0, *map(len, of_words)], dtype=np.int64)
    terms, rank = ranked([term.encode("utf-8", "surrogatepass") for term in numbers])
    return terms, starts, rank[np.array(flat, dtype=np.int64)]


def ranked(encoded: Sequence[bytes]) -> tuple[Strings, Numbers]:
    """Sort terms by their bytes; return them and the new position of each."""
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Strings.of_bytes([encoded[number] for number in order]), rank


def _rows(terms: Strings, keys: Numbers, times: Numbers, place_bits: int) -> Postings:
    """Gather the fields of each (term, chunk) pair, sorted by both, into one row."""
    packed = keys << _COUNT_BITS | np.minimum(times, _MAX_COUNT)  # a plain sort is several times an argsort
    packed.sort()
    keys, times = packed >> _COUNT_BITS, packed & _MAX_COUNT
    pairs = keys >> _FIELD_BITS
    new = run_starts(pairs)
    row = np.repeat(np.arange(len(new)), np.diff(new, append=len(pairs)))
    table = np.zeros((len(new), len(FIELDS)), dtype=np.int64)
    np.add.at(table, (row, keys & (1 << _FIELD_BITS) - 1), times)
    pairs = pairs[new]
    chunk_bits = place_bits - _FIELD_BITS
    starts = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(pairs >> chunk_bits, minlength=len(terms)), out=starts[1:])
    chunk = (pairs & (1 << chunk_bits) - 1).astype(np.uint32)
    counts = np.minimum(table, _MAX_COUNT).astype(np.uint8)
    return {"terms": terms, "starts": starts, "posting_chunk": chunk, "posting_counts": counts}


def run_starts(ordered: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the positions at which a new value begins."""
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)


Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse among the numbers of 64 bits
_INVERSE = pow(_BASE, -1, 1 << 64)
_AT_ONCE = 1 << 15  # letters: what the cache of a core holds of all that is computed


class TermTable:
    """Where the terms of some columns stand, each column sorted and without copies."""

    def __init__(self, columns: Sequence[Strings]) -> None:
        self._columns = columns
        self._starts = np.array([0, *accumulate(map(len, columns))], dtype=np.int64)
        every = np.concatenate([term_hashes(column) for column in columns])
        order = np.argsort(every)
        self._hashes, self._places = every[order], order.astype(np.uint32)

    def holders(self, term: str) -> Iterator[tuple[int, int]]:
        """Yield the columns that hold a term, ascending, each with its position there."""
        wanted = Strings.of([term])
        letters = wanted.bytes_at(0)
        (number,) = term_hashes(wanted)
        first, end = np.searchsorted(self._hashes, number), np.searchsorted(self._hashes, number, side="right")
        places = np.sort(self._places[first:end]).astype(np.int64)
        columns = np.searchsorted(self._starts, places, side="right") - 1
        for column, at in zip(columns.tolist(), (places - self._starts[columns]).tolist(), strict=True):
            if self._columns[column].bytes_at(at) == letters:
                yield column, at


def term_hashes(terms: Strings) -> Hashes:
    """Return a number for each term: its letters as the digits of one, in a large base."""
    ends = terms.offsets
    blob, found = terms.whole, np.empty(len(terms), dtype=np.uint64)
    first = 0
    while first < len(terms):
        end = max(first + 1, int(np.searchsorted(ends, ends[first] + _AT_ONCE, side="right")) - 1)
        borders = ends[first : end + 1] - ends[first]
        found[first:end] = _block_hashes(blob[ends[first] : ends[end]], borders)
        first = end
    return found


def _block_hashes(letters: NDArray[np.uint8], borders: NDArray[np.int64]) -> Hashes:
    """Return the numbers of terms that lie end to end: differences of one running sum, moved to where each begins."""
    powers, inverses = _powers(max(_AT_ONCE, len(letters)))
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum((letters + np.uint64(1)) * powers[: len(letters)], out=sums[1:])
    return (sums[borders[1:]] - sums[borders[:-1]]) * inverses[borders[:-1]]


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """Return the powers of the base and of its inverse, from the zeroth on."""
    return _powers_of(_BASE, count), _powers_of(_INVERSE, count)


def _powers_of(base: int, count: int) -> Hashes:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)
