from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay.search.ranking
from assay.search.ranking import ALL_COLUMNS, COLUMNS, default_ranking

SHIPPED = sorted((Path(assay.search.ranking.__file__).parent / "data").glob("*.json"))
MODES = pytest.mark.parametrize("mode", ["code", "docs"])


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_weights_are_for_the_columns_that_are_computed(file):
    stored = json.loads(file.read_text("utf-8"))
    assert tuple(stored["columns"]) == ALL_COLUMNS
    for name, columns in (("first", COLUMNS), ("second", ALL_COLUMNS)):
        weights = {key: np.array(value) for key, value in stored[name].items()}
        assert weights["linear"].shape == (len(columns),)
        assert weights["hidden"].shape == (len(columns), len(weights["bias"]))
        assert weights["output"].shape == weights["bias"].shape
        assert all(np.isfinite(value).all() for value in weights.values())
    assert stored["scale"] > 0
    assert 0 < stored["floor"] < 1


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_no_weight_drowns_the_others(file):
    """A column that never varied in training has learned nothing and must say nothing."""
    stored = json.loads(file.read_text("utf-8"))
    for weights in (stored["first"], stored["second"]):
        assert all(np.abs(np.array(value)).max(initial=0) < 1000 for value in weights.values())


def test_weights_of_both_sides_are_shipped():
    assert {"code", "docs"} <= {file.stem for file in SHIPPED}


@MODES
@given(st.lists(st.floats(-300, 300, width=32), min_size=1))
def test_chances_lie_between_nought_and_one_and_keep_the_order(mode, scores):
    chances = default_ranking(mode, "static:default").chances(np.sort(np.array(scores, dtype=np.float32)))
    assert ((chances >= 0) & (chances <= 1)).all()
    assert (np.diff(chances) >= 0).all()


@MODES
def test_chances_tell_scores_apart(mode):
    chances = default_ranking(mode, "static:default").chances(np.linspace(-20, 20, 401, dtype=np.float32))
    assert (np.diff(chances) > 0).all()


@MODES
@given(st.lists(st.floats(-2, 2, width=32), min_size=len(ALL_COLUMNS), max_size=len(ALL_COLUMNS)))
def test_why_adds_up_to_the_score(mode, row):
    ranking = default_ranking(mode, "hash:64")
    rows = np.array([row], dtype=np.float32)
    (why,) = ranking.whys(rows)
    assert sum(why.values()) == pytest.approx(float(ranking.second.scores(rows)[0]), rel=1e-3, abs=1e-3)
    linear = sum(value for name, value in why.items() if name != "together")
    assert linear == pytest.approx(float((rows @ ranking.second.linear)[0]), rel=1e-3, abs=1e-3)


@MODES
def test_why_names_what_counted_strongest_first(mode):
    ranking = default_ranking(mode, "hash:64")
    rows = np.zeros((2, len(ALL_COLUMNS)), dtype=np.float32)
    rows[0, ALL_COLUMNS.index("lexical")] = 1
    one, nothing = ranking.whys(rows)
    assert set(one) == {"lexical", "together"}
    assert one["lexical"] == pytest.approx(float(ranking.second.linear[ALL_COLUMNS.index("lexical")]))
    assert list(nothing) == ["together"]
    (full,) = ranking.whys(np.ones((1, len(ALL_COLUMNS)), dtype=np.float32))
    assert [abs(value) for value in full.values()] == sorted((abs(value) for value in full.values()), reverse=True)


def test_encoders_that_add_up_words_share_their_weights():
    assert default_ranking("code", "static:default@1").scale == default_ranking("code", "hash:64").scale
