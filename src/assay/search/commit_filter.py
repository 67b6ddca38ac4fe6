"""Which commits are meant: by author, by time, and by the files that they changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError
from assay.search.commit_chunks import changed_files
from assay.search.filters import Mask, keeping
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class CommitFilter:
    """Which commits to look among."""

    author: str = ""
    """A part of the name or the address, in any letter case."""
    since: str = ""
    """The first day, month or year to keep, as `2024-05-01`, `2024-05` or `2024`."""
    until: str = ""
    """The last one, which is kept, too."""
    paths: tuple[str, ...] = ()
    """Globs of changed files; one that starts with `!` leaves out."""

    def __post_init__(self) -> None:
        """Refuse a date that is none."""
        for date in (self.since, self.until):
            if date and not _DATE.fullmatch(date):
                raise InputError(f"'{date}' is not a date: give YYYY-MM-DD, YYYY-MM or YYYY")

    def keep_in(self, snapshot: Snapshot) -> Snapshot:
        """Return the same commits with only those alive that are meant; of their changes, those of kept files."""
        if self == CommitFilter():
            return snapshot
        parts = [(segment, self._mask(segment, live)) for segment, live in snapshot.parts]
        return Snapshot(parts, snapshot.version, snapshot.places)

    def _mask(self, segment: Segment, live: Mask | None) -> Mask:
        wanted = self.author.casefold()
        pairs = zip(segment.parents.all(), segment.signatures.all(), strict=True)
        mask = np.array([wanted in author.casefold() and self._is_then(date) for author, date in pairs], dtype=bool)
        mask = mask if live is None else mask & live
        if self.paths:
            passes = keeping(self.paths)
            for number in np.flatnonzero(mask).tolist():
                mask[number] = any(map(passes, _files_of(segment, number)))
        return mask

    def _is_then(self, date: str) -> bool:
        return date >= self.since and (not self.until or date[: len(self.until)] <= self.until)


def _files_of(segment: Segment, number: int) -> Sequence[str]:
    """Return the file of a change, or all files of a message."""
    file = segment.ids[number].partition("/")[2]
    return [file] if file else changed_files(segment.chunk(number))
