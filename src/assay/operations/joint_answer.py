"""Ask several queries of several corpora and unite the answers, with all places of what the queries quote.

Quotes that stand nowhere are dropped first, with a note. This is the one way from queries to hits, for commands,
servers and programs alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import DamagedIndex, InputError, MissingExtra, ModelUnavailable, nearest
from assay.operations.requests import LONGEST_QUERY
from assay.operations.workspace import CorpusAnswer, JointSearch, hits_by_depth, read_queries
from assay.search.display import grouped
from assay.search.filters import filter_mask
from assay.search.question import query_words
from assay.search.translation import unread_note
from assay.values import KINDS, Chunk, Hit, Mode, Problem, Query

if TYPE_CHECKING:
    from assay.search.text_matches import TextMatch


def without_missing(searches: Sequence[JointSearch], queries: Sequence[Query]) -> tuple[list[Query], list[str]]:
    """Return queries without the quoted texts that no text holds, and a note on each: a quote may be of a person."""
    kept, notes = [], []
    for query in queries:
        if query.exact and not any(_keeps_any(each, replace(query, patterns=())) for each in searches):
            quoted = " and ".join(f'"{text}"' for text in query.exact)
            notes.append(f"no text that is searched holds {quoted} letter by letter; searched without that")
            query = replace(query, exact=())  # noqa: PLW2901  the same query from here on
        kept.append(query)
    return kept, notes


def _keeps_any(search: JointSearch, query: Query) -> bool:
    with search.corpus_search.guard.reading():
        mask = filter_mask(search.corpus_search.snapshot, query)
    return mask is None or bool(mask.any())


def _asks_something(query: Query) -> bool:
    """Say whether a query asks for more than texts in quotes that nothing holds."""
    return query.reads_text or not query.text or query_words(query.text).by_meaning


def matches_of(searches: Sequence[JointSearch], queries: Sequence[Query], *, rooted: bool) -> tuple[TextMatch, ...]:
    """Return where texts and expressions stand, for a reader; paths begin with their root if there are several."""
    from assay.search.text_matches import MOST_MATCHES, reading_order, text_matches  # not for most searches

    found: set[TextMatch] = set()
    for each in searches:
        search = each.corpus_search
        name = each.members[0].name if rooted and len(each.members) == 1 else ""
        with search.guard.reading():
            places = (place for query in queries for place in text_matches(search.snapshot, query, MOST_MATCHES))
            found.update(replace(place, path=Path(name, place.path).as_posix()) if name else place for place in places)
    return tuple(sorted(found, key=reading_order)[:MOST_MATCHES])


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """The hits of some queries in some searches, best first, and what is to be known about them."""

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
    """Every place that holds what a query quotes or one of its expressions."""
    problems: tuple[Problem, ...] = ()
    """Roots that could not be asked, each with the reason; the hits are those of the others."""


def joint_answer(
    searches: Sequence[JointSearch],
    queries: Sequence[Query],
    limit: int,
    *,
    rooted: bool = False,
    is_grouped: bool = False,
) -> JointAnswer:
    """Ask every query what some searches search, and return one answer; their probabilities compare as they are.

    With `rooted`, each chunk knows which root it is from; paths are relative to it. With `is_grouped`, one hit stands
    for several members of a type. The order of the hits does not depend on the limit.
    """
    answers: list[JointAnswer] = []

    def ask(depth: int) -> Sequence[Hit]:
        answers.append(_answer(searches, queries, depth, rooted=rooted))
        return answers[-1].hits

    def united(blocks: Sequence[Sequence[Hit]]) -> list[Hit]:
        return grouped(*blocks) if is_grouped else [hit for block in blocks for hit in block]

    size = sum(each.corpus_search.snapshot.size for each in searches)
    blocks = hits_by_depth(ask, size, lambda blocks: len(united(blocks)) >= limit)
    return replace(answers[0], hits=tuple(united(blocks)[:limit]))


def _answer(searches: Sequence[JointSearch], queries: Sequence[Query], depth: int, *, rooted: bool) -> JointAnswer:
    queries, notes = without_missing(searches, queries)
    asks_more = not notes or any(map(_asks_something, queries))
    read, readings = read_queries(queries)
    answers = [_ask(each, read, depth) for each in searches]
    quoting = [query for query in queries if query.reads_text]
    notes += [note for _, _, note in answers] + [unread_note(one.language) for one in readings if not one.is_read]
    asked = [search for _, search, _ in answers]
    return JointAnswer(
        hits=tuple(_united(answers, rooted=rooted)[:depth]),
        relevant=any(found.relevant for found, _, _ in answers) and any(one.is_read for one in readings) and asks_more,
        corrected=_corrected(queries, read, [found for found, _, _ in answers]),
        language=", ".join(dict.fromkeys(one.language for one in readings if one.language and one.is_read)),
        stale=any(member.report.stale for each in asked for member in each.members),
        notes=tuple(dict.fromkeys(filter(None, notes))),
        matches=matches_of(asked, quoting, rooted=rooted) if quoting else None,
        problems=tuple(problem for each in asked for problem in each.problems),
    )


def _united(answers: Sequence[tuple[CorpusAnswer, JointSearch, str]], *, rooted: bool) -> list[Hit]:
    """Return the hits of all searches, best first; those of one stay in its order."""
    hits: list[Hit] = []
    for found, search, _ in answers:
        hits += (_of_root(hit, search.members[0].name) for hit in found.hits) if rooted else found.hits
    return hits if len(answers) == 1 else sorted(hits, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path))


def _ask(joint: JointSearch, queries: Sequence[Query], k: int) -> tuple[CorpusAnswer, JointSearch, str]:
    """Return the answer of one search, what gave it, and how it is not reranked as its settings ask, if it is not.

    What is damaged is left out where it is not all there is.
    """
    search = joint.corpus_search
    try:
        return search.answer(queries, k), joint, ""
    except (ModelUnavailable, MissingExtra) as error:
        if not (reranker := search.settings.reranker):
            raise
        return search.answer(queries, k, reranked=False), joint, f"not reranked by '{reranker}': {error}"
    except DamagedIndex:
        if len(joint.members) == 1:
            raise
    return _ask(joint.without_damaged(), queries, k)


def _corrected(queries: Sequence[Query], read: Sequence[Query], answers: Sequence[CorpusAnswer]) -> tuple[str, ...]:
    """Return the queries as the first search that corrects one searched for them; none where that is what was typed."""
    before = [query.text for query in read]
    texts = next((found.texts for found in answers if found.texts != before), before)
    return () if texts == [query.text for query in queries] else tuple(texts)


def _of_root(hit: Hit, name: str) -> Hit:
    """Return a hit that knows its root, by the name of the one that was searched alone if it does not."""
    return hit if hit.chunk.root else _with_chunks(hit, lambda chunk: replace(chunk, root=name))


def _with_chunks(hit: Hit, changed: Callable[[Chunk], Chunk]) -> Hit:
    return replace(hit, chunk=changed(hit.chunk), others=tuple(map(changed, hit.others)))


_EVERYTHING = Query("", "", "all")
_FILTERS = [each.name for each in fields(Query) if str(each.type).startswith("tuple")]


def queries_of(texts: Sequence[str | Query], keep: Query = _EVERYTHING, *, mode: Mode | None = None) -> list[Query]:
    """Return queries with their filters, all of them checked; with none that keeps something they ask for code.

    A text may have query words, `lang:py "exact" /regex/`, which are taken out of it, but for `repo:`, which is for who
    chooses what is searched (`repositories_in`). A `Query` keeps its id, its text, its tags and the filters it has;
    those of `keep` are added to them.
    """
    languages, kinds = tuple(map(language_named, keep.languages)), tuple(map(_kind, keep.kinds))
    keep = replace(keep, languages=languages, kinds=kinds)
    named = mode or ("all" if _keeps((*languages, *keep.paths, *kinds)) else None)
    return [_query(str(number), text, named, keep) for number, text in enumerate(texts, 1)]


def repositories_in(texts: Sequence[str | Query]) -> tuple[str, ...]:
    """Return the globs of the repositories that texts keep to by the query word `repo:`."""
    typed = (query_words(text).repositories for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(one for found in typed for one in found))


def _query(number: str, text: str | Query, mode: Mode | None, keep: Query) -> Query:
    if isinstance(text, str):
        query = _query_of_text(number, text, mode)
    else:
        _check(text.text)
        query = text
    return replace(query, **{name: getattr(query, name) + getattr(keep, name) for name in _FILTERS})


def _query_of_text(number: str, text: str, mode: Mode | None) -> Query:
    """Return what somebody typed as a query; one with words that keep languages, files or kinds looks in everything.

    So does one that nothing is asked by meaning.
    """
    _check(text)
    words = query_words(text)
    everything = _keeps((*words.languages, *words.paths, *words.kinds)) or not words.by_meaning
    return Query(
        number,
        words.text,
        mode or ("all" if everything else "code"),
        tuple(map(language_named, words.languages)),
        words.paths,
        tuple(map(_kind, words.kinds)),
        words.symbols,
        words.exact,
        words.patterns,
    )


def _keeps(filters: Sequence[str]) -> bool:
    """Say whether filters name what is wanted; to leave something out is not to want all the rest."""
    return any(not one.startswith("!") for one in filters)


def _check(text: str) -> None:
    if not re.search(r"\w", text) and query_words(text).is_plain:
        raise InputError("the query holds no word to search for; ask something, such as 'where are retries handled'")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"the query has {len(text):,} characters, at most {LONGEST_QUERY:,} are searched; cut it")


def language_named(name: str) -> str:
    """Return the language that a name or a file extension says: `python` and `py` are one; `!` before it stays."""
    known = {*BY_EXTENSION.values(), *BY_NAME.values()}
    return _known("language", name, {**BY_EXTENSION, **dict(zip(known, known, strict=True))}, known)


def _kind(name: str) -> str:
    kinds = {kind: kind for kind in KINDS if kind}
    return _known("kind", name, kinds, kinds)


def _known(what: str, name: str, values: Mapping[str, str], near: Iterable[str]) -> str:
    if name.startswith("!"):
        return f"!{_known(what, name[1:], values, near)}"
    plain = name.lower().lstrip(".")
    if plain not in values:
        raise InputError(f"unknown {what} '{name}'; {nearest(plain, sorted(near))}")
    return values[plain]
