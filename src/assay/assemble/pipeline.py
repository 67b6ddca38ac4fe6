"""Settings to a searcher: the pipeline they ask for, whose parts go around one another."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from assay import plugins
from assay.errors import InputError
from assay.protocols import Encoder, Searcher
from assay.search.hybrid import LearnedSearcher
from assay.search.issue_searcher import IssueSearcher
from assay.search.ranking import SHIPPED
from assay.search.rerank import RerankedSearcher
from assay.search.spelling import SpellCorrected, Speller
from assay.search.translation import TranslatedSearcher, Translator
from assay.settings import SearchSettings
from assay.store.snapshot import Snapshot


def dictionary() -> frozenset[str]:
    """Return the words that are spelt right whether or not a corpus holds them: those the default encoder knows."""
    from assay.encode.static import DEFAULT_FOLDER, VOCABULARY, entries_in

    return frozenset(filter(str.isalpha, entries_in(DEFAULT_FOLDER / VOCABULARY)))


@cache
def translator() -> Translator:
    """Return what reads questions in other languages than English; every corpus has the same."""
    return Translator(dictionary)


def searcher_of(snapshot: Snapshot, encoder: Encoder, settings: SearchSettings, speller: Speller) -> Searcher:
    """Return the pipeline that the settings ask for."""
    check(settings)
    searcher: Searcher
    if settings.ranking == "learned":
        searcher = IssueSearcher(LearnedSearcher(snapshot, encoder, speller, weights_folder(settings)), snapshot)
    else:
        searcher = SpellCorrected(_unlearned(snapshot, encoder, settings), speller)
    if settings.reranker:
        scorer = plugins.make("scorer", settings.reranker)
        searcher = RerankedSearcher(searcher, scorer, settings.rerank_depth)
    return TranslatedSearcher(searcher, translator())


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


def _unlearned(snapshot: Snapshot, encoder: Encoder, settings: SearchSettings) -> Searcher:
    """Return a searcher that nothing was learned for: by vectors, by words, or by both, fused."""
    from assay.search.dense import VectorSearcher
    from assay.search.keywords import KeywordSearcher

    if settings.ranking == "vectors":
        return VectorSearcher(snapshot, encoder)
    if settings.ranking == "keywords":
        return KeywordSearcher(snapshot)
    from assay.search.fuse import FusedSearcher, Member

    vectors = Member("vectors", VectorSearcher(snapshot, encoder), settings.vector_weight)
    keywords = Member("keywords", KeywordSearcher(snapshot), settings.keyword_weight)
    return FusedSearcher((vectors, keywords), settings.fusion)
