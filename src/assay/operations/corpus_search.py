"""Search one corpus by its settings: looked-up places, ranked hits, and what is shown beside them.

A first search finds a fixed number of hits and each deeper one adds to them: how much is asked for never changes an
order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from math import inf
from pathlib import Path

from assay import plugins
from assay.errors import InputError
from assay.protocols import Encoder, Scorer, Searcher
from assay.search import retrievers
from assay.search.declared_names import typed_names
from assay.search.hybrid import LearnedSearcher, is_relevant
from assay.search.issues import IssueSearcher
from assay.search.looked_up import LookedUp, united, with_looked_up
from assay.search.messages import chunks_with_message
from assay.search.named_places import lines_named, places_of
from assay.search.operation_answers import answer_to
from assay.search.operation_questions import operations_asked
from assay.search.part_names import names_like
from assay.search.past_changes import PastChanges
from assay.search.question import Speller, understand
from assay.search.ranking import SHIPPED
from assay.search.sections import FOUND, SURE, asks_how, likely_sections, may_have_sections
from assay.search.translation import Reading, Translator
from assay.settings import SearchSettings
from assay.store.snapshot import Snapshot
from assay.terms import stem
from assay.values import Hit, Query


@cache
def dictionary() -> frozenset[str]:
    """Return the words that are spelt right even if a corpus lacks them: the vocabulary of the default encoder."""
    from assay.encode.static import DEFAULT_FOLDER, VOCABULARY, entries_in

    return frozenset(filter(str.isalpha, entries_in(DEFAULT_FOLDER / VOCABULARY)))


def _is_word(name: str) -> bool:
    """Return whether a name is a word in lower case of which the dictionary has other forms, not only its beginning."""
    if not name.isalpha() or not name.islower() or name not in dictionary():
        return False
    return len(name) - len(stem(name)) > 1 or any(f"{name}{ending}" in dictionary() for ending in _ENDINGS)


_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ly")


@cache
def translator() -> Translator:
    """Return the reader of questions in other languages than English, which every corpus shares."""
    return Translator(dictionary)


def read_queries(queries: Sequence[Query]) -> tuple[list[Query], list[Reading]]:
    """Return queries in English, and how each was read."""
    readings = [translator().read(query.text) for query in queries]
    return [replace(query, text=one.text) for query, one in zip(queries, readings, strict=True)], readings


def check(settings: SearchSettings) -> None:
    """Refuse settings from which no pipeline can be built, before an index is."""
    if settings.ranking == "fused" and not settings.vector_weight + settings.keyword_weight:
        raise InputError("search.vector_weight and search.keyword_weight are both 0; give one of them a weight")
    if settings.reranker:
        kind = settings.reranker.partition(":")[0]
        if kind == "ranker":
            raise InputError(
                f"search.reranker is '{settings.reranker}', which orders programs of one task and cannot order answers "
                "to a question; use a scorer such as cross:FOLDER"
            )
        plugins.place("scorer", kind)
    if not weights_folder(settings).is_dir():
        wrong = f"search.weights is '{settings.weights}', not a folder"
        raise InputError(f"{wrong}; make one with assay train ranking")


def weights_folder(settings: SearchSettings) -> Path:
    """Return the folder of the weights of the learned ranking: that of the settings, or the one that ships."""
    return Path(settings.weights) if settings.weights else SHIPPED


def _unlearned(snapshot: Snapshot, encoder: Encoder, settings: SearchSettings) -> Searcher:
    """Return a searcher without learned weights: by vectors, by words, or by both, fused."""
    if settings.ranking == "vectors":
        return retrievers.VectorSearcher(snapshot, encoder)
    if settings.ranking == "keywords":
        return retrievers.KeywordSearcher(snapshot)
    vectors = retrievers.Member("vectors", retrievers.VectorSearcher(snapshot, encoder), settings.vector_weight)
    keywords = retrievers.Member("keywords", retrievers.KeywordSearcher(snapshot), settings.keyword_weight)
    return retrievers.FusedSearcher((vectors, keywords), settings.fusion)


DEPTHS = (30, 200, 1000)
"""How many hits a first search finds, which reads as many texts and orders them, and how many each deeper one."""


Listing = Callable[[Sequence[Sequence[Hit]]], list[Hit]]


def one_list(blocks: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of all searches in one list, unchanged."""
    return list(chain.from_iterable(blocks))


def hits_by_depth(ask: Callable[[int], Sequence[Hit]], size: int, limit: int, listed: Listing = one_list) -> list[Hit]:
    """Return the hits of a first search, then those that each deeper one adds, until there are enough.

    How much is asked for thus never changes an order. `ask` finds so many hits among `size` chunks; what a deeper
    search adds scores at most as much as the last before it. `listed` makes one list of all of them.
    """
    blocks, known, least = list[list[Hit]](), set[tuple[str, str]](), inf
    for depth in DEPTHS:
        found = ask(depth)
        more = [hit for hit in found if (hit.chunk.root, hit.chunk.id) not in known]
        blocks.append([replace(hit, score=least) if hit.score > least else hit for hit in more])
        least = min([least, *(hit.score for hit in blocks[-1])])
        known |= {(chunk.root, chunk.id) for hit in found for chunk in (hit.chunk, *hit.others)}
        hits = listed(blocks)
        if size <= depth or len(hits) >= limit:
            break
    return hits[:limit]


@dataclass(frozen=True, slots=True)
class CorpusAnswer:
    """The answer of one corpus to some queries together."""

    hits: list[Hit]
    texts: list[str]
    """The texts that were searched, with their spelling corrected."""
    relevant: bool
    """Whether a hit is likely right; where scores are not probabilities, any is."""
    sections: list[Hit] = field(default_factory=list)
    """Sections of documentation, if code was searched and they are likely right, too."""


@dataclass(frozen=True)
class CorpusSearch:
    """One corpus with all that its settings ask for; each part is built when it is first needed."""

    snapshot: Snapshot
    encoder: Encoder
    settings: SearchSettings
    guard: retrievers.IndexGuard
    past: PastChanges | None = None
    """The commits of the corpus' files, where these are in a repository with a history."""

    @cached_property
    def speller(self) -> Speller:
        """Return the speller of queries."""
        return Speller(self.snapshot, dictionary)

    @cached_property
    def searcher(self) -> Searcher:
        """Return the searcher of queries that are read and corrected."""
        if self.settings.ranking != "learned":
            return _unlearned(self.snapshot, self.encoder, self.settings)
        return IssueSearcher(self.learned, self.snapshot, self.speller)

    @cached_property
    def learned(self) -> LearnedSearcher:
        """Return the searcher with the learned ranking."""
        return LearnedSearcher(self.snapshot, self.encoder, weights_folder(self.settings), past=self.past)

    @cached_property
    def scorer(self) -> Scorer:
        """Return the reranker."""
        made: Scorer = plugins.make("scorer", self.settings.reranker)
        return made

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return the best hits of each query, after reading it in its language; `k` never changes their order."""
        read, _ = read_queries(queries)
        reranked = bool(self.settings.reranker)
        with self.guard.reading():
            corrected = list(map(self._corrected, read))
            first = self._search(read, corrected, DEPTHS[0], reranked=reranked)
            named = list(map(self._looked_up, queries))

            def hits_of(at: int) -> list[Hit]:
                one = slice(at, at + 1)

                def ask(depth: int) -> list[Hit]:
                    again = depth > DEPTHS[0]
                    hits = self._search(read[one], corrected[one], depth, reranked=reranked)[0] if again else first[at]
                    return with_looked_up(named[at], hits)

                return hits_by_depth(ask, self.snapshot.size, k)

            return list(map(hits_of, range(len(queries))))

    def answer(self, queries: Sequence[Query], k: int, *, reranked: bool = True, guesses: bool = False) -> CorpusAnswer:
        """Return the best hits of some queries that were read, united, and sections beside code if `guesses`."""
        reranked, is_learned = reranked and bool(self.settings.reranker), self.settings.ranking == "learned"
        sections = list[Hit]()
        with self.guard.reading():
            corrected = list(map(self._corrected, queries))
            if guesses and is_learned and not reranked and all(map(may_have_sections, corrected)):
                both = self.learned.search_beside(corrected, k, FOUND)
                hits = retrievers.union([code for code, _ in both], k)
                sections = self._likely_sections([docs for _, docs in both], hits, corrected)
            else:
                hits = retrievers.union(self._search(queries, corrected, k, reranked=reranked), k)
        relevant = bool(hits)
        if is_learned and not reranked:  # which only says which of some texts is the better one
            relevant = self._is_relevant(hits) or bool(sections)
        return CorpusAnswer(hits, [query.text for query in corrected], relevant, sections)

    def _likely_sections(
        self, answers: Sequence[Sequence[Hit]], hits: Sequence[Hit], queries: Sequence[Query]
    ) -> list[Hit]:
        sections = retrievers.union(answers, FOUND)
        how = any(asks_how(query.text) for query in queries)
        sure = how or self._is_relevant(hits) or bool(sections and sections[0].score >= SURE)
        return likely_sections(sections, hits, how=how) if sure and self._is_relevant(sections) else []

    def _is_relevant(self, hits: Sequence[Hit]) -> bool:
        return is_relevant(hits, self.snapshot, self.encoder, weights_folder(self.settings))

    def holds(self, query: Query) -> bool:
        """Return whether a query names lines of this corpus, or pastes a message that is in it."""
        with self.guard.reading():
            question = understand(query.text)
            terms = retrievers.match(self.snapshot, question.terms)
            named = lines_named(self.snapshot, query).hits
            return bool(named or chunks_with_message(self.snapshot, question, terms, None))

    def looked_up(self, queries: Sequence[Query]) -> LookedUp:
        """Return what queries name, as they were typed."""
        with self.guard.reading():
            return united(list(map(self._looked_up, queries)))

    def asked_operations(self, queries: Sequence[Query]) -> LookedUp:
        """Return the answers of the operations that queries ask for, of each the first whose name is declared here."""
        with self.guard.reading():
            return united([self._asked_operation(query) for query in queries if query.mode == "code"])

    def _asked_operation(self, query: Query) -> LookedUp:
        def ranked() -> list[Hit]:
            return self.searcher.search([query], DEPTHS[0])[0]

        found = (answer_to(self.snapshot, asked, ranked) for asked in operations_asked(query.text))
        return next(filter(None, found), LookedUp())

    def _looked_up(self, query: Query) -> LookedUp:
        """Return the lines that a query names, or else declarations of names that resemble the one it asks for."""
        named = lines_named(self.snapshot, query)
        return named if named.hits or named.passed else self._names_like(query)

    def _names_like(self, query: Query) -> LookedUp:
        """Return declarations of names that resemble the one asked for, unless that is a word that the corpus holds."""
        target = typed_names(query.text).target
        if target is None or (_is_word(target.name) and self.snapshot.holds(stem(target.name))):
            return LookedUp()
        return names_like(self.snapshot, query)

    def _corrected(self, query: Query) -> Query:
        if any(place.line for place in places_of(query.text)) or self._names_like(query).hits:
            return query
        text = self.speller.corrected(query.text)
        return query if text == query.text else replace(query, text=text)

    def _search(
        self, queries: Sequence[Query], corrected: Sequence[Query], k: int, *, reranked: bool
    ) -> list[list[Hit]]:
        """Return the hits of each query; a reranker reads the query as it was before its spelling was corrected.

        It orders as many of the first hits as the settings say, however many are asked for.
        """
        read = self.settings.rerank_depth if reranked else 0
        by_meaning = iter(self.searcher.search([query for query in corrected if query.text], max(k, read)))
        answers = [
            next(by_meaning) if query.text else retrievers.listing(self.snapshot, query, k) for query in corrected
        ]
        if not read:
            return answers
        pairs = zip(queries, answers, strict=True)
        return [self._reranked(query, hits, read)[:k] if query.text else hits for query, hits in pairs]

    def _reranked(self, query: Query, hits: Sequence[Hit], depth: int) -> list[Hit]:
        first = retrievers.rerank(self.scorer, query, hits[:depth])
        least = min((hit.score for hit in first), default=0.0)
        return [*first, *(replace(hit, score=min(hit.score, least)) for hit in hits[depth:])]
