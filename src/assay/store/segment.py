"""Chunks with their vectors in, one immutable block of arrays out: what an index is made of.

Everything is a numpy array, so that a segment on disk is read by memory map and costs nothing until
it is asked. Postings hold one row a (term, chunk) pair with the term's count in every field, which
lets one pass give both a fielded BM25 and the parts of a ranking's features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from assay.store.invert import invert
from assay.store.inverted_lists import InvertedLists
from assay.store.lexical_fields import FIELDS, field_words
from assay.store.quantised import Stored
from assay.store.strings import Strings
from assay.types import KINDS, Chunk

Links = Sequence[Sequence[str]]
Mask = NDArray[np.bool_]
"""Which chunks of a segment are meant."""

_NO_CHUNKS = np.zeros(0, dtype=np.uint32)
_NO_COUNTS = np.zeros((0, len(FIELDS)), dtype=np.uint8)
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

    def chunk(self, number: int) -> Chunk:
        """Return one chunk as it was added."""
        file = int(self.file[number])
        return Chunk(
            id=self.ids[number],
            text=self.texts[number],
            language=self.languages[file],
            path=self.paths[file],
            start_line=int(self.lines[number, 0]),
            end_line=int(self.lines[number, 1]),
            symbol=self.symbols[number],
            kind=KINDS[self.kind[number]],
            parent=self.parents[number],
            doc=self.docs[number],
            signature=self.signatures[number],
            description=self.descriptions[number],
        )

    @property
    def lists(self) -> InvertedLists | None:
        """Return what a search reads instead of every vector; a segment in memory has none."""
        return None

    def vectors_of(self, numbers: NDArray[np.int64]) -> Stored:
        """Return the vectors of some chunks, as they are stored."""
        rows: Stored = self.vectors[numbers]
        return rows

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
        return self.rows_of(number) if number >= 0 else (_NO_CHUNKS, _NO_COUNTS)

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
    return Segment(
        paths=Strings.of(path for path, _ in files),
        languages=Strings.of(language for _, language in files),
        file=np.array(file, dtype=np.uint32),
        lines=np.array([(c.start_line, c.end_line) for c in chunks], dtype=np.uint32).reshape(-1, 2),
        kind=np.array([_KIND_NUMBERS[c.kind] for c in chunks], dtype=np.uint8),
        ids=_strings(chunks, "id"),
        symbols=_strings(chunks, "symbol"),
        parents=_strings(chunks, "parent"),
        docs=_strings(chunks, "doc"),
        signatures=_strings(chunks, "signature"),
        texts=_strings(chunks, "text"),
        descriptions=_strings(chunks, "description"),
        facts=Strings.of(facts or [""] * len(chunks)),
        lengths=lengths,
        vectors=np.ascontiguousarray(vectors),
        terms=postings.terms,
        starts=postings.starts,
        posting_chunk=postings.chunk,
        posting_counts=postings.counts,
    )


def _strings(chunks: Sequence[Chunk], name: str) -> Strings:
    return Strings.of(map(attrgetter(name), chunks))
