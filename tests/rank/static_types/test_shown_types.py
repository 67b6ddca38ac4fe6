"""Values to annotations, and inferred types to whether a value fits."""

from __future__ import annotations

import pytest

from assay.rank.static_types.shown_types import annotation, may_be


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "int"),
        ([True], "bool"),
        ([True, 1], "int"),
        ([1, 2.5], "float"),
        (["a", "b"], "str"),
        (["a", 1], "Any"),
        ([None], "Any"),
        ([[1, 2], []], "list[int]"),
        ([[]], "list[Any]"),
        ([[1, "a"]], "list[Any]"),
        ([(1, 2), (3,)], "tuple[int, ...]"),
        ([{"a": [1]}], "dict[str, list[int]]"),
        ([{1, 2}], "set[int]"),
        ([], "Any"),
    ],
)
def test_values_are_annotated_leniently(values: list[object], kind: str):
    assert annotation(values) == kind


@pytest.mark.parametrize(
    ("inferred", "value", "fits"),
    [
        ("int", 2.5, True),
        ("bool", 1, True),
        ("int", "1", False),
        ("int | None", None, True),
        ("int | str", [1], False),
        ("list[str]", [1], False),
        ("list[str]", [], True),
        ("list[int | str]", ["a"], True),
        ("tuple[int, int]", (1, 2, 3), False),
        ("tuple[int, ...]", (1, 2, 3), True),
        ("tuple[*tuple[int, ...], str]", (1, "a"), True),
        ("tuple[()]", (1,), False),
        ("dict[str, int]", {1: 1}, False),
        ("Counter[str]", {"a": 1}, True),
        ("Match[str] | None", True, False),
        ("re.Match[str]", True, False),
        ("Literal['a', 'b']", "c", True),
        ("Literal[1]", "c", False),
        ("Unknown", "c", True),
        ("list[@_]", [1], True),
        ("Generator[int]", [1], False),
        ("range", [1], False),
        ("Point", (1, 2), True),
        ("dict_keys[int, str]", {1}, True),
        ("set[int]", [1], False),
        ("(x: int) -> int", 1, True),
        ("list[" * 30 + "int" + "]" * 30, [[[[[[[[1]]]]]]]], True),
    ],
)
def test_a_value_fits_unless_it_surely_does_not(inferred: str, value: object, fits: bool):  # noqa: FBT001
    assert may_be(inferred, value) is fits
