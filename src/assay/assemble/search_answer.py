"""Queries and workspaces to one answer: the best hits of all, whether they are relevant, what was asked in fact.

The one way from a question to an answer, for the command line, the servers and programs alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from assay.assemble.corpus_search import CorpusSearch
from assay.assemble.joint_search import JointSearch, joint_searches
from assay.assemble.pipeline import translator
from assay.assemble.quoted_texts import asks_something, counted_matches, matches_of, without_missing
from assay.assemble.workspace import Workspace
from assay.errors import DamagedIndex, MissingExtra, ModelUnavailable
from assay.search.text_matches import TextMatch
from assay.search.translation import unread_note
from assay.types import Chunk, Hit, Problem, Query


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
    """What the answer does without, and why: a reranker, or the words of a language that is not read."""
    matches: tuple[TextMatch, ...] | None = None
    """Every place that holds what a query quotes or one of its expressions, or, if asked for, a query itself."""
    problems: tuple[Problem, ...] = ()
    """Roots that could not be asked, each with the reason; the hits are those of the others."""
    truncated: bool = False
    """Whether there was no time to ask every root, or to bring it up to date; `problems` names these, too."""

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
    """Ask all workspaces every query, in one pass where their settings are the same.

    With `literal`, count every place that holds a query letter by letter. With `named`, and with several workspaces,
    each path has the name of its root before it, so that it can be opened from where that name was given.
    """
    named = named or len(workspaces) > 1
    searches = joint_searches(workspaces)
    found = joint_answer(searches, queries, k, rooted=named)
    if named:
        found = replace(found, hits=tuple(map(_with_root_before_path, found.hits)))
    if not literal or found.matches is not None:
        return found
    every = matches_of(searches, queries, rooted=named)
    return replace(found, relevant=found.relevant or bool(every), matches=every)


def joint_answer(searches: Sequence[JointSearch], queries: Sequence[Query], k: int, *, rooted: bool = False) -> Answer:
    """Ask every query what some searches search, and return one answer; their probabilities compare as they are.

    With `rooted`, each chunk knows which root it is from. Paths are relative to it.
    """
    hits: list[Hit] = []
    asked: list[JointSearch] = []
    sure = False
    queries, notes = without_missing(searches, queries)
    asks_more = not notes or any(map(asks_something, queries))
    for each in searches:
        found, note, search = _found(each, queries, k)
        asked.append(search)
        notes += [note] if note else []
        sure = sure or search.corpus_search.is_relevant(found, reranked=not note)
        hits += (_of_root(hit, search.members[0].name) for hit in found) if rooted else found
    if len(searches) > 1:
        hits.sort(key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path))
    readings = [translator().read(query.text) for query in queries]
    notes += [unread_note(one.language) for one in readings if not one.is_read]
    return Answer(
        hits=tuple(hits[:k]),
        relevant=sure and any(one.is_read for one in readings) and asks_more,
        corrected=_corrected(asked, queries, tuple(one.text for one in readings)),
        language=", ".join(dict.fromkeys(one.language for one in readings if one.language and one.is_read)),
        stale=any(member.report.stale for each in asked for member in each.members),
        notes=tuple(dict.fromkeys(notes)),
        matches=counted_matches(asked, queries, rooted=rooted),
        problems=tuple(problem for each in asked for problem in each.problems),
    )


def _found(joint: JointSearch, queries: Sequence[Query], k: int) -> tuple[list[Hit], str, JointSearch]:
    """Return the hits of one search, how they are not reranked as its settings ask, if they are not, and what answered.

    What is damaged is left out where it is not all there is.
    """
    try:
        return *_reranked(joint.corpus_search, queries, k), joint
    except DamagedIndex:
        if len(joint.members) == 1:
            raise
    return _found(joint.without_damaged(), queries, k)


def _reranked(search: CorpusSearch, queries: Sequence[Query], k: int) -> tuple[list[Hit], str]:
    settings = search.settings
    try:
        return search.search(queries, k), ""
    except (ModelUnavailable, MissingExtra) as error:
        if not settings.reranker:
            raise
        without = f"not reranked by '{settings.reranker}': {error}"
        return search.search(queries, k, reranked=False), without


def _corrected(searches: Sequence[JointSearch], queries: Sequence[Query], read: tuple[str, ...]) -> tuple[str, ...]:
    """Return the queries as read, their spelling corrected by the first search that corrects one.

    Return none where that is what was typed.
    """
    for search in (each.corpus_search for each in searches):
        with search.guard.reading():
            corrected = tuple(map(search.speller.corrected, read))
        if corrected != read:
            return corrected
    return () if read == tuple(query.text for query in queries) else read


def _of_root(hit: Hit, name: str) -> Hit:
    """Return a hit that knows its root, by the name of the one that was searched alone if it does not."""
    return hit if hit.chunk.root else _with_chunks(hit, lambda chunk: replace(chunk, root=name))


def _with_root_before_path(hit: Hit) -> Hit:
    return _with_chunks(hit, lambda chunk: replace(chunk, path=_path(chunk.root, chunk.path)))


def _with_chunks(hit: Hit, changed: Callable[[Chunk], Chunk]) -> Hit:
    return replace(hit, chunk=changed(hit.chunk), others=tuple(map(changed, hit.others)))


def _path(root: str, path: str) -> str:
    return Path(root, path).as_posix()
