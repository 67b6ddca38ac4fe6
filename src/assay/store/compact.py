"""Which segments to join, so that an index stays a few segments with few dead chunks while changes stay cheap.

What was written together is joined at once. Later changes add small segments; when there are too many, the two
neighbours that are cheapest to join are, so that what is large is seldom copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from assay.store.arrays import check_arrays
from assay.store.merge import merge
from assay.store.part import Part
from assay.store.segment_file import read_segment, write_segment

MOST_SEGMENTS = 8
MOST_DEAD = 0.25
LARGEST = 250_000
"""Chunks: no merge makes a larger segment, which bounds its memory."""


def joined(parts: Sequence[Part], fresh: int, new_path: Callable[[], Path]) -> list[Part]:
    """Return the parts to keep, oldest first; those that replace others are written to new paths.

    The last `fresh` parts were written together.
    """
    old, new = parts[: len(parts) - fresh], parts[len(parts) - fresh :]
    groups = [[part] for part in old if part.living] + _packed(new)
    while len(groups) > MOST_SEGMENTS and (at := _cheapest(groups)) is not None:
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    return [group[0] if len(group) == 1 and not _stale(group[0]) else _merged(group, new_path()) for group in groups]


def _stale(part: Part) -> bool:
    """Say whether too much of a segment is dead."""
    return len(part.segment) - part.living > MOST_DEAD * len(part.segment)


def _packed(parts: Sequence[Part]) -> list[list[Part]]:
    """Join neighbours up to the largest segment allowed."""
    groups: list[list[Part]] = []
    for part in parts:
        if groups and _living(groups[-1]) + part.living <= LARGEST:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _cheapest(groups: Sequence[list[Part]]) -> int | None:
    """Return where the two neighbours are that hold the fewest chunks; None when they hold too many."""
    cost, at = min((_living(groups[at]) + _living(groups[at + 1]), at) for at in range(len(groups) - 1))
    return at if cost <= LARGEST else None


def _living(group: Sequence[Part]) -> int:
    return sum(part.living for part in group)


def _merged(group: Sequence[Part], path: Path) -> Part:
    for part in group:
        check_arrays(path.with_name(part.name))  # what is garbled must not get a checksum that says it is right
    write_segment(path, merge([(part.segment, part.mask) for part in group]))
    return Part(path.name, read_segment(path), np.zeros(0, dtype=np.uint32))
