"""Choose which segments to join, and join their living chunks into one equal to a fresh build of them.

What was written together is joined at once. Later changes add small segments; when there are too many, the two
neighbors that are cheapest to join are, so that what is large is seldom copied. Postings are moved straight to their
final places: nothing is sorted but the terms, and what is held besides the result is bounded by one segment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.store.arrays import Strings, check_arrays, concatenated
from assay.store.postings import FIELDS, Postings, ranked
from assay.store.segment import TEXTS, Mask, Part, Segment, read_segment, write_segment


def merge(parts: Sequence[tuple[Segment, Mask]]) -> Segment:
    """Join the living chunks of segments, in order; `True` in a mask is a living chunk."""
    kept = [np.flatnonzero(live) for _, live in parts]
    file, paths, languages = _files(parts, kept)

    def column(name: str) -> Strings:
        return concatenated([getattr(part, name).take(keep) for (part, _), keep in zip(parts, kept, strict=True)])

    def rows(name: str) -> NDArray[Any]:
        columns = [getattr(part, name) for part, _ in parts]
        return np.concatenate([c if len(keep) == len(c) else c[keep] for c, keep in zip(columns, kept, strict=True)])

    columns: dict[str, Any] = {name: column(name) for name in (*TEXTS, "facts")}
    columns |= {name: rows(name) for name in ("lines", "kind", "lengths", "vectors")}
    return Segment(paths=paths, languages=languages, file=file, **columns, **_postings(parts))


def _files(
    parts: Sequence[tuple[Segment, Mask]], positions: Sequence[NDArray[np.intp]]
) -> tuple[NDArray[np.uint32], Strings, Strings]:
    """Renumber the files that still have a chunk, in the order of their first chunk."""
    numbers: dict[tuple[str, str], int] = {}
    columns = []
    for (part, _), keep in zip(parts, positions, strict=True):
        files, first = np.unique(part.file[keep], return_index=True)
        names = list(zip(part.paths.all(), part.languages.all(), strict=True))
        new = np.zeros(len(names), dtype=np.uint32)
        for old in files[np.argsort(first)].tolist():
            new[old] = numbers.setdefault(names[old], len(numbers))
        columns.append(new[part.file[keep]])
    return np.concatenate(columns), Strings.of(p for p, _ in numbers), Strings.of(name for _, name in numbers)


def _postings(parts: Sequence[tuple[Segment, Mask]]) -> Postings:
    """Renumber terms and chunks; drop dead postings and the terms without living ones."""
    alive = [None if live.all() else live[part.posting_chunk] for part, live in parts]
    counts = [np.diff(part.starts) if live.all() else part.holding(live) for part, live in parts]
    terms, numbers = _terms([part for part, _ in parts], counts)
    ends = np.zeros(len(terms) + 1, dtype=np.int64)
    for number, count in zip(numbers, counts, strict=True):
        ends[number + 1] += count[count > 0]
    starts = np.cumsum(ends)
    free = starts[:-1].copy()
    chunk = np.empty(int(starts[-1]), dtype=np.uint32)
    table = np.empty((len(chunk), len(FIELDS)), dtype=np.uint8)
    base = 0
    for (part, live), mask, number, count in zip(parts, alive, numbers, counts, strict=True):
        used = count[count > 0]
        begins = np.cumsum(used) - used
        place = np.repeat(free[number] - begins, used) + np.arange(int(used.sum()))
        renumbered = (base + np.cumsum(live) - 1).astype(np.uint32)[part.posting_chunk]
        chunk[place] = renumbered if mask is None else renumbered[mask]
        table[place] = part.posting_counts if mask is None else part.posting_counts[mask]
        free[number] += used
        base += int(live.sum())
    return {"terms": terms, "starts": starts, "posting_chunk": chunk, "posting_counts": table}


def _terms(parts: Sequence[Segment], counts: Sequence[NDArray[np.int64]]) -> tuple[Strings, list[NDArray[np.int64]]]:
    """Join the terms that have a posting; return them sorted, and the place of each used term of each part."""
    union: dict[bytes, int] = {}
    numbers = []
    for part, count in zip(parts, counts, strict=True):
        words = part.terms.all_bytes()
        used = [words[number] for number in np.flatnonzero(count).tolist()]
        numbers.append(np.array([union.setdefault(word, len(union)) for word in used], dtype=np.int64))
    terms, rank = ranked(list(union))
    return terms, [rank[number] for number in numbers]


MAX_SEGMENTS = 8
MAX_DEAD_FRACTION = 0.25
MAX_SEGMENT_CHUNKS = 250_000
"""Chunks: no merge makes a larger segment, which bounds its memory."""


def joined(parts: Sequence[Part], fresh: int, new_path: Callable[[], Path]) -> list[Part]:
    """Return the parts of the next version, oldest first; merged ones are written to new paths.

    The last `fresh` parts were written together.
    """
    old, new = parts[: len(parts) - fresh], parts[len(parts) - fresh :]
    groups = [[part] for part in old if part.living] + _packed(new)
    while len(groups) > MAX_SEGMENTS and (at := _cheapest(groups)) is not None:
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    return [group[0] if len(group) == 1 and not _stale(group[0]) else _merged(group, new_path()) for group in groups]


def _stale(part: Part) -> bool:
    """Say whether too much of a segment is dead."""
    return len(part.segment) - part.living > MAX_DEAD_FRACTION * len(part.segment)


def _packed(parts: Sequence[Part]) -> list[list[Part]]:
    """Join neighbours up to the largest segment allowed."""
    groups: list[list[Part]] = []
    for part in parts:
        if groups and _living(groups[-1]) + part.living <= MAX_SEGMENT_CHUNKS:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _cheapest(groups: Sequence[list[Part]]) -> int | None:
    """Return the position of the two neighbors with the fewest chunks; None if these are too many."""
    cost, at = min((_living(groups[at]) + _living(groups[at + 1]), at) for at in range(len(groups) - 1))
    return at if cost <= MAX_SEGMENT_CHUNKS else None


def _living(group: Sequence[Part]) -> int:
    return sum(part.living for part in group)


def _merged(group: Sequence[Part], path: Path) -> Part:
    for part in group:
        check_arrays(path.with_name(part.name))  # what is corrupt must not get a checksum that says it is right
    write_segment(path, merge([(part.segment, part.mask) for part in group]))
    return Part(path.name, read_segment(path))
