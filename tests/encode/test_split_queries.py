from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.encode.split_queries import code_of, split_by_query, words_of
from assay.encode.training_pairs import TrainingPair
from assay.encode.tune_settings import TuneSettings
from assay.errors import InputError

SETTINGS = TuneSettings()


def pair(query: str, code: str, grade: int = 1) -> TrainingPair:
    return TrainingPair(query, code, "mine", "given", grade)


def apart(count: int) -> list[TrainingPair]:
    """Return pairs that share nothing."""
    return [pair(f"query {n} of mine", f"code {n}", n % 4) for n in range(count)]


def test_queries_are_split_eight_to_one_to_one() -> None:
    parts = split_by_query(apart(400), SETTINGS)
    assert (len(parts.learned), len(parts.valid), len(parts.test), parts.left_out) == (320, 40, 40, 0)
    assert split_by_query(apart(400), SETTINGS) == parts != split_by_query(apart(400), replace(SETTINGS, seed=1))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 1)), max_size=120))
def test_parts_share_neither_the_words_of_a_query_nor_a_code(rows: list[tuple[int, int, int]]) -> None:
    pairs = [*apart(100), *(pair(f"mine, query {q}  OF", f"  code\n{c}", grade) for q, c, grade in rows)]
    parts = split_by_query(pairs, SETTINGS)
    three = (parts.learned, parts.valid, parts.test)
    for name in ({words_of(one.query) for one in part} for part in three):
        assert name
    for sides in (
        [{words_of(one.query) for one in part} for part in three],
        [{code_of(one.code) for one in part} for part in three],
    ):
        assert not sides[0] & sides[1]
        assert not sides[0] & sides[2]
        assert not sides[1] & sides[2]
    assert sum(map(len, three)) + parts.left_out == len(pairs)


def test_where_sharing_joins_everything_queries_are_split_and_codes_of_two_parts_are_left_out() -> None:
    pairs = [pair(f"query {n}", f"code {c % 300}", int(c == n)) for n in range(300) for c in range(n, n + 3)]
    parts = split_by_query(pairs, SETTINGS)
    assert len({one.query for one in parts.test}) == 30
    assert 0 < parts.left_out < 300


def test_the_how_to_explains_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs/howto/encoder.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([^ |`]+)`? \|", page.split("`--set KEY=VALUE`")[1], re.MULTILINE))
    assert rows == {name: str(value) for name, value in asdict(SETTINGS).items()}


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(InputError, match="8 pairs of 8 queries leave the test part without two queries that have a"):
        split_by_query(apart(8), SETTINGS)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"batch": 0}, "setting 'batch' is 0; wanted 1 or more"),
        ({"rate": 0.0}, "setting 'rate' is 0.0; wanted more than 0"),
        ({"valid": 0.5, "test": 0.5}, "settings 'valid' and 'test' are 0.5 and 0.5: nothing is left to learn"),
        ({"bf16": "perhaps"}, "setting 'bf16' is 'perhaps'; wanted auto, yes or no"),
    ],
)
def test_settings_that_nothing_can_be_learned_with_are_refused(change: dict[str, object], error: str) -> None:
    with pytest.raises(InputError) as refused:
        replace(SETTINGS, **change)
    assert str(refused.value) == error
