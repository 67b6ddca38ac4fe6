"""Pairs of a query and a code: read from rows, written, and split into parts that share nothing."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.io.fields import FieldError
from assay.train.pair_files import pair_of
from assay.train.pairs import TrainingPair, code_of, split_by_query, words_of
from assay.train.settings import TuneSettings

SETTINGS = TuneSettings()


def test_a_written_pair_is_read_again_and_rows_of_others_may_say_less() -> None:
    pairs = [TrainingPair("où?", 'a "quoted"\nline', "package", "doc"), TrainingPair("q", "c", "other", "rest", 0)]
    assert [pair_of(json.loads(json.dumps(asdict(pair))), "pairs") for pair in pairs] == pairs
    assert pair_of({"query": "q", "code": "c"}, "mine") == TrainingPair("q", "c", "mine", "given", 1)
    wrong = TrainingPair("q", "c", "mine", "given", 0)
    for name, value in (("label", 0), ("grade", 0), ("score", 0.0), ("relevance", 0)):
        assert pair_of({"doc": "q", "code": "c", name: value}, "mine") == wrong
    assert pair_of({"query": "q", "code": "c", "grade": None}, "mine") is None  # nobody decided


def test_a_row_that_is_no_pair_says_why() -> None:
    whole = "wanted a whole number from 0 to 1000"
    for row, error in (
        ({"query": "q"}, "no field 'code'"),
        ({"code": "c"}, "no field 'query' (or 'doc', as CoSQA calls it)"),
        ({"query": " ", "code": "c"}, "the query is empty"),
        ({"query": "q", "code": 3}, "field 'code' is 3, wanted text"),
        ({"query": "q", "code": "c", "label": "yes"}, f"field 'label' is 'yes', {whole}"),
        ({"query": "q", "code": "c", "label": -1}, f"field 'label' is -1, {whole}"),
        ({"query": "q", "code": "c", "label": 0.5}, f"field 'label' is 0.5, {whole}"),
    ):
        with pytest.raises(FieldError) as refused:
            pair_of(row, "mine")
        assert str(refused.value) == error


def pair(query: str, code: str, grade: int = 1) -> TrainingPair:
    return TrainingPair(query, code, "mine", "given", grade)


def apart(count: int) -> list[TrainingPair]:
    """Return pairs that share nothing."""
    return [pair(f"query {n} of mine", f"code {n}", n % 4) for n in range(count)]


def test_queries_are_split_eight_to_one_to_one_and_shared_codes_are_left_out() -> None:
    parts = split_by_query(apart(400), SETTINGS)
    assert (len(parts.learned), len(parts.valid), len(parts.test), parts.left_out) == (320, 40, 40, 0)
    assert split_by_query(apart(400), SETTINGS) == parts != split_by_query(apart(400), replace(SETTINGS, seed=1))
    with pytest.raises(InputError, match="8 pairs of 8 queries leave the test part without two queries that have a"):
        split_by_query(apart(8), SETTINGS)
    pairs = [pair(f"query {n}", f"code {c % 300}", int(c == n)) for n in range(300) for c in range(n, n + 3)]
    parts = split_by_query(pairs, SETTINGS)
    assert len({one.query for one in parts.test}) == 30
    assert 0 < parts.left_out < 300


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 1)), max_size=120))
@settings(max_examples=40)
def test_parts_share_neither_the_words_of_a_query_nor_a_code(rows: list[tuple[int, int, int]]) -> None:
    pairs = [*apart(100), *(pair(f"mine, query {q}  OF", f"  code\n{c}", grade) for q, c, grade in rows)]
    parts = split_by_query(pairs, SETTINGS)
    three = (parts.learned, parts.valid, parts.test)
    assert all(three)
    for sides in (
        [{words_of(one.query) for one in part} for part in three],
        [{code_of(one.code) for one in part} for part in three],
    ):
        assert sum(map(len, sides)) == len(set.union(*sides))
    assert sum(map(len, three)) + parts.left_out == len(pairs)


def test_the_how_to_explains_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs/howto/encoder.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([^ |`]+)`? \|", page.split("`--set KEY=VALUE`")[1], re.MULTILINE))
    assert rows == {name: str(value) for name, value in asdict(SETTINGS).items()}


def test_settings_that_nothing_can_be_learned_with_are_refused() -> None:
    for change, error in (
        ({"batch": 0}, "setting 'batch' is 0; wanted 1 or more"),
        ({"rate": 0.0}, "setting 'rate' is 0.0; wanted more than 0"),
        ({"valid": 0.5, "test": 0.5}, "settings 'valid' and 'test' are 0.5 and 0.5: nothing is left to learn"),
        ({"bf16": "perhaps"}, "setting 'bf16' is 'perhaps'; wanted one of auto, yes, no"),
    ):
        with pytest.raises(InputError) as refused:
            replace(SETTINGS, **change)
        assert str(refused.value) == error
