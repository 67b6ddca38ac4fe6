"""What a ranker thinks in, best first out.

Equal scores are ordered by a hash of task and text, so that no order of the input, and no list that happens to be
sorted by how programs were made, decides anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from assay.types import Ranked


def best_first(ranked: Sequence[Ranked], *, seed: int = 0) -> list[Ranked]:
    """Return the higher scores first; programs with one text stay together."""
    return sorted(ranked, key=lambda each: (-each.score, _lot(each, seed)))


def _lot(ranked: Ranked, seed: int) -> bytes:
    program = ranked.program
    text = f"{seed}\0{program.task_id}\0{program.source}"
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()
