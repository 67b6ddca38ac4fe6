"""A text in, every place that holds it letter by letter out: the count that a ranked list cannot give.

Letter case counts when the text has a capital, as people expect from search tools. Places are those of
indexed chunks, so filters mean what they mean for the ranked list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from assay.corpus.languages import BY_EXTENSION
from assay.search.filters import PROSE, filter_mask
from assay.search.path_traits import traits_of
from assay.store.snapshot import Snapshot
from assay.types import Query


@dataclass(frozen=True, slots=True, order=True)
class LiteralMatch:
    """A match: its path, its 1-based line and column."""

    path: str
    line: int
    column: int


def reading_order(place: LiteralMatch) -> tuple[bool, bool, LiteralMatch]:
    """Return what orders places for a reader: code of the program first, then its documentation, then the rest."""
    language = BY_EXTENSION.get(place.path.rpartition(".")[2].lower(), "")
    return any(traits_of(place.path)), language in PROSE, place


def literal_matches(snapshot: Snapshot, query: Query) -> list[LiteralMatch]:
    """Return the places of a query's text, in order; quotes around all of it are taken off."""
    text = query.text.strip()
    text = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    pattern = re.compile(re.escape(text), re.IGNORECASE if text == text.lower() else re.NOFLAG)
    allowed = filter_mask(snapshot, query)
    numbers = np.arange(snapshot.size) if allowed is None else np.flatnonzero(allowed)
    return sorted({place for number in numbers for place in _places(snapshot, int(number), pattern)})


def _places(snapshot: Snapshot, number: int, pattern: re.Pattern[str]) -> list[LiteralMatch]:
    chunk = snapshot.chunk(number)
    return [
        LiteralMatch(
            chunk.path,
            chunk.start_line + chunk.text.count("\n", 0, found.start()),
            found.start() - chunk.text.rfind("\n", 0, found.start()),
        )
        for found in pattern.finditer(chunk.text)
    ]
