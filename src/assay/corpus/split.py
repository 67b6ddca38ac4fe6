"""Too many lines to spans of about one size, cut at the best border near each ideal place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.corpus.blocks import trimmed

_DEEP = 99


def spans(
    lines: Sequence[str], start: int, end: int, limit: int, depths: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Cut `[start, end)` into the fewest spans of at most `limit` lines, of about one size, at good borders."""
    while end - start > limit:
        pieces = -(-(end - start) // limit)
        ideal = start + -(-(end - start) // pieces)
        earliest = start + max(1, (ideal - start) // 2)
        cut = min(
            range(earliest, min(start + limit, end - 1) + 1),
            key=lambda line: (_cost(line, lines, depths), abs(line - ideal)),
        )
        span = trimmed(lines, start, cut)
        if span[0] < span[1]:
            yield span
        start = trimmed(lines, cut, end)[0]
    if start < end:
        yield start, end


def _cost(line: int, lines: Sequence[str], depths: Mapping[int, int]) -> int:
    """Return the depth of a border; any line after a blank one is better than the middle of a text."""
    if line in depths:
        return depths[line]
    return _DEEP if line and not lines[line - 1].strip() else _DEEP + 1
