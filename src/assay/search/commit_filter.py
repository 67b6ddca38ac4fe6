"""Which commits are meant: by author, by time, and by the files that they changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError
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

    @property
    def globs(self) -> tuple[str, ...]:
        """Return the globs as they are of the paths of chunks, which begin with the commit's id."""
        return tuple(f"!{_of_any_commit(glob[1:])}" if glob[:1] == "!" else _of_any_commit(glob) for glob in self.paths)

    def passes(self, files: Sequence[str]) -> bool:
        """Say whether a commit changed a file that is kept."""
        return not self.paths or any(map(keeping(self.paths), files))

    def kept(self, snapshot: Snapshot) -> Snapshot:
        """Return the same commits with only those of the author and the time alive."""
        if not (self.author or self.since or self.until):
            return snapshot
        parts = [(segment, self._mask(segment, live)) for segment, live in snapshot.parts]
        return Snapshot(parts, snapshot.version, snapshot.places)

    def _mask(self, segment: Segment, live: Mask | None) -> Mask:
        wanted = self.author.casefold()
        pairs = zip(segment.parents.all(), segment.signatures.all(), strict=True)
        mask = np.array([wanted in author.casefold() and self._is_then(date) for author, date in pairs], dtype=bool)
        return mask if live is None else mask & live

    def _is_then(self, date: str) -> bool:
        return date >= self.since and (not self.until or date[: len(self.until)] <= self.until)


def _of_any_commit(glob: str) -> str:
    anywhere = "/" not in glob.rstrip("/")
    return f"*/**/{glob}" if anywhere else f"*/{glob.removeprefix('./').lstrip('/')}"
