"""Encode texts with a table of word vectors: numpy alone, one sum of rows a text, no network.

A text is the sum of its words' rows, made unit length. How much a word counts is the length of its row, settled in
training, so nothing is weighed at run time. Rows are int8 with one scale each and stay in a memory map: a query
touches a few kilobytes of the table. The table is made by `assay train encoder`. Whole words are looked up first, the
longest known pieces for the rest: a repository has few distinct words, so each is cut once and looked up ever after.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from assay.encode.vectors import unit
from assay.errors import InputError
from assay.io import files
from assay.protocols import Role, Vectors
from assay.terms import parts, words

CONTINUES = "##"
"""What a piece starts with when it only continues a word."""
_WORD_CACHE_SIZE = 131_072
"""More than a large repository has; a server meets new words forever, and forgets all of them then."""


class Vocabulary:
    """Known words and pieces; the position of an entry is its row."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = entries
        self._row_of = dict(zip(entries, range(len(entries)), strict=True))
        self._longest = max(map(len, entries), default=0)
        self._met = _Met(self._rows_of_identifier)

    def __len__(self) -> int:
        return len(self.entries)

    def rows(self, text: str) -> list[int]:
        """Return the rows of a text's words in order; a word without any known piece has none."""
        return list(self.rows_of(words(text)))

    def rows_of(self, identifiers: Iterable[str]) -> Iterator[int]:
        """Yield the rows of some words in order."""
        return chain.from_iterable(map(self._met.__getitem__, identifiers))

    def rows_of_each(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the rows of the words of each text; new words are split together."""
        new = [word for word in set().union(*texts) if word not in self._met]
        if len(self._met) + len(new) > _WORD_CACHE_SIZE:
            self._met.clear()
        for word, pieces in zip(new, list(map(parts, new)), strict=True):
            self._met[word] = self._rows_of_parts(pieces)
        return [list(self.rows_of(text)) for text in texts]

    def rows_of_word(self, word: str) -> tuple[int, ...]:
        """Return the row of a lower-case word, or the rows of the pieces that it is cut into."""
        whole = self._row_of.get(word)
        return (whole,) if whole is not None else tuple(self._pieces(word))

    def _rows_of_identifier(self, identifier: str) -> tuple[int, ...]:
        return self._rows_of_parts(parts(identifier))

    def _rows_of_parts(self, pieces: Iterable[str]) -> tuple[int, ...]:
        return tuple(chain.from_iterable(map(self.rows_of_word, pieces)))

    def _pieces(self, word: str) -> Iterator[int]:
        """Yield the rows of the longest pieces from the left; a letter that starts none is skipped."""
        start = 0
        while start < len(word):
            prefix = CONTINUES if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._row_of.get(prefix + word[start:end])
                if row is not None:
                    yield row
                    break
            else:
                end = start + 1
            start = end


def entries_in(path: Path) -> list[str]:
    """Read one entry a line."""
    return path.read_text("utf-8").split("\n")


class _Met(dict[str, tuple[int, ...]]):
    """A cache of identifiers whose lookup splits new ones, so that the loop over words runs in C."""

    def __init__(self, cut: Callable[[str], tuple[int, ...]]) -> None:
        self._cut = cut

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        if len(self) >= _WORD_CACHE_SIZE:
            self.clear()
        rows = self[identifier] = self._cut(identifier)
        return rows


DEFAULT_FOLDER = Path(__file__).parent / "data"
CARD, VOCABULARY, TABLE, SCALES = "encoder.json", "vocabulary.txt", "table.npy", "scales.npy"
_BATCH = 128  # texts whose distinct rows are at hand at once: a few megabytes


class StaticEncoder:
    """An encoder that looks words up; a text without a known word is the zero vector."""

    reads_order, is_quick = False, True

    def __init__(
        self,
        name: str,
        vocabulary: Vocabulary,
        table: NDArray[np.int8],
        scales: NDArray[np.float16],
        about: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.about = about
        self._table = np.asarray(table)  # rows of a memory map are objects of their own, which take longer
        self._scales = scales
        self._norms = np.zeros(len(table), np.float32)

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._table.shape[1])

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  both roles share the table
        """Return one unit-length row a text; both roles share the table."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            vectors[start : start + _BATCH] = unit(self._sums(self.vocabulary.rows_of_each(list(map(words, batch)))))
        return vectors

    def rows(self, singles: Sequence[str]) -> Vectors:
        """Return one unit-length row a single lower-case word, for comparing words with words."""
        return self.encode(singles, "query")

    def lengths(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return how much each single lower-case word counts in a text: the length of its row, 0 if unknown."""
        sums = self._sums([self.vocabulary.rows(word) for word in words] or [()])[: len(words)]
        lengths: NDArray[np.float32] = np.linalg.norm(sums, axis=1)
        return lengths

    def table(self) -> Vectors:
        """Return all rows at their own lengths, to continue training; stored as int8 they take a quarter."""
        return self._table.astype(np.float32) * self._scales.astype(np.float32)[:, None]

    def cosines(self, rows: NDArray[np.intp], vectors: Vectors) -> Vectors:
        """Return the cosines of rows of the table with unit vectors, shape `(len(rows), len(vectors))`."""
        found = self._table.take(rows, axis=0).astype(np.float32)
        norms = self._norms[rows]
        new = np.flatnonzero(norms == 0)
        if len(new):
            norms[new] = np.maximum(np.sqrt(np.einsum("nd,nd->n", found[new], found[new])), 1.0)
            self._norms[rows[new]] = norms[new]
        cosines: Vectors = found @ vectors.T
        cosines /= norms[:, None]
        return cosines

    def _sums(self, bags: Sequence[Sequence[int]]) -> Vectors:
        """Return the sum of each bag's rows.

        A product of word counts and rows takes as long, and starts the threads of BLAS besides. Rows are added one
        after the other, so a text's vector does not depend on its batch: an index updated bit by bit equals one built
        anew.
        """
        ends = np.cumsum(np.fromiter(map(len, bags), dtype=np.int64, count=len(bags)))
        flat = np.fromiter(chain.from_iterable(bags), dtype=np.int64, count=int(ends[-1]))
        distinct, place = distinct_rows(flat, len(self._table))
        rows = self._table[distinct] * self._scales[distinct, None].astype(np.float32)
        sums = np.zeros((len(bags), self.dimension), dtype=np.float32)
        for i, (start, end) in enumerate(pairwise((0, *ends.tolist()))):
            np.add.reduce(rows[place[start:end]], axis=0, out=sums[i])
        return sums


def distinct_rows(rows: NDArray[np.integer], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each of some rows of a table of `size` once, ascending, and the place of each among those."""
    there = np.zeros(size, dtype=bool)
    there[rows] = True
    distinct = np.flatnonzero(there)
    places = np.empty(size, dtype=np.intp)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[rows]


def default_static() -> StaticEncoder:
    """Return the encoder that ships with the package; each process reads it once."""
    return _read(DEFAULT_FOLDER, "default")


def load_static(which: str = "default") -> StaticEncoder:
    """Return the encoder that ships with the package (`default`, or `default@VERSION`), or one from a folder."""
    plain, _, version = which.partition("@")
    if plain == "default":
        encoder = default_static()
        if version and encoder.name != f"static:{which}":
            raise InputError(
                f"this Assay ships {encoder.name}, not static:{which}: index again, or install that release"
            )
        return encoder
    return _read(Path(which).expanduser(), str(Path(which).expanduser()))


def save_static(folder: Path, entries: Sequence[str], table: Vectors, about: Mapping[str, object]) -> None:
    """Write a table; entries must be sorted and one a row, and `about` must hold a `version`.

    Each file is written beside its place and renamed, so that no reader meets half a file.
    """
    rows, scales = quantise(table)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in ((TABLE, rows), (SCALES, scales)):
        with files.replacing(folder / name) as beside:
            np.save(beside, array)
    files.write(folder / VOCABULARY, "\n".join(entries))
    files.write_json(folder / CARD, about)


def quantise(table: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return rows as int8 and one scale each, the largest scale being 1."""
    largest = np.abs(table).max(axis=1)
    scales = (largest / largest.max()).astype(np.float16)
    full = np.maximum(scales.astype(np.float32), 1e-7) * largest.max()
    return np.rint(np.clip(table / full[:, None], -1, 1) * 127).astype(np.int8), scales


@cache
def _read(folder: Path, label: str) -> StaticEncoder:
    """Read a folder that `save_static` wrote."""
    try:
        about = json.loads((folder / CARD).read_text("utf-8"))
        vocabulary = Vocabulary(entries_in(folder / VOCABULARY))
        table = np.load(folder / TABLE, mmap_mode="r")
        scales = np.load(folder / SCALES)
    except (OSError, ValueError) as error:
        raise InputError(f"no static encoder in {folder}: {error}; `assay train encoder` makes one") from error
    if not len(vocabulary) == len(table) == len(scales):
        raise InputError(
            f"static encoder in {folder} is truncated: {len(vocabulary)} words, {len(table)} rows; make it again"
        )
    return StaticEncoder(f"static:{label}@{about['version']}", vocabulary, table, scales, about)
