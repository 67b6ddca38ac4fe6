from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.encode.training_pairs import TrainingPair, pair_of, refuse_wrong_pairs, write_pairs
from assay.errors import InputError
from assay.io.fields import FieldError


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    pairs = [TrainingPair("où?", 'a "quoted"\nline', "package", "doc"), TrainingPair("q", "c", "other", "rest", 0)]
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    rows = map(json.loads, (tmp_path / "pairs.jsonl").read_text().splitlines())
    assert [pair_of(row, "pairs") for row in rows] == pairs


def test_source_kind_and_grade_may_be_missing() -> None:
    assert pair_of({"query": "q", "code": "c"}, "mine") == TrainingPair("q", "c", "mine", "given", 1)


@pytest.mark.parametrize(("name", "value"), [("label", 0), ("grade", 0), ("score", 0.0), ("relevance", 0)])
def test_a_label_is_read_whatever_it_is_called(name: str, value: float) -> None:
    pair = pair_of({"doc": "q", "code": "c", name: value}, "mine")
    assert pair is not None
    assert pair.grade == 0


def test_a_pair_that_nobody_decided_is_none() -> None:
    assert pair_of({"query": "q", "code": "c", "grade": None}, "mine") is None


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"query": "q"}, "no field 'code'"),
        ({"code": "c"}, "no field 'query' (or 'doc', as CoSQA calls it)"),
        ({"query": " ", "code": "c"}, "the query is empty"),
        ({"query": "q", "code": 3}, "field 'code' is 3, wanted text"),
        ({"query": "q", "code": "c", "label": "yes"}, "field 'label' is 'yes', wanted a whole number from 0 to 1000"),
        ({"query": "q", "code": "c", "label": -1}, "field 'label' is -1, wanted a whole number from 0 to 1000"),
        ({"query": "q", "code": "c", "label": 0.5}, "field 'label' is 0.5, wanted a whole number from 0 to 1000"),
    ],
)
def test_a_row_that_is_no_pair_says_why(row: dict[str, object], error: str) -> None:
    with pytest.raises(FieldError) as refused:
        pair_of(row, "mine")
    assert str(refused.value) == error


def test_pairs_that_were_judged_wrong_are_never_learned_as_right() -> None:
    right, wrong = TrainingPair("q", "c", "s", "given"), TrainingPair("q", "d", "s", "given", 0)
    refuse_wrong_pairs([right], "a table")
    with pytest.raises(InputError, match="of 2 pairs 1 have label 0, and a table learns from right pairs alone: take"):
        refuse_wrong_pairs([right, wrong], "a table")
