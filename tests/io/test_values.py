from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pytest

from assay.errors import InputError
from assay.io.values import REST, as_json, read_value


class Pair(NamedTuple):
    name: str
    grade: int


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    kind: Literal["dot"] = "dot"


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    kind: Literal["word"] = "word"


@dataclass(frozen=True, slots=True)
class Whole:
    pairs: tuple[Pair, ...]
    marks: tuple[Dot | Word, ...]
    by_name: Mapping[str, float]
    note: str | None = None
    size: float | None = 0.0
    rest: Mapping[str, int] = field(default_factory=dict, metadata=REST)


WHOLE = Whole((Pair("a", 1),), (Dot(0.5), Word("x")), {"y": 1.5}, rest={"more": 2})
JSON = {
    "pairs": [["a", 1]],
    "marks": [{"x": 0.5, "kind": "dot"}, {"text": "x", "kind": "word"}],
    "by_name": {"y": 1.5},
    "size": 0.0,
    "more": 2,
}


def test_a_value_is_read_as_it_was_written():
    assert as_json(WHOLE) == JSON
    assert read_value(Whole, json.loads(json.dumps(JSON))) == WHOLE


def test_what_may_be_missing_may_be_missing():
    assert read_value(Whole, {"pairs": [], "marks": [], "by_name": {}, "size": None}) == Whole((), (), {}, size=None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": None}, "pairs is not a list"),
        ({"pairs": [["a"]]}, r"pairs\[0\] is .*, wanted a list of name, grade"),
        ({"pairs": [["a", 1], ["b", -1]]}, r"pairs\[1\]\[1\] is '-1', wanted a whole number from 0"),
        ({"pairs": [["a", True]]}, "wanted a whole number"),
        ({"marks": [{"kind": "line"}]}, r"marks\[0\] is of kind 'line', wanted one of dot, word"),
        ({"marks": [5]}, r"marks\[0\] is of kind"),
        ({"marks": [{"kind": "dot", "x": float("nan")}]}, r"marks\[0\]\.x is 'nan', wanted a number"),
        ({"by_name": {"z": 10**400}}, "by_name.z is '1000.*wanted a number"),
        ({"by_name": []}, "by_name is not a table"),
        ({"more": "x"}, "more is 'x', wanted a whole number"),
        ({"note": 5}, "note is '5', wanted text"),
    ],
)
def test_what_is_of_another_kind_is_told_with_its_place(change: dict, message: str):
    with pytest.raises(InputError, match=message):
        read_value(Whole, {**JSON, **change})


@pytest.mark.parametrize("key", ["pairs", "marks", "by_name"])
def test_what_is_missing_is_told(key: str):
    with pytest.raises(InputError, match=f"it has no '{key}'"):
        read_value(Whole, {name: value for name, value in JSON.items() if name != key})


@pytest.mark.parametrize("value", [None, [], "x", 5])
def test_what_is_not_a_table_at_all(value: object):
    with pytest.raises(InputError, match="it is not a table"):
        read_value(Whole, value)
