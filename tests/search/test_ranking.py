from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.search.features import FEATURES
from assay.search.ranking import SHIPPED, as_json, load_ranking, weights_file
from assay.search.text_features import ALL_FEATURES

FILES = sorted(SHIPPED.glob("*.json"))
MODES = pytest.mark.parametrize("mode", ["code", "docs"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_shipped_weights_are_for_the_features_that_are_computed(file):
    stored = json.loads(file.read_text("utf-8"))
    known = stored["features"]
    assert [name for name in ALL_FEATURES if name in known] == known
    for name, features in (("first", FEATURES), ("second", known)):
        weights = {key: np.array(value) for key, value in stored[name].items()}
        assert weights["linear"].shape == (len(features),)
        assert weights["hidden"].shape == (len(features), len(weights["bias"]))
        assert weights["output"].shape == weights["bias"].shape
        assert all(np.isfinite(value).all() for value in weights.values())
    assert stored["scale"] > 0
    assert 0 < stored["floor"] < 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_weight_drowns_the_others(file):
    """A feature that never varied in training has learned nothing and must say nothing."""
    stored = json.loads(file.read_text("utf-8"))
    for weights in (stored["first"], stored["second"]):
        assert all(np.abs(np.array(value)).max(initial=0) < 1000 for value in weights.values())


def test_weights_of_both_sides_are_shipped():
    assert {"code", "docs"} <= {file.stem for file in FILES}


@MODES
@given(st.lists(st.floats(-300, 300, width=32), min_size=1))
def test_probabilities_lie_between_0_and_1_and_keep_the_order(mode, scores):
    probabilities = load_ranking(mode, "static:default").probabilities(np.sort(np.array(scores, dtype=np.float32)))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities) >= 0).all()


@MODES
def test_probabilities_tell_scores_apart(mode):
    probabilities = load_ranking(mode, "static:default").probabilities(np.linspace(-20, 20, 401, dtype=np.float32))
    assert (np.diff(probabilities) > 0).all()


@MODES
@given(st.lists(st.floats(-2, 2, width=32), min_size=len(ALL_FEATURES), max_size=len(ALL_FEATURES)))
def test_why_adds_up_to_the_score(mode, row):
    ranking = load_ranking(mode, "hash:64")
    rows = np.array([row], dtype=np.float32)
    (why,) = ranking.explain(rows)
    assert sum(why.values()) == pytest.approx(float(ranking.second.scores(rows)[0]), rel=1e-3, abs=1e-3)
    linear = sum(value for name, value in why.items() if name != "together")
    assert linear == pytest.approx(float((rows @ ranking.second.linear)[0]), rel=1e-3, abs=1e-3)


@MODES
def test_why_names_what_counted_strongest_first(mode):
    ranking = load_ranking(mode, "hash:64")
    rows = np.zeros((2, len(ALL_FEATURES)), dtype=np.float32)
    rows[0, ALL_FEATURES.index("lexical")] = 1
    one, nothing = ranking.explain(rows)
    assert set(one) == {"lexical", "together"}
    assert one["lexical"] == pytest.approx(float(ranking.second.linear[ALL_FEATURES.index("lexical")]))
    assert list(nothing) == ["together"]
    (full,) = ranking.explain(np.ones((1, len(ALL_FEATURES)), dtype=np.float32))
    assert [abs(value) for value in full.values()] == sorted((abs(value) for value in full.values()), reverse=True)


def test_encoders_that_add_up_words_share_their_weights():
    assert load_ranking("code", "static:default@1").scale == load_ranking("code", "hash:64").scale


@MODES
def test_what_is_written_is_read_again(tmp_path: Path, mode):
    ranking = load_ranking(mode, "hash:64")
    (tmp_path / f"{mode}.json").write_text(as_json(ranking))
    again = load_ranking(mode, "hash:64", tmp_path)
    rows = np.random.default_rng(0).random((5, len(ALL_FEATURES)), dtype=np.float32)
    assert again.second.scores(rows) == pytest.approx(ranking.second.scores(rows), abs=1e-3)
    assert (again.scale, again.offset, again.floor) == (ranking.scale, ranking.offset, ranking.floor)


@MODES
def test_a_feature_that_the_weights_do_not_know_weighs_nothing(tmp_path: Path, mode):
    file = tmp_path / f"{mode}.json"
    file.write_text(as_json(load_ranking(mode, "hash:64")))
    stored = json.loads(file.read_text("utf-8"))
    last = stored["features"].pop()
    stored["second"]["linear"].pop()
    stored["second"]["hidden"].pop()
    file.write_text(json.dumps(stored))
    again = load_ranking(mode, "hash:64", tmp_path)
    assert again.second.linear[ALL_FEATURES.index(last)] == 0
    assert not again.second.hidden[ALL_FEATURES.index(last)].any()


def test_a_feature_that_is_not_computed_is_refused(tmp_path: Path):
    stored = json.loads(as_json(load_ranking("code", "hash:64")))
    stored["features"][-1] = "tea_leaves"
    (tmp_path / "code.json").write_text(json.dumps(stored))
    with pytest.raises(InputError, match="was trained on other features"):
        load_ranking("code", "hash:64", tmp_path)


def test_levels_of_one_feature_are_one_part():
    ranking = load_ranking("code", "hash:64")
    rows = np.zeros((1, len(ALL_FEATURES)), dtype=np.float32)
    levels = [at for at, name in enumerate(ALL_FEATURES) if name.startswith("alike_text@")]
    rows[0, levels] = 1
    (why,) = ranking.explain(rows)
    assert set(why) == {"alike_text", "together"}
    assert why["alike_text"] == pytest.approx(float(ranking.second.linear[levels].sum()), abs=1e-3)


def test_weights_are_for_a_sort_of_encoder():
    assert weights_file("code", "static:default@1") == "code.json"
    assert weights_file("docs", "hf:MiniLM") == "docs-contextual.json"


def test_a_folder_without_weights_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"no ranking weights '.*code\.json': train them with assay train ranking"):
        load_ranking("code", "hash:64", tmp_path)


@pytest.mark.parametrize("change", ["{", "[]", "{}", "null", "linear", "hidden", "scale", "features"])
def test_a_file_that_does_not_hold_weights_is_refused(tmp_path: Path, change):
    stored = json.loads((SHIPPED / "code.json").read_text("utf-8"))
    broken = {
        "linear": stored | {"first": stored["first"] | {"linear": [1.0]}},
        "hidden": stored | {"second": stored["second"] | {"hidden": [[1.0]]}},
        "scale": stored | {"scale": "steep"},
        "features": stored | {"features": ["lexical", "moon"]},
    }
    (tmp_path / "code.json").write_text(json.dumps(broken[change]) if change in broken else change)
    with pytest.raises(InputError, match="train them again with assay train ranking"):
        load_ranking("code", "hash:64", tmp_path)
