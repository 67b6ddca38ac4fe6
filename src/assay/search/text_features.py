"""What the second stage reads off the texts of its candidates: similar words, the sort of unit asked for, phrases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.search.asked_kind import KIND_FEATURES, kind_features
from assay.search.features import FEATURES, QueryInCorpus
from assay.search.lexical import Array
from assay.search.shared_phrases import PHRASE_FEATURES, phrase_features
from assay.search.token_similarity import TOKEN_FEATURES, TokenSimilarity
from assay.types import Chunk

TEXT_FEATURES = (*TOKEN_FEATURES, *KIND_FEATURES, *PHRASE_FEATURES)
ALL_FEATURES = (*FEATURES, *TEXT_FEATURES)
"""What the second stage looks at; the first looks at `FEATURES`."""


def text_features(similarity: TokenSimilarity, found: QueryInCorpus, chunks: Sequence[Chunk]) -> Array:
    """Return the features of chunks, shape `(chunks, len(TEXT_FEATURES))`."""
    question = found.question
    parts = (
        similarity.features(question.words, found.term_weights, chunks),
        kind_features(question.terms, chunks),
        phrase_features(question.text, chunks),
    )
    return np.hstack(parts)
