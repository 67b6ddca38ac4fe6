"""A segment to one file of arrays and back; what is read stays on disk until it is asked for."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from assay.errors import DamagedIndex
from assay.store.arrays import Arrays, read_arrays, write_arrays
from assay.store.segment import Segment
from assay.store.strings import Strings

_COLUMNS = tuple(field.name for field in fields(Segment))
_STRINGS = frozenset(field.name for field in fields(Segment) if field.type == "Strings")


def write_segment(path: Path, segment: Segment) -> None:
    """Write a segment to a new file."""
    arrays: Arrays = {}
    for name in _COLUMNS:
        value = getattr(segment, name)
        arrays.update({name: value.offsets, f"{name}.blob": value.blob} if name in _STRINGS else {name: value})
    write_arrays(path, arrays)


def read_segment(path: Path) -> Segment:
    """Map a segment's file."""
    arrays = read_arrays(path)

    def column(name: str) -> Any:
        return Strings(arrays[f"{name}.blob"], arrays[name]) if name in _STRINGS else arrays[name]

    try:
        return Segment(**{name: column(name) for name in _COLUMNS})
    except KeyError as missing:
        raise DamagedIndex(f"{path.name} lacks the column {missing}") from missing
