"""A chunk in, the chunks that it calls and those that call it out, as the calls of the code say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import CALLABLES, TYPES
from assay.search.reference_table import table_of
from assay.search.related_code import callees_of, calls_of_unit
from assay.search.resolve import resolver_of
from assay.store.snapshot import Snapshot
from assay.types import Chunk

_COMMON = 20
"""What so many chunks call says nothing about any of them."""


def called(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the numbers of the chunks where what a chunk calls is defined."""
    lines = (chunk.start_line, chunk.end_line)
    found = {each.chunk for _, each, among in callees_of(resolver_of(snapshot), chunk.path, lines) if among == 1}
    return np.array(sorted(found), dtype=np.int64)


def calling(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the numbers of the chunks that call what a chunk defines."""
    resolver = resolver_of(snapshot)
    found: set[int] = set()
    for unit in table_of(snapshot).file(chunk.path).definitions:
        inside = chunk.start_line <= unit.at.start and unit.at.end <= chunk.end_line
        if inside and unit.at.kind in TYPES | CALLABLES:
            callers = {call.chunk for call, among in calls_of_unit(resolver, unit) if among == 1}
            found |= callers if len(callers) <= _COMMON else set()
    return np.array(sorted(found), dtype=np.int64)
