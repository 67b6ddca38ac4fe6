"""Read a consistent view of an index: its segments, their living chunks, and statistics over these.

An index that was updated has its chunks in other segments, hence under other numbers, than a fresh one. Whatever is cut
off among equals or told apart by its place goes by the order of files' paths, so that both answer alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain, compress, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Vectors
from assay.store.near_cosines import VectorSums, cosines_with, mean_and_deviation, near_cosines, sums_with_lists
from assay.store.postings import FIELDS, Numbers, TermTable
from assay.store.segment import NO_COUNTS, Mask, Segment, build
from assay.store.vectors import restored
from assay.values import Chunk


class ChunkOrder:
    """The order of the chunks of several segments."""

    def __init__(self, files: Sequence[NDArray[np.uint32]], places: Sequence[NDArray[np.uint32]]) -> None:
        """Take the file of each chunk and the rank of each file by path, both by segment.

        Chunks of a file stand in one segment as the file was cut. Without places, numbers are in order as they are.
        """
        self._files = files if places else ()
        self._places = places
        self._bases = np.array([0, *accumulate(map(len, files))], dtype=np.int64)

    def ordered(self, numbers: Numbers) -> Numbers:
        """Return numbers in order."""
        numbers = np.sort(numbers)
        if not self._files:
            return numbers
        borders = np.searchsorted(numbers, self._bases).tolist()
        spans = zip(borders, borders[1:], self._bases, strict=False)
        pieces = [numbers[start:end] - base for start, end, base in spans]
        ranks = [place[file[piece]] for place, file, piece in zip(self._places, self._files, pieces, strict=True)]
        return numbers[np.argsort(np.concatenate(ranks), kind="stable")]

    def strongest(self, scores: NDArray[np.float32], numbers: Numbers, k: int) -> Numbers:
        """Return the `k` numbers with the highest scores, in file order; ties at the end go to the first ones."""
        return self.ordered(self.best(scores, numbers, k))

    def best(self, scores: NDArray[np.float32], numbers: Numbers, k: int) -> Numbers:
        """Return the numbers of `strongest` in any order."""
        if len(numbers) > k > 0:
            own = scores[numbers]
            least = np.partition(own, -k)[-k]
            above, equal = numbers[own > least], numbers[own == least]
            if len(above) + len(equal) > k:
                equal = self.ordered(equal)[: k - len(above)]
            numbers = np.concatenate((above, equal))
        return numbers

    def ranked(self, scores: NDArray[np.float32], numbers: Numbers, k: int) -> Numbers:
        """Return the `k` of some numbers with the highest scores, best first, equal ones in order."""
        best = self.strongest(scores, numbers, k)
        return best[np.argsort(-scores[best], kind="stable")][:k]


_FILE_BITS = 32
_FILE_MASK = (1 << _FILE_BITS) - 1
_AT_ONCE = 512  # chunks that are read one after the other
_CHUNK_CACHE_SIZE = 8192
"""Chunks that are kept as they were read, of some 2 kB."""
_TERM_BYTES = 16 << 20
_TERM_CACHE_SIZE = 16_384
_MAX_PROBED_SEGMENTS = 8
"""Segments in each of which a term is looked up; for more, a table of all terms is quicker."""
_NO_NUMBERS = np.zeros(0, np.int64)


class ArrayCache:
    """A cache of read-only arrays, emptied when one more would exceed its size. Threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._arrays: dict[Hashable, NDArray[Any]] = {}

    def get(self, key: Hashable, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the array of a key; compute it if it is not in the cache."""
        found = self._arrays.get(key)
        if found is None:
            found = make()
            if self._bytes + found.nbytes > self._most:
                self._arrays.clear()
                self._bytes = 0
            if found.nbytes <= self._most:
                self._arrays[key] = found
                self._bytes += found.nbytes
        return found


class Snapshot:
    """Chunks numbered through all segments; the dead keep their number and never match.

    Scores computed here equal those over one fresh segment of the living chunks to the last bit, and equal scores are
    told apart by `order`, never by the numbers that chunks happen to have.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Segment, Mask | None]],
        places: Sequence[NDArray[np.uint32]] = (),
        roots: Sequence[str] = (),
        state: str = "",
    ) -> None:
        """Take segments with their masks of living chunks; None means that all live.

        `places` are those of each segment's files among all; without them, chunks are in the order of their numbers.
        `roots` names what each segment is of, where that is not one root. `state` is the same for whoever opens the
        same living chunks, and for nobody who opens others.
        """
        self.state = state
        self._roots = tuple(roots)
        self.parts = tuple(parts)
        self.places = tuple(places)
        self.masks: dict[object, NDArray[np.bool_]] = {}
        """Which chunks a filter keeps, by filter: a session asks with the same few ones."""
        self._chunks: dict[int, Chunk] = {}
        self._paths: dict[int, str] = {}
        self._texts: dict[str, dict[int, str]] = {}
        self._known_holders: dict[str, tuple[tuple[int, int], ...]] = {}
        self.term_scores = ArrayCache(_TERM_BYTES)
        """What a term adds to the score of each chunk that holds it, by term and weights."""
        self.single_functions: bool | None = None
        """Whether files hold one function each, once somebody asked."""
        self.bases = np.cumsum([0, *(len(part) for part, _ in parts)])
        self._bases: list[int] = self.bases.tolist()

    @classmethod
    def of(
        cls, chunks: Sequence[Chunk], vectors: Vectors, facts: Sequence[str] = (), links: Sequence[Sequence[str]] = ()
    ) -> Snapshot:
        """Build a snapshot in memory, with what each chunk defines and calls, for a corpus that is used once."""
        return cls([(build(chunks, vectors, facts, links), None)])

    @classmethod
    def joined(cls, snapshots: Mapping[str, Snapshot]) -> Snapshot:
        """Join several snapshots to one, whose chunks carry the names of their snapshots.

        Equal scores are told apart by the order of the names.
        """
        parts: list[tuple[Segment, Mask | None]] = []
        places: list[NDArray[np.uint32]] = []
        roots: list[str] = []
        first = 0
        for name, one in sorted(snapshots.items()):
            own = one.places or [np.arange(len(part.paths), dtype=np.uint32) for part, _ in one.parts]
            parts += one.parts
            places += [place + np.uint32(first) for place in own]
            roots += [name] * len(one.parts)
            first = max((int(place.max(initial=0)) for place in places), default=0) + 1
        return cls(parts, places=places, roots=roots)

    def __len__(self) -> int:
        """Count the living chunks."""
        return self.size - len(self.dead)

    @cached_property
    def dead(self) -> NDArray[np.intp]:
        """Return the numbers that never match."""
        masks = zip(self.bases[:-1], (live for _, live in self.parts), strict=True)
        gone = [base + np.flatnonzero(~live) for base, live in masks if live is not None]
        return np.concatenate(gone) if gone else np.zeros(0, dtype=np.intp)

    @property
    def size(self) -> int:
        """Return the count of all numbers, including dead ones: the width of a score array."""
        return int(self.bases[-1])

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        """Words of each chunk in each field, shape `(size, fields)`."""
        columns = [part.lengths for part, _ in self.parts] or [np.zeros((0, len(FIELDS)), np.uint16)]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    def terms(self) -> set[str]:
        """Return every term that a living chunk holds."""
        held: set[str] = set()
        for part, live in self.parts:
            terms = part.terms.all()
            held.update(terms if live is None else compress(terms, part.holding(live) > 0))
        return held

    def postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the living chunks that hold a term, ascending, and its counts, shape `(df, fields)`."""
        return self._postings(self._holders(term))

    def postings_of(self, terms: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """Return the postings of several terms."""
        return list(map(self._postings, list(map(self._holders, terms))))

    def _postings(self, holders: tuple[tuple[int, int], ...]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        if not holders:
            return _NO_NUMBERS, NO_COUNTS
        numbers, counts = [], []
        for which, row in holders:
            part, live = self.parts[which]
            chunk, count = part.rows_of(row)
            if live is not None:
                alive = live[chunk]
                chunk, count = chunk[alive], count[alive]
            numbers.append(chunk.astype(np.int64) + self._bases[which])
            counts.append(count)
        return (numbers[0], counts[0]) if len(numbers) == 1 else (np.concatenate(numbers), np.concatenate(counts))

    def holds(self, term: str) -> bool:
        """Say whether a living chunk holds a term."""
        holders = ((*self.parts[which], row) for which, row in self._holders(term))
        return any(live is None or live[part.rows_of(row)[0]].any() for part, live, row in holders)

    def _holders(self, term: str) -> tuple[tuple[int, int], ...]:
        """Return the segments that hold a term, ascending, each with the term's number there.

        Questions have most of their words and pairs of words in common, so the last ones are kept.
        """
        known = self._known_holders.get(term)
        if known is None:
            if len(self._known_holders) >= _TERM_CACHE_SIZE:
                self._known_holders.clear()
            known = self._known_holders[term] = tuple(self._find_holders(term))
        return known

    def _find_holders(self, term: str) -> Iterable[tuple[int, int]]:
        if len(self.parts) > _MAX_PROBED_SEGMENTS:
            return self._term_table.holders(term)
        found = ((which, part.terms.find(term)) for which, (part, _) in enumerate(self.parts))
        return ((which, row) for which, row in found if row >= 0)

    @cached_property
    def _term_table(self) -> TermTable:
        return TermTable([part.terms for part, _ in self.parts])

    def near(self, vector: Vectors, allowed: Sequence[Mask | None] = (None,)) -> Vectors:
        """Return the cosine of one vector with every chunk, shape `(size,)`; NaN for chunks far from it.

        All are known but for those of large segments, of which each mask gets the near ones that it keeps.
        """
        return near_cosines(self._numbered, self.size, vector, allowed)

    def cosines(self, vector: Vectors, numbers: NDArray[np.int64]) -> Vectors:
        """Return the cosine of one vector with some chunks."""
        return cosines_with(self._numbered, vector, numbers)

    def cosine_statistics(self, vector: Vectors, cosines: Vectors) -> tuple[float, float]:
        """Return mean and standard deviation over the living of the cosines with one vector, shape `(size,)`."""
        if self._sums is None:
            return mean_and_deviation(np.delete(cosines, self.dead) if len(self.dead) else cosines)
        known = [
            cosines[base : base + len(part)][... if live is None else live]
            for base, (part, live) in zip(self._bases, self.parts, strict=False)
            if part.lists is None
        ]
        return self._sums.cosine_statistics(vector, np.concatenate([np.zeros(0, np.float32), *known]))

    @cached_property
    def _sums(self) -> VectorSums | None:
        return sums_with_lists(self.parts)

    @property
    def _numbered(self) -> list[tuple[int, Segment]]:
        return [(base, part) for base, (part, _) in zip(self._bases, self.parts, strict=False)]

    @cached_property
    def order(self) -> ChunkOrder:
        """Return the order of numbers by their files' paths."""
        return ChunkOrder([part.file for part, _ in self.parts], self.places)

    def vectors(self, numbers: NDArray[np.int64]) -> Vectors:
        """Return the vectors of some chunks."""
        return restored(self.rows("vectors", numbers))

    def chunk(self, number: int) -> Chunk:
        """Return one chunk as it was added; with several roots, with the name of its own.

        Those read last are kept: questions in a row come to the same ones, and are answered from the same texts.
        """
        return self._chunks.get(number) or self.chunks([number])[0]

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return some chunks."""
        known = self._chunks
        if new := [number for number in numbers if number not in known]:
            if len(known) + len(new) > _CHUNK_CACHE_SIZE:
                known = self._chunks = {}
                new = list(numbers)
            known.update(zip(new, self._read_chunks(new), strict=True))
        return [known[number] for number in numbers]

    def _read_chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        found: dict[int, Chunk] = {}
        for which, own in groupby(sorted(numbers), lambda number: bisect_right(self._bases, number) - 1):
            here, root = list(own), self._roots[which] if self._roots else ""
            read = self.parts[which][0].chunks([number - self._bases[which] for number in here])
            named = (replace(chunk, root=root, id=f"{root}/{chunk.id}") for chunk in read) if root else read
            found.update(zip(here, named, strict=True))
        return [found[number] for number in numbers]

    def living(self) -> Iterator[Chunk]:
        """Yield every living chunk as it was added."""
        numbers = np.delete(np.arange(self.size), self.dead).tolist()
        starts = range(0, len(numbers), _AT_ONCE)
        return chain.from_iterable(self._read_chunks(numbers[start : start + _AT_ONCE]) for start in starts)

    def path(self, number: int) -> str:
        """Return the path of one chunk."""
        part, local = self._part(number)
        return part.paths[int(part.file[local])]

    def symbol(self, number: int) -> str:
        """Return the symbol of one chunk."""
        part, local = self._part(number)
        return part.symbols[local]

    def texts(self, column: str, numbers: NDArray[np.int64]) -> list[str]:
        """Return one column of texts of `Segment` (`symbols`, `parents`, `facts`) at some chunks; the last are kept."""
        known, wanted = self._texts.setdefault(column, {}), numbers.tolist()
        if new := [number for number in wanted if number not in known]:
            if len(known) + len(new) > _TERM_CACHE_SIZE:
                known.clear()
                new = wanted
            for part, here, local in self._by_part(missing := np.array(new, np.int64)):
                known.update(zip(missing[here].tolist(), getattr(part, column).some(local.tolist()), strict=True))
        return [known[number] for number in wanted]

    def symbol_bytes(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bytes the symbols of some chunks have."""
        lengths = np.zeros(len(numbers), np.int64)
        for part, here, local in self._by_part(numbers):
            offsets = part.symbols.offsets
            lengths[here] = offsets[local + 1].astype(np.int64) - offsets[local]
        return lengths

    def facts(self, number: int) -> str:
        """Return what one chunk defines and calls, as lines."""
        part, local = self._part(number)
        return part.facts[local]

    def language(self, number: int) -> str:
        """Return the language of one chunk."""
        part, local = self._part(number)
        return part.languages[int(part.file[local])]

    def paths_of(self, files: Sequence[int]) -> list[str]:
        """Return the paths of some files by their numbers in `files`; empty for a chunk without one."""
        known = self._paths
        for which, own in groupby(
            sorted(file for file in files if file >= 0 and file not in known), lambda file: file >> _FILE_BITS
        ):
            new = list(own)
            known.update(zip(new, self.parts[which][0].paths.some([file & _FILE_MASK for file in new]), strict=True))
        return [known.get(file, "") for file in files]

    def roots_of(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the names of the roots of some chunks, which are empty where there is one root."""
        if not self._roots:
            return [""] * len(numbers)
        return [self._roots[which] for which in (np.searchsorted(self.bases, numbers, side="right") - 1).tolist()]

    def rows(self, column: str, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return one array column of `Segment` (`lines`, `kind`, …) at some chunks, whatever segment they are in."""
        first: NDArray[Any] = getattr(self.parts[0][0], column)
        if len(self.parts) == 1:
            return first.take(numbers, axis=0)
        found = np.empty((len(numbers), *first.shape[1:]), dtype=first.dtype)
        for part, here, local in self._by_part(numbers):
            found[here] = getattr(part, column)[local]
        return found

    def _by_part(self, numbers: NDArray[np.int64]) -> Iterator[tuple[Segment, Mask, NDArray[np.int64]]]:
        """Yield the segments that hold some chunks, each with the mask of those it holds and their numbers there."""
        which = np.searchsorted(self.bases, numbers, side="right") - 1
        for i in np.flatnonzero(np.bincount(which)).tolist():
            here = which == i
            yield self.parts[i][0], here, numbers[here] - self.bases[i]

    def files(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a number for the file of each of some chunks: equal numbers, same file.

        A chunk without a path shares its file with no other; such numbers are below 0.
        """
        files = self.rows("file", numbers).astype(np.int64)
        if len(self.parts) > 1:
            which = np.searchsorted(self.bases, numbers, side="right") - 1
            files += which.astype(np.int64) << _FILE_BITS
        return np.where(np.isin(files, self._pathless), ~numbers, files) if len(self._pathless) else files

    @cached_property
    def _pathless(self) -> NDArray[np.int64]:
        """Return the numbers of chunks without a file, at most one per language and segment."""
        empty = [np.flatnonzero(np.diff(part.paths.offsets) == 0) for part, _ in self.parts]
        numbers = [(which << _FILE_BITS) + int(file) for which, found in enumerate(empty) for file in found]
        return np.array(numbers, np.int64)

    def _part(self, number: int) -> tuple[Segment, int]:
        which = bisect_right(self._bases, number) - 1
        return self.parts[which][0], number - self._bases[which]
