"""Weights of a ranking: what ships, what a score is made of, which weights a corpus has, and files that hold none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.search.features import FEATURES
from assay.search.hybrid import LearnedSearcher
from assay.search.ranking import SHIPPED, as_json, load_ranking, ranking_name, weights_file
from assay.search.text_features import ALL_FEATURES
from assay.values import Chunk, Query

FILES = sorted(SHIPPED.glob("*.json"))
MODES = pytest.mark.parametrize("mode", ["code", "docs"])


def test_shipped_weights_are_for_the_features_that_are_computed_and_none_drowns_the_others():
    """A feature that never varied in training has learned nothing and must say nothing."""
    assert {"code", "docs"} <= {file.stem for file in FILES}
    for file in FILES:
        stored = json.loads(file.read_text("utf-8"))
        known = stored["features"]
        assert [name for name in ALL_FEATURES if name in known] == known, file
        for name, features in (("first", [one for one in FEATURES if one in known]), ("second", known)):
            weights = {key: np.array(value) for key, value in stored[name].items()}
            assert weights["linear"].shape == (len(features),), file
            assert weights["hidden"].shape == (len(features), len(weights["bias"])), file
            assert weights["output"].shape == weights["bias"].shape, file
            assert all((np.abs(value) < 1000).all() for value in weights.values()), file
        assert stored["scale"] > 0
        assert 0 < stored["floor"] < 1


@MODES
@given(st.lists(st.floats(-300, 300, width=32), min_size=1))
def test_probabilities_lie_between_0_and_1_keep_the_order_and_tell_scores_apart(mode, scores):
    ranking = load_ranking(mode, reads_order=False)
    probabilities = ranking.probabilities(np.sort(np.array(scores, dtype=np.float32)))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities) >= 0).all()
    assert (np.diff(ranking.probabilities(np.linspace(-20, 20, 401, dtype=np.float32))) > 0).all()


@MODES
@given(st.lists(st.floats(-2, 2, width=32), min_size=len(ALL_FEATURES), max_size=len(ALL_FEATURES)))
def test_why_adds_up_to_the_score(mode, row):
    ranking = load_ranking(mode, reads_order=False)
    rows = np.array([row], dtype=np.float32)
    (why,) = ranking.explain(rows)
    assert sum(why.values()) == pytest.approx(float(ranking.second.scores(rows)[0]), rel=1e-3, abs=1e-3)
    linear = sum(value for name, value in why.items() if name != "together")
    assert linear == pytest.approx(float((rows @ ranking.second.linear)[0]), rel=1e-3, abs=1e-3)


@MODES
def test_why_names_what_counted_strongest_first_and_levels_of_one_feature_as_one(mode):
    ranking = load_ranking(mode, reads_order=False)
    rows = np.zeros((3, len(ALL_FEATURES)), dtype=np.float32)
    rows[0, ALL_FEATURES.index("lexical")] = 1
    levels = [at for at, name in enumerate(ALL_FEATURES) if name.startswith("alike_text@")]
    rows[2, levels] = 1
    one, nothing, several = ranking.explain(rows)
    assert set(one) == {"lexical", "together"}
    assert one["lexical"] == pytest.approx(float(ranking.second.linear[ALL_FEATURES.index("lexical")]))
    assert list(nothing) == ["together"]
    assert set(several) == {"alike_text", "together"}
    assert several["alike_text"] == pytest.approx(float(ranking.second.linear[levels].sum()), abs=1e-3)
    (full,) = ranking.explain(np.ones((1, len(ALL_FEATURES)), dtype=np.float32))
    assert [abs(value) for value in full.values()] == sorted((abs(value) for value in full.values()), reverse=True)


@MODES
def test_what_is_written_is_read_again_and_a_feature_that_the_weights_do_not_know_weighs_nothing(tmp_path: Path, mode):
    ranking = load_ranking(mode, reads_order=False)
    file = tmp_path / f"{mode}.json"
    file.write_text(as_json(ranking))
    again = load_ranking(mode, tmp_path, reads_order=False)
    rows = np.random.default_rng(0).random((5, len(ALL_FEATURES)), dtype=np.float32)
    assert again.second.scores(rows) == pytest.approx(ranking.second.scores(rows), abs=1e-3)
    assert (again.scale, again.offset, again.floor) == (ranking.scale, ranking.offset, ranking.floor)
    stored = json.loads(file.read_text("utf-8"))
    last = ALL_FEATURES.index(stored["features"].pop())
    stored["second"]["linear"].pop()
    stored["second"]["hidden"].pop()
    (tmp_path / "fewer").mkdir()  # what was read of a file is kept
    (tmp_path / "fewer" / file.name).write_text(json.dumps(stored))
    fewer = load_ranking(mode, tmp_path / "fewer", reads_order=False).second
    assert fewer.linear[last] == 0
    assert not fewer.hidden[last].any()
    assert weights_file(mode, reads_order=False) == f"{mode}.json"
    assert weights_file(mode, reads_order=True) == f"{mode}-contextual.json"


def test_a_file_that_does_not_hold_weights_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"no ranking weights '.*code\.json': train them with assay train ranking"):
        load_ranking("code", tmp_path, reads_order=False)
    stored = json.loads((SHIPPED / "code.json").read_text("utf-8"))
    for broken in (
        *("[]", "{}", "null", "{"), stored | {"first": stored["first"] | {"linear": [1.0]}},
        stored | {"second": stored["second"] | {"hidden": [[1.0]]}}, stored | {"scale": "steep"},
        stored | {"features": ["lexical", "moon"]}, stored | {"features": [*stored["features"][:-1], "tea_leaves"]},
    ):  # fmt: skip
        (tmp_path / "code.json").write_text(broken if isinstance(broken, str) else json.dumps(broken))
        with pytest.raises(InputError, match="train them again with assay train ranking") as said:
            load_ranking("code", tmp_path, reads_order=False)
    assert "was trained on other features" in str(said.value)


def function(at: int, file: str) -> Chunk:
    return Chunk(str(at), f"def paint_{at}(): ...", "python", file, at + 1, at + 1, f"paint_{at}", "function")


def functions(count: int, files: int) -> list[Chunk]:
    """Return so many functions in so many files."""
    return [function(at, f"{at % files}.py") for at in range(count)]


def test_files_with_one_function_each_are_ranked_as_single_functions_and_documentation_as_such(snapshot_of):
    prose = [Chunk(f"p{at}", "how to paint", "markdown", f"{at}.md", 1, 1, kind="section") for at in range(50)]
    styles = [Chunk(f"s{at}", "color: red", "yaml", f"{at}.yaml", 1, 1, kind="block") for at in range(20)]
    assert ranking_name(snapshot_of(functions(20, 20)), "code") == "functions"
    assert ranking_name(snapshot_of(functions(25, 20)), "code") == "code"  # a quarter of the files holds two
    assert ranking_name(snapshot_of([*functions(20, 20), *prose]), "docs") == "docs"
    assert ranking_name(snapshot_of([*functions(20, 20), *prose]), "code") == "functions"  # prose says nothing of code
    assert ranking_name(snapshot_of([*functions(20, 20), *styles]), "code") == "code"  # as in a repository
    assert ranking_name(snapshot_of(functions(19, 19)), "code") == "code"  # a few are no sort of corpus
    assert ranking_name(snapshot_of([]), "code") == "code"


def test_single_functions_are_ordered_by_their_own_weights_or_as_code_where_there_are_none(
    snapshot_of, encoder, tmp_path: Path
):
    (hits,) = LearnedSearcher(snapshot_of(functions(20, 20)), encoder).search([Query("1", "paint_3", mode="code")], 1)
    assert hits[0].chunk.id == "3"
    ranking = load_ranking("functions", reads_order=False)
    assert hits[0].why["callable"] == pytest.approx(float(ranking.second.linear[FEATURES.index("callable")]), abs=1e-4)
    for name in ("code.json", "docs.json"):
        (tmp_path / name).write_text((SHIPPED / name).read_text())
    assert load_ranking("functions", tmp_path, reads_order=False).scale == load_ranking("code", reads_order=False).scale
    assert ranking.scale != load_ranking("code", reads_order=False).scale
