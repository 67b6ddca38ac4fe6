"""Labelled pairs to weights of the judge without a model, and figures of what was held out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.encode.vectors import HashedEncoder
from assay.errors import InputError
from assay.judge.pairs import Pair
from assay.judge.signals import SignalsJudge
from assay.train import judge as training
from assay.train.judge import JudgeTrainSettings, LabeledPair, apart, learn, probability, read_labelled, read_sources
from assay.values import Chunk, Query

STRINGS = ("string", "text", "word", "line", "letter", "name", "title", "label")
FILES = ("file", "socket", "stream", "door", "window", "handle", "session", "connection")
SETTINGS = JudgeTrainSettings()


def pairs(verb: str, names: Sequence[str], body: str) -> list[LabeledPair]:
    """Return pairs in which what the query says to do is in the name of the code, or is not."""
    codes = [f"def {verb}_{name}(value):\n    return {body}" for name in names]
    return [
        LabeledPair(f"{asked} a {name}", code, int(asked == verb))
        for code, name in zip(codes, names, strict=True)
        for asked in (verb, "mail")
    ]


REVERSED, CLOSED = pairs("reverse", STRINGS, "value[::-1]"), pairs("close", FILES, "value.close()")


def test_each_source_is_judged_by_weights_of_the_others(tmp_path: Path):
    said: list[str] = []
    weights, figures = learn({"reverse": REVERSED, "close": CLOSED}, SETTINGS, said.append)
    assert said == ["reading 32 pairs of 2 sources", "held out: reverse", "held out: close"]
    assert [(one.name, one.pairs, one.matches) for one in figures] == [("reverse", 16, 0.5), ("close", 16, 0.5)]
    assert all(one.roc_auc.low <= one.roc_auc.value <= one.roc_auc.high for one in figures)
    assert "| reverse | 16 | 0.500 |" in training.card(weights, figures, SETTINGS)
    (tmp_path / "signals.json").write_text(json.dumps(weights), "utf-8")
    judge, code = SignalsJudge(str(tmp_path)), Chunk("1", "def sort_list(items):\n    return sorted(items)")
    asked, other = (Pair(Query("1", text), code) for text in ("sort a list", "mail a letter"))
    assert judge.judge(asked).probability > judge.judge(other).probability


def test_a_single_source_is_held_out_by_code_and_with_an_encoder_only_its_cosine_counts():
    said: list[str] = []
    _, figures = learn({"mine": REVERSED + CLOSED}, SETTINGS, said.append)
    assert said[1].endswith("of 5")
    assert [one.pairs for one in figures] == [32]
    with pytest.raises(InputError, match="no source is left"):
        learn({"one": REVERSED, "two": REVERSED}, SETTINGS)
    weights, figures = learn({"a": REVERSED, "b": CLOSED}, SETTINGS, encoder=HashedEncoder("64"), spec="hash:64")
    assert list(weights["linear"]) == ["cosine_encoder"]
    assert weights["encoder"] == {"spec": "hash:64", "width": 64}
    assert figures[0].roc_auc.value == pytest.approx(figures[0].cosine)


def test_a_penalty_shrinks_weights_and_a_feature_that_says_nothing_has_none():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5_000, 2))
    labels = (rng.random(5_000) < probability(2.0 * rows[:, 0])).astype(float)
    free, _ = training.fit(rows, labels, np.ones(5_000), np.zeros(5_000, dtype=np.intp), 0.0)
    shrunk, _ = training.fit(rows, labels, np.ones(5_000), np.zeros(5_000, dtype=np.intp), 0.1)
    assert free[0] == pytest.approx(2.0, abs=0.2)
    assert abs(free[1]) < 0.1
    assert 0 < shrunk[0] < free[0]


def test_calibration_and_thresholds_are_those_of_the_labels():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=20_000)
    labels = (rng.random(20_000) < probability(0.5 * scores - 0.3)).astype(float)
    slope, offset = training.calibrate(scores, labels, np.ones(20_000))
    assert (slope, offset) == (pytest.approx(0.5, abs=0.05), pytest.approx(-0.3, abs=0.05))
    labels, chances = np.tile([0.0, 1.0], 500), np.linspace(0, 1, 1000)
    assert training.thresholds(chances, labels, np.ones(1000), sure=0.75, least=50) == (-1.0, 2.0)
    low, high = training.thresholds(chances, (chances > 0.5).astype(float), np.ones(1000), sure=0.75, least=50)
    assert 0.3 < high <= low < 0.7


def test_both_labels_count_half_and_pairs_to_report_on_are_not_learned_from():
    counts = training.balanced(np.array([1.0, 0.0, 0.0, 0.0]))
    assert (counts[0], counts.sum()) == (pytest.approx(0.5), pytest.approx(1.0))
    assert training.auc(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])) == 0.75
    assert training.auc(np.array([1.0, 0.5, 0.0]), np.array([1.0, 0.0, 1.0]), np.array([3.0, 1.0, 1.0])) == 0.75
    labels = np.array([1.0] * 3 + [0.0] * 7)
    figures = training.figures_of("s", np.linspace(3, -3, 10), labels, [str(at) for at in range(10)], labels)
    assert 0 < figures.called < 0.5
    given = [LabeledPair('"Sum  a list"', "x", 1), LabeledPair("sort", "w", 0)]
    for other in (LabeledPair("sum a list", "y", 0), LabeledPair("z", " X ", 1)):
        assert apart(given, [other]) == given[1:]


def test_both_forms_of_labels_are_read_and_what_is_none_is_named(tmp_path: Path):
    file = tmp_path / "labels.jsonl"
    for text in ('[{"doc": "a", "code": "b", "label": 1}]', '{"query": "a", "code": "b", "label": 1}\n'):
        file.write_text(text, "utf-8")
        assert read_labelled(file) == [LabeledPair("a", "b", 1)]
    with pytest.raises(InputError, match="1 pairs of one label"):
        read_sources([f"mine={file}"])
    for text in ('{"query": "a"}', '{"query": "a", "code": "b", "label": 2}'):
        file.write_text(text, "utf-8")
        with pytest.raises(InputError, match=r"labels.jsonl:1: wanted the texts query and code"):
            read_labelled(file)
    for spec in ("labels.jsonl", "=labels.jsonl", "name="):
        with pytest.raises(InputError, match="give NAME=FILE"):
            read_sources([spec])
    for wrong, said in (({"sure": 0.4}, "wanted between 0.5 and 1"), ({"folds": 1}, "folds")):
        with pytest.raises(InputError, match=said):
            JudgeTrainSettings(**wrong)
