"""Find quoted texts and regular expressions: the chunks that contain them, and every place where they occur.

Letter case counts where a quoted text has a capital, as people expect from search tools; an expression is taken as it
is written, line by line. Places are those of indexed chunks, so filters mean what they mean for the ranked list.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.search.expressions import exact, pattern
from assay.store.segment import Mask, Segment
from assay.store.snapshot import Snapshot
from assay.values import Chunk, Query

DEADLINE_S = 10.0
"""How long the texts of one query may be read."""
MAX_MATCHES = 100_000
"""Places that are counted."""
_CLOCK = 256  # chunks between two looks at the clock


@dataclass(frozen=True, slots=True, order=True)
class TextMatch:
    """A match: its path, its 1-based line and column."""

    path: str
    line: int
    column: int


def finders(query: Query) -> list[Any]:
    """Return a finder for each text that a query quotes and for each of its expressions."""
    return [*map(exact, query.exact), *map(pattern, query.patterns)]


def matching_chunks(
    segments: Sequence[Segment], allowed: Sequence[Mask], patterns: Sequence[Any], deadline_s: float = DEADLINE_S
) -> list[Mask]:
    """Return which of the allowed chunks of some segments match all patterns; refuse what takes longer."""
    until, masks = time.monotonic() + deadline_s, []
    for segment, keep in zip(segments, allowed, strict=True):
        mask = np.zeros(len(keep), dtype=bool)
        for done, number in enumerate(np.flatnonzero(keep).tolist()):
            if not done % _CLOCK:
                _check_time(until, deadline_s)
            text = _unix_lines(segment.texts.bytes_at(number))
            mask[number] = all(one.search(text) for one in patterns)
        masks.append(mask)
    return masks


def text_matches(snapshot: Snapshot, query: Query, allowed: Mask | None, most: int = MAX_MATCHES) -> list[TextMatch]:
    """Return every place of what a query quotes and of its expressions, in order, in the chunks that its filters allow.

    Of more than `most`, those of the first chunks are returned. Paths begin with the root if there are several.
    """
    patterns = finders(query)
    numbers = np.arange(snapshot.size) if allowed is None else np.flatnonzero(allowed)
    until, found = time.monotonic() + DEADLINE_S, set[TextMatch]()
    for number in numbers.tolist():
        _check_time(until, DEADLINE_S)
        found.update(islice(_places(snapshot.chunk(number), patterns), most - len(found)))
        if len(found) >= most:
            break
    return sorted(found)


def _check_time(until: float, deadline_s: float) -> None:
    if time.monotonic() > until:
        wanted = "keep fewer files, as with file:src or lang:py"
        raise InputError(f"not all texts could be read in {deadline_s:g} s: {wanted}")


def lines_matching(chunk: Chunk, query: Query) -> list[int]:
    """Return the lines of a chunk that hold what a query quotes or one of its expressions, ascending."""
    return sorted({place.line for place in _places(chunk, finders(query))})


def cut_at_matches(line: str, query: Query) -> list[str]:
    """Return a line cut where matches begin and end, so that every second piece is a match."""
    data, cuts = line.encode("utf-8", "replace"), [0]
    for start, end in sorted(found.span() for one in finders(query) for found in one.finditer(data)):
        if end > start >= cuts[-1]:
            cuts += (start, end)
    return [data[start:end].decode("utf-8", "replace") for start, end in pairwise([*cuts, len(data)])]


def _places(chunk: Chunk, patterns: Sequence[Any]) -> Iterator[TextMatch]:
    """Yield where a chunk's text matches any of some patterns; an empty match does not count."""
    text = _unix_lines(chunk.text.encode("utf-8", "surrogatepass"))
    path = f"{chunk.root}/{chunk.path}" if chunk.root else chunk.path
    for one in patterns:
        at, line, column = 0, chunk.start_line, 1
        for found in one.finditer(text):
            start, end = found.span()
            if start == end:
                continue
            between = text[at:start]
            if lines := between.count(b"\n"):
                line, column = line + lines, 1
                between = between[between.rfind(b"\n") + 1 :]
            at, column = start, column + len(between.decode("utf-8", "replace"))
            yield TextMatch(path, line, column)


def _unix_lines(text: bytes) -> bytes:
    """Return a text with the line ends that `$` expects; columns do not change."""
    return text.replace(b"\r\n", b"\n")
