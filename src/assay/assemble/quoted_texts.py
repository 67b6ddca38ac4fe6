"""Queries with quoted texts and expressions in, what is known of these before and after a search.

Beforehand which quotes stand nowhere, and after it where all matches are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.assemble.joint_search import JointSearch
from assay.search.filters import filter_mask
from assay.search.question import query_words
from assay.search.text_matches import MOST_MATCHES, TextMatch, reading_order, text_matches
from assay.types import Query


def without_missing(searches: Sequence[JointSearch], queries: Sequence[Query]) -> tuple[list[Query], list[str]]:
    """Return queries without the quoted texts that no text holds, and a note on each: a quote may be of a person."""
    kept, notes = [], []
    for query in queries:
        quotes = replace(query, patterns=())
        if query.exact and not any(_keeps_any(each, quotes) for each in searches):
            quoted = " and ".join(f'"{text}"' for text in query.exact)
            notes.append(f"no text that is searched holds {quoted} letter by letter; searched without that")
            query = replace(query, exact=())  # noqa: PLW2901  the same query from here on
        kept.append(query)
    return kept, notes


def _keeps_any(search: JointSearch, query: Query) -> bool:
    with search.corpus_search.guard.reading():
        mask = filter_mask(search.corpus_search.snapshot, query)
    return mask is None or bool(mask.any())


def asks_something(query: Query) -> bool:
    """Say whether a query asks for more than texts in quotes that nothing holds."""
    return query.reads_text or not query.text or query_words(query.text).by_meaning


def matches_of(searches: Sequence[JointSearch], queries: Sequence[Query], *, rooted: bool) -> tuple[TextMatch, ...]:
    """Return where texts and expressions stand, for a reader; paths begin with their root if there are several."""
    found: set[TextMatch] = set()
    for each in searches:
        search = each.corpus_search
        name = each.members[0].name if rooted and len(each.members) == 1 else ""
        with search.guard.reading():
            places = (place for query in queries for place in text_matches(search.snapshot, query, MOST_MATCHES))
            found.update(replace(place, path=Path(name, place.path).as_posix()) if name else place for place in places)
    return tuple(sorted(found, key=reading_order)[:MOST_MATCHES])


def counted_matches(
    searches: Sequence[JointSearch], queries: Sequence[Query], *, rooted: bool
) -> tuple[TextMatch, ...] | None:
    """Return the matches of the queries that have quoted texts or expressions; None where none has."""
    reading = [query for query in queries if query.reads_text]
    return matches_of(searches, reading, rooted=rooted) if reading else None
