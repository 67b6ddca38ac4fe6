"""What every ballot tells a page and takes from it: how far it is, which item comes, how long an answer took."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

_LONGEST_S = 1e6


def progress(order: Sequence[str], done: Container[str], at: int | None = None) -> dict[str, Any]:
    """Return how many items are done, and the place to show: the one asked for, or the first that is not done.

    The place after the last one is the end.
    """
    fresh = (place for place, item in enumerate(order) if item not in done)
    place = next(fresh, len(order)) if at is None else max(0, min(at, len(order)))
    return {"voted": sum(item in done for item in order), "total": len(order), "at": place, "item": None}


def seconds_of(given: Mapping[str, Any]) -> float:
    """Return how long a page says that an answer took, 0 where that is no time."""
    seconds = given.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_S else 0.0


def now() -> str:
    """Return the time as a record has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
