"""A segment to one file of arrays and back; what is read stays on disk until it is asked for."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import DamagedIndex
from assay.store.arrays import ArrayFile, Arrays, write_arrays
from assay.store.inverted_lists import SMALLEST, InvertedLists, build_lists
from assay.store.quantised import Stored, restored
from assay.store.segment import Segment
from assay.store.strings import Strings

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
    if len(segment) >= SMALLEST:
        lists = build_lists(restored(segment.vectors))
        arrays.update({f"lists.{name}": getattr(lists, name) for name in _LISTS})
    write_arrays(path, arrays)


class StoredSegment(Segment):
    """A segment in a file: each column is verified when it is first asked for, of texts and postings what is read."""

    __slots__ = ("_file", "_lists")

    def __init__(self, file: ArrayFile) -> None:
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "file", file.array("file"))  # how many chunks there are is asked at once
        object.__setattr__(self, "_lists", StoredLists(file) if _has_lists(file) else None)

    def __getattr__(self, name: str) -> Any:
        """Return a column that was not asked for yet, and keep it."""
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
        if name in _OPTIONAL and name not in self._file:
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
        """Return an array that was not asked for yet, and keep it."""
        if name not in _LISTS:
            raise AttributeError(name)
        array = self._file.array(f"lists.{name}")
        object.__setattr__(self, name, array)
        return array

    def codes_of(self, number: int) -> NDArray[np.int8]:
        """Return the codes of a list."""
        rows: NDArray[np.int8] = self._file.rows("lists.codes", slice(*self.starts[number : number + 2].tolist()))
        return rows


def _has_lists(file: ArrayFile) -> bool:
    return all(f"lists.{name}" in file for name in _LISTS)


def read_segment(path: Path) -> Segment:
    """Map a segment's file; raise DamagedIndex when it is plainly not one."""
    file = ArrayFile(path)
    for name in (*_COLUMNS, *(f"{name}.blob" for name in _STRINGS)):
        if name not in file and name.partition(".")[0] not in _OPTIONAL:
            raise DamagedIndex(f"{path.name} lacks the column '{name}'")
    return StoredSegment(file)
