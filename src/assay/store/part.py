"""A segment on disk, and which of its files are no more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from assay.store.segment import Mask, Segment


@dataclass(frozen=True)
class Part:
    """A segment and the numbers of its dead files."""

    name: str
    segment: Segment
    dead: NDArray[np.uint32]
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
