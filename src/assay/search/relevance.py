"""Describe a query and its best candidates by one row of features, to decide whether even the best is relevant.

The features of a ranking compare the candidates of one query. Whether the best of them answers is a question across
queries: how much of the query is unknown to the corpus, how far the best stands out, what the best and the first few
hold. A small network over this row is added to the log odds of every candidate of the query, so that those of different
queries and corpora can be compared, and the floor of *nothing relevant* means the same everywhere.
"""

from __future__ import annotations

import numpy as np

from assay.search.features import PAST_FEATURES, QueryInCorpus
from assay.search.neighbour_votes import NEIGHBOUR_FEATURES
from assay.search.retrievers import Array
from assay.search.text_features import ALL_FEATURES

QUERY_FEATURES = tuple(
    "unknown terms strongest closest closest_share corpus cosine_mean cosine_deviation rarity always".split()
)
"""Of the query in the whole corpus; the last is 1, for the constant of a sum."""
_ITS_OWN = [at for at, name in enumerate(ALL_FEATURES) if name not in (*PAST_FEATURES, *NEIGHBOUR_FEATURES)]
"""Features of a candidate's neighbours tell whether it is better than others, not whether it is relevant."""
RELEVANCE_FEATURES = (
    *(f"first_{ALL_FEATURES[at]}" for at in _ITS_OWN),
    *(f"any_{ALL_FEATURES[at]}" for at in _ITS_OWN),
    "score",
    "margin",
    *QUERY_FEATURES,
)
"""Of the best candidate, of any of the first five, of their scores, of the query."""

_FIRST = 5  # candidates


def query_features(in_corpus: QueryInCorpus) -> Array:
    """Return what is known of a query before any candidate is looked at, shape `(len(QUERY_FEATURES))`."""
    unknown = [not len(term.chunks) for term in in_corpus.terms] or [True]
    weight = float(in_corpus.idf.sum())
    row = (
        float(in_corpus.term_weights @ np.array(unknown, dtype=np.float32)),
        np.log1p(len(in_corpus.terms)),
        in_corpus.strongest / weight,
        in_corpus.closest,
        in_corpus.standing_out(in_corpus.closest),
        np.log1p(len(in_corpus.snapshot)),
        in_corpus.mean,
        in_corpus.deviation,
        weight / max(len(in_corpus.terms), 1),
        1.0,
    )
    return np.array(row, dtype=np.float32)


def relevance_row(query: Array, rows: Array, scores: Array) -> Array:
    """Return the features of a query with candidates, shape `(len(RELEVANCE_FEATURES))`.

    `query` is what `query_features` returned, `rows` and `scores` are of the second stage; their order does not matter.
    Without candidates theirs are 0.
    """
    if not len(scores):
        return np.concatenate((np.zeros(len(RELEVANCE_FEATURES) - len(query)), query)).astype(np.float32)
    first = np.argsort(-scores, kind="stable")[:_FIRST]
    others = scores[first[1:]]
    margin = float(scores[first[0]] - others.mean()) if len(others) else 0.0
    own = rows[first][:, _ITS_OWN]
    best = (own[0], own.max(axis=0), [scores[first[0]], margin], query)
    return np.concatenate(best).astype(np.float32)
