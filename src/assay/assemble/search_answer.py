"""Queries and workspaces to one answer: the best hits of all, whether they are relevant, what was asked in fact.

The one way from a question to an answer, for the command line, the servers and programs alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from assay.assemble.pipeline import translator
from assay.assemble.workspace import Workspace
from assay.errors import MissingExtra, ModelUnavailable
from assay.search.literal import LiteralMatch, literal_matches, reading_order
from assay.search.rerank import UNREAD
from assay.search.translation import unread_note
from assay.types import Hit, Query

_TOO_LATE = (
    "the reranker had no time to read {unread} of the first hits, which keep the order of the ranking; "
    "a search.rerank_ms of more than {ms} gives it more"
)


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The hits of a search, best first, and what is to be known about them.

    >>> import assay
    >>> answer = assay.search("where is mail sent", ".")
    >>> answer.relevant
    True
    >>> [hit.chunk.symbol for hit in answer][0]
    'send_mail'
    """

    hits: tuple[Hit, ...]
    relevant: bool = True
    """Whether the best hit is likely right, rather than only the nearest."""
    corrected: tuple[str, ...] = ()
    """The queries as they were searched for, if the spelling of one was corrected, or one was not in English."""
    language: str = ""
    """The language that a query was read in, if that is not English."""
    stale: bool = False
    """Whether files changed that are not in the index: another process is indexing them, or it cannot be written."""
    notes: tuple[str, ...] = ()
    """What the answer does without, and why: a reranker in time, or the words of a language that is not read."""
    matches: tuple[LiteralMatch, ...] | None = None
    """Every place that holds a query letter by letter, if that was asked for."""

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return bool(self.hits or self.matches)

    def __len__(self) -> int:
        """Count the hits."""
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        """Yield the hits, best first."""
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        """Return a hit by its place, or several."""
        return self.hits[index]


def answer(
    workspaces: Sequence[Workspace], queries: Sequence[Query], k: int, *, literal: bool = False, named: bool = False
) -> Answer:
    """Ask every workspace every query and unite what they found; scores of several roots are compared as they are.

    With `literal`, count every place that holds a query letter by letter. With `named`, and with several workspaces,
    each path has the name of its root before it, so that it can be opened from where that name was given.
    """
    hits: list[Hit] = []
    notes: list[str] = []
    places: set[LiteralMatch] = set()
    sure, named = False, named or len(workspaces) > 1
    for workspace in workspaces:
        found, note = _found(workspace, queries, k)
        notes += [note] if note else []
        sure = sure or workspace.is_relevant(found, reranked=not note)
        hits += (_with_workspace_path(hit, workspace) for hit in found) if named else found
        for query in queries if literal else ():
            with workspace.guard.reading():
                every = literal_matches(workspace.snapshot, query)
            places.update(replace(each, path=_path(workspace, each.path)) if named else each for each in every)
    if len(workspaces) > 1:
        hits.sort(key=lambda hit: -hit.score)
    readings = [translator().read(query.text) for query in queries]
    notes += [unread_note(one.language) for one in readings if not one.is_read]
    return Answer(
        hits=tuple(hits[:k]),
        relevant=bool(places) or (sure and any(one.is_read for one in readings)),
        corrected=_corrected(workspaces, queries, tuple(one.text for one in readings)),
        language=", ".join(dict.fromkeys(one.language for one in readings if one.language and one.is_read)),
        stale=any(workspace.report.stale for workspace in workspaces),
        notes=tuple(dict.fromkeys(notes)),
        matches=tuple(sorted(places, key=reading_order)) if literal else None,
    )


def _found(workspace: Workspace, queries: Sequence[Query], k: int) -> tuple[list[Hit], str]:
    """Return the hits of one workspace, and how they are not reranked as its settings ask, if they are not."""
    settings = workspace.settings.search
    try:
        hits = workspace.search(queries, k)
    except (ModelUnavailable, MissingExtra) as error:
        if not settings.reranker:
            raise
        without = f"not reranked by '{settings.reranker}': {error}"
        return workspace.search(queries, k, reranked=False), without
    unread = UNREAD.get() if settings.reranker else 0
    return hits, _TOO_LATE.format(unread=unread, ms=settings.rerank_ms) if unread else ""


def related_answer(workspace: Workspace, path: str, line: int, k: int, *, named: bool = False) -> Answer:
    """Return what has to do with the unit at a line of a file: what it calls, what calls it, what is like it."""
    from assay.search.related_chunks import related  # and what finds calls in code: not for a search

    with workspace.guard.reading():
        found = related(workspace.snapshot, path, line, k)
    hits = tuple(_with_workspace_path(hit, workspace) if named else hit for hit in found)
    return Answer(hits, relevant=bool(hits), stale=workspace.report.stale)


def _corrected(workspaces: Sequence[Workspace], queries: Sequence[Query], read: tuple[str, ...]) -> tuple[str, ...]:
    """Return the queries as read, their spelling corrected by the first workspace that corrects one.

    Return none where that is what was typed.
    """
    for workspace in workspaces:
        with workspace.guard.reading():
            corrected = tuple(map(workspace.speller.corrected, read))
        if corrected != read:
            return corrected
    return () if read == tuple(query.text for query in queries) else read


def _with_workspace_path(hit: Hit, workspace: Workspace) -> Hit:
    return replace(hit, chunk=replace(hit.chunk, path=_path(workspace, hit.chunk.path)))


def _path(workspace: Workspace, path: str) -> str:
    return Path(workspace.name, path).as_posix()
