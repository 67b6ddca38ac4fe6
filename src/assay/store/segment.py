"""Keep chunks with their vectors as one immutable block of arrays, in memory or in a file.

Everything is a numpy array, so that a segment on disk is read by memory map and costs nothing until
it is asked. Postings hold one row a (term, chunk) pair with the term's count in every field, which
lets one pass give both a fielded BM25 and the parts of a ranking's features.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import DamagedIndex
from assay.store.arrays import ArrayFile, Arrays, Strings, write_arrays
from assay.store.postings import FIELDS, field_words, invert
from assay.store.vectors import MIN_LISTED_CHUNKS, InvertedLists, Stored, build_lists, restored
from assay.values import KINDS, Chunk

Links = Sequence[Sequence[str]]
Mask = NDArray[np.bool_]
"""Which chunks of a segment are meant."""

TEXTS = {f"{field}s": field for field in "id symbol parent doc signature text description".split()}
"""The columns that hold a text of each chunk, and the field that it is of a chunk."""
_NO_CHUNKS = np.zeros(0, dtype=np.uint32)
NO_COUNTS = np.zeros((0, len(FIELDS)), dtype=np.uint8)
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Segment:
    """`n` chunks of `f` files with `t` distinct terms and `p` postings."""

    paths: Strings
    """(f) distinct paths, in the order of their first chunk."""
    languages: Strings
    """(f) the language of each path."""
    file: NDArray[np.uint32]
    """(n) which path a chunk belongs to."""
    lines: NDArray[np.uint32]
    """(n, 2) first and last line."""
    kind: NDArray[np.uint8]
    """(n) position in `KINDS`."""
    ids: Strings
    symbols: Strings
    parents: Strings
    docs: Strings
    signatures: Strings
    texts: Strings
    descriptions: Strings
    """Not stored where none of them says anything."""
    facts: Strings
    """What each chunk defines and calls, as lines; not stored where no chunk does."""
    lengths: NDArray[np.uint16]
    """(n, fields) words in each field, capped."""
    vectors: Stored
    """(n, dimension) unit rows, in fewer bytes where they were quantised."""
    terms: Strings
    """(t) sorted by their bytes."""
    starts: NDArray[np.int64]
    """(t + 1) where each term's postings begin."""
    posting_chunk: NDArray[np.uint32]
    """(p) the chunk of each posting, ascending within a term."""
    posting_counts: NDArray[np.uint8]
    """(p, fields) how often the term stands in each field, capped at 255."""

    def __len__(self) -> int:
        return len(self.file)

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return some chunks as they were added."""
        files, lines = self.file[numbers].tolist(), self.lines[numbers].tolist()
        texts = [getattr(self, column).some(numbers) for column in TEXTS]
        columns = (self.languages.some(files), self.paths.some(files), lines, self.kind[numbers].tolist(), *texts)
        named = ("language", "path", "kind", "start_line", "end_line", *TEXTS.values())
        return [
            Chunk(**dict(zip(named, (language, path, KINDS[kind], *span, *own), strict=True)))
            for language, path, span, kind, *own in zip(*columns, strict=True)
        ]

    @property
    def lists(self) -> InvertedLists | None:
        """Return the inverted lists that a search reads instead of every vector; a segment in memory has none."""
        return None

    def vectors_of(self, numbers: NDArray[np.int64]) -> Stored:
        """Return the vectors of some chunks, as they are stored."""
        return self.vectors[numbers]

    @property
    def described(self) -> Mask:
        """Return which chunks have a description."""
        return np.diff(self.descriptions.offsets) > 0

    def holding(self, live: Mask) -> NDArray[np.int64]:
        """Count the living chunks that hold each term, shape `(t)`."""
        alive = live[self.posting_chunk]
        return np.diff(np.concatenate(([0], np.cumsum(alive)))[self.starts])

    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the chunks that hold a term, and its counts there, shape `(df, fields)`."""
        number = self.terms.find(term)
        return self.rows_of(number) if number >= 0 else (_NO_CHUNKS, NO_COUNTS)

    def rows_of(self, term: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the postings of a term by its number."""
        rows = slice(self.starts[term], self.starts[term + 1])
        return self.posting_chunk[rows], self.posting_counts[rows]


def build(chunks: Sequence[Chunk], vectors: Stored, facts: Sequence[str] = (), links: Links = ()) -> Segment:
    """Make a segment of chunks and their vectors, shape `(len(chunks), dimension)`, as they are to be stored.

    The `facts` of each chunk are kept beside it, and found by its `links`.
    """
    files: dict[tuple[str, str], int] = {}
    file = [files.setdefault((chunk.path, chunk.language), len(files)) for chunk in chunks]
    lengths, postings = invert([field_words(chunk) for chunk in chunks], links)
    texts: dict[str, Any] = {column: Strings.of(map(attrgetter(field), chunks)) for column, field in TEXTS.items()}
    return Segment(
        paths=Strings.of(path for path, _ in files),
        languages=Strings.of(language for _, language in files),
        file=np.array(file, dtype=np.uint32),
        lines=np.array([(c.start_line, c.end_line) for c in chunks], dtype=np.uint32).reshape(-1, 2),
        kind=np.array([_KIND_NUMBERS[c.kind] for c in chunks], dtype=np.uint8),
        **texts,
        facts=Strings.of(facts or [""] * len(chunks)),
        lengths=lengths,
        vectors=np.ascontiguousarray(vectors),
        **postings,
    )


_COLUMNS = tuple(field.name for field in fields(Segment))
_STRINGS = frozenset(field.name for field in fields(Segment) if field.type == "Strings")
_OPTIONAL = frozenset({"descriptions", "facts"})  # a segment without any is stored without the column
_LISTS = tuple(field.name for field in fields(InvertedLists))
_READ_WHOLE = ("paths", "languages", "terms")  # by whatever reads any of it: filters, and a search in sorted terms


def write_segment(path: Path, segment: Segment) -> None:
    """Write a segment to a new file."""
    arrays: Arrays = {}
    for name in _COLUMNS:
        value = getattr(segment, name)
        if name in _OPTIONAL and not value.offsets[-1]:
            continue
        arrays.update({name: value.offsets, f"{name}.blob": value.blob} if name in _STRINGS else {name: value})
    if len(segment) >= MIN_LISTED_CHUNKS:
        lists = build_lists(restored(segment.vectors))
        arrays.update({f"lists.{name}": getattr(lists, name) for name in _LISTS})
    write_arrays(path, arrays)


class StoredSegment(Segment):
    """A segment in a file: a column is verified when first read, and of texts and postings only the part read."""

    __slots__ = ("_file", "_lists")

    def __init__(self, file: ArrayFile) -> None:
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "file", file.array("file"))  # how many chunks there are is asked at once
        has_lists = all(f"lists.{name}" in file.names for name in _LISTS)
        object.__setattr__(self, "_lists", StoredLists(file) if has_lists else None)

    def __getattr__(self, name: str) -> Any:
        """Read a column on first use, and keep it."""
        if name not in _COLUMNS:
            raise AttributeError(name)
        column = self._strings(name) if name in _STRINGS else self._file.array(name)
        object.__setattr__(self, name, column)
        return column

    @property
    def lists(self) -> InvertedLists | None:
        """Return the lists of a large segment."""
        lists: InvertedLists | None = self._lists
        return lists

    def vectors_of(self, numbers: NDArray[np.int64]) -> Stored:
        """Return the vectors of some chunks; of a large segment only those are read."""
        return self.vectors[numbers] if self._lists is None else self._file.scattered("vectors", numbers)

    def _strings(self, name: str) -> Strings:
        if name in _OPTIONAL and name not in self._file.names:
            return Strings(np.zeros(0, np.uint8), np.zeros(len(self) + 1, np.int64))
        offsets, blob = self._file.array(name), f"{name}.blob"
        if name in _READ_WHOLE:
            return Strings(self._file.array(blob), offsets)
        return Strings(self._file.unread(blob), offsets, partial(self._file.verify, blob))

    def rows_of(self, term: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the postings of a term by its number."""
        starts = self.starts.data
        rows = slice(starts[term], starts[term + 1])
        return self._file.rows("posting_chunk", rows), self._file.rows("posting_counts", rows)


class StoredLists(InvertedLists):
    """The lists of a segment in a file: verified as they are read."""

    __slots__ = ("_file",)

    def __init__(self, file: ArrayFile) -> None:
        object.__setattr__(self, "_file", file)

    def __getattr__(self, name: str) -> Any:
        """Read an array on first use, and keep it."""
        if name not in _LISTS:
            raise AttributeError(name)
        array = self._file.array(f"lists.{name}")
        object.__setattr__(self, name, array)
        return array

    def codes_of(self, number: int) -> NDArray[np.int8]:
        """Return the codes of a list."""
        rows: NDArray[np.int8] = self._file.rows("lists.codes", slice(*self.starts[number : number + 2].tolist()))
        return rows


def read_segment(path: Path) -> Segment:
    """Map a segment's file; raise DamagedIndex if it is not one."""
    file = ArrayFile(path)
    for name in (*_COLUMNS, *(f"{name}.blob" for name in _STRINGS)):
        if name not in file.names and name.partition(".")[0] not in _OPTIONAL:
            raise DamagedIndex(f"{path.name} lacks the column '{name}'")
    return StoredSegment(file)


@dataclass(frozen=True)
class Part:
    """A segment and the numbers of its dead files."""

    name: str
    segment: Segment
    dead: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    places: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))
    """Where each of its files stands among those of the version, by path; known once a version is made of it."""

    @property
    def live(self) -> Mask | None:
        """Return the mask of living chunks; None when all live."""
        return self.mask if len(self.dead) else None

    @property
    def mask(self) -> Mask:
        """Return the mask of living chunks."""
        alive = np.ones(len(self.segment.paths), dtype=bool)
        alive[self.dead] = False
        return alive[self.segment.file]

    @property
    def living(self) -> int:
        """Count the living chunks."""
        return int(self.mask.sum()) if len(self.dead) else len(self.segment)

    @property
    def described(self) -> int:
        """Count the living chunks that have a description."""
        return int((self.segment.described & self.mask).sum()) if self.segment.described.any() else 0

    def without(self, paths: Collection[str]) -> Part:
        """Return the same segment with these files dead."""
        gone = [number for number, path in enumerate(self.segment.paths.all()) if path in paths] if paths else []
        dead = np.union1d(self.dead, np.array(gone, dtype=np.uint32)).astype(np.uint32)
        return replace(self, dead=dead) if gone else self
