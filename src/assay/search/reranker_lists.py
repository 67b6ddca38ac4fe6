"""Sources, pairs and judged queries to lists for a reranker: each question with what the ranking finds for it.

The wrong texts are those that Assay itself mistakes for answers. A sentence of documentation asks for its unit among
all units of its source, each of which has lost the first sentence of its own, so that the lack of one tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby, islice
from pathlib import Path

from assay.encode.question_lists import QuestionList
from assay.encode.reranker_settings import RerankerSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.view import text_for, view
from assay.measure.line_spans import Span
from assay.protocols import Encoder, Say
from assay.search.harvest import PackageSource, chunks_of, without_question
from assay.search.hybrid import LearnedSearcher
from assay.search.ranking_examples import JudgedQuery, snapshot_of, worth_of
from assay.search.rerank import logit
from assay.search.spelling import Speller
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Query

_LEAST_UNITS = 30  # of a source; fewer hold no hard negatives


def source_lists(
    sources: Iterable[PackageSource], encoder: Encoder, settings: RerankerSettings, say: Say
) -> Iterator[QuestionList]:
    """Yield lists of the documented units of sources."""
    for source in sources:
        units = islice(chunks_of(source, settings.left_out), settings.chunks_a_source)
        asked = [without_question(chunk) for chunk in units if chunk.symbol]
        lists = _lists(asked, source.name, "doc", encoder, settings)
        if lists:
            say(f"{source.name}: {len(lists):,} lists")
            yield from lists


def pair_lists(pairs: Sequence[TrainingPair], encoder: Encoder, settings: RerankerSettings) -> Iterator[QuestionList]:
    """Yield lists of given pairs: the wrong texts are answers to other pairs of the same source."""
    for source, of in groupby(sorted(pairs, key=lambda pair: pair.source), key=lambda pair: pair.source):
        asked = [(pair.query, Chunk(str(at), pair.code, path=f"{at}")) for at, pair in enumerate(of)]
        yield from _lists(asked, source, "given", encoder, settings)


def judged_lists(  # noqa: PLR0913, PLR0917  what is asked where, and what finds it
    queries: Sequence[JudgedQuery],
    checkouts: Path,
    encoder: Encoder,
    dictionary: Callable[[], frozenset[str]],
    settings: RerankerSettings,
    say: Say,
) -> Iterator[QuestionList]:
    """Yield the first hits of judged queries in their own checkouts; those without an answer are lists, too."""
    for name, of in groupby(sorted(queries, key=lambda one: one.repository), key=lambda one: one.repository):
        snapshot = snapshot_of(checkouts / name, encoder)
        searcher = LearnedSearcher(snapshot, encoder, Speller(snapshot, dictionary))
        asked = list(of)
        answers = searcher.search([one.query for one in asked], settings.depth)
        say(f"{name}: {len(asked):,} judged queries")
        for one, hits in zip(asked, answers, strict=True):
            spans = (Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits)
            targets = [worth_of(span, one.entries) for span in spans]
            if hits:
                yield _list(one.query.text, hits, targets, one.group, "judged")


def _lists(
    asked: Sequence[tuple[str, Chunk]], source: str, kind: str, encoder: Encoder, settings: RerankerSettings
) -> list[QuestionList]:
    """Return a list for some of the units that have a question, chosen by what the question says."""
    questions = sorted(
        {question: at for at, (question, _) in enumerate(asked) if question}.items(),
        key=lambda item: sha256(item[0].encode("utf-8", "replace")).digest(),
    )[: settings.questions_a_source]
    if len(asked) < _LEAST_UNITS or not questions:
        return []
    chunks = [chunk for _, chunk in asked]
    snapshot = Snapshot.of(chunks, encoder.encode([text_for(encoder.name, chunk) for chunk in chunks], "code"))
    queries = [Query(str(at), question, "code") for question, at in questions]
    answers = LearnedSearcher(snapshot, encoder).search(queries, settings.candidates + 1)
    lists = (
        _with_right(question, chunks[at], hits, source, kind)
        for (question, at), hits in zip(questions, answers, strict=True)
    )
    return [each for each in lists if len(each.texts) > settings.negatives]


def _with_right(question: str, right: Chunk, hits: Sequence[Hit], source: str, kind: str) -> QuestionList:
    """Return the list of a question whose right answer is known, which comes last where the ranking missed it."""
    own = view(right)
    twins = [hit for hit in hits if hit.chunk == right or view(hit.chunk) != own]
    found = twins if any(hit.chunk == right for hit in twins) else [*twins, Hit(right, 0.0)]
    return _list(question, found, [float(hit.chunk == right) for hit in found], source, kind)


def _list(question: str, hits: Sequence[Hit], targets: Sequence[float], source: str, kind: str) -> QuestionList:
    texts = tuple(view(hit.chunk) for hit in hits)
    return QuestionList(question, texts, tuple(targets), tuple(logit(hit.score) for hit in hits), source, kind)
