"""A question to what it finds, counted: by repository, language and kind, over the best hits that may be paged through.

A search says which answers are best; this says what there is to narrow it down to, so it may come after the answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.assemble.answer import joint_answer, repositories_in
from assay.assemble.many_roots import repository_name
from assay.assemble.workspace import JointSearch, joint_searches
from assay.errors import InputError
from assay.serve.search_tools import DEEPEST, SearchFilter, checked_queries
from assay.serve.session import Session, check_globs
from assay.serve.turns import turn

_MOST_VALUES = 250
_DESCRIBED = {"use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """How many of the best hits there are of each repository, language and kind, most first."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    counted: int
    """Hits that were counted."""
    repositories: dict[str, int]
    """By name; empty where one folder was searched."""
    languages: dict[str, int]
    kinds: dict[str, int]


def facet_counts(session: Session, texts: Sequence[str], path: str, keep: SearchFilter) -> FacetCounts:
    """Count the best hits of some questions, in one place or in every served folder that is kept."""
    keep = replace(keep, repositories=keep.repositories + repositories_in(texts))
    if path and keep.repositories:
        raise InputError("repo keeps to some of the served folders, and path names one: leave one of them out")
    several = bool(keep.repositories) or (not path and session.are_several)
    if several:
        check_globs((*keep.globs, *keep.repositories))
        queries = checked_queries(texts, keep.globs, keep)
        searches: Sequence[JointSearch] = session.everything.view(keep.repositories).searches
    else:
        place = session.place(path)
        queries = checked_queries(texts, place.globs(keep.globs), keep)
        searches = joint_searches([place.engine.view().workspace])
    with turn(searches, queries):
        chunks = [hit.chunk for hit in joint_answer(searches, queries, DEEPEST, rooted=several)]
    return FacetCounts(
        len(chunks),
        _counts(repository_name(chunk.root) for chunk in chunks) if several else {},
        _counts(chunk.language for chunk in chunks),
        _counts(chunk.kind for chunk in chunks),
    )


def _counts(values: Iterable[str]) -> dict[str, int]:
    return {value: count for value, count in Counter(values).most_common(_MOST_VALUES) if value}
