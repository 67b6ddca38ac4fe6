"""The words of every chunk's fields in, sorted terms with their postings out.

Words are numbered by one dictionary; from there on everything is arithmetic on whole arrays. A repository
has few distinct words, so what is done for each of them (splitting, stemming) costs little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assay.store.lexical_fields import FIELDS
from assay.store.strings import Strings
from assay.terms import terms_of

LINKS = ("(", ":")
"""What no word begins with, so that it is the first letter of a link."""
_Numbers = NDArray[np.int64]
_MOST_IN_FIELD = 65535
_MOST_IN_POSTING = 255
_COUNT_BITS = 8
_FIELD_BITS = 3


@dataclass(frozen=True, slots=True)
class Postings:
    """`t` terms sorted by their bytes and `p` postings; see `Segment` for the columns."""

    terms: Strings
    starts: NDArray[np.int64]
    chunk: NDArray[np.uint32]
    counts: NDArray[np.uint8]


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
    vocabulary = _Vocabulary()
    flat = map(vocabulary.__getitem__, chain.from_iterable(fields))
    word = np.fromiter(flat, dtype=np.int64, count=int(sizes.sum()))
    places = (np.arange(len(words))[:, None] << _FIELD_BITS) + np.arange(len(FIELDS))
    place_bits = len(words).bit_length() + _FIELD_BITS
    keys, times = _counted(word << place_bits | np.repeat(places.ravel(), sizes))
    terms, term, at = _as_terms(vocabulary, keys >> place_bits)
    keys = term << place_bits | (keys & (1 << place_bits) - 1)[at]
    lengths = np.minimum(own, _MOST_IN_FIELD).astype(np.uint16)
    return lengths, _rows(terms, keys, times[at], place_bits)


class _Vocabulary(dict[str, int]):
    """Words numbered in the order of their first use."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def _counted(keys: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return each key once, ordered, and how often it came."""
    keys.sort()
    first = _firsts(keys)
    return keys[first], np.diff(first, append=len(keys))


def _as_terms(vocabulary: Iterable[str], word: _Numbers) -> tuple[Strings, _Numbers, _Numbers]:
    """Turn every word into each of its terms; return those, and the position of the word that each came from."""
    terms, starts, numbers = _terms_of_words(vocabulary)
    fan_out = np.diff(starts)[word]
    begins = np.cumsum(fan_out) - fan_out
    at = np.repeat(np.arange(len(word)), fan_out)
    return terms, numbers[(starts[word] - begins)[at] + np.arange(len(at))], at


def _terms_of_words(vocabulary: Iterable[str]) -> tuple[Strings, _Numbers, _Numbers]:
    """Return sorted terms, and for each word the range of its term numbers."""
    numbers = _Vocabulary()
    of_words = [(word,) if word.startswith(LINKS) else terms_of(word) for word in vocabulary]
    flat = [numbers[term] for terms in of_words for term in terms]
    starts = np.cumsum([0, *map(len, of_words)], dtype=np.int64)
    terms, rank = ranked([term.encode("utf-8", "surrogatepass") for term in numbers])
    return terms, starts, rank[np.array(flat, dtype=np.int64)]


def ranked(encoded: Sequence[bytes]) -> tuple[Strings, _Numbers]:
    """Sort terms by their bytes; return them and the place that each one got."""
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Strings.of_bytes([encoded[number] for number in order]), rank


def _rows(terms: Strings, keys: _Numbers, times: _Numbers, place_bits: int) -> Postings:
    """Gather the fields of each (term, chunk) pair, sorted by both, into one row."""
    packed = keys << _COUNT_BITS | np.minimum(times, _MOST_IN_POSTING)  # a plain sort is several times an argsort
    packed.sort()
    keys, times = packed >> _COUNT_BITS, packed & _MOST_IN_POSTING
    pairs = keys >> _FIELD_BITS
    new = _firsts(pairs)
    row = np.repeat(np.arange(len(new)), np.diff(new, append=len(pairs)))
    table = np.zeros((len(new), len(FIELDS)), dtype=np.int64)
    np.add.at(table, (row, keys & (1 << _FIELD_BITS) - 1), times)
    pairs = pairs[new]
    chunk_bits = place_bits - _FIELD_BITS
    starts = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(pairs >> chunk_bits, minlength=len(terms)), out=starts[1:])
    chunk = (pairs & (1 << chunk_bits) - 1).astype(np.uint32)
    return Postings(terms, starts, chunk, np.minimum(table, _MOST_IN_POSTING).astype(np.uint8))


def _firsts(ordered: _Numbers) -> NDArray[np.intp]:
    """Return where a new value begins."""
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)
