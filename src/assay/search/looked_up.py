"""Keep what is looked up rather than ranked: places that a query names, which come before all that is likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assay.errors import counted, some_of
from assay.values import Hit

MAX_UNITS = 8
"""Units that are put first."""


_MAX_SHOWN_PLACES = 2


class LookedUp(NamedTuple):
    """What a query names in an index."""

    hits: tuple[Hit, ...] = ()
    """The best first, each with the line that is meant, if one is."""
    passed: frozenset[str] = frozenset()
    """Places in files that are not indexed."""
    notes: tuple[str, ...] = ()
    """What was guessed, left out or not found."""
    is_all: bool = False
    """Whether the query consists of nothing else."""

    @property
    def every_note(self) -> list[str]:
        """The notes, with one on what is passed over."""
        every = sorted(self.passed)
        passed = f"{counted(len(every), 'place')} in files that are not indexed: {some_of(every, _MAX_SHOWN_PLACES)}"
        return [*self.notes, *([passed] if every else [])]

    @property
    def is_exact(self) -> bool:
        """Whether the query is for a line or a name, rather than about it."""
        return any({"place", "name"} & {*hit.why} for hit in self.hits)


def united(results: Sequence[LookedUp]) -> LookedUp:
    """Merge what several queries name, or one query in several ways."""
    hits = {(hit.chunk.root, hit.chunk.id): hit for each in reversed(results) for hit in reversed(each.hits)}
    passed = frozenset[str]().union(*(each.passed for each in results))
    notes = dict.fromkeys(note for each in results for note in each.notes)
    is_all = bool(hits) and all(each.is_all or not each.hits for each in results)
    return LookedUp(tuple(reversed(hits.values())), passed, tuple(notes), is_all)


def in_several(results: Sequence[LookedUp]) -> LookedUp:
    """Merge what is named in several indexes; `passed` keeps what none of them holds."""
    return united(results)._replace(passed=frozenset.intersection(*(each.passed for each in results)))


def with_looked_up(looked_up: LookedUp, hits: Sequence[Hit]) -> list[Hit]:
    """Return what is looked up, then the other hits if the query has more."""
    if looked_up.is_all or not looked_up.hits:
        return list(looked_up.hits or hits)
    known = {(hit.chunk.root, hit.chunk.id) for hit in looked_up.hits}
    least = looked_up.hits[-1].score
    others = (hit for hit in hits if (hit.chunk.root, hit.chunk.id) not in known)
    return [*looked_up.hits, *(hit if hit.score <= least else replace(hit, score=least) for hit in others)]
