"""Settings to a searcher: the pipeline they ask for, whose parts go around one another."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import platformdirs

from assay import plugins
from assay.errors import InputError
from assay.protocols import BlendedScorer, Encoder, Scorer, Searcher
from assay.search.hybrid import Corpus, LearnedSearcher
from assay.search.issue_searcher import IssueSearcher
from assay.search.ranking import SHIPPED
from assay.search.spelling import SpellCorrected, Speller
from assay.search.translation import TranslatedSearcher, Translator
from assay.settings import SearchSettings


def dictionary() -> frozenset[str]:
    """Return the words that are spelt right whether or not a corpus holds them: those the default encoder knows."""
    from assay.encode.static import DEFAULT_FOLDER, VOCABULARY
    from assay.encode.vocabulary import entries_in

    return frozenset(filter(str.isalpha, entries_in(DEFAULT_FOLDER / VOCABULARY)))


@cache
def translator() -> Translator:
    """Return what reads questions in other languages than English; every corpus has the same."""
    return Translator(dictionary)


def speller_of(corpus: Corpus) -> Speller | None:
    """Return what corrects the spelling of queries; None where not every word of a corpus is at hand."""
    every = corpus.whole()
    return None if every is None else Speller(every, dictionary)


def searcher_of(corpus: Corpus, encoder: Encoder, settings: SearchSettings, speller: Speller | None) -> Searcher:
    """Return the pipeline that the settings ask for."""
    check(settings)
    searcher: Searcher
    if settings.ranking == "learned":
        searcher = IssueSearcher(LearnedSearcher(corpus, encoder, speller, weights_folder(settings)), corpus)
    else:
        searcher = _unlearned(corpus, encoder, settings)
        searcher = SpellCorrected(searcher, speller) if speller else searcher
    if settings.expand:
        from assay.search.expand import ExpandedSearcher

        every = corpus.whole()
        if every is None:
            raise InputError("search.expand follows links through every chunk: use an index in a folder")
        searcher = ExpandedSearcher(searcher, every, settings.expand, settings.expand_weight, settings.rerank_depth)
    searcher = _reranked(searcher, settings) if settings.reranker else searcher
    return TranslatedSearcher(searcher, translator())


def _reranked(searcher: Searcher, settings: SearchSettings) -> Searcher:
    """Return a searcher with the reranker that the settings name; one that was trained is given a memory."""
    from assay.search.rerank import BlendedSearcher, RerankedSearcher

    scorer: Scorer = plugins.make("scorer", settings.reranker)
    depth = settings.rerank_depth + settings.expand
    if not isinstance(scorer, BlendedScorer):
        return RerankedSearcher(searcher, scorer, depth)
    if settings.ranking != "learned":
        raise InputError(
            f"search.reranker is '{settings.reranker}', which adds to the probabilities of the learned ranking, and "
            f"search.ranking is '{settings.ranking}', which has none; leave one of them out"
        )
    from assay.encode.cached_scorer import CachedScorer

    cached = CachedScorer(scorer, platformdirs.user_cache_path("assay") / "rerankers.sqlite")
    return BlendedSearcher(searcher, cached, depth, settings.rerank_ms)


def check(settings: SearchSettings) -> None:
    """Refuse what no pipeline can be made of, before an index is."""
    if settings.ranking == "fused" and not settings.vector_weight + settings.keyword_weight:
        raise InputError("search.vector_weight and search.keyword_weight are both 0; give one of them a weight")
    if settings.reranker:
        kind = settings.reranker.partition(":")[0]
        if kind == "ranker":
            raise InputError(
                f"search.reranker is '{settings.reranker}', which orders programs of one task and cannot order answers "
                "to a question; wanted a scorer such as cross:FOLDER"
            )
        plugins.place("scorer", kind)
    if not weights_folder(settings).is_dir():
        wrong = f"search.weights is '{settings.weights}', not a folder"
        raise InputError(f"{wrong}; make one with assay train ranking")


def weights_folder(settings: SearchSettings) -> Path:
    """Return where the weights of the learned ranking are: in the folder of the settings, else those that ship."""
    return Path(settings.weights) if settings.weights else SHIPPED


def _unlearned(corpus: Corpus, encoder: Encoder, settings: SearchSettings) -> Searcher:
    """Return a searcher that nothing was learned for: by vectors, by words, or by both, fused."""
    from assay.search.dense import VectorSearcher
    from assay.search.keywords import KeywordSearcher

    if settings.ranking == "vectors":
        return VectorSearcher(corpus, encoder)
    if settings.ranking == "keywords":
        return KeywordSearcher(corpus)
    from assay.search.fuse import FusedSearcher, Member

    vectors = Member("vectors", VectorSearcher(corpus, encoder), settings.vector_weight)
    keywords = Member("keywords", KeywordSearcher(corpus), settings.keyword_weight)
    return FusedSearcher((vectors, keywords), settings.fusion)
