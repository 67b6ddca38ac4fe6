"""What each source gives: queries, their answers, and what has to stay out of sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from assay.types import Chunk, Judgment, Query

SOURCES = ("history", "docs", "tests")


@dataclass(slots=True)
class MinedQueries:
    """What a source gave."""

    queries: list[Query] = field(default_factory=list)
    judgments: list[Judgment] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    """The lines that hold the questions."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Why what was found did not become a query, and how often."""


def target_of(unit: Chunk) -> str:
    """Return the target that names a unit: its lines."""
    return f"{unit.path}:{unit.start_line}-{unit.end_line}"


def query_id(source: str, units: Iterable[Chunk]) -> str:
    """Return a name for a query that stays the same while its answers keep their names."""
    key = "\n".join(f"{unit.path} {unit.parent} {unit.symbol} {unit.signature}" for unit in units)
    return f"{source}-{blake2b(key.encode('utf-8', 'backslashreplace'), digest_size=6).hexdigest()}"


def split_of(path: str) -> str:
    """Return the half of the files that a file belongs to: what is tuned on is not what is tested on."""
    return "test" if blake2b(path.encode("utf-8", "backslashreplace"), digest_size=1).digest()[0] % 2 else "dev"
