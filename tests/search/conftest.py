"""What tests of a search share: a corpus in memory, of one segment or several, with some of its chunks dead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pytest

from assay.encode.hashed import HashedEncoder
from assay.encode.view import view
from assay.store.segment import build
from assay.store.snapshot import Snapshot
from assay.types import Chunk


@pytest.fixture(scope="session")
def encoder() -> HashedEncoder:
    return HashedEncoder("64")


@pytest.fixture(scope="session")
def snapshot_of(encoder: HashedEncoder) -> Callable[..., Snapshot]:
    """Return a function of one list of chunks a segment, and the ids of the dead."""

    def make(*segments: Sequence[Chunk], dead: Collection[str] = ()) -> Snapshot:
        parts = []
        for chunks in segments:
            live = np.array([chunk.id not in dead for chunk in chunks], dtype=bool)
            segment = build(chunks, encoder.encode([view(chunk) for chunk in chunks], "code"))
            parts.append((segment, None if live.all() else live))
        return Snapshot(parts)

    return make
