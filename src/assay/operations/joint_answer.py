"""Search several corpora for several queries and unite the answers, with all places of what the queries quote.

Quotes that stand nowhere are dropped first, with a note. This is the one way from queries to hits, for commands,
servers and programs alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import DamagedIndex, MissingExtra, ModelUnavailable
from assay.operations.corpus_search import CorpusAnswer, Listing, hits_by_depth, one_list, read_queries
from assay.operations.joint_search import JointSearch
from assay.search.filters import filter_mask
from assay.search.looked_up import LookedUp, in_several, united, with_looked_up
from assay.search.operation_questions import operations_asked
from assay.search.path_filters import reading_order
from assay.search.query_filters import query_words
from assay.search.sections import SECTIONS
from assay.search.translation import Reading, unread_note
from assay.values import Chunk, Hit, Problem, Query

if TYPE_CHECKING:
    from assay.search.text_matches import TextMatch


def without_missing(searches: Sequence[JointSearch], queries: Sequence[Query]) -> tuple[list[Query], list[str]]:
    """Return queries without the quoted texts that occur nowhere, and a note on each: a person may be quoted."""
    kept, notes = [], []
    for query in queries:
        if query.exact and not any(_keeps_any(each, replace(query, patterns=())) for each in searches):
            quoted = " and ".join(f'"{text}"' for text in query.exact)
            notes.append(f"no searched text contains {quoted} exactly; searched without it")
            query = replace(query, exact=())  # noqa: PLW2901  the same query from here on
        kept.append(query)
    return kept, notes


def _keeps_any(search: JointSearch, query: Query) -> bool:
    with search.corpus_search.guard.reading():
        mask = filter_mask(search.corpus_search.snapshot, query)
    return mask is None or bool(mask.any())


def _asks_something(query: Query) -> bool:
    """Return whether a query has more than quoted texts."""
    return query.reads_text or not query.text or query_words(query.text).by_meaning


def matches_of(searches: Sequence[JointSearch], queries: Sequence[Query], *, rooted: bool) -> tuple[TextMatch, ...]:
    """Return where texts and expressions occur; paths begin with their root if there are several."""
    from assay.search.text_matches import MAX_MATCHES, text_matches  # not for most searches

    found: set[TextMatch] = set()
    for each in searches:
        search = each.corpus_search
        name = each.members[0].name if rooted and len(each.members) == 1 else ""
        with search.guard.reading():
            masks = ((query, filter_mask(search.snapshot, query)) for query in queries)
            places = (one for query, mask in masks for one in text_matches(search.snapshot, query, mask, MAX_MATCHES))
            found.update(replace(place, path=Path(name, place.path).as_posix()) if name else place for place in places)
    return tuple(sorted(found, key=reading_order)[:MAX_MATCHES])


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """The hits of some queries in some searches, best first, and notes on them."""

    hits: tuple[Hit, ...]
    relevant: bool = True
    """Whether the best hit is likely right, rather than only the nearest."""
    corrected: tuple[str, ...] = ()
    """The queries as they were searched, if the spelling of one was corrected, or one was not in English."""
    language: str = ""
    """The language of a query that is not in English."""
    stale: bool = False
    """Whether changed files are not in the index: another process is indexing them, or it cannot be written."""
    notes: tuple[str, ...] = ()
    """What the answer lacks, and why: a reranker, or the words of a language that is not supported."""
    matches: tuple[TextMatch, ...] | None = None
    """Every place of what a query quotes or of one of its expressions."""
    problems: tuple[Problem, ...] = ()
    """Roots that could not be searched, each with the reason; the hits are from the others."""
    sections: tuple[Hit, ...] = ()
    """Sections of documentation, beside code."""


def joint_answer(  # noqa: PLR0913  what is asked of what, and how it is listed
    searches: Sequence[JointSearch],
    queries: Sequence[Query],
    limit: int,
    listed: Listing = one_list,
    *,
    rooted: bool,
    guesses: bool = False,
) -> JointAnswer:
    """Search for every query in all searches, and return one answer; their probabilities are comparable as they are.

    With `rooted`, each chunk knows which root it is from; paths are relative to it. `listed` makes one list of the hits
    of the first search and those of each deeper one; how it begins does not depend on the limit. With `guesses`, an
    operation that a question asks for is looked up, and documentation stands beside code where it is likely.
    """
    answers: list[JointAnswer] = []

    def ask(depth: int) -> Sequence[Hit]:
        beside = guesses and not answers  # a deeper search only adds to the first
        answers.append(_answer(searches, queries, depth, rooted=rooted, guesses=beside))
        return answers[-1].hits

    size = sum(each.corpus_search.snapshot.size for each in searches)
    hits = hits_by_depth(ask, size, limit, listed)
    return replace(answers[0], hits=tuple(hits))


def _answer(
    searches: Sequence[JointSearch], queries: Sequence[Query], depth: int, *, rooted: bool, guesses: bool
) -> JointAnswer:
    queries, notes = without_missing(searches, queries)
    asks_more = not notes or any(map(_asks_something, queries))
    read, readings = _read(searches, queries)
    answers = [_ask(each, read, depth, guesses=guesses) for each in searches]
    quoting = [query for query in queries if query.reads_text]
    unread = [one for one, query in zip(readings, queries, strict=True) if not (one.is_read or query.reads_text)]
    notes += [each.note for each in answers] + [unread_note(one.language) for one in unread]
    asked = [each.search for each in answers]
    named = _looked_up(asked, queries, rooted=rooted, guesses=guesses)
    notes += named.every_note
    found = [each.answer for each in answers]
    understood = asks_more and any(one.is_read for one in readings)
    return JointAnswer(
        hits=tuple(with_looked_up(named, _united(answers, rooted=rooted))[:depth]),
        relevant=bool(named.hits) or _is_relevant(found, queries, understood=understood),
        corrected=_corrected(queries, read, found),
        language=", ".join(dict.fromkeys(one.language for one in readings if one.language and one.is_read)),
        stale=any(member.report.stale for each in asked for member in each.members),
        notes=tuple(dict.fromkeys(filter(None, notes))),
        matches=matches_of(asked, quoting, rooted=rooted) if quoting else None,
        problems=tuple(problem for each in asked for problem in each.problems),
        sections=() if named.is_exact else tuple(_sections(answers, rooted=rooted)),
    )


def _is_relevant(answers: Sequence[CorpusAnswer], queries: Sequence[Query], *, understood: bool) -> bool:
    """Return whether some answer is likely right; the hits of a query that quotes or is an expression always are."""
    holds_text = all(query.reads_text for query in queries) and any(answer.hits for answer in answers)
    return holds_text or (understood and any(answer.relevant for answer in answers))


def _read(searches: Sequence[JointSearch], queries: Sequence[Query]) -> tuple[list[Query], list[Reading]]:
    """Return queries in English, and how each was read; a text that is looked up is not translated."""
    found, readings = read_queries(queries)
    for at, (query, reading) in enumerate(zip(queries, readings, strict=True)):
        if reading.text != query.text and any(each.corpus_search.holds(query) for each in searches):
            found[at], readings[at] = query, Reading(query.text)
    return found, readings


class _SearchAnswer(NamedTuple):
    """The answer of one search, the search, and why it is not reranked as its settings ask, or an empty text."""

    answer: CorpusAnswer
    search: JointSearch
    note: str


def _united(answers: Sequence[_SearchAnswer], *, rooted: bool) -> list[Hit]:
    """Return the hits of all searches, best first; the hits of one search keep their order."""
    return _in_one([(each.answer.hits, each.search) for each in answers], rooted=rooted)


def _sections(answers: Sequence[_SearchAnswer], *, rooted: bool) -> list[Hit]:
    return _in_one([(each.answer.sections, each.search) for each in answers], rooted=rooted)[:SECTIONS]


def _in_one(answers: Sequence[tuple[Sequence[Hit], JointSearch]], *, rooted: bool) -> list[Hit]:
    hits: list[Hit] = []
    for own, search in answers:
        hits += (_of_root(hit, search.members[0].name) for hit in own) if rooted else own
    return hits if len(answers) == 1 else sorted(hits, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path))


def _looked_up(searches: Sequence[JointSearch], queries: Sequence[Query], *, rooted: bool, guesses: bool) -> LookedUp:
    """Return what queries name, and the answers of their operations; with `rooted`, each place knows its root."""
    is_asked = guesses and any(operations_asked(query.text) for query in queries)
    members = [member for each in searches for member in each.members] if is_asked else []
    named = [(each.corpus_search.looked_up(queries), each.members[0].name) for each in searches]
    asked = [(member.corpus_search.asked_operations(queries), member.name) for member in members]
    both = [in_several(_of_roots(named, rooted=rooted)), *_of_roots(asked, rooted=rooted)]
    return united(both)


def _of_roots(looked_up: Sequence[tuple[LookedUp, str]], *, rooted: bool) -> list[LookedUp]:
    if not rooted:
        return [one for one, _ in looked_up]
    return [one._replace(hits=tuple(_of_root(hit, name) for hit in one.hits)) for one, name in looked_up]


def _ask(joint: JointSearch, queries: Sequence[Query], k: int, *, guesses: bool) -> _SearchAnswer:
    """Return the answer of one search; damaged roots are left out unless all are."""
    search = joint.corpus_search
    try:
        return _SearchAnswer(search.answer(queries, k, guesses=guesses), joint, "")
    except (ModelUnavailable, MissingExtra) as error:
        if not (reranker := search.settings.reranker):
            raise
        note = f"not reranked by '{reranker}': {error}"
        return _SearchAnswer(search.answer(queries, k, reranked=False), joint, note)
    except DamagedIndex:
        if len(joint.members) == 1:
            raise
    return _ask(joint.without_damaged(), queries, k, guesses=guesses)


def _corrected(
    queries: Sequence[Query], in_english: Sequence[Query], answers: Sequence[CorpusAnswer]
) -> tuple[str, ...]:
    """Return the queries as the first search corrected them; none if no search did."""
    before = [query.text for query in in_english]
    texts = next((found.texts for found in answers if found.texts != before), before)
    return () if texts == [query.text for query in queries] else tuple(texts)


def _of_root(hit: Hit, name: str) -> Hit:
    """Return a hit that knows its root: its own, or the name of the only one that was searched."""
    return hit if hit.chunk.root else _with_chunks(hit, lambda chunk: replace(chunk, root=name))


def _with_chunks(hit: Hit, changed: Callable[[Chunk], Chunk]) -> Hit:
    return replace(hit, chunk=changed(hit.chunk), others=tuple(map(changed, hit.others)))
