"""Fields of rows, keys of settings and JSON values are read by their type, and refused in one wording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pytest

from assay.errors import InputError
from assay.io.fields import REST, FieldError, Fields, as_json, read_value
from assay.io.rows import Cells

ROW = Fields({"name": "n", "id": 7, "n": 3, "f": 1.5, "texts": ["a"], "none": None, "empty": "", "flag": True})


def test_fields_are_taken_by_their_type():
    assert (ROW.text("name"), ROW.name("none", "id"), ROW.whole("n"), ROW.number("f")) == ("n", "7", 3, 1.5)
    assert (ROW.texts("texts"), ROW.list("texts")) == (("a",), ("a",))
    assert (ROW.text("none", "d"), ROW.whole("gone", 4), ROW.choice("gone", ("x",), "y")) == ("d", 4, "y")
    assert (ROW.whole("n", least=3, most=3), ROW.tags("name", "none", "gone", "n")) == (3, {"name": "n", "n": "3"})
    assert ("none" in ROW, "empty" in ROW) == (False, True)


def test_cells_of_a_table_are_read_as_what_is_wanted():
    row = Fields(Cells({"n": "3", "texts": '["a"]', "name": "007", "empty": "", "table": '{"a": 1}'}))
    assert (row.whole("n"), row.texts("texts"), row.name("name"), row.text("empty")) == (3, ("a",), "007", "")
    assert (row.whole("empty", 1), row.mapping("table")) == (1, {"a": 1})
    assert "empty" not in row
    with pytest.raises(FieldError, match="field 'name' is '007', wanted a list"):
        row.list("name")


def test_each_refusal_has_one_wording():
    for take, told in (
        (lambda row: row.text("gone"), "no field 'gone'"),
        (lambda row: row.text("n"), "field 'n' is 3, wanted text"),
        (lambda row: row.name("empty"), "field 'empty' is empty text, wanted an id"),
        (lambda row: row.number("name"), "field 'name' is 'n', wanted a number of at least 0"),
        (lambda row: row.number("flag"), "field 'flag' is true, wanted a number of at least 0"),
        (lambda row: row.whole("f"), "field 'f' is 1.5, wanted a whole number of at least 0"),
        (lambda row: row.whole("n", least=4, most=9), "field 'n' is 3, wanted a whole number from 4 to 9"),
        (lambda row: row.whole("n", least=1, most=2), "field 'n' is 3, wanted a whole number from 1 to 2"),
        (lambda row: row.texts("name"), "field 'name' is 'n', wanted a list of texts"),
        (lambda row: row.mapping("texts"), "field 'texts' is a list, wanted an object"),
        (lambda row: row.choice("name", ("no", "yes")), "field 'name' is 'n'; did you mean 'no'?"),
        (lambda row: row.texts("texts", known=("ab", "c")), "field 'texts' is 'a'; did you mean 'ab'?"),
        (lambda row: row.only(["name", "ids"]), "unknown field 'id'; did you mean 'ids'?"),
    ):
        with pytest.raises(FieldError) as raised:
            take(ROW)
        assert str(raised.value) == told


def test_a_table_says_where_it_stands():
    matrix = Fields({"sets": {"a": {"k": "x"}, "b": 1}}, "in m.toml", "key")
    tables = matrix.tables("sets")
    name, first = next(tables)
    with pytest.raises(FieldError, match=r"key 'k' in \[sets.a\] of m.toml is 'x', wanted a whole number"):
        first.whole("k")
    assert name == "a"
    with pytest.raises(FieldError, match=r"key 'sets.b' in m.toml is 1, wanted a table of keys"):
        next(tables)


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


def test_a_value_is_read_as_it_was_written_and_what_may_be_missing_may_be_missing():
    assert as_json(WHOLE) == JSON
    assert read_value(Whole, json.loads(json.dumps(JSON))) == WHOLE
    assert read_value(Whole, {"pairs": [], "marks": [], "by_name": {}, "size": None}) == Whole((), (), {}, size=None)


def test_what_is_of_another_kind_or_missing_is_told_with_its_place():
    for change, message in (
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
    ):
        with pytest.raises(InputError, match=message):
            read_value(Whole, {**JSON, **change})
    for key in ("pairs", "marks", "by_name"):
        with pytest.raises(InputError, match=f"it has no '{key}'"):
            read_value(Whole, {name: value for name, value in JSON.items() if name != key})
    for value in (None, [], "x", 5):
        with pytest.raises(InputError, match="it is not a table"):
            read_value(Whole, value)
