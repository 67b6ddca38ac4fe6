"""Answers as results hold them, to where among them the first right one stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from assay.measure.line_spans import Span, span_of


def rank_of(answers: Sequence[str], right: Sequence[str]) -> int:
    """Return where the first answer stands that shares a line with a right one, 0 for nowhere."""
    spans = [place_of(target) for target in right]
    return next(
        (at for at, answer in enumerate(answers, 1) if any(place_of(answer).overlaps(span) for span in spans)), 0
    )


@lru_cache(maxsize=65_536)
def place_of(target: str) -> Span:
    """Return the lines of an answer; each is read once."""
    return span_of(target)
