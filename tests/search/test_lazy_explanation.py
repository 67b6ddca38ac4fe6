"""The parts of a score are computed when they are read, and are then what `explain` says."""

from __future__ import annotations

import pickle

import numpy as np

from assay.search.ranking import load_ranking
from assay.search.text_features import ALL_FEATURES


def test_explanations_are_those_of_explain_and_travel_as_dicts():
    ranking = load_ranking("code", "static:default")
    rows = np.random.default_rng(1).random((3, len(ALL_FEATURES)), dtype=np.float32)
    beside = {"message": np.zeros(3, np.float32), "answerable": np.ones(3, np.float32)}
    eager, lazy = ranking.explain(rows, beside), ranking.explanations(rows, beside)
    assert lazy == eager
    assert [[*each.items()] for each in lazy] == [[*each.items()] for each in eager]
    assert (len(lazy[0]), repr(lazy[0]), lazy[0]["answerable"]) == (len(eager[0]), repr(eager[0]), 1.0)
    assert type(pickle.loads(pickle.dumps(lazy[1]))) is dict
    assert pickle.loads(pickle.dumps(lazy[1])) == eager[1]
