"""Fields of rows and of settings are refused in one wording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.io.fields import FieldError, Fields
from assay.io.rows import Cells

ROW = Fields({"name": "n", "id": 7, "n": 3, "f": 1.5, "texts": ["a"], "none": None, "empty": "", "flag": True})


def test_fields_are_taken_by_their_type():
    assert (ROW.text("name"), ROW.name("none", "id"), ROW.whole("n"), ROW.number("f")) == ("n", "7", 3, 1.5)
    assert (ROW.texts("texts"), ROW.list("texts"), ROW.text("none", "d"), ROW.whole("gone", 4)) == (
        ("a",),
        ("a",),
        "d",
        4,
    )
    assert "none" not in ROW
    assert "empty" in ROW


def test_cells_of_a_table_are_read_as_what_is_wanted():
    row = Fields(Cells({"n": "3", "texts": '["a"]', "name": "007", "empty": "", "table": '{"a": 1}'}))
    assert (row.whole("n"), row.texts("texts"), row.name("name"), row.text("empty")) == (3, ("a",), "007", "")
    assert (row.whole("empty", 1), row.mapping("table")) == (1, {"a": 1})
    assert "empty" not in row
    with pytest.raises(FieldError, match="field 'name' is '007', wanted a list"):
        row.list("name")


@pytest.mark.parametrize(
    ("take", "told"),
    [
        (lambda row: row.text("gone"), "no field 'gone'"),
        (lambda row: row.text("n"), "field 'n' is 3, wanted text"),
        (lambda row: row.name("empty"), "field 'empty' is empty text, wanted an id"),
        (lambda row: row.number("name"), "field 'name' is 'n', wanted a number of at least 0"),
        (lambda row: row.number("flag"), "field 'flag' is true, wanted a number of at least 0"),
        (lambda row: row.whole("f"), "field 'f' is 1.5, wanted a whole number of at least 0"),
        (lambda row: row.whole("n", least=4, most=9), "field 'n' is 3, wanted a whole number from 4 to 9"),
        (lambda row: row.texts("name"), "field 'name' is 'n', wanted a list of texts"),
        (lambda row: row.mapping("texts"), "field 'texts' is a list, wanted an object"),
        (lambda row: row.choice("name", ("no", "yes")), "field 'name' is 'n'; did you mean 'no'?"),
        (lambda row: row.only(["name", "ids"]), "unknown field 'id'; did you mean 'ids'?"),
    ],
)
def test_each_refusal_has_one_wording(take: Callable[[Fields], Any], told: str):
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
