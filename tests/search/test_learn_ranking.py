from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the train extra is not installed")

from assay.errors import InputError
from assay.search.calibrate import logistic
from assay.search.hybrid import LearnedSearcher
from assay.search.learn_ranking import GROUPS, cross_validated, train_all
from assay.search.ranking import load_ranking
from assay.search.ranking_examples import gather, judged_queries
from assay.search.ranking_figures import measured
from assay.search.ranking_train_settings import RankingTrainSettings
from assay.search.text_features import ALL_FEATURES
from assay.types import Query

SMALL = RankingTrainSettings(encoder="hash:64", steps=20, seeds=1, hidden_code=2)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def examples(judged, encoder):
    truths, checkouts = judged
    return gather(judged_queries(truths, checkouts), checkouts, encoder, frozenset, print)


def test_what_is_trained_can_be_searched_with(examples, out: Path, snapshot_of, encoder):
    trained, table = train_all(examples, out, SMALL, print)
    assert {one.system for one in table} == {"learned", "linear", "rrf", "keywords"}
    assert [one.name for one in trained] == ["code", "docs"]
    assert {file.name for file in out.iterdir()} == {
        "README.md",
        "code.json",
        "docs.json",
        "functions.json",
        "manifest.json",
    }
    stored = load_ranking("code", "hash:64", out)
    assert stored.first.hidden.shape[1] == 2
    assert stored.second.linear == pytest.approx(trained[0].ranking.second.linear, abs=1e-4)
    assert 0 < stored.floor < 1
    searcher = LearnedSearcher(snapshot_of([]), encoder, weights=out)
    assert searcher.search([Query("1", "retry")], 1) == [[]]


def test_two_runs_write_the_same(examples, out: Path):
    for name in "ab":
        train_all(examples, out / name, SMALL, print)
    for file in ("code.json", "docs.json", "README.md"):
        assert (out / "a" / file).read_bytes() == (out / "b" / file).read_bytes()


def test_a_name_without_queries_keeps_the_weights_that_ship(examples, out: Path):
    (only,), _ = train_all(examples.of("code"), out, SMALL, print)
    assert only.name == "code"
    assert load_ranking("docs", "hash:64", out).scale == load_ranking("docs", "hash:64").scale
    assert load_ranking("code", "hash:64", out).scale != load_ranking("code", "hash:64").scale


def test_the_card_and_the_manifest_say_how_it_came_about(examples, out: Path):
    (code, _), _ = train_all(examples, out, SMALL, print)
    page = (out / "README.md").read_text("utf-8")
    assert f"### code: {code.queries} queries of 3 repositories" in page
    assert f"| MRR | {code.figures[1].value:.3f} |" in page
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["settings"]["steps"] == 20
    assert manifest["corpus"]


def test_each_query_is_scored_by_weights_that_did_not_see_its_repository(examples):
    """Poisoning the targets of one repository changes the scores of the others, never its own."""
    own = examples.of("code").own
    poisoned = [
        replace(one, targets=one.targets[::-1].copy()) if one.judged.repository == "zoo" else one for one in own
    ]
    before, after = (cross_validated(some, "code", SMALL) for some in (own, poisoned))
    for one, other in zip(before, after, strict=True):
        same = sorted(one.scores.tolist()) == pytest.approx(sorted(other.scores.tolist()), abs=1e-6)
        assert same == (one.example.judged.repository == "zoo")


def test_what_is_left_out_has_no_weight(examples, out: Path):
    (code, *_), _ = train_all(examples.of("code"), out, SMALL, print, ablate=True)
    assert [one.group for one in code.ablations] == list(GROUPS)
    assert "| without |" in (out / "README.md").read_text("utf-8")
    assert {len(one.changes) for one in code.ablations} == {len(code.figures)}


def test_every_feature_is_in_one_group():
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(ALL_FEATURES)


def test_a_mode_of_one_repository_is_refused(examples):
    one = [example for example in examples.own if example.judged.repository == "zoo"]
    with pytest.raises(InputError, match="the code queries are all of 'zoo': give those of a second repository"):
        cross_validated(one, "code", SMALL)


def test_figures_count_what_is_found(examples):
    values = measured(cross_validated(examples.of("code").own, "code", SMALL))
    assert set(values) == {"Hit@5", "MRR", "nDCG@10", "lines@5", "hard Hit@5"}
    assert all(((one >= 0) & (one <= 1)).all() for name, one in values.items() if name != "lines@5")
    assert len(values["hard Hit@5"]) == 1


def test_a_logistic_curve_is_found_again():
    draws = np.random.default_rng(0)
    scores = draws.normal(size=20_000)
    right = draws.random(20_000) < 1 / (1 + np.exp(-(1.5 * scores - 2)))
    assert logistic(scores, right.astype(float)) == pytest.approx((1.5, -2.0), abs=0.1)


def test_settings_that_nothing_can_be_learned_with_are_refused():
    with pytest.raises(InputError, match="setting 'folds' is 1; wanted 2 or more"):
        RankingTrainSettings(folds=1)
