"""Searches to turns: those that only compute are answered one after another, each as fast as it can be.

The interpreter runs one thread at a time. Threads that rank side by side hand it to one another at every array, and
together answer a quarter fewer questions than one alone. What waits for somebody else, a reranker or a model of the
encoder's, takes no turn, nor does what reads every text for a quoted one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Lock

from assay.assemble.indexes import is_quick
from assay.assemble.workspace import JointSearch
from assay.types import Query

_turn = Lock()


def turn(searches: Sequence[JointSearch], queries: Sequence[Query]) -> AbstractContextManager[object]:
    """Return what to search in: a turn, or nothing where it would be kept for long."""
    is_short = all(map(_only_computes, searches)) and not any(query.reads_text for query in queries)
    return _turn if is_short else nullcontext()


def _only_computes(search: JointSearch) -> bool:
    settings = search.members[0].settings
    return not settings.search.reranker and is_quick(settings.encoder.spec)
